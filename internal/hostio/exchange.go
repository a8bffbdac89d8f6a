package hostio

import (
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
)

// patience is how many deadlines a process gets that is still busy: on an
// overloaded host it waits for a processor, not for the op.
const patience = 5

// answer sends the ops that todo names and stores their results in rs. It
// returns how many were answered.
func (p *reader) answer(ctx context.Context, ops []Op, todo []int, deadline time.Duration, rs []Result) (int, ending) {
	first := p.next
	var batch []byte
	for k, i := range todo {
		one, ok := appendOp(nil, first+uint32(k), ops[i])
		if !ok { // The child answers an op without a kind with NotInForm.
			one, _ = appendOp(nil, first+uint32(k), Op{})
		}
		batch = appendFrame(batch, one)
	}
	p.next += uint32(len(todo))
	// It ends by itself when all is read, or when kill closes the pipe.
	go p.in.Write(batch)

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
		rs[i] = res
	}
	return len(todo), ended
}

// frame waits for the next frame. When the time is up, a process that sleeps
// uninterruptibly is hung, and so is one that does nothing for another half of
// the time.
func (p *reader) frame(ctx context.Context, deadline time.Duration) ([]byte, ending) {
	select { // The usual case needs no timer.
	case frame, ok := <-p.reply:
		return arrived(frame, ok)
	default:
	}
	timer := time.NewTimer(deadline)
	defer timer.Stop()
	var before activity
	for waited := deadline; ; waited += deadline / 2 {
		select {
		case frame, ok := <-p.reply:
			return arrived(frame, ok)
		case <-ctx.Done():
			return nil, cancelled
		case <-timer.C:
		}
		select { // What is there when the time is up counts.
		case frame, ok := <-p.reply:
			return arrived(frame, ok)
		default:
		}
		now := watch(p.cmd.Process.Pid)
		idle := before.known && !now.runs && now.ticks == before.ticks
		if !now.known || now.uninterrupted && !now.runs || idle || waited >= patience*deadline {
			return nil, hung
		}
		before = now
		timer.Reset(deadline / 2)
	}
}

func arrived(frame []byte, ok bool) ([]byte, ending) {
	if !ok {
		return nil, broke
	}
	return frame, ended
}
