package checks

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

func writeFile(name string, b []byte) error { return os.WriteFile(name, b, 0o644) }

var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func TestListIsValid(t *testing.T) {
	order := map[*Check]int{}
	for i, c := range All() {
		order[c] = i
	}
	// IDs, codes and layers share one namespace: --only and --skip take all three.
	names := map[string]string{}
	take := func(name, what string) {
		if had, ok := names[name]; ok {
			t.Errorf("%q is %s and %s", name, had, what)
		}
		names[name] = what
	}
	for _, l := range Layers() {
		take(l.String(), "a layer")
	}
	codes := map[string]bool{}
	for _, c := range All() {
		take(c.ID, "a check")
		if !kebab.MatchString(c.ID) {
			t.Errorf("%q is not kebab-case", c.ID)
		}
		if c.Title == "" || strings.HasSuffix(c.Title, ".") || strings.ToUpper(c.Title[:1]) == c.Title[:1] && !initialism(c.Title) {
			t.Errorf("%s: title %q: want words without capital or period", c.ID, c.Title)
		}
		if !strings.HasSuffix(c.Doc, ".") {
			t.Errorf("%s: doc %q is no sentence", c.ID, c.Doc)
		}
		if c.Run == nil || c.Layer < Driver || c.Layer > Group || len(c.Needs) == 0 || len(c.Codes) == 0 {
			t.Errorf("%s: incomplete", c.ID)
		}
		for _, r := range c.Requires {
			if order[r] >= order[c] {
				t.Errorf("%s requires %s, which runs later", c.ID, r.ID)
			}
		}
		for _, code := range c.Codes {
			codes[code] = true
			if !kebab.MatchString(code) {
				t.Errorf("%s: code %q is not kebab-case", c.ID, code)
			}
			if slices.Contains(Retired, code) {
				t.Errorf("%s: code %q is retired", c.ID, code)
			}
		}
	}
	for code := range codes {
		take(code, "a code")
	}
}

func initialism(title string) bool {
	word, _, _ := strings.Cut(title, " ")
	return len(word) > 1 && word[1] >= 'A' && word[1] <= 'Z' || strings.HasPrefix(word, "RoCE") || strings.HasPrefix(word, "InfiniBand")
}

// TestFilesFollowIDs keeps one check in one file, so that adding one touches
// nothing else.
func TestFilesFollowIDs(t *testing.T) {
	ids := map[string]bool{}
	for _, c := range All() {
		ids[c.ID] = true
		file := strings.ReplaceAll(c.ID, "-", "_") + ".go"
		b, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		if n := strings.Count(string(b), "register(&Check{"); n != 1 {
			t.Errorf("%s registers %d checks, want 1", file, n)
		}
	}
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) != len(ids) {
		t.Errorf("%d scenario files for %d checks (%v)", len(files), len(ids), err)
	}
	for _, f := range files {
		if id := strings.TrimSuffix(filepath.Base(f), ".txtar"); !ids[id] {
			t.Errorf("%s belongs to no check", f)
		}
	}
}

// TestScenariosCoverTheList demands of each check a scenario that passes, one
// that does not, and one where it could not look; that declared sources and
// codes are those met; and that findings carry what they must.
func TestScenariosCoverTheList(t *testing.T) {
	status := map[string]map[Status]bool{}
	found := map[string]bool{}
	reads := map[string]map[facts.Source]bool{}
	codes := map[string]map[string]bool{}
	for _, c := range All() {
		status[c.ID], reads[c.ID], codes[c.ID] = map[Status]bool{}, map[facts.Source]bool{}, map[string]bool{}
	}
	for _, sc := range scenarios(t) {
		r, touched := sc.run(sc.snapshot(t))
		id := sc.check.ID
		status[id][r.Status] = true
		for _, src := range touched {
			reads[id][src] = true
			if !slices.Contains(sc.check.Needs, src) && !slices.Contains(sc.check.Uses, src) {
				t.Errorf("%s %s reads %s without saying so", id, sc.name, src)
			}
		}
		for _, f := range r.Findings {
			found[id], codes[id][f.Code] = true, true
			if !slices.Contains(sc.check.Codes, f.Code) {
				t.Errorf("%s %s reports %s without declaring it", id, sc.name, f.Code)
			}
			if f.Subject == "" || f.Message == "" || len(f.Evidence) == 0 || f.Where == (Where{}) && f.Subject != hostSubject && f.Params["unit"] == "" {
				t.Errorf("%s %s: %s lacks subject, message, evidence or place: %+v", id, sc.name, f.Code, f)
			}
			for _, e := range f.Evidence {
				if e.Source == "" || e.Value == "" {
					t.Errorf("%s %s: %s: evidence %+v is half empty", id, sc.name, f.Code, e)
				}
			}
			if strings.HasSuffix(f.Message, ".") || strings.Contains(f.Message, "%!") {
				t.Errorf("%s %s: message %q", id, sc.name, f.Message)
			}
			checkParams(t, id+" "+sc.name, f)
		}
	}
	for _, c := range All() {
		if !status[c.ID][Passed] {
			t.Errorf("%s has no scenario that passes", c.ID)
		}
		if !found[c.ID] {
			t.Errorf("%s has no scenario with a finding", c.ID)
		}
		if !status[c.ID][Unknown] {
			t.Errorf("%s has no scenario where it cannot look", c.ID)
		}
		for _, src := range slices.Concat(c.Needs, c.Uses) {
			if !reads[c.ID][src] {
				t.Errorf("%s says that it reads %s and never does", c.ID, src)
			}
		}
		for _, code := range c.Codes {
			if !codes[c.ID][code] {
				t.Errorf("%s declares %s and no scenario shows it", c.ID, code)
			}
		}
	}
}

// checkParams compares a finding's parameters with what Params promises.
func checkParams(t *testing.T, where string, f Finding) {
	t.Helper()
	always, sometimes, ok := ParamsOf(f.Code)
	if !ok {
		t.Errorf("%s: no Params for %s", where, f.Code)
		return
	}
	for _, name := range always {
		if f.Params[name] == "" {
			t.Errorf("%s: %s lacks the parameter %s", where, f.Code, name)
		}
	}
	for name := range f.Params {
		if !slices.Contains(always, name) && !slices.Contains(sometimes, name) {
			t.Errorf("%s: %s gives the parameter %s, which Params does not name", where, f.Code, name)
		}
	}
}

// TestParamsNameCodes: each code of a check has its parameters listed, and
// checks that share a code list the same.
func TestParamsNameCodes(t *testing.T) {
	listed := map[string]string{}
	for _, c := range All() {
		for _, code := range c.Codes {
			if _, ok := c.Params[code]; !ok {
				t.Errorf("%s does not list the parameters of %s", c.ID, code)
			}
		}
		for code, words := range c.Params {
			if !slices.Contains(c.Codes, code) {
				t.Errorf("%s lists parameters of %s, which it does not report", c.ID, code)
			}
			if had, ok := listed[code]; ok && had != words {
				t.Errorf("%s lists %q for %s, another check %q", c.ID, words, code, had)
			}
			listed[code] = words
		}
	}
}

// TestEmptySnapshotNeverPasses: a check that has seen nothing calls nothing
// healthy, whether the sources are missing or merely empty.
func TestEmptySnapshotNeverPasses(t *testing.T) {
	empty := &facts.Snapshot{}
	bare := &facts.Snapshot{}
	for _, c := range All() {
		bare.Sources = append(bare.Sources, c.Needs...)
		bare.Sources = append(bare.Sources, c.Uses...)
	}
	for _, s := range []*facts.Snapshot{empty, bare} {
		Run(s, All(), Options{}, func(r Result) {
			if r.Status == Passed {
				t.Errorf("%s passes with %d sources and nothing in them", r.ID, len(s.Sources))
			}
			if r.Status != Passed && r.Reason == "" && len(r.Findings) == 0 {
				t.Errorf("%s: %s without a reason", r.ID, r.Status)
			}
		})
	}
}

// TestOrderDoesNotMatter judges each scenario with its lists turned round.
func TestOrderDoesNotMatter(t *testing.T) {
	for _, sc := range scenarios(t) {
		want, _ := sc.run(sc.snapshot(t))
		s := sc.snapshot(t)
		slices.Reverse(s.Devices)
		slices.Reverse(s.Netdevs)
		slices.Reverse(s.CharDevs)
		slices.Reverse(s.Neighbors)
		slices.Reverse(s.PCI)
		slices.Reverse(s.Modules)
		slices.Reverse(s.Processes)
		slices.Reverse(s.Units)
		for i := range s.Devices {
			slices.Reverse(s.Devices[i].Ports)
		}
		got, _ := sc.run(s)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s %s depends on order (-want +got):\n%s", sc.check.ID, sc.name, d)
		}
	}
}

// TestRunDoesNotChangeTheSnapshot: checks are pure.
func TestRunDoesNotChangeTheSnapshot(t *testing.T) {
	opt := cmp.Exporter(func(_ reflect.Type) bool { return true })
	for _, sc := range scenarios(t) {
		s := sc.snapshot(t)
		sc.run(s)
		if d := cmp.Diff(sc.snapshot(t), s, opt); d != "" {
			t.Errorf("%s %s changes the snapshot (-before +after):\n%s", sc.check.ID, sc.name, d)
		}
	}
}
