package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// obeyed are runes that encoding/json does not escape and a terminal obeys.
const obeyed = "a\x7f\u009b31m\u0085\u200e\u202eb\U000e0001\x1b[0m\t\u2028é漢😀"

func TestJSONHasNoControls(t *testing.T) {
	ms := []Message{
		{Run: &Run{SchemaVersion: SchemaVersion, Host: obeyed}},
		{Error: &Error{Kind: InternalError, Message: obeyed}},
		{Summary: &Summary{Status: StatusError, ExitCode: ExitInternal}},
	}
	var doc, stream bytes.Buffer
	if err := JSON(&doc, folded(ms)); err != nil {
		t.Fatal(err)
	}
	if err := send(ms, NewJSONL(&stream)); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{doc.String(), stream.String()} {
		if i := strings.IndexFunc(out, unprintable); i >= 0 {
			t.Errorf("unprintable %q in %q", out[i:i+4], out)
		}
		if !strings.Contains(out, `a\u007f\u009b31m\u0085\u200e\u202eb\udb40\udc01\u001b[0m\t\u2028é漢😀`) {
			t.Errorf("text is escaped otherwise: %s", out)
		}
		var back Fold
		if err := Replay(strings.NewReader(out), &back); err != nil {
			t.Fatal(err)
		}
		if d := back.Document(); d.Host != obeyed || d.Error.Message != obeyed {
			t.Errorf("came back as %q, %q, want %q", d.Host, d.Error.Message, obeyed)
		}
	}
}

func unprintable(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }

func FuzzEscapeJSON(f *testing.F) {
	f.Add(obeyed)
	f.Add("\xff\xfe\xc2")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		var out bytes.Buffer
		if err := NewEncoder(&out).Encode(s); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexFunc(out.String(), unprintable); i >= 0 {
			t.Errorf("unprintable in %q", out.String())
		}
		var back string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(s, ""); back != want && want == s {
			t.Errorf("%q came back as %q", s, back)
		}
	})
}
