package report

import (
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// NewEncoder writes JSON to w that is safe to look at on a terminal.
// encoding/json escapes the C0 controls, and lets DEL, the C1 controls (U+009B
// begins an escape sequence as ESC [ does) and bidirectional overrides through.
func NewEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(escaper{w})
	e.SetEscapeHTML(false)
	return e
}

// escaper replaces what is not printable in JSON text, where it can stand in
// strings only, by its \u escape. Each Write gets whole runes, since the
// encoder writes each value at once.
type escaper struct{ w io.Writer }

// Write implements io.Writer.
func (e escaper) Write(text []byte) (int, error) {
	if _, err := e.w.Write(escapeJSON(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}

func escapeJSON(text []byte) []byte {
	var out []byte // nil as long as nothing had to be replaced
	kept := 0      // how much of text is in out
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[i:])
		}
		if r >= ' ' && r <= '~' || r == '\n' || unicode.IsPrint(r) {
			i += n
			continue
		}
		out = append(out, text[kept:i]...)
		if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		} else {
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += n
		kept = i
	}
	if kept == 0 {
		return text
	}
	return append(out, text[kept:]...)
}
