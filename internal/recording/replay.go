package recording

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// A Replay is a Host that answers from a recording. What was not read then is
// not in this form of input.
type Replay struct {
	manifest Manifest
	members  map[string][]byte
	samples  []index
	at       int // the sample that answers
	damage   string
}

var _ hostio.Replayed = (*Replay)(nil)

// Manifest is what the recording says of itself.
func (r *Replay) Manifest() Manifest { return r.manifest }

// Damage says what is missing from a recording that was cut off, "" where
// nothing is.
func (r *Replay) Damage() string { return r.damage }

// Times implements hostio.Replayed. A sample whose index is lost has none.
func (r *Replay) Times() []time.Time {
	var ts []time.Time
	for i := range r.samples {
		ts = append(ts, r.manifest.Samples[i].Began)
	}
	return ts
}

// Elapsed is how far apart each source's two readings were, so that a replay
// gives the rates that the live run gave.
func (r *Replay) Elapsed() map[facts.Source]time.Duration { return r.manifest.Elapsed }

// NextSample implements hostio.Sampler.
func (r *Replay) NextSample() bool {
	if r.at+1 >= len(r.samples) {
		return false
	}
	r.at++
	return true
}

// load reads the indexes, of a damaged recording those that are left.
func (r *Replay) load() error {
	for _, s := range r.manifest.Samples {
		name := s.Name + "/index.json"
		text, ok := r.members[name]
		if !ok && r.damage != "" && len(r.samples) > 0 {
			return nil
		}
		if !ok && r.damage != "" {
			return fmt.Errorf("%s; without %q nothing of it can be used", r.damage, name)
		}
		if !ok {
			return fmt.Errorf("member %q is missing: sample %q needs it", name, s.Name)
		}
		var idx index
		if err := json.Unmarshal(text, &idx); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for key, e := range idx.Ops {
			if err := r.check(e); err != nil {
				return fmt.Errorf("%s: %q: %w", name, key, err)
			}
		}
		r.samples = append(r.samples, idx)
	}
	return nil
}

func (r *Replay) check(e entry) error {
	if _, ok := errnoByName(e.Errno); !ok {
		return fmt.Errorf("errno %q is none that this program knows", e.Errno)
	}
	if _, ok := r.members[e.Member]; e.Member != "" && !ok && r.damage == "" {
		return fmt.Errorf("member %q is missing", e.Member)
	}
	return nil
}

// Do implements hostio.Host.
func (r *Replay) Do(_ context.Context, ops []hostio.Op) []hostio.Result {
	results := make([]hostio.Result, len(ops))
	for i, op := range ops {
		results[i] = r.answer(op)
	}
	return results
}

func (r *Replay) answer(op hostio.Op) hostio.Result {
	e, ok := r.samples[r.at].Ops[keyText(op)]
	if !ok {
		return hostio.Result{NotInForm: true}
	}
	res := r.result(e)
	if op.Kind == hostio.ReadFile {
		limit := op.Limit
		if limit <= 0 {
			limit = hostio.DefaultLimit
		}
		if len(res.Data) > limit {
			res.Data, res.Truncated = res.Data[:limit], true
		}
	}
	return res
}

// result is what an entry of an index keeps.
func (r *Replay) result(e entry) hostio.Result {
	errno, _ := errnoByName(e.Errno)
	res := hostio.Result{Errno: errno, TimedOut: e.TimedOut, NotTried: e.NotTried, Truncated: e.Truncated, NotInForm: e.NotInForm}
	switch {
	case e.Member != "":
		data, ok := r.members[e.Member]
		if !ok { // Lost with the end of a cut archive.
			return hostio.Result{Errno: syscall.EIO}
		}
		res.Data = bytes.Clone(data)
	case e.Link != nil:
		res.Data = []byte(*e.Link)
	case e.Names != nil:
		if len(*e.Names) > 0 {
			res.Data = []byte(strings.Join(*e.Names, "\n") + "\n")
		}
	case e.JSON != nil:
		var b bytes.Buffer
		if json.Compact(&b, e.JSON) == nil {
			res.Data = b.Bytes()
		}
	}
	return res
}

// Rewind goes back to the first sample.
func (r *Replay) Rewind() { r.at = 0 }
