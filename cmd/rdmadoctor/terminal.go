package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// isTerminal tells a stream that a person looks at.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// fullScreen reports whether the screen can be shown to a person. A terminal
// that calls itself dumb (Emacs' shell, many CI runners) would print its escape
// sequences.
func (p *program) fullScreen() bool {
	return isTerminal(p.in) && isTerminal(p.out) && !p.dumb()
}

// dumb reports a terminal that calls itself so, or nothing at all.
func (p *program) dumb() bool {
	return !slices.ContainsFunc(p.environ, func(e string) bool {
		term, ok := strings.CutPrefix(e, "TERM=")
		return ok && term != "" && term != "dumb"
	})
}

// A text report wider than widest is harder to read, not easier; one narrower
// than narrowest is a ribbon, which the terminal breaks better.
const widest, narrowest = 100, 40

// textWidth is the width that text is laid out for.
func (p *program) textWidth() int {
	if f, ok := p.out.(*os.File); ok && term.IsTerminal(f.Fd()) {
		if w, _, err := term.GetSize(f.Fd()); err == nil {
			return layoutWidth(w)
		}
	}
	return layoutWidth(0)
}

// layoutWidth is the width of text on a terminal of w cells, 0 for a terminal
// that does not tell, or none.
func layoutWidth(w int) int {
	if w <= 0 {
		return 80
	}
	return min(max(w, narrowest), widest)
}

// writeText writes the text report, in colour only where someone sees it.
func (p *program) writeText(d *report.Document) error {
	opt := report.TextOptions{Width: p.textWidth()}
	w := p.out
	if isTerminal(p.out) && !p.noColor {
		if profile := colorprofile.Detect(p.out, p.environ); profile > colorprofile.ASCII {
			opt.Color = true
			w = &colorprofile.Writer{Forward: p.out, Profile: profile}
		}
	}
	return report.Text(w, d, opt)
}

// progress shows on a terminal what the run is doing, in one line that goes
// away again.
func (p *program) progress(h report.Handler) (_ report.Handler, done func()) {
	if !isTerminal(p.err) || p.dumb() {
		return h, func() {}
	}
	shown := false
	clear := func() {
		if shown {
			_, _ = io.WriteString(p.err, "\r\x1b[K")
			shown = false
		}
	}
	return report.Func(func(m report.Message) error {
		if m.Progress != nil {
			fmt.Fprintf(p.err, "\r\x1b[K%.78s", report.Clean(m.Progress.Step+" "+m.Progress.Text))
			shown = true
		} else {
			clear()
		}
		return m.Send(h)
	}), clear
}
