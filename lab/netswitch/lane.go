package netswitch

import (
	"container/heap"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Impairment is what happens to the frames of one direction of a port.
type Impairment struct {
	// Loss, Reorder and Corrupt are probabilities from 0 to 1: that a frame
	// is dropped, overtakes those before it, has a bit of its payload turned.
	Loss, Reorder, Corrupt float64
	// Delay is how long each frame takes. Frames are reordered by letting
	// one go without the delay, so Reorder needs it.
	Delay time.Duration
	// Rate is the bandwidth, in bits per second; 0 is unlimited.
	Rate int64
	// MaxFrame is the largest frame that passes, header included and check
	// sequence not, in bytes; 0 is unlimited.
	MaxFrame int
	// Silent drops everything.
	Silent bool
}

// queueLimit is how many frames wait in a lane before more are dropped.
const queueLimit = 4096

// lane is one direction of a port: a queue from which frames come out when
// they are due.
type lane struct {
	deliver func([]byte)

	mu     sync.Mutex
	rule   Impairment
	random *rand.Rand
	queue  queue
	busy   time.Time // when the last frame will have left at Rate
	order  int
	counts Counts
	closed bool
	wake   chan struct{}
}

// newLane makes a lane that calls deliver, from one goroutine, for each frame
// that comes out. Chance is seeded by the name, so that a run can be repeated.
func newLane(name string, deliver func([]byte)) *lane {
	h := fnv.New64a()
	h.Write([]byte(name))
	l := &lane{deliver: deliver, wake: make(chan struct{}, 1),
		random: rand.New(rand.NewPCG(h.Sum64(), 1))}
	go l.run()
	return l
}

func (l *lane) set(i Impairment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rule = i
}

func (l *lane) counted() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// push puts a frame in. It does not keep the frame's memory from others: a
// frame that is changed is copied.
func (l *lane) push(frame []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.rule
	tooLarge := r.MaxFrame > 0 && len(frame) > r.MaxFrame
	if l.closed || r.Silent || tooLarge || len(l.queue) >= queueLimit ||
		l.chance(r.Loss) {
		l.counts.Dropped++
		return
	}
	if l.chance(r.Corrupt) && len(frame) > headerSize {
		frame = slices.Clone(frame)
		bit := l.random.IntN((len(frame) - headerSize) * 8)
		frame[headerSize+bit/8] ^= 1 << (bit % 8)
		l.counts.Corrupted++
	}
	now := time.Now()
	due := now
	if r.Rate > 0 {
		if l.busy.Before(now) {
			l.busy = now
		}
		l.busy = l.busy.Add(time.Duration(int64(len(frame)) * 8 *
			int64(time.Second) / r.Rate))
		due = l.busy
	}
	if !l.chance(r.Reorder) {
		due = due.Add(r.Delay)
	}
	l.order++
	heap.Push(&l.queue, queued{due, l.order, frame})
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// chance is true with a probability. It draws nothing for 0.
func (l *lane) chance(p float64) bool { return p > 0 && l.random.Float64() < p }

// next returns the frame that is due, or how long to wait for one; less
// than 0 is until more comes in.
func (l *lane) next() (frame []byte, wait time.Duration, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, 0, true
	}
	if len(l.queue) == 0 {
		return nil, -1, false
	}
	if wait := time.Until(l.queue[0].due); wait > 0 {
		return nil, wait, false
	}
	l.counts.Passed++
	return heap.Pop(&l.queue).(queued).frame, 0, false
}

// run delivers frames until the lane is closed.
func (l *lane) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		frame, wait, closed := l.next()
		switch {
		case closed:
			return
		case frame != nil:
			l.deliver(frame)
		case wait < 0:
			<-l.wake
		default:
			timer.Reset(wait)
			select {
			case <-l.wake:
			case <-timer.C:
			}
		}
	}
}

func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// queued is a frame and when it comes out.
type queued struct {
	due   time.Time
	order int
	frame []byte
}

// queue is a heap of frames, the next due first, in order among equals.
type queue []queued

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if !q[i].due.Equal(q[j].due) {
		return q[i].due.Before(q[j].due)
	}
	return q[i].order < q[j].order
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *queue) Push(x any) { *q = append(*q, x.(queued)) }

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	(*q)[len(*q)-1] = queued{}
	*q = (*q)[:len(*q)-1]
	return last
}
