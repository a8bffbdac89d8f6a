package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/collect"
	"github.com/rdmadoctor/rdmadoctor/internal/doctor"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/flight"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// leastWatch is the shortest interval of a watch: a shorter one would watch
// mostly itself.
const leastWatch = 100 * time.Millisecond

// watch examines this host again every interval until it is told to end, and
// then reports on the whole time. To be told to end is no interruption.
func (p *program) watch(ctx context.Context, exam *examFlags, format *formatFlags) error {
	word, err := format.choose(formats, "text")
	if err != nil {
		return err
	}
	lasts := exam.timeout // 0: as long as the user looks
	if err := exam.check(); err != nil {
		return err
	}
	switch {
	case exam.from != "" || exam.since != "":
		return usagef("leave it out to watch this host", "--watch looks at what happens, --from and --since at what has happened")
	case exam.record != "":
		return usagef("rdmadoctor record --every 1s -o FOLDER keeps them", "--watch writes no recording")
	case exam.gate:
		return usagef("leave one of them out", "--watch and --gate contradict each other")
	case exam.interval < leastWatch:
		return usagef("the counters' rates need time", "--watch --interval %v is shorter than %v", exam.interval, leastWatch)
	}
	if err := p.redirect(format.output); err != nil {
		return err
	}
	p.noColor = format.noColor
	p.report = newSink(p, word)
	p.report.failOn = checks.Severity(exam.failOn)
	h := report.Handler(p.report)
	if word == "text" && format.output == "" {
		h = report.Tee(p.report, p.report.read(p.liveView()))
	}
	if err := p.watchInto(ctx, exam, lasts, h); err != nil {
		return err
	}
	p.code, err = p.report.finish()
	return err
}

func (p *program) watchInto(ctx context.Context, exam *examFlags, lasts time.Duration, h report.Handler) error {
	began := time.Now()
	host := &renewing{}
	defer host.close()
	opt := exam.options(p.args)
	if err := p.expect(ctx, exam, &opt); err != nil {
		return err
	}
	var failed error
	send := func(m report.Message) {
		if failed == nil {
			failed = m.Send(h)
		}
	}
	period, err := doctor.NewPeriod(opt, send)
	if err != nil {
		return err
	}
	uname := hostio.One(ctx, host.child(), hostio.Op{Kind: hostio.System, Name: "uname"})
	send(report.Message{Run: &report.Run{SchemaVersion: report.SchemaVersion, Tool: report.Tool{Name: report.ToolName, Version: version},
		Host: collect.Hostname(uname), Origin: string(facts.Live), Started: began, Args: p.args}})
	wctx := ctx
	if lasts > 0 {
		var cancel context.CancelFunc
		wctx, cancel = context.WithTimeout(ctx, lasts)
		defer cancel()
	}
	tick := time.NewTicker(exam.interval)
	defer tick.Stop()
	w := walk{period: period}
	quiet := &flight.Quiet{Host: host}
	for wctx.Err() == nil && failed == nil && !p.report.gone {
		sctx, cancel := context.WithTimeout(wctx, defaultTimeout)
		sample, _ := flight.Take(sctx, quiet)
		cancel()
		if wctx.Err() != nil {
			break
		}
		// Judged to its end, whatever comes: the replay waits for nothing.
		if snap := w.next(context.WithoutCancel(wctx), sample); snap != nil {
			send(report.Message{Rates: doctor.Rates(snap, opt)})
		}
		host.renew()
		select {
		case <-wctx.Done():
		case <-tick.C:
		}
	}
	var rerr *report.Error
	if period.Moments() == 0 {
		rerr = &report.Error{Kind: report.InterruptedError, Message: "interrupted before the first interval was over", Hint: ""}
	}
	w.end(context.WithoutCancel(ctx))
	sum := period.Close(ctx, rerr, send)
	sum.DurationSeconds = time.Since(began).Seconds()
	send(report.Message{Summary: &sum})
	return failed
}

// liveView shows what a watch sees while it goes on: on a terminal in place,
// into a pipe one block after another.
func (p *program) liveView() report.Handler {
	redraw := isTerminal(p.out) && !p.dumb()
	var news []string
	return report.Func(func(m report.Message) error {
		switch {
		case m.Event != nil:
			if m.Event.Kind != report.CounterEvent {
				news = append(news, fmt.Sprintf("%s %s %s: %s", m.Event.Time.Local().Format("15:04:05"), m.Event.Kind, m.Event.Subject, m.Event.Text))
				news = news[max(0, len(news)-newsShown):]
			}
		case m.Rates != nil:
			text := report.RatesText(m.Rates)
			for _, n := range news {
				text += "  " + report.Clean(n) + "\n"
			}
			if redraw {
				text = "\x1b[H\x1b[J" + text + "\nCtrl-C ends with the report.\n"
			} else {
				news = nil
			}
			_, err := fmt.Fprint(p.out, text+strings.Repeat("\n", blanks(redraw)))
			return err
		}
		return nil
	})
}

// newsShown is how many of the newest events stay on the screen.
const newsShown = 10

func blanks(redraw bool) int {
	if redraw {
		return 0
	}
	return 1
}
