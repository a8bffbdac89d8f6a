package tui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// typographic is how ASCII spells what our own pages may use.
var typographic = strings.NewReplacer("→", "->", "←", "<-", "–", "-", "—", "-", "·", "*", "×", "x",
	"≥", ">=", "≤", "<=", "…", "...", "’", "'", "‘", "'", "“", `"`, "”", `"`, "µ", "u", "±", "+-")

// clean makes outside text safe to draw on one line: a character that could
// steer the terminal, or stand where its width is in doubt, is spelt out as Go
// escapes it. Line breaks and tabs become spaces. What remains has a width
// that terminals agree on.
func clean(s string, ascii bool) string {
	if plain(s) {
		return s
	}
	if ascii {
		s = typographic.Replace(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	marks := 0
	for i, size := 0, 0; i < len(s); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
			marks = 0
			continue
		case r == '\n' || r == '\t' || r == '\u00a0':
			r = ' '
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
			continue
		case r < utf8.RuneSelf && r != 0x7f && r >= ' ':
		case ascii || !unicode.IsPrint(r) || variation(r):
			escape(&b, r)
			marks = 0
			continue
		case unicode.In(r, unicode.Mn, unicode.Me):
			// A stack of combining marks grows over the lines above. Two on a
			// letter is what languages need, and one must have a letter.
			if marks++; marks > 2 || b.Len() == 0 {
				escape(&b, r)
				continue
			}
			b.WriteRune(r)
			continue
		}
		marks = 0
		b.WriteRune(r)
	}
	return b.String()
}

func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// variation tells the selectors and modifiers that change how wide the
// character before them is on some terminals only.
func variation(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef || r >= 0x1f3fb && r <= 0x1f3ff ||
		r >= 0x1f1e6 && r <= 0x1f1ff
}

func escape(b *strings.Builder, r rune) {
	switch {
	case r < 0x100:
		fmt.Fprintf(b, `\x%02x`, r)
	case r < 0x10000:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}

// cells is how wide clean text is on the screen.
func cells(s string) int {
	if plain(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// wrap breaks clean text into lines of at most w cells, at blanks where it can.
// An empty text is one empty line. ansi.Wrap is not used: it makes lines one
// cell too wide for text that starts with a blank.
func wrap(s string, w int) []string {
	var out []string
	for w = max(w, 1); cells(s) > w; {
		head := ansi.Truncate(s, w, "")
		if head == "" || !strings.HasPrefix(s, head) { // Wider than the line.
			_, size := utf8.DecodeRuneInString(s)
			head = s[:size]
		}
		if len(head) < len(s) && s[len(head)] != ' ' {
			if i := strings.LastIndexByte(head, ' '); i > 0 && strings.Trim(head[:i], " ") != "" {
				head = head[:i]
			}
		}
		out = append(out, strings.TrimRight(head, " "))
		s = strings.TrimLeft(s[len(head):], " ")
	}
	return append(out, s)
}
