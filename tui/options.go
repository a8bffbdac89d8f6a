package tui

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// Options are what the screen cannot know by itself. The zero value shows a
// stream and offers nothing that reaches outside.
type Options struct {
	// From says what is shown where it is not this host now: the name of a
	// report or a recording. Empty for a run on this host.
	From string
	// Again carries out another run through the same Feed and returns when it
	// is over; the screen ends the Feed's run with the error. It is called
	// apart from the screen, one at a time. Nil: there is no key for it.
	Again func(context.Context) error
	// Write writes the report of a finished run, given as the messages of its
	// stream in order, and returns where it went. Nil: there is no key for it.
	Write func(ctx context.Context, stream []report.Message) (path string, err error)
	// Copy takes text to the clipboard. Nil: by the terminal (OSC 52), which
	// also works over ssh.
	Copy func(text string) tea.Cmd
	// ASCII draws with ASCII only, for a locale that is not UTF-8.
	ASCII bool
	// NoColor leaves colours out. The NO_COLOR variable does so too.
	NoColor bool
}

// Run shows what comes through feed on the terminal until the user quits or
// ctx ends, and closes feed. The terminal is restored on every way out, a
// panic of the screen too. It returns nil when the user quit, and
// context.Canceled when ctrl+c broke off a run that was under way.
func Run(ctx context.Context, opts Options, feed *Feed) error {
	return run(ctx, opts, feed)
}

func run(ctx context.Context, opts Options, feed *Feed, with ...tea.ProgramOption) error {
	defer feed.Close()
	m := New(opts)
	m.ctx, m.feed = ctx, feed
	set := []tea.ProgramOption{tea.WithContext(ctx)}
	if opts.NoColor {
		set = append(set, tea.WithColorProfile(colorprofile.ASCII))
	}
	_, err := tea.NewProgram(m, append(set, with...)...).Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, tea.ErrInterrupted):
		return context.Canceled
	}
	return fmt.Errorf("show the run: %w", err)
}
