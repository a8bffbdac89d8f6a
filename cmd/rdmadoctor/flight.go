package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/collect"
	"github.com/rdmadoctor/rdmadoctor/internal/flight"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// flightFlags say how record --every records.
type flightFlags struct {
	every, keep, lasts time.Duration
	given              func(flag string) bool
	maxSize            byteSize
}

// byteSize is a size as people write it: 256M, 1G.
type byteSize int64

// String implements pflag.Value.
func (s *byteSize) String() string {
	for _, u := range sizeUnits {
		if n := int64(*s); n >= u.bytes && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.word
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Type implements pflag.Value.
func (s *byteSize) Type() string { return "SIZE" }

// Set implements pflag.Value.
func (s *byteSize) Set(text string) error {
	word, unit := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(text), "B"), "I"), int64(1)
	for _, u := range sizeUnits {
		if short, ok := strings.CutSuffix(word, u.word); ok {
			word, unit = short, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(word, 10, 32)
	if err != nil || n <= 0 {
		return fmt.Errorf("want a size like 256M or 1G")
	}
	*s = byteSize(n * unit)
	return nil
}

var sizeUnits = []struct {
	word  string
	bytes int64
}{{"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}}

// Limits of the flight recorder.
const (
	leastEvery   = time.Second
	leastMaxSize = 8 << 20
	// mostStuck is how many readers that the kernel holds are left behind before
	// no further one is started.
	mostStuck = 8
)

func (f *flightFlags) check() error {
	switch {
	case f.every < leastEvery:
		return usagef("a sample reads the whole host", "--every %v is shorter than %v", f.every, leastEvery)
	case f.keep < f.every:
		return usagef("", "--keep %v is shorter than --every %v", f.keep, f.every)
	case f.lasts < 0:
		return usagef("", "--for %v is negative", f.lasts)
	case f.maxSize < leastMaxSize:
		return usagef("", "--max-size %v is less than 8M", &f.maxSize)
	}
	return nil
}

// fly records samples into dir until it is told to end, which is how it ends
// well.
func (p *program) fly(ctx context.Context, dir string, f *flightFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	host := &renewing{}
	defer host.close()
	uname := hostio.One(ctx, host.child(), hostio.Op{Kind: hostio.System, Name: "uname"})
	w, err := flight.Create(dir, flight.Options{Keep: f.keep, MaxSize: int64(f.maxSize), Header: flight.Header{
		Schema: flight.Schema, Tool: report.ToolName, Version: version, Host: collect.Hostname(uname), Every: f.every}})
	if err != nil {
		return &usageError{fmt.Errorf("%q: %w", dir, err), "-o names a folder for the recorder's own; one recorder writes into it"}
	}
	defer w.Close()
	if f.lasts > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.lasts)
		defer cancel()
	}
	if _, err := fmt.Fprintf(p.err, "recording every %v into %s; look back with rdmadoctor check --since 1h --from %s\n",
		f.every, report.Clean(dir), report.Clean(dir)); err != nil {
		return err
	}
	tick := time.NewTicker(f.every)
	defer tick.Stop()
	samples, said := 0, ""
	quiet := &flight.Quiet{Host: host, Once: true}
	for {
		// A sample that takes longer than its turn would hold up all others.
		sctx, cancel := context.WithTimeout(ctx, max(f.every, defaultTimeout))
		sample, _ := flight.Take(sctx, quiet)
		cancel()
		if ctx.Err() == nil {
			problem := ""
			if err := w.Add(sample); err != nil {
				problem = err.Error()
			} else {
				samples++
			}
			if problem != "" && problem != said { // A full disk may have room again: go on.
				fmt.Fprintf(p.err, "rdmadoctor: %s\n", report.Clean(problem))
			}
			said = problem
		}
		host.renew()
		select {
		case <-ctx.Done():
			fmt.Fprintf(p.err, "recorded %d samples\n", samples)
			if samples == 0 && said != "" {
				_ = w.Close()
				return fmt.Errorf("nothing was recorded: %s", said)
			}
			return w.Close()
		case <-tick.C:
		}
	}
}

// renewing is a reading child that is replaced by a new one from time to time:
// what did not answer is asked again then. Where readers are stuck in the kernel
// the old one stays, so that their number is bounded.
type renewing struct {
	current *hostio.Child
	began   time.Time
	retired []*hostio.Child
}

const renewAfter = 10 * time.Minute

func (r *renewing) child() *hostio.Child {
	if r.current == nil {
		r.current, r.began = hostio.NewChild(), time.Now()
	}
	return r.current
}

// Do implements hostio.Host.
func (r *renewing) Do(ctx context.Context, ops []hostio.Op) []hostio.Result {
	return r.child().Do(ctx, ops)
}

// renew begins another child where the one in use had trouble.
func (r *renewing) renew() {
	c := r.current
	if c == nil || c.Started() <= 1 || time.Since(r.began) < renewAfter {
		return
	}
	stuck := c.Stuck()
	var held []*hostio.Child
	for _, old := range r.retired {
		if n := old.Stuck(); n > 0 {
			stuck += n
			held = append(held, old)
		}
	}
	r.retired = held
	if stuck >= mostStuck {
		return
	}
	_ = c.Close()
	r.retired = append(r.retired, c)
	r.current = nil
}

func (r *renewing) close() {
	if r.current != nil {
		_ = r.current.Close()
	}
}
