package tui

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// tone is what a piece of text means; the theme decides how that looks.
type tone int

const (
	normal tone = iota
	dim
	strong
	good
	warning
	bad
	unsure
	accent
	command
	chosen // the row under the cursor
	tones
)

// theme is how things look on this terminal.
type theme struct {
	ascii bool
	signs int // cells of a mark with a blank after it
	// on and off are what a style writes around text. Asking lipgloss once and
	// not for each span takes half the time of a frame away.
	on, off [tones]string
	glyphs
}

// background is what is known of the terminal's background.
type background int

const (
	notTold background = iota // a terminal may never answer
	darkBG
	lightBG
)

// newTheme keeps to the 16 colours that the user's own palette sets. Bright
// ones are used on a background that is known to be dark only: bright yellow
// on white cannot be read.
func newTheme(bg background, ascii bool) *theme {
	t := &theme{ascii: ascii, signs: 2, glyphs: unicodeGlyphs}
	if ascii {
		t.signs, t.glyphs = 3, asciiGlyphs // "ok "
	}
	pick := func(plain, dark color.Color) lipgloss.Style {
		if bg == darkBG {
			return lipgloss.NewStyle().Foreground(dark)
		}
		return lipgloss.NewStyle().Foreground(plain)
	}
	for tn, style := range [tones]lipgloss.Style{
		normal:  lipgloss.NewStyle(),
		dim:     lipgloss.NewStyle().Faint(true),
		strong:  lipgloss.NewStyle().Bold(true),
		good:    pick(lipgloss.Green, lipgloss.BrightGreen),
		warning: pick(lipgloss.Yellow, lipgloss.BrightYellow).Bold(true),
		bad:     pick(lipgloss.Red, lipgloss.BrightRed).Bold(true),
		unsure:  pick(lipgloss.Magenta, lipgloss.BrightMagenta),
		accent:  pick(lipgloss.Blue, lipgloss.BrightCyan),
		command: pick(lipgloss.Cyan, lipgloss.BrightCyan).Bold(true),
		chosen:  lipgloss.NewStyle().Reverse(true),
	} {
		t.on[tn], t.off[tn], _ = strings.Cut(style.Render("x"), "x")
	}
	return t
}

// glyphs are the signs that carry meaning, so that none hangs on colour.
type glyphs struct {
	pass, warn, fail, skip, unknown, info, waiting string
	cursor, dot, more, across, down                string
	above, below                                   string
	busy                                           []string
}

var unicodeGlyphs = glyphs{
	pass: "✓", warn: "!", fail: "✗", skip: "–", unknown: "?", info: "i", waiting: "·",
	cursor: "▸", dot: " · ", more: "…", across: "─", down: "│",
	above: "↑", below: "↓", busy: []string{"◐", "◓", "◑", "◒"},
}

var asciiGlyphs = glyphs{
	pass: "ok", warn: "!", fail: "x", skip: "-", unknown: "?", info: "i", waiting: ".",
	cursor: ">", dot: " * ", more: "~", across: "-", down: "|",
	above: "^", below: "v", busy: []string{"|", "/", "-", `\`},
}

// span is a piece of a row. Its text is clean: spans are made by theme.text.
type span struct {
	text string
	tone tone
}

// row is one line of the screen.
type row []span

// text makes a span of any text, ours or the host's.
func (t *theme) text(tn tone, s string) span { return span{clean(s, t.ascii), tn} }

// row makes a row of one span.
func (t *theme) row(tn tone, s string) row { return row{t.text(tn, s)} }

// lines breaks text, which may hold line breaks, into rows of at most w cells.
func (t *theme) lines(tn tone, s string, w int) []row {
	var rows []row
	for _, para := range strings.Split(strings.TrimRight(s, "\r\n\t "), "\n") {
		for _, l := range wrap(clean(para, t.ascii), w) {
			rows = append(rows, row{{l, tn}})
		}
	}
	return rows
}

// indent puts one blank cell before each row.
func (t *theme) indent(rows []row) []row {
	for i, r := range rows {
		rows[i] = append(row{space(1)}, r...)
	}
	return rows
}

// space is n blank cells.
func space(n int) span { return span{text: strings.Repeat(" ", max(n, 0))} }

func (r row) width() int {
	n := 0
	for _, s := range r {
		n += cells(s.text)
	}
	return n
}

// fit cuts or pads the row to exactly w cells.
func (t *theme) fit(r row, w int) row {
	if w <= 0 {
		return nil
	}
	out, used := make(row, 0, len(r)+1), 0
	for i, s := range r {
		n := cells(s.text)
		if used+n > w || used+n == w && more(r[i+1:]) {
			s.text = ansi.Truncate(s.text+" ", w-used, t.more)
			out, used = append(out, s), used+cells(s.text)
			break
		}
		out, used = append(out, s), used+n
	}
	if used < w {
		out = append(out, space(w-used))
	}
	return out
}

// more reports whether anything but blanks follows.
func more(r row) bool {
	for _, s := range r {
		if strings.Trim(s.text, " ") != "" {
			return true
		}
	}
	return false
}

// ends puts left at the left and right at the right of w cells. The right
// stays whole and the left is cut, unless that would take all of the left.
func (t *theme) ends(left, right row, w int) row {
	rw := right.width()
	if rw == 0 || rw+8 > w {
		return t.fit(left, w)
	}
	return append(append(t.fit(left, w-rw-1), space(1)), right...)
}

// choose marks the row as the one under the cursor, over its whole width.
func (t *theme) choose(r row, w int) row {
	r = t.fit(r, w)
	out := make(row, len(r))
	for i, s := range r {
		out[i] = span{s.text, chosen}
	}
	return out
}

// paint turns a row into the string that goes to the terminal.
func (t *theme) paint(r row) string {
	var b strings.Builder
	for i := 0; i < len(r); {
		tn := r[i].tone
		b.WriteString(t.on[tn])
		for ; i < len(r) && r[i].tone == tn; i++ {
			b.WriteString(r[i].text)
		}
		b.WriteString(t.off[tn])
	}
	return b.String()
}

// rule is a line across w cells with a caption in it.
func (t *theme) rule(w int, caption row) row {
	if len(caption) == 0 || w < 12 {
		return row{{strings.Repeat(t.across, max(w, 0)), dim}}
	}
	r := append(row{{t.across + t.across + " ", dim}}, t.trim(caption, w-6)...)
	r = append(r, space(1))
	return append(r, span{strings.Repeat(t.across, max(w-r.width(), 0)), dim})
}

// trim cuts the row to at most w cells.
func (t *theme) trim(r row, w int) row {
	if r.width() <= w {
		return r
	}
	return t.fit(r, w)
}
