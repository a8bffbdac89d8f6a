package doctor

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// said is what was said of a snapshot: findings, facts that were not read, and
// checks that did not look, one line each.
func said(lines map[string]bool) func(checks.Result) {
	return func(r checks.Result) {
		for _, f := range r.Findings {
			lines[f.Code+" "+f.Subject+" "+f.Message] = true
		}
		for _, u := range r.Unread {
			lines["unread "+r.ID+" "+u] = true
		}
		if r.Status == checks.Unknown || r.Status == checks.Skipped {
			lines[string(r.Status)+" "+r.ID] = true
		}
	}
}

// twins is a healthy host, once to be damaged and once as its own baseline.
type twins struct {
	s, base         *facts.Snapshot
	byCheck, byBase map[string]bool // what is said of the undamaged host
}

// snapshots are the snapshots of constructed hosts as JSON, each made once.
var snapshots = map[string][]byte{}

// snapshotOf is a snapshot of a constructed host that the caller may change.
func snapshotOf(t testing.TB, name string) *facts.Snapshot {
	t.Helper()
	if snapshots[name] == nil {
		_, doc := examined(t, layered(t, name, nil).Archive())
		b, err := json.Marshal(doc.Snapshot)
		if err != nil {
			t.Fatal(err)
		}
		snapshots[name] = b
	}
	s := new(facts.Snapshot)
	if err := json.Unmarshal(snapshots[name], s); err != nil {
		t.Fatal(err)
	}
	return s
}

func newTwins(t testing.TB, name string) *twins {
	t.Helper()
	tw := &twins{base: snapshotOf(t, name), s: snapshotOf(t, name)}
	tw.byCheck, tw.byBase = tw.checked(), tw.compared()
	return tw
}

func (tw *twins) checked() map[string]bool {
	lines := map[string]bool{}
	checks.Run(tw.s, checks.All(), checks.Options{}, said(lines))
	return lines
}

func (tw *twins) compared() map[string]bool {
	lines := map[string]bool{}
	results, _ := expected(tw.s, Options{Baseline: tw.base})
	for _, r := range results {
		said(lines)(r)
	}
	return lines
}

// noticed reports whether anything new is said of the host as it is.
func (tw *twins) noticed() bool {
	return hasNews(tw.byCheck, tw.checked()) || hasNews(tw.byBase, tw.compared())
}

func hasNews(before, now map[string]bool) bool {
	for line := range now {
		if !before[line] {
			return true
		}
	}
	return false
}

var listIndex = regexp.MustCompile(`\[\d+\]`)

// An excuse is a damage that goes unnoticed, and why that is right.
type excuse struct {
	pattern, hows string
	used          bool
}

func (e *excuse) fits(d damage) bool {
	name := listIndex.ReplaceAllString(d.path, "[]")
	prefix, open := strings.CutSuffix(e.pattern, "*")
	return (name == e.pattern || open && strings.HasPrefix(name, prefix)) && slices.Contains(strings.Split(e.hows, ","), d.how)
}

// excuses reads the reviewed list: lines of "FACT HOW[,HOW]: REASON", where a
// fact may end in "*".
func excuses(t *testing.T) []*excuse {
	b, err := os.ReadFile(hostsDir + "/unnoticed.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []*excuse
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		what, reason, ok := strings.Cut(line, ": ")
		pattern, hows, ok2 := strings.Cut(what, " ")
		if !ok || !ok2 || len(reason) < 20 {
			t.Fatalf("unnoticed.txt: %q is not FACT HOW: REASON", line)
		}
		list = append(list, &excuse{pattern: pattern, hows: hows})
	}
	return list
}

const (
	wantNoticed = 95 // percent of all damages, the excused among those missed
	// samples is how many damages of one kind a short run does.
	samples = 1
)

// TestDamageIsNoticed damages each healthy host in every fact that a check
// reads and judges it beside its healthy twin as the baseline.
func TestDamageIsNoticed(t *testing.T) {
	list := excuses(t)
	done := map[string]int{}
	total, caught := 0, 0
	for _, name := range healthyNames(t) {
		tw := newTwins(t, name)
		for _, d := range damages(tw.s, false) {
			kind := d.kind + " " + d.how
			if done[kind]++; testing.Short() && done[kind] > samples {
				continue
			}
			d.do()
			noticed := tw.noticed()
			d.undo()
			total++
			if noticed {
				caught++
				continue
			}
			if i := slices.IndexFunc(list, func(e *excuse) bool { return e.fits(d) }); i >= 0 {
				list[i].used = true
				continue
			}
			t.Errorf("%s: %s %s is not noticed and has no line in unnoticed.txt", name, d.path, d.how)
		}
		if hasNews(tw.byCheck, tw.checked()) {
			t.Fatalf("%s: a damage was not taken back", name)
		}
	}
	t.Logf("%d of %d damages are noticed (%.1f %%)", caught, total, 100*float64(caught)/float64(total))
	if testing.Short() {
		if total < 500 {
			t.Errorf("%d damages, want more than 500", total)
		}
		return // A sample weighs the kinds otherwise.
	}
	for _, e := range list {
		if !e.used {
			t.Errorf("unnoticed.txt: %s %s excuses nothing any more", e.pattern, e.hows)
		}
	}
	if caught*100 < total*wantNoticed || total < 9000 {
		t.Errorf("%d of %d damages are noticed, want %d %% of at least 9000", caught, total, wantNoticed)
	}
	fmt.Printf("damages noticed with the baseline: %d of %d, %.1f %%\n", caught, total, 100*float64(caught)/float64(total))
}
