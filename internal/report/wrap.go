package report

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// wrap breaks text between words so that no line is wider than width cells. A
// single word that is wider has a line of its own and stays whole: it is a
// path or an address that somebody wants to copy.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case ansi.StringWidth(line)+1+ansi.StringWidth(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// wrapCommand breaks a shell command with a backslash at the end of a line, so
// that it still can be pasted. It breaks only at blanks outside quotes; what
// cannot be broken stays whole.
func wrapCommand(command string, width int) []string {
	var lines []string
	rest := command
	for ansi.StringWidth(rest) > width {
		at := breakAt(rest, width-2)
		if at <= 0 {
			break
		}
		lines, rest = append(lines, rest[:at]+` \`), "  "+strings.TrimLeft(rest[at:], " ")
	}
	return append(lines, rest)
}

// breakAt is the last blank outside quotes in the first width bytes, 0 where
// there is none. Leading blanks do not count.
func breakAt(s string, width int) int {
	at, quote, word := 0, byte(0), false
	for i := 0; i < len(s) && i <= width; i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			} else if c == '\\' && quote == '"' {
				i++
			}
		case c == '\\':
			i++
			word = true
		case c == '\'' || c == '"':
			quote, word = c, true
		case c == '#' && i > 0 && s[i-1] == ' ':
			return at // A comment ends the command: nothing behind it continues.
		case c == ' ':
			if word {
				at = i
			}
		default:
			word = true
		}
	}
	return at
}
