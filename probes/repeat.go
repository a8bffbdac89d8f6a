package probes

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// held is what this process holds that a ladder could leave behind.
type held struct {
	handles, files, maps int
	locked               string // VmLck and VmPin of /proc/self/status
}

func holding() held {
	var h held
	for _, n := range verbs.Live() {
		h.handles += n
	}
	fds, _ := os.ReadDir("/proc/self/fd")
	h.files = len(fds)
	maps, _ := os.ReadFile("/proc/self/maps")
	h.maps = strings.Count(string(maps), "\n")
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmLck:") || strings.HasPrefix(line, "VmPin:") {
			h.locked += " " + strings.Join(strings.Fields(line), " ")
		}
	}
	return h
}

// looseMaps is by how many mappings the heap and the runtime's threads come
// and go.
const looseMaps = 16

// grew reports whether something was left behind since before.
func (h held) grew(before held) bool {
	return h.handles > before.handles || h.files > before.files || h.maps > before.maps+looseMaps || h.locked != before.locked
}

func (h held) String() string {
	return fmt.Sprintf("%d handles, %d files, %d mappings,%s", h.handles, h.files, h.maps, h.locked)
}

// quiet is a Reporter that tells only that there is life.
type quiet struct{ Reporter }

func (quiet) Step(int, bool, facts.ProbeStep) {}
func (quiet) Ladder(int, *facts.Ladder)       {}

// repeated runs ladders in a row and then the ones that are told, and whether
// those before have left something behind. The first few are no measure: what
// stays for good is there after them.
func repeated(ctx context.Context, lib *verbs.Library, p LadderParams, tell Reporter) {
	const first = 3
	var before held
	begun := time.Now()
	for i := range p.Repeat {
		if i == first {
			before = holding()
		}
		once(ctx, lib, p, quiet{tell})
		if ctx.Err() != nil {
			break
		}
	}
	after := holding()
	s := facts.ProbeStep{Name: "repeat", Time: time.Since(begun), Detail: fmt.Sprintf("%d times; before: %v; after: %v", p.Repeat, before, after)}
	if p.Repeat > first && after.grew(before) {
		s.Error = &facts.StepError{Call: "ladder", Text: "something was left behind: " + s.Detail}
	}
	tell.Ladder(0, &facts.Ladder{Probe: "self", Local: facts.LinkName(p.Device, p.Port), Path: facts.Path{Transport: p.Transport, Service: "RC"},
		Steps: []facts.ProbeStep{s}, End: facts.ProbeEnd{Outcome: facts.Completed}})
}
