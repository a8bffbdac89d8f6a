package hostio

import (
	"bytes"
	"context"
	"time"
)

// How an exchange ended.
type ending int

const (
	ended     ending = iota // every op has its answer
	hung                    // the next op gave no answer in time
	broke                   // the process died or talked nonsense
	cancelled               // the context is over
	waiting                 // it has not ended
)

// patience is how many deadlines a process gets that is still busy: on an
// overloaded host it waits for a processor, not for the op.
const patience = 5

// answer sends the ops that todo names and stores their results in rs. It
// returns how many were answered.
func (p *reader) answer(ctx context.Context, ops []Op, todo []int, deadline time.Duration, rs []Result) (int, ending) {
	first := p.next
	for k, i := range todo {
		p.unsent = appendRequest(p.unsent, first+uint32(k), ops[i])
	}
	p.next += uint32(len(todo))

	for k, i := range todo {
		frame, end := p.frame(ctx, deadline)
		if end != ended {
			return k, end
		}
		id, res, err := parseResult(frame)
		if err != nil || id != first+uint32(k) {
			return k, broke
		}
		if res.TimedOut { // Its kind of wait has a timeout of its own: a lost op all the same.
			return k, hung
		}
		res.Data = bytes.Clone(res.Data) // The next frames come where this one is.
		rs[i] = res
	}
	return len(todo), ended
}

// frame waits for the next frame. When the time is up, a process that sleeps
// uninterruptibly is hung, and so is one that does nothing for another half of
// the time.
func (p *reader) frame(ctx context.Context, deadline time.Duration) ([]byte, ending) {
	frame, end := p.arrived() // The usual case needs no clock.
	if end != waiting {
		return frame, end
	}
	begun := time.Now()
	var before activity
	for limit := deadline; ; {
		left := limit - time.Since(begun)
		p.wait(max(min(left, look), 0)) // What is there when the time is up counts.
		if frame, end := p.arrived(); end != waiting {
			return frame, end
		}
		if ctx.Err() != nil {
			return nil, cancelled
		}
		if left > 0 {
			continue
		}
		now := watch(p.cmd.Process.Pid)
		idle := before.known && !now.runs && now.ticks == before.ticks
		if !now.known || now.uninterrupted && !now.runs || idle || limit >= patience*deadline {
			return nil, hung
		}
		before = now
		limit += deadline / 2
	}
}
