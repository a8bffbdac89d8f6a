package knowledge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

const goodPage = `---
code: pfc-off
title: A title
confidence: likely
impact: degraded
explains:
  port: [loss-retransmit]
fix:
  - command: dcb pfc set dev {netdev} prio-pfc {priority}:on
    where: host
    disrupts: nothing
    changes: a setting
    persistent: false
    if: "netdev, !other"
verify:
  - dcb pfc show dev {netdev}
  - {command: mlnx_qos -i x, if: driver=mlx5}
references:
  - dcb-pfc(8)
  - https://example.org/a
---

## Symptom
It hurts.

## Cause
Because.

## Notes
More.
`

func TestParsePage(t *testing.T) {
	p, err := parsePage("pfc-off.md", []byte(goodPage))
	if err != nil {
		t.Fatal(err)
	}
	if p.Symptom != "It hurts." || p.Cause != "Because." || p.Notes != "More." || p.Layer.String() != "lossless" ||
		len(p.Fix) != 1 || len(p.Verify) != 2 || p.Verify[1].If != "driver=mlx5" || p.Verify[0].Command != "dcb pfc show dev {netdev}" {
		t.Errorf("%+v", p)
	}
}

func TestParsePageErrors(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"no front matter", goodPage, "hello", "x.md:1: want"},
		{"front matter not closed", "\n---\n\n##", "\n\n##", "x.md:1: front matter"},
		{"unknown key", "impact:", "impakt:", "x.md:5: "},
		{"unknown key in a step", "    where: host", "    were: host", "x.md:10: "},
		{"unknown key in a line", "if: driver=mlx5}", "when: driver=mlx5}", "x.md:17: "},
		{"duplicate key", "impact: degraded", "impact: degraded\nimpact: down", "x.md:6: "},
		{"bad YAML", "title: A title", "title: [A", "x.md:"},
		{"unknown code", "code: pfc-off", "code: pfc-of", `x.md:2: code "pfc-of"`},
		{"retired code", "code: pfc-off", "code: bad-link", `x.md:2: code "bad-link"`},
		{"period", "title: A title", "title: A title.", "x.md:3: title"},
		{"long title", "A title", strings.Repeat("a", titleMax+1), "x.md:3: title"},
		{"confidence", "likely", "sure", "x.md:4: confidence"},
		{"impact", "impact: degraded", "impact: bad", "x.md:5: impact"},
		{"explains nothing known", "[loss-retransmit]", "[loss-retransmit, loss]", `x.md:7: explains "loss"`},
		{"explains itself", "[loss-retransmit]", "[pfc-off]", `x.md:7: explains "pfc-off"`},
		{"place", "where: host", "where: here", `x.md:9: step 1: where "here"`},
		{"disrupts", "disrupts: nothing", "disrupts: all", `x.md:9: step 1: disrupts "all"`},
		{"no changes", "    changes: a setting\n", "", "x.md:9: step 1: changes"},
		{"command and text", "    where: host", "    text: or so\n    where: host", "x.md:9: step 1: want either"},
		{"condition", `"netdev, !other"`, `"netdev && other"`, "x.md:9: step 1: condition"},
		{"quote", "dcb pfc show dev {netdev}", "dcb 'pfc", "x.md:16: verify 1: command"},
		{"reference", "https://example.org/a", "http://example.org/a", "x.md:20: reference"},
		{"no references", "references:\n  - dcb-pfc(8)\n  - https://example.org/a\n", "", "x.md:2: references"},
		{"section", "## Notes", "## Note", `x.md:29: section "Note"`},
		{"placeholder in prose", "Because.", "Because of {netdev}.", `x.md:22: section "Cause": {netdev}: only steps`},
		{"section twice", "## Notes", "## Cause", "x.md:29: section"},
		{"order", "## Symptom", "## Notes", "x.md:26: section"},
		{"no cause", "## Cause\nBecause.\n", "", `x.md:22: section "Cause"`},
		{"text before", "\n## Symptom", "text\n## Symptom", "x.md:22: text"},
		{"other heading", "More.", "### More", "x.md:30: heading"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(goodPage, tt.old, tt.new, 1)
			if text == goodPage {
				t.Fatal("the page was not changed")
			}
			p, err := parsePage("x.md", []byte(text))
			if err == nil {
				t.Fatalf("accepted: %+v", p)
			}
			if !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestLoadPagesErrors(t *testing.T) {
	page := func(old, new string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(strings.Replace(goodPage, old, new, 1))}
	}
	for _, tt := range []struct {
		name string
		fs   fstest.MapFS
		want string
	}{
		{"file name", fstest.MapFS{"pfc-on.md": page("", "")}, "pfc-on.md:2: code"},
		{"every error", fstest.MapFS{"a.md": page("A title", "A."), "b.md": page("A title", "B.")}, "b.md:3: title"},
		{"circle", fstest.MapFS{
			"pfc-off.md": page("", ""),
			"loss-retransmit.md": {Data: []byte(strings.NewReplacer("code: pfc-off", "code: loss-retransmit",
				"[loss-retransmit]", "[ack-timeout]").Replace(goodPage))},
			"ack-timeout.md": {Data: []byte(strings.NewReplacer("code: pfc-off", "code: ack-timeout",
				"[loss-retransmit]", "[pfc-off]").Replace(goodPage))},
		}, "explains goes in a circle: ack-timeout -> pfc-off -> loss-retransmit -> ack-timeout"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := loadPages(tt.fs)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
	if _, err := loadPages(fstest.MapFS{"pfc-off.md": page("\n", "\r\n")}); err != nil {
		t.Errorf("CRLF: %v", err)
	}
}

// FuzzParsePage: no text makes the reader fail otherwise than with an error
// that names the file, and what it accepts can be shown.
func FuzzParsePage(f *testing.F) {
	f.Add([]byte(goodPage))
	for _, name := range []string{"pfc-off.md", "memlock-low.md", "no-rdma-device.md"} {
		b, err := os.ReadFile(filepath.Join("pitfalls", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Add([]byte("---\n---\n"))
	f.Add([]byte("---\n- a\n---\n## Symptom\nx\n## Cause\ny\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := parsePage("x.md", normal(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x.md:") {
				t.Fatalf("error without a place: %v", err)
			}
			return
		}
		if p.Text(78) == "" {
			t.Fatal("accepted and shows nothing")
		}
	})
}
