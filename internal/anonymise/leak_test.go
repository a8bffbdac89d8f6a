package anonymise

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
	"github.com/rdmadoctor/rdmadoctor/internal/flight"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// hosts are all constructed hosts of the repository that are read as a host is,
// as the samples that a recording of each has.
func hosts(t testing.TB) map[string][]flight.Sample {
	t.Helper()
	all := map[string][]flight.Sample{}
	add := func(name string, a *fixture.Archive) {
		h := fixture.Host(a)
		var samples []flight.Sample
		for _, at := range h.Times() {
			s, _ := flight.Take(t.Context(), struct{ hostio.Host }{h})
			s.Began = at
			samples = append(samples, s)
			h.NextSample()
		}
		all[name] = samples
	}
	for _, file := range matches(t, "../collect/testdata/*.txtar") {
		a, err := fixture.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		add("collect "+nameOf(file), a)
	}
	const dir = "../doctor/testdata/hosts/"
	for _, file := range matches(t, dir+"*.txtar") {
		if testing.Short() && !strings.HasSuffix(file, "-sick.txtar") { // Their healthy twins are much the same.
			continue
		}
		l, err := fixture.Layer(nameOf(file), func(name string) (string, error) {
			b, err := os.ReadFile(dir + name + ".txtar")
			return string(b), err
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		add(nameOf(file), l.Archive())
	}
	if least := map[bool]int{false: 50, true: 25}[testing.Short()]; len(all) < least {
		t.Fatalf("%d constructed hosts, want at least %d", len(all), least)
	}
	return all
}

func matches(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func nameOf(file string) string { return strings.TrimSuffix(filepath.Base(file), ".txtar") }

func anonymised(t testing.TB, secret string, samples []flight.Sample) (*Anonymiser, []flight.Sample) {
	t.Helper()
	a := New(secret)
	for _, s := range samples {
		a.Learn(s)
	}
	if err := a.Ready(); err != nil {
		t.Fatal(err)
	}
	var out []flight.Sample
	for _, s := range samples {
		out = append(out, a.Replace(s))
	}
	return a, out
}

// verdict is what the checks and the knowledge say, a line each, with subjects
// and sentences as rename has them.
func verdict(samples []flight.Sample, rename func(string) string) (lines []string) {
	return judged(flight.Snapshot(context.Background(), samples...), rename)
}

// judged is verdict of a snapshot.
func judged(s *facts.Snapshot, rename func(string) string) (lines []string) {
	var results []checks.Result
	checks.Run(s, checks.All(), checks.Options{}, func(r checks.Result) {
		results = append(results, r)
		lines = append(lines, fmt.Sprintf("%s %s examined %d unread %d", r.ID, r.Status, r.Examined, len(r.Unread)))
		for _, f := range r.Findings {
			lines = append(lines, fmt.Sprintf("  %s %s %s %s %d: %s", f.Code, f.Severity, f.Confidence, rename(f.Subject), len(f.Evidence),
				rename(f.Message)))
		}
	})
	for _, d := range knowledge.Explain(results, nil) {
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s %d", d.Code, d.Severity, d.Confidence, d.Impact, rename(d.Subject), len(d.Findings)))
	}
	return append(lines, fmt.Sprintf("%d devices, %d netdevs, %d routes, %d processes, %d gaps", len(s.Devices), len(s.Netdevs), len(s.Routes),
		len(s.Processes), len(s.Gaps)))
}

// sortedWords puts the words of a sentence in an order of their own: what a
// check lists by name comes in another order under other names.
func sortedWords(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' })
	slices.Sort(words)
	return strings.Join(words, " ")
}

// said is a sentence of the product with all names in it replaced.
func said(a *Anonymiser, s string) string {
	return a.without(s, a.words, newWordSet(a.processes, true))
}

// A host without its names has the same diagnoses.
func TestDiagnosesStay(t *testing.T) {
	for name, samples := range hosts(t) {
		t.Run(name, func(t *testing.T) {
			secrets := []string{"one", "two"}
			if testing.Short() {
				secrets = secrets[:1]
			}
			for _, secret := range secrets {
				a, out := anonymised(t, secret, samples)
				want := verdict(samples, func(s string) string { return sortedWords(said(a, s)) })
				got := verdict(out, sortedWords)
				if !slices.Equal(got, want) {
					for i := range min(len(got), len(want)) {
						if got[i] != want[i] {
							t.Errorf("secret %s: %q, want %q", secret, got[i], want[i])
						}
					}
				}
			}
		})
	}
}

// Nothing that names the host, its cards or its people is left in any form.
func TestNothingLeaks(t *testing.T) {
	looked := 0
	for name, samples := range hosts(t) {
		t.Run(name, func(t *testing.T) {
			a, out := anonymised(t, "one", samples)
			var all bytes.Buffer
			for _, s := range out {
				for _, dump := range []string{"address-dump", "neighbour-dump", "route-dump-ipv4", "rule-dump"} {
					data := s.Results["netlink:route/"+dump].Data
					for i := 0; i+8 <= len(data); i += 4 { // An attribute of four bytes.
						if data[i] == 8 && data[i+1] == 0 && a.known[string(data[i+4:i+8])] {
							t.Errorf("%s has %v still", dump, data[i+4:i+8])
						}
					}
				}
				for _, k := range slices.Sorted(maps.Keys(s.Results)) {
					fmt.Fprintf(&all, "%s\n%s\n", k, s.Results[k].Data)
				}
			}
			raw, text := all.String(), strings.ToLower(all.String())
			for id := range a.known {
				turned := []byte(id)
				slices.Reverse(turned)
				for _, form := range []string{id, string(turned)} {
					looked++
					// Four bytes are any number; they are looked at above.
					if i := strings.Index(raw, form); i >= 0 && len(id) > 4 {
						t.Errorf("%x is left as bytes in %q", id, raw[max(0, i-40):min(len(raw), i+40)])
					}
				}
				for _, form := range forms([]byte(id)) {
					looked++
					if i := strings.Index(text, form); i >= 0 && !number(text, i, form) {
						t.Errorf("%x is left as %q in %q", id, form, text[max(0, i-60):min(len(text), i+60)])
					}
				}
			}
			for w := range a.dictionary {
				looked++
				if i := strings.Index(text, strings.ToLower(w)); i >= 0 {
					t.Errorf("%q is left in %q", w, text[max(0, i-60):min(len(text), i+60)])
				}
			}
			for _, mark := range []string{"\x00" + "0\x01"} {
				if strings.Contains(all.String(), mark) {
					t.Errorf("a hole %q was not filled", mark)
				}
			}
		})
	}
	if looked < 1000 {
		t.Errorf("%d forms were looked for, want what the hosts hold", looked)
	}
}

// forms are the ways in which an identifier can be written out.
func forms(id []byte) []string {
	digits := hex.EncodeToString(id)
	sep := func(n int, by string) string {
		var parts []string
		for i := 0; i < len(digits); i += n {
			parts = append(parts, digits[i:i+n])
		}
		return strings.Join(parts, by)
	}
	out := []string{sep(2, ":"), sep(2, "-"), digits}
	switch len(id) {
	case 4:
		ip := netip.AddrFrom4([4]byte(id))
		out = []string{ip.String(), "ffff:" + sep(4, ":")}
	case 8:
		out = append(out, sep(4, ":"))
	case 16:
		out = append(out, sep(4, ":"), netip.AddrFrom16([16]byte(id)).String())
	}
	return out
}

// number reports whether what was found is part of something longer, such as
// the digits of another number.
func number(text string, at int, form string) bool {
	before, after := byte(' '), byte(' ')
	if at > 0 {
		before = text[at-1]
	}
	if end := at + len(form); end < len(text) {
		after = text[end]
	}
	part := func(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }
	return part(before) || part(after) || after == '.' && at+len(form)+1 < len(text) && part(text[at+len(form)+1]) && strings.Contains(form, ".")
}
