package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

func written(t testing.TB, write func(io.Writer, *Document) error, d *Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFurtherFormatsGolden(t *testing.T) {
	for name, ms := range streams() {
		golden(t, name+".md", written(t, Markdown, folded(ms)))
		golden(t, name+".prom", written(t, Prometheus, folded(ms)))
		golden(t, name+".nagios", written(t, Nagios, folded(ms)))
		golden(t, name+".xml", written(t, JUnit, folded(ms)))
	}
}

// expositionLine is a comment or a sample as the format's grammar has it.
var expositionLine = regexp.MustCompile(`^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z_]+="([^"\\\n]|\\[\\"n])*"(,[a-z_]+="([^"\\\n]|\\[\\"n])*")*\})? [-+.e0-9]+)$`)

// nagiosLine is one line of text and performance data, which the one bar parts.
var nagiosLine = regexp.MustCompile(`^RDMA (OK|WARNING|CRITICAL|UNKNOWN): [^|\n]{0,510} \| time=[0-9.]+s;;;0( [a-z]+=[0-9]+;;;0){6}\n$`)

func TestNagiosCode(t *testing.T) {
	for in, want := range map[int]int{0: 0, 1: 1, 2: 2, 3: 3, ExitUsage: 3, ExitInternal: 3, ExitInterrupted: 3, -1: 3} {
		if got := NagiosCode(in); got != want {
			t.Errorf("NagiosCode(%d) = %d, want %d", in, got, want)
		}
	}
}

// With --fail-on fail CI is not to fail for a warning, and is told of it.
func TestJUnitForgivesWarnings(t *testing.T) {
	r := []checks.Result{{ID: "a", Layer: checks.Link, Status: checks.Warned, Findings: []checks.Finding{
		{Code: "link-flapping", Severity: checks.Warn, Subject: "mlx5_0/1", Message: "it flaps"}}}}
	for failOn, want := range map[checks.Severity]int{checks.Warn: 1, checks.Fail: 0} {
		d := &Document{Checks: r, Summary: Summarize(r, nil, nil, failOn)}
		x := written(t, JUnit, d)
		if got := strings.Count(x, "<failure"); got != want || !strings.Contains(x, "it flaps") {
			t.Errorf("--fail-on %s: %d failures, want %d:\n%s", failOn, got, want, x)
		}
	}
}

// Whatever a host writes into any field, each format keeps its form.
func FuzzFormats(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b[31m\"\\\n\r\t\x00\xff]]>&<b>`|*_#[x](y)\u202e")
	f.Add("``` ```` | \\")
	f.Fuzz(func(t *testing.T, s string) {
		d := folded(hostile(s))
		seen := map[string]bool{}
		for line := range strings.Lines(written(t, Prometheus, d)) {
			line = strings.TrimSuffix(line, "\n")
			if !expositionLine.MatchString(line) {
				t.Errorf("no line of the exposition format: %q", line)
			}
			series, _, _ := strings.Cut(line, "} ")
			if seen[series] {
				t.Errorf("twice: %q", series)
			}
			seen[series] = true
		}
		x := xml.NewDecoder(strings.NewReader(written(t, JUnit, d)))
		for {
			if _, err := x.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("no XML: %v", err)
			}
		}
		line := written(t, Nagios, d)
		if !nagiosLine.MatchString(line) {
			t.Errorf("no plugin's line: %q", line)
		}
		md := written(t, Markdown, d)
		if i := strings.IndexFunc(md, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("unprintable rune at %d: %q", i, md[max(0, i-20):min(len(md), i+20)])
		}
		_, table, _ := strings.Cut(md, "\n## Checks\n\n")
		table, _, _ = strings.Cut(table, "\n\n")
		for line := range strings.Lines(table) {
			if len(regexp.MustCompile(`(^|[^\\])(\\\\)*\|`).FindAllString(line, -1)) != 5 {
				t.Errorf("a row that has not 4 columns: %q", line)
			}
		}
	})
}

func TestEscapeMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"mlx5_0/1":        `mlx5\_0/1`,
		"# heading":       `\# heading`,
		"a|b":             `a\|b`,
		"<img src=x> & y": "&lt;img src=x> &amp; y",
		"[x](http://y)":   `\[x\](http://y)`,
		"a\nb":            "a b",
	} {
		if got := escapeMarkdown(in); got != want {
			t.Errorf("escapeMarkdown(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCode(t *testing.T) {
	for in, want := range map[string]string{"a": "`a`", "a`b": "``a`b``", "`": "`` ` ``", "": "(empty)"} {
		if got := code(in); got != want {
			t.Errorf("code(%q) = %s, want %s", in, got, want)
		}
	}
}
