package tui

import (
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// gapKey is what gaps have in common that are shown on one line.
type gapKey struct {
	source facts.Source
	kind   facts.GapKind
	detail string
}

// gapGroup is the gaps of one source that have one reason.
type gapGroup struct {
	gapKey
	whats []string
}

// gapsOf groups the gaps of a kind, in the order in which they came.
func (e *exam) gapsOf(kind facts.GapKind) []gapGroup {
	var gs []gapGroup
	at := map[gapKey]int{}
	for _, g := range e.gaps {
		if g.Kind != kind {
			continue
		}
		k := gapKey{g.Source, g.Kind, g.Detail}
		i, ok := at[k]
		if !ok {
			i = len(gs)
			at[k] = i
			gs = append(gs, gapGroup{gapKey: k})
		}
		gs[i].whats = append(gs[i].whats, g.What)
	}
	return gs
}

// rows lists everything that one source did not give for one reason.
func (g gapKey) rows(m *Model, w int) []row {
	for _, o := range m.exam.gapsOf(g.kind) {
		if o.gapKey != g {
			continue
		}
		p := &page{t: m.theme, w: w}
		p.rows = append(p.rows, row{space(1), m.theme.text(unsure, string(g.kind)), m.theme.text(dim, "  "+string(g.source))})
		p.part("reason", p.text(normal, g.detail)...)
		p.part("what", p.text(normal, strings.Join(o.whats, "\n"))...)
		return p.rows
	}
	return nil
}

func (g gapKey) name(m *Model) row { return m.theme.row(strong, string(g.source)) }

func (g gapKey) steps(*Model) []knowledge.Step { return nil }

func (g gapKey) beside(*Model, int) (subject, int, int) { return nil, 0, 0 }

func (g gapKey) kindName() string { return "gap" }
