package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Model is the root of the screen, a tea.Model.
type Model struct {
	opts Options
	ctx  context.Context
	feed *Feed

	w, h int
	log  []string
}

// New returns a model that waits for its first message.
func New(opts Options) *Model { return &Model{opts: opts, ctx: context.Background()} }

// Init asks for the first messages.
func (m *Model) Init() tea.Cmd { return m.next() }

// next takes the next batch from the feed.
func (m *Model) next() tea.Cmd {
	feed := m.feed
	if feed == nil {
		return nil
	}
	return func() tea.Msg { return feed.take(batchFor) }
}

// Update takes a key, a size or a batch of messages.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tea.KeyPressMsg:
		switch msg.String() {
		case "q", "ctrl+c":
			return m, tea.Quit
		}
	case batch:
		for _, it := range msg.items {
			if d := it.msg.Diagnosis; d != nil {
				m.log = append(m.log, fmt.Sprintf("%s %s: %s", d.Severity, d.Subject, d.Title))
			}
			if r := it.msg.Result; r != nil {
				m.log = append(m.log, fmt.Sprintf("%s %s", r.Status, r.Title))
			}
		}
		if !msg.closed {
			return m, m.next()
		}
	}
	return m, nil
}

// View draws the frame.
func (m *Model) View() tea.View {
	rows := make([]string, m.h)
	for i := range rows {
		if i < len(m.log) {
			rows[i] = ansi.Truncate(clean(m.log[i], m.opts.ASCII), m.w, "")
		}
	}
	v := tea.NewView(strings.Join(rows, "\n"))
	v.AltScreen = true
	return v
}
