package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func asJSON(t testing.TB, d *Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func asJSONL(t testing.TB, ms []Message) string {
	t.Helper()
	var b bytes.Buffer
	if err := send(ms, NewJSONL(&b)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func replayed(text string) (*Document, error) {
	var f Fold
	err := Replay(strings.NewReader(text), &f)
	return f.Document(), err
}

func TestDocumentIsTheFoldOfTheStream(t *testing.T) {
	ms := sick()
	want := asJSON(t, folded(ms))
	stream := asJSONL(t, ms)
	if n := strings.Count(stream, "\n"); n != len(ms) {
		t.Errorf("%d lines for %d messages", n, len(ms))
	}
	for name, text := range map[string]string{"jsonl": stream, "json": want} {
		d, err := replayed(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := asJSON(t, d); got != want {
			t.Errorf("%s replayed is\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestListsAreNeverNull(t *testing.T) {
	for name, d := range map[string]*Document{"empty": folded(nil), "sick": folded(sick())} {
		var m map[string]any
		if err := json.Unmarshal([]byte(asJSON(t, d)), &m); err != nil {
			t.Fatal(err)
		}
		for _, path := range nulls(m, "") {
			// Only these may be null: they are no lists.
			if !slices.Contains([]string{".error", ".measurements[].error", ".measurements[].histogram"}, path) {
				t.Errorf("%s: %s is null", name, path)
			}
		}
	}
}

func nulls(v any, path string) []string {
	switch v := v.(type) {
	case nil:
		return []string{path}
	case map[string]any:
		var all []string
		for k, e := range v {
			all = append(all, nulls(e, path+"."+k)...)
		}
		return all
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, nulls(e, path+"[]")...)
		}
		return all
	}
	return nil
}

func TestACutStreamIsClosedAsInterrupted(t *testing.T) {
	lines := strings.SplitAfter(asJSONL(t, sick()), "\n")
	for n := 1; n < len(lines)-1; n++ {
		whole := strings.Join(lines[:n], "")
		for name, text := range map[string]string{"between lines": whole, "within a line": whole + lines[n][:len(lines[n])/2]} {
			d, err := replayed(text)
			if err != nil {
				t.Fatalf("cut %s after line %d: %v", name, n, err)
			}
			if d.Error == nil || d.Error.Kind != InterruptedError || d.Summary.ExitCode != ExitInterrupted {
				t.Errorf("cut %s after line %d: error %+v, exit %d; want interrupted", name, n, d.Error, d.Summary.ExitCode)
			}
		}
	}
}

func TestReplayRefuses(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", "it is empty"},
		{"no JSON", "hello", "not a report"},
		{"another tool's JSON", `{"ports": []}`, "not a report"},
		{"a list", `[]`, "not a report"},
		{"a later major version", `{"schema_version": "2.0"}`, `schema version "2.0", this program reads 1.x`},
		{"a later stream", `{"run": {"schema_version": "7"}}`, `schema version "7"`},
		{"no verdict", `{"schema_version": "1.0", "checks": []}`, "no summary.status"},
		{"a check without a layer", `{"schema_version": "1.0", "checks": [{"id": "x"}]}`, `check "x" has no layer`},
		{"a diagnosis without a layer", `{"run": {"schema_version": "1.0"}} {"diagnosis": {"code": "y"}}`, `"y" has no layer`},
		{"cut document", asJSON(t, folded(sick()))[:2000], "line "},
		{"text where a number belongs", "{\"schema_version\": \"1.0\",\n\"duration_seconds\": \"x\"}", "line 2"},
		{"broken line", asJSONL(t, sick()[:2]) + "{]\n", "line 3"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := replayed(tc.text)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want …%s…", err, tc.want)
			}
		})
	}
}

func FuzzReplay(f *testing.F) {
	f.Add(asJSON(f, folded(sick()[:3]))) // short seeds: the fuzzer shrinks what it finds
	f.Add(asJSONL(f, append(sick()[:3:3], sick()[7])))
	f.Add(`{"schema_version": "1.0", "checks": [{"layer": "link", "findings": null}]}`)
	f.Add(`{"run": {"schema_version": "1.0"}}` + "\n" + `{"result": null}`)
	f.Add(`{"run": null, "schema_version": null}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := replayed(text)
		if err != nil {
			return
		}
		// What was read once can be read again and is the same.
		once := asJSON(t, d)
		again, err := replayed(once)
		if err != nil {
			t.Fatalf("read own report: %v\n%s", err, once)
		}
		if twice := asJSON(t, again); twice != once {
			t.Errorf("read again it is\n%s\nwas\n%s", twice, once)
		}
	})
}
