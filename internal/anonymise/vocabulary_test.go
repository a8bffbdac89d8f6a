package anonymise

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/flight"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

var (
	anyWord   = regexp.MustCompile(`[A-Za-z0-9_][A-Za-z0-9_.:+-]{2,30}`)
	loginName = regexp.MustCompile(`^[a-z_][a-z0-9_-]{1,10}[a-z0-9]$`)
)

// wordsOf are all words of a host: of its paths, and of what is in its files,
// with the kernel log or without.
func wordsOf(samples []flight.Sample, withLog bool) []string {
	all := map[string]bool{}
	for _, s := range samples {
		for k, res := range s.Results {
			if kind, _ := opOf(k); kind == hostio.KernelLog && !withLog {
				continue
			}
			for _, w := range anyWord.FindAllString(k+" "+string(res.Data), -1) {
				all[w] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// beside adds answers that nobody asks for, from which only names are learned.
func beside(samples []flight.Sample, extra map[string]string) []flight.Sample {
	out := slices.Clone(samples)
	out[0].Results = maps.Clone(out[0].Results)
	for k, text := range extra {
		out[0].Results[k] = hostio.Result{Data: []byte(text)}
	}
	return out
}

// A host may run a program, and have a user, of any name: that the word also
// says something else somewhere changes no diagnosis.
func TestNamesThatAreWords(t *testing.T) {
	for name, samples := range hosts(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			programs, logins := map[string]string{}, map[string]string{}
			for i, w := range wordsOf(samples, true) {
				programs[fmt.Sprintf("read:/proc/%d/comm", 5_000_000+i)] = w + "\n"
			}
			for i, w := range wordsOf(samples, false) {
				if loginName.MatchString(w) {
					logins[fmt.Sprintf("read:/etc/security/limits.d/%d", i)] = w + " soft memlock 1\n"
				}
			}
			for what, extra := range map[string]map[string]string{"programs": programs, "users": logins} {
				if len(extra) < 20 {
					t.Errorf("%d %s, want more", len(extra), what)
				}
				_, out := anonymised(t, "one", beside(samples, extra))
				// In a sentence of the product such a name cannot be told from its words.
				silent := func(string) string { return "" }
				want, got := verdict(samples, silent), verdict(out, silent)
				for i := range min(len(got), len(want)) {
					if got[i] != want[i] {
						t.Errorf("%s: %q, want %q", what, got[i], want[i])
						break
					}
				}
			}
		})
	}
}
