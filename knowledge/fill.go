package knowledge

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

// values are what placeholders are filled with: the finding's Params, then
// where it is.
type values struct {
	params map[string]string
	where  checks.Where
}

func (v values) value(name string) string {
	if s, ok := v.params[name]; ok {
		return s
	}
	switch name {
	case "host":
		return v.where.Host
	case "device":
		return v.where.Device
	case "netdev":
		return v.where.Netdev
	case "pci":
		return v.where.PCI
	case "port":
		return positive(v.where.Port)
	case "pid":
		return positive(v.where.PID)
	}
	return ""
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// placeholderRE finds "{name}". "{{" and "}}" stand for the braces themselves.
var placeholderRE = pattern.Of(`\{\{|\}\}|\{[a-z][a-z0-9_]*\}`)

// Placeholders lists the names that a template asks for, in order, each once.
func Placeholders(template string) []string {
	var names []string
	seen := map[string]bool{}
	for _, m := range placeholderRE.Regexp().FindAllString(template, -1) {
		if n := strings.Trim(m, "{}"); n != "" && !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	return names
}

// fillText fills a template that a person reads. A name without a value
// becomes "<name>".
func fillText(template string, v values) string {
	return placeholderRE.Regexp().ReplaceAllStringFunc(template, func(m string) string {
		switch m {
		case "{{", "}}":
			return m[:1]
		}
		name := m[1 : len(m)-1]
		if s := printable(v.value(name)); s != "" {
			return s
		}
		return "<" + name + ">"
	})
}

// fillCommand fills a template that a shell reads. Values come from files and
// names that others on the host may choose, so each one is quoted for the
// place it stands in, and one that no quoting makes safe is left to the
// reader as "<name>": a value with control characters, or one that a program
// would take for an option.
func fillCommand(template string, v values) string {
	var out strings.Builder
	var q shellState
	// What is written to a file is read by a program with a syntax of its own
	// (udev, PAM, systemd): only plain values go there.
	plainOnly := strings.Contains(template, ">")
	last := 0
	for _, m := range placeholderRE.Regexp().FindAllStringIndex(template, -1) {
		literal := template[last:m[0]]
		out.WriteString(literal)
		q.read(literal)
		last = m[1]
		token := template[m[0]:m[1]]
		if token == "{{" || token == "}}" {
			out.WriteByte(token[0])
			q.read(token[:1])
			continue
		}
		name := token[1 : len(token)-1]
		s := v.value(name)
		if !commandSafe(s) || plainOnly && !plainRE.MatchString(s) || q.wordStart && strings.HasPrefix(s, "-") {
			out.WriteString("<" + name + ">")
		} else {
			out.WriteString(q.quote(s))
		}
		q.wordStart = false
	}
	out.WriteString(template[last:])
	return out.String()
}

// plainRE matches what a POSIX shell takes as it stands.
var plainRE = pattern.Of(`^[A-Za-z0-9_./:@%+-]+$`)

// shellState follows POSIX sh quoting over the literal parts of a template.
type shellState struct {
	quoted    byte // 0, '\'' or '"'
	escaped   bool
	started   bool // something has been read
	wordStart bool // the next character begins a word
}

func (q *shellState) read(s string) {
	if !q.started {
		q.started, q.wordStart = true, true
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case q.escaped:
			q.escaped, q.wordStart = false, false
		case c == '\\' && q.quoted != '\'':
			q.escaped = true
		case q.quoted != 0:
			if c == q.quoted {
				q.quoted = 0
			} else {
				q.wordStart = false
			}
		case c == '\'' || c == '"':
			q.quoted = c // An opening quote keeps the word at its start.
		default:
			q.wordStart = strings.IndexByte(" \t|&;()<>", c) >= 0
		}
	}
}

// quote writes s so that the shell reads exactly s in the current state.
func (q *shellState) quote(s string) string {
	switch q.quoted {
	case '\'':
		return strings.ReplaceAll(s, `'`, `'\''`)
	case '"':
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(s)
	}
	if plainRE.MatchString(s) {
		return s
	}
	return `'` + strings.ReplaceAll(s, `'`, `'\''`) + `'`
}

// commandSafe reports whether s can stand in a one-line command at all.
func commandSafe(s string) bool {
	return s != "" && utf8.ValidString(s) && printable(s) == s
}

// printable drops what a terminal would interpret or not show.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}
