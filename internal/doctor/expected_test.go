package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/baseline"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
	"github.com/rdmadoctor/rdmadoctor/internal/policy"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// against examines a constructed host with what it should be like.
func against(t *testing.T, name string, was *facts.Snapshot, pol *policy.Policy) (report.Summary, *report.Document) {
	t.Helper()
	var fold report.Fold
	opt := Options{Host: fixture.Host(layered(t, name, nil).Archive()), Origin: facts.Live, Baseline: was, Policy: pol}
	sum, err := Examine(t.Context(), opt, &fold)
	if err != nil {
		t.Fatal(err)
	}
	return sum, fold.Document()
}

// result is the result with that id.
func result(doc *report.Document, id string) checks.Result {
	if i := slices.IndexFunc(doc.Checks, func(r checks.Result) bool { return r.ID == id }); i >= 0 {
		return doc.Checks[i]
	}
	return checks.Result{}
}

// A healthy host is as it was a moment ago, and as the policy that was made
// from it says.
func TestHealthyHostsAreAsExpected(t *testing.T) {
	for _, name := range healthyNames(t) {
		alone, doc := examined(t, layered(t, name, nil).Archive())
		sum, got := against(t, name, doc.Snapshot, policy.From(doc.Snapshot))
		for _, id := range []string{baseline.ID, policy.ID} {
			if r := result(got, id); r.Status != checks.Passed || len(r.Findings) > 0 {
				t.Errorf("%s: %s is %q (%s %q) with %+v", name, id, r.Status, r.Reason, r.Unread, r.Findings)
			}
		}
		if sum.ExitCode != alone.ExitCode || sum.Info != alone.Info {
			t.Errorf("%s: exit %d with %d findings of information, and %d with %d without what it should be like: %s",
				name, sum.ExitCode, sum.Info, alone.ExitCode, alone.Info, top(got))
		}
	}
}

// Beside its healthy twin a sick host shows what changed, and the cause stays
// on top.
func TestSickHostsChanged(t *testing.T) {
	changed := 0
	for _, name := range hostNames(t) {
		twin, sick := strings.CutSuffix(name, "-sick")
		if !sick || !slices.Contains(hostNames(t), twin) {
			continue
		}
		_, doc := examined(t, layered(t, twin, nil).Archive())
		_, got := against(t, name, doc.Snapshot, nil)
		r := result(got, baseline.ID)
		l := layered(t, name, nil)
		if !asWanted(l, first(l, got)) {
			t.Errorf("%s: the first diagnosis is %s, want %s", name, top(got), l.Want)
		}
		if len(r.Findings) > 0 || len(r.Unread) > 0 {
			changed++
		}
		t.Logf("%s: %s, %d findings, unread %q", name, r.Status, len(r.Findings), r.Unread)
	}
	if changed < 15 {
		t.Errorf("%d sick hosts differ from their twins", changed)
	}
}

// What the user asks for is looked at, and nothing else.
func TestExpectedIsSelected(t *testing.T) {
	_, doc := examined(t, layered(t, "mlx5-roce-8x400g", nil).Archive())
	was := doc.Snapshot
	for _, tc := range []struct {
		opt  Options
		want bool
	}{
		{Options{}, true},
		{Options{Only: []string{baseline.ID}}, true},
		{Options{Only: []string{"group"}}, true},
		{Options{Only: []string{"device-missing"}}, true},
		{Options{Only: []string{"driver"}}, false},
		{Options{Skip: []string{baseline.ID}}, false},
		{Options{Skip: []string{"group"}}, false},
		{Options{Device: was.Devices[0].Name}, false}, // Another one is gone.
	} {
		now := *was
		now.Devices = slices.Delete(slices.Clone(was.Devices), 1, 2)
		tc.opt.Baseline = was
		results, _ := expected(&now, tc.opt)
		found := slices.ContainsFunc(results, func(r checks.Result) bool {
			return slices.ContainsFunc(r.Findings, func(f checks.Finding) bool { return f.Code == "device-missing" })
		})
		if found != tc.want {
			t.Errorf("--only %q --skip %q --device %q: found %v, want %v", tc.opt.Only, tc.opt.Skip, tc.opt.Device, found, tc.want)
		}
	}
}
