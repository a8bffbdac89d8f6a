package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/rdmadoctor/rdmadoctor/internal/recording"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// showFormats has the screen too, since a saved report is as good as a run.
var showFormats = append([]string{"tui"}, formats...)

func (p *program) showCommand() *cobra.Command {
	var format formatFlags
	c := &cobra.Command{
		Use:   "show FILE",
		Short: "show a saved report on the screen, as text or as JSON",
		Long: `Show replays a report that was saved with --json or --format jsonl. On a
terminal it opens the screen, into a pipe it writes text. It exits as the
examination did.`,
		Example: `  rdmadoctor check --json > report.json
  rdmadoctor show report.json`,
		Annotations: judges,
		Args:        arguments(1, 1, "the FILE of a report"),
		RunE: p.runs(func(ctx context.Context, args []string) error {
			other := "text"
			if p.fullScreen() && format.output == "" {
				other = "tui"
			}
			word, err := format.choose(showFormats, other)
			if err != nil {
				return err
			}
			switch {
			case word == "tui" && format.output != "":
				return usagef("leave one of them out", "--output has no use on the screen")
			case word == "tui" && !p.fullScreen():
				return usagef("--format text writes it", "the screen needs a terminal")
			}
			p.noColor = format.noColor
			return p.show(ctx, args[0], word, format.output)
		}),
	}
	format.add(c, showFormats)
	return c
}

func (p *program) show(ctx context.Context, file, format, output string) error {
	text, err := p.readReport(file)
	if err != nil {
		return err
	}
	var f report.Fold
	if err := report.Replay(bytes.NewReader(text), &f); err != nil {
		return &usageError{fmt.Errorf("open %q: %w", file, err), "a report is made with: rdmadoctor check --json > FILE"}
	}
	d := f.Document()
	if format == "tui" {
		return p.screen(ctx, screen{from: file,
			run: func(_ context.Context, h report.Handler) error { return d.Send(h) }})
	}
	if err := p.redirect(output); err != nil {
		return err
	}
	p.report = newSink(p, format)
	if err := d.Send(p.report); err != nil {
		return err
	}
	p.code, err = p.report.finish()
	return err
}

// readReport reads a file whole: a report that turns out to be broken in its
// middle is not half shown.
func (p *program) readReport(file string) ([]byte, error) {
	r := p.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, &usageError{fmt.Errorf("open %q: %w", file, cause(err)), ""}
		}
		defer f.Close()
		r = f
	}
	text, err := io.ReadAll(io.LimitReader(r, report.MaxReport+1))
	if err != nil {
		return nil, &usageError{fmt.Errorf("read %q: %w", file, cause(err)), ""}
	}
	if recording.IsRecording(text) {
		return nil, usagef("rdmadoctor check --from "+file+" examines it", "open %q: this is a recording, not a report", file)
	}
	return text, nil
}
