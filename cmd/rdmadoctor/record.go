package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadoctor/rdmadoctor/internal/doctor"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

func (p *program) recordCommand() *cobra.Command {
	var file string
	var exam examFlags
	fly := flightFlags{maxSize: 256 << 20}
	nameless := false
	c := &cobra.Command{
		Use:   "record -o FILE",
		Short: "record what an examination of this host reads",
		Long: `Record reads this host as check does and writes what it read to a file, to be
examined elsewhere with check --from. It holds host names, addresses and the
kernel log. It exits 0 when the file is written, whatever the host is like.

With --every it is a flight recorder: it takes a sample of the host again and
again into a folder, keeps those of --keep and at most --max-size of them, and
ends on Ctrl-C or SIGTERM. A recorder that is killed leaves all whole samples
readable. check --since looks back at them.`,
		Example: `  rdmadoctor record -o gpu-017.tar.gz
  rdmadoctor record --every 1m --keep 24h -o /var/lib/rdmadoctor/flight`,
		Args: arguments(0, 0, ""),
		RunE: p.runs(func(ctx context.Context, _ []string) error {
			every := fly.given("every")
			if every && nameless {
				return usagef("record as it is, then: rdmadoctor anonymise FOLDER OTHER", "--every and --anonymise contradict each other")
			}
			if every {
				return p.fly(ctx, cmp.Or(file, flightDir), &fly)
			}
			for _, flag := range []string{"keep", "max-size", "for"} {
				if fly.given(flag) {
					return usagef("add --every TIME for a flight recorder", "--%s needs --every", flag)
				}
			}
			if file == "" {
				return usagef("rdmadoctor record -o host.tar.gz; - writes to standard output", "record needs --output FILE")
			}
			exam.failOn = "warn"
			if err := exam.check(); err != nil {
				return err
			}
			return p.record(ctx, file, nameless, &exam)
		}),
	}
	fly.given = c.Flags().Changed
	c.Flags().StringVarP(&file, "output", "o", "", "write the recording to `FILE` (- is standard output), or to a folder with --every (default "+flightDir+")")
	c.Flags().DurationVar(&fly.every, "every", 0, "record a sample every `TIME`, as a flight recorder")
	c.Flags().DurationVar(&fly.keep, "keep", 24*time.Hour, "remove samples of --every older than this `TIME`")
	c.Flags().Var(&fly.maxSize, "max-size", "remove the oldest samples of --every beyond this `SIZE`")
	c.Flags().DurationVar(&fly.lasts, "for", 0, "end --every after this `TIME` (default: not before it is told to)")
	c.Flags().BoolVar(&nameless, "anonymise", false, "replace names, addresses and serial numbers, as rdmadoctor anonymise does")
	c.Flags().DurationVar(&exam.timeout, "timeout", 0, "end the run after this `TIME` (default 30s and the interval)")
	c.Flags().DurationVar(&exam.interval, "interval", time.Second, "`TIME` between the two samples of the counters; 0s takes one sample")
	return c
}

// record examines this host for the sake of what it reads.
func (p *program) record(ctx context.Context, file string, nameless bool, exam *examFlags) error {
	child := hostio.NewChild()
	defer child.Close()
	k, err := p.keep(file, child)
	if err != nil {
		return err
	}
	defer k.out.discard()
	opt := exam.options(p.args)
	opt.Host, opt.Origin, opt.KeepSnapshot = k.rec, facts.Live, true
	h, done := p.progress(k.learn(true, report.Func(func(report.Message) error { return nil })))
	sum, err := doctor.Examine(ctx, opt, h)
	done()
	if err != nil {
		return err
	}
	if nameless {
		if err := k.anonymise(""); err != nil {
			return err
		}
	}
	if err := k.write(); err != nil {
		return err
	}
	if sum.Status == report.StatusInterrupted {
		p.code = report.ExitInterrupted
	}
	if file != "-" {
		_, err = fmt.Fprintf(p.out, "wrote %s: %s; examine it with rdmadoctor check --from %s\n",
			report.Clean(file), k.rec.Summary(), report.Clean(file))
	}
	return err
}

// outFile becomes FILE when it is whole: a recording is never there in half.
type outFile struct {
	io.Writer
	temp *os.File // nil: standard output
	name string
}

func (p *program) recordingFile(name string) (*outFile, error) {
	if name == "-" {
		if isTerminal(p.out) {
			return nil, usagef("give a file name or a pipe", "a recording is no text for a terminal")
		}
		return &outFile{Writer: p.out}, nil
	}
	return p.newFile(name)
}

// newFile opens a file of that name for writing, beside the one that may be
// there already.
func (p *program) newFile(name string) (*outFile, error) {
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() {
		return nil, usagef("give the name of a file", "write %q: it is there and no file", name)
	}
	temp, err := os.CreateTemp(filepath.Dir(name), ".rdmadoctor-*")
	if err != nil {
		return nil, &usageError{fmt.Errorf("write %q: %w", name, cause(err)), "the folder must be there and writable"}
	}
	return &outFile{Writer: temp, temp: temp, name: name}, nil
}

func (f *outFile) keep() error {
	if f.temp == nil {
		return nil
	}
	if err := f.temp.Sync(); err != nil {
		return err
	}
	if err := f.temp.Close(); err != nil {
		return err
	}
	return os.Rename(f.temp.Name(), f.name)
}

// discard removes what was not kept.
func (f *outFile) discard() {
	if f.temp != nil {
		_ = f.temp.Close()
		_ = os.Remove(f.temp.Name())
	}
}
