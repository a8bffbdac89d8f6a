package hostio

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"
)

// ReadHostArg is the hidden argument that makes this binary a reading child,
// which only calls Serve.
const ReadHostArg = "read-host"

// Defaults of a Child.
const (
	opDeadline    = 2 * time.Second
	startDeadline = 10 * time.Second
	maxChildren   = 64
)

// Child is a Host that lets a disposable process do the reads, since a read
// that reaches dead firmware or a stuck lock may never come back and cannot be
// killed. The process is started by the first op and serves the whole run. An
// op that gives no answer within Deadline becomes TimedOut: its process is
// killed, not waited for, and the next one goes on, without the places that
// the lost one read. A process that dies or talks nonsense costs the op that
// did it, which becomes EIO; to find that one, the rest of its batch is asked
// again one at a time.
//
// Set the fields before the first Do.
type Child struct {
	Argv     []string      // command to run; nil: this binary with ReadHostArg
	Env      []string      // nil: this process's environment
	Deadline time.Duration // for each op, or more while the process is busy; 0 is 2 seconds
	Start    time.Duration // for a new process to greet; 0 is 10 seconds

	mu      sync.Mutex
	self    Live // answers what is about this very process
	breaker breaker
	current *reader
	started int
	failed  syscall.Errno // why no process can be started
	stuck   stuckCount
}

// NewChild returns a Child that runs argv, or this binary where argv is empty.
func NewChild(argv ...string) *Child { return &Child{Argv: argv} }

// Do answers ops in order.
func (c *Child) Do(ctx context.Context, ops []Op) []Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	rs := make([]Result, len(ops))
	var todo []int // indexes of ops without a result
	for i, op := range ops {
		if op.Kind == System {
			rs[i] = c.self.do(op)
		} else {
			todo = append(todo, i)
		}
	}
	careful := false // one op at a time
	for todo = c.passing(ops, todo, rs); len(todo) > 0; todo = c.passing(ops, todo, rs) {
		if ctx.Err() != nil {
			fill(rs, todo, Result{TimedOut: true, NotTried: true})
			break
		}
		p, errno := c.running(ctx)
		if errno != 0 {
			fill(rs, todo, Result{Errno: errno})
			break
		}
		batch := todo
		if careful {
			batch = todo[:1]
		}
		answered, end := p.answer(ctx, ops, batch, or(c.Deadline, opDeadline), rs)
		todo = todo[answered:]
		if end == ended {
			continue
		}
		c.drop()
		switch end {
		case hung:
			rs[todo[0]] = Result{TimedOut: true}
			c.breaker.trip(ops[todo[0]])
			todo = todo[1:]
		case broke:
			// Answers that were on their way are lost with the process. Asked one at
			// a time, the op that breaks it shows itself.
			if careful || len(batch) == 1 {
				rs[todo[0]] = Result{Errno: syscall.EIO}
				todo = todo[1:]
			}
			careful = true
		}
	}
	return rs
}

// passing leaves out the ops that the breaker holds back.
func (c *Child) passing(ops []Op, todo []int, rs []Result) []int {
	var pass []int
	for _, i := range todo {
		if c.breaker.open(ops[i]) {
			pass = append(pass, i)
		} else {
			rs[i] = Result{TimedOut: true, NotTried: true}
		}
	}
	return pass
}

func fill(rs []Result, todo []int, r Result) {
	for _, i := range todo {
		rs[i] = r
	}
}

// running returns the process, started if there is none.
func (c *Child) running(ctx context.Context) (*reader, syscall.Errno) {
	if c.current != nil {
		return c.current, 0
	}
	if c.failed == 0 && c.started >= maxChildren {
		c.failed = syscall.EIO
	}
	if c.failed != 0 {
		return nil, c.failed
	}
	argv := c.Argv
	if len(argv) == 0 {
		argv = []string{OwnBinary(), ReadHostArg}
	}
	c.started++
	p, err := startReader(ctx, argv, c.Env, or(c.Start, startDeadline), &c.stuck)
	if err != nil {
		if ctx.Err() == nil {
			c.failed = errnoOf(err)
		}
		return nil, errnoOf(err)
	}
	c.current = p
	return p, 0
}

// drop kills the process and forgets it.
func (c *Child) drop() {
	if c.current != nil {
		c.current.kill()
		c.current = nil
	}
}

// Close ends the process. A later Do starts another.
func (c *Child) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
	return nil
}

// Started is how many processes were started, 1 where nothing hung.
func (c *Child) Started() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started
}

// Stuck is how many killed processes have not ended, which means that the
// kernel holds them in an uninterruptible sleep.
func (c *Child) Stuck() int { return c.stuck.value() }

// OwnBinary is the path of this program, even if its file was replaced or removed since it
// started.
func OwnBinary() string {
	const link = "/proc/self/exe"
	if exists(link) {
		return link
	}
	if name, err := os.Executable(); err == nil {
		return name
	}
	return os.Args[0]
}

func or(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}
