package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text from a host, a peer or a log safe for a terminal and keeps
// it on one line: white space becomes a blank, and every other rune that is not
// printable (escape sequences, C1 controls, bidirectional overrides, invalid
// UTF-8) is shown as Go would escape it.
func Clean(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[0])|0x100, 16)[1:])
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[n:]
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

// cleanLines is Clean for text whose line breaks mean something, such as a
// command of several lines.
func cleanLines(s string) []string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = Clean(l)
	}
	return lines
}
