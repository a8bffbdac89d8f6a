package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

var update = flag.Bool("update", false, "write the golden files")

func asText(t testing.TB, d *Document, opt TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, d, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it); got\n%s", path, got)
	}
}

// healthy, bare and stopped are constructed.
func healthy() []Message {
	ms := sick()
	i := slices.IndexFunc(ms, func(m Message) bool { return m.Result != nil })
	r := []checks.Result{*ms[i].Result}
	sum := Summarize(r, nil, nil, checks.Warn)
	return []Message{ms[0], {Result: &r[0]}, {Summary: &sum}}
}

func bare() []Message {
	ms := sick()
	f := checks.Finding{Code: "no-rdma-device", Severity: checks.Info, Subject: "gpu-017",
		Message: "/sys/class/infiniband is empty, wanted a device."}
	r := []checks.Result{result("rdma-device-present", checks.Skipped, f)}
	dg := []knowledge.Diagnosis{{Code: f.Code, Severity: checks.Info, Layer: checks.Driver, Subject: f.Subject,
		Title: "no RDMA device of any kind is on this host", Message: f.Message, Impact: knowledge.Down, Confidence: checks.Proved}}
	sum := Summarize(r, dg, nil, checks.Warn)
	return []Message{ms[0], {Result: &r[0]}, {Diagnosis: &dg[0]}, {Summary: &sum}}
}

// streams are the constructed runs that every format has a golden file of.
func streams() map[string][]Message {
	return map[string][]Message{"sick": sick(), "healthy": healthy(), "bare": bare(), "period": period(), "cut": sick()[:10]}
}

func TestGolden(t *testing.T) {
	for name, ms := range streams() {
		golden(t, name+".txt", asText(t, folded(ms), TextOptions{}))
		golden(t, name+".json", asJSON(t, folded(ms)))
		golden(t, name+".jsonl", asJSONL(t, ms))
	}
	golden(t, "sick-colour.txt", asText(t, folded(sick()), TextOptions{Color: true}))
}

func TestTextFits(t *testing.T) {
	for _, width := range []int{60, 80, 120} {
		for n := range sick() {
			text := asText(t, folded(sick()[:n]), TextOptions{Width: width, Color: n%2 == 0})
			for line := range strings.Lines(text) {
				if w := ansi.StringWidth(strings.TrimSuffix(line, "\n")); w > width {
					t.Errorf("%d cells in a report of %d: %q", w, width, line)
				}
			}
		}
	}
}

func TestFirstLineIsTheAdvice(t *testing.T) {
	for word, ms := range map[string][]Message{"drain: ": sick(), "keep: ": healthy(), "not RDMA: ": bare(), "unknown: ": nil} {
		if text := asText(t, folded(ms), TextOptions{}); !strings.HasPrefix(text, word) {
			t.Errorf("report begins with %q, want %q", strings.SplitN(text, "\n", 2)[0], word)
		}
	}
}

// hostile is the sick stream with s in every field that a host, a page or a
// saved report fills.
func hostile(s string) []Message {
	ms := sick()
	for _, m := range ms {
		switch {
		case m.Run != nil:
			m.Run.Host, m.Run.Tool.Version, m.Run.Origin = s, s, s
		case m.Gap != nil:
			m.Gap.What, m.Gap.Detail, m.Gap.Kind = s, s, facts.GapKind(s)
		case m.Host != nil:
			m.Host.Host, m.Host.Summary = s, s
		case m.Result != nil:
			m.Result.Title, m.Result.Reason, m.Result.Unread = s, s, []string{s}
			for i := range m.Result.Findings {
				m.Result.Findings[i].Message, m.Result.Findings[i].Subject = s, s
			}
		case m.Diagnosis != nil:
			d := m.Diagnosis
			d.Title, d.Message, d.Cause, d.Symptom, d.Subjects, d.Code = s, s, s, s, []string{s}, s
			d.Evidence = []checks.Evidence{{Source: s, Value: s}}
			d.Fix = []knowledge.Step{{Command: s, Text: s, Where: knowledge.Place(s), Changes: s}}
			d.Verify, d.References = []string{s}, []string{s}
		case m.Summary != nil:
			m.Summary.AdviceReason, m.Summary.Status, m.Summary.Advice = s, s, Advice(s)
		}
	}
	return ms
}

// Whatever a host writes into any field, the text report has printable runes
// and line breaks only.
func FuzzTextIsPrintable(f *testing.F) {
	f.Add("plain", 80)
	f.Add("\x1b]0;title\x07\x1b[31mred\x9b2J\r\n\x00\u202e\u2066\xff\xc0", 60)
	f.Add("a\u0300\u200d\U0001f468\u200d\U0001f469 wide 漢字 "+strings.Repeat("x", 300), 40)
	f.Fuzz(func(t *testing.T, s string, width int) {
		text := asText(t, folded(hostile(s)), TextOptions{Width: width})
		if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("unprintable rune at %d: %q", i, text[max(0, i-20):min(len(text), i+20)])
		}
	})
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"eth0":            "eth0",
		"größe 漢字":        "größe 漢字",
		"a\tb\nc":         "a b c",
		"\x1b[2J":         `\x1b[2J`,
		"\u009b2J":        `\u009b2J`,
		"a\x00\x7f":       `a\x00\x7f`,
		"\u202egpj.exe":   `\u202egpj.exe`,
		"bad\xff\xfeutf8": `bad\xff\xfeutf8`,
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWrapCommand(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     []string
	}{
		{"fits", "ip link set eth0 up", []string{"ip link set eth0 up"}},
		{"long", "mlnx_qos -i ens6f0np0 --pfc 0,0,0,1 --trust dscp",
			[]string{`mlnx_qos -i ens6f0np0 --pfc \`, `  0,0,0,1 --trust dscp`}},
		{"never inside quotes", `printf 'a long line that cannot be broken anywhere' > f`,
			[]string{`printf \`, `  'a long line that cannot be broken anywhere' > f`}},
		{"no blank", strings.Repeat("x", 50), []string{strings.Repeat("x", 50)}},
		{"not behind a comment", "ip link set eth0 up # this is why it is done",
			[]string{`ip link set eth0 up \`, `  # this is why it is done`}},
	} {
		if got := wrapCommand(tc.in, 30); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// A text shows what weighs most of a long timeline, and says how much it leaves
// out.
func TestTimelineIsCut(t *testing.T) {
	d := folded(period())
	for i := range 500 {
		d.Timeline = append(d.Timeline, Event{Time: d.Timeline[0].Time.Add(time.Duration(i) * time.Second), Kind: LogEvent, Subject: "kernel", Text: "line"})
	}
	text := asText(t, d, TextOptions{})
	if !strings.Contains(text, "and 424 more: --json has them all") || !strings.Contains(text, "state ACTIVE -> DOWN") ||
		!strings.Contains(text, "[dscp-map-mismatch]") || strings.Count(text, "kernel: ") != 77 {
		t.Errorf("%d log lines of a long timeline:\n%s", strings.Count(text, "kernel: "), text)
	}
}
