// Package flight is the flight recorder: samples of a host taken one after
// another, kept small on disk, and looked back at when the job is dead. Any two
// samples that follow each other are one examination, replayed through the same
// collectors as a live host.
package flight

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/collect"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// A Sample is one reading of a host.
type Sample struct {
	Began   time.Time
	Results map[string]hostio.Result // by Op.Key
}

// Take reads the host once, as an examination's first sample does. It is false
// where ctx ended before everything was asked: such a sample says nothing of
// the host.
func Take(ctx context.Context, h hostio.Host) (Sample, bool) {
	t := &taker{Host: h, s: Sample{Began: time.Now(), Results: map[string]hostio.Result{}}}
	hostio.One(ctx, t, hostio.Op{Kind: hostio.System, Name: "uname"})
	collect.Run(ctx, t, collect.Options{Origin: facts.Live})
	return t.s, ctx.Err() == nil
}

// taker keeps the first answer to each op, unless it was none.
type taker struct {
	hostio.Host
	s Sample
}

// Do implements hostio.Host.
func (t *taker) Do(ctx context.Context, ops []hostio.Op) []hostio.Result {
	results := t.Host.Do(ctx, ops)
	for i, res := range results {
		key := ops[i].Key()
		if old, ok := t.s.Results[key]; !ok || old.TimedOut && !res.NotTried {
			t.s.Results[key] = res
		}
	}
	return results
}

// Pair replays two samples as the two of one examination.
type Pair struct {
	samples []Sample
	at      int
}

var _ hostio.Replayed = (*Pair)(nil)

// NewPair replays samples, of which there are one or two.
func NewPair(samples ...Sample) *Pair { return &Pair{samples: samples} }

// Times implements hostio.Replayed.
func (p *Pair) Times() []time.Time {
	var ts []time.Time
	for _, s := range p.samples {
		ts = append(ts, s.Began)
	}
	return ts
}

// NextSample implements hostio.Sampler.
func (p *Pair) NextSample() bool {
	if p.at+1 >= len(p.samples) {
		return false
	}
	p.at++
	return true
}

// Do implements hostio.Host. What was not read then is not in this form of
// input.
func (p *Pair) Do(_ context.Context, ops []hostio.Op) []hostio.Result {
	results := make([]hostio.Result, len(ops))
	for i, op := range ops {
		res, ok := p.samples[p.at].Results[op.Key()]
		if !ok {
			res = hostio.Result{NotInForm: true}
		}
		if limit := op.Limit; op.Kind == hostio.ReadFile {
			if limit <= 0 {
				limit = hostio.DefaultLimit
			}
			if len(res.Data) > limit {
				res.Data, res.Truncated = res.Data[:limit], true
			}
		}
		results[i] = res
	}
	return results
}

// Snapshot is the examination of samples that follow each other.
func Snapshot(ctx context.Context, samples ...Sample) *facts.Snapshot {
	return collect.Run(ctx, NewPair(samples...), collect.Options{Origin: facts.Recording})
}

// Rebooted reports whether the host was started between two samples, by
// /proc/uptime.
func Rebooted(a, b Sample) bool {
	was, ok1 := uptime(a)
	is, ok2 := uptime(b)
	apart := b.Began.Sub(a.Began)
	// The clock may have been set meanwhile, the uptime not.
	return ok1 && ok2 && (is < was || is < apart-time.Minute)
}

func uptime(s Sample) (time.Duration, bool) {
	first, _, _ := strings.Cut(s.Results["read:/proc/uptime"].Text(), " ")
	seconds, err := strconv.ParseFloat(first, 64)
	if err != nil || seconds < 0 || seconds > 1e9 {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}
