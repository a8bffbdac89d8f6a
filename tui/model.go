package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"charm.land/bubbles/v2/key"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// A screen draws the body of the frame and takes the keys that the root does
// not. It sees the run through the root and changes nothing but itself and the
// root's stack.
type screen interface {
	// update takes a key. It runs on every key, so it does no I/O.
	update(tea.KeyPressMsg) tea.Cmd
	// view draws at most h rows of at most w cells; the root fits them.
	view(w, h int) []row
	// title says where the user is, for the line above the body.
	title() row
	// status is shown below the body, left and right.
	status() (left, right row)
	// keys are the screen's own, the most useful first.
	keys() []key.Binding
	// list is the screen's list, or nil, so that the root knows about typing.
	list() *list
}

// Model is the root of the screen, a tea.Model. It owns the size, the stack of
// screens and the keys that work everywhere.
type Model struct {
	opts Options
	ctx  context.Context
	feed *Feed
	// doc says why a check matters.
	doc func(id string) string

	w, h    int
	theme   *theme
	bg      background
	keys    keymap
	exam    *exam
	idle    bool // no run is under way, so another may start
	stack   []screen
	dialog  *dialog
	notice  span
	frame   int // of the sign that moves while nothing else does
	ticking bool

	view  tea.View
	drawn bool
}

// New returns a model that waits for its first message.
func New(opts Options) *Model {
	m := &Model{opts: opts, ctx: context.Background(), exam: &exam{}, doc: whyChecked}
	m.keys = newKeymap()
	m.theme = newTheme(notTold, opts.ASCII)
	m.stack = []screen{newHome(m)}
	return m
}

// whyChecked is the paragraph that this program's check of that ID carries. A
// report of another version may name checks that are not here.
func whyChecked(id string) string {
	for _, c := range checks.All() {
		if c.ID == id {
			return c.Doc
		}
	}
	return ""
}

// Init asks the terminal for its background and the feed for messages.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, m.next(), m.tick())
}

// next takes the next batch from the feed.
func (m *Model) next() tea.Cmd {
	feed := m.feed
	if feed == nil {
		return nil
	}
	return func() tea.Msg { return feed.take(batchFor) }
}

// ticked moves the sign of life on.
type ticked struct{}

// tick keeps the sign of life moving while a run is under way. Four times a
// second shows that the program lives, for some 60 bytes a second.
func (m *Model) tick() tea.Cmd {
	if m.ticking || m.feed == nil || m.exam.ended() {
		return nil
	}
	m.ticking = true
	return tea.Tick(250*time.Millisecond, func(time.Time) tea.Msg { return ticked{} })
}

// Update takes a key, a size, a colour or a batch of messages.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	return m, cmd
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	m.drawn = false
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		m.bg = lightBG
		if msg.IsDark() {
			m.bg = darkBG
		}
		m.theme = newTheme(m.bg, m.opts.ASCII)
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		if l := m.top().list(); l != nil && l.typing {
			l.input, _ = l.input.Update(msg)
		}
	case ticked:
		m.ticking = false
		m.frame++
		return m.tick()
	case armed:
		if m.dialog == msg.dialog && m.dialog != nil {
			m.dialog.armed = true
		}
	case written:
		m.written(msg)
	case batch:
		return m.take(msg)
	default:
		m.drawn = true // Nothing that is on the screen.
	}
	return nil
}

// take folds a batch in and asks for the next.
func (m *Model) take(b batch) tea.Cmd {
	for _, it := range b.items {
		m.exam = m.exam.take(it)
		if it.end {
			m.idle = true
		}
	}
	if b.closed {
		return nil
	}
	return tea.Batch(m.next(), m.tick())
}

func (m *Model) top() screen { return m.stack[len(m.stack)-1] }

func (m *Model) push(s screen) { m.stack = append(m.stack, s) }

func (m *Model) pop() {
	if len(m.stack) > 1 {
		m.stack = m.stack[:len(m.stack)-1]
	}
}

// say shows a line below the body until the next key.
func (m *Model) say(tn tone, text string) { m.notice = m.theme.text(tn, text) }
