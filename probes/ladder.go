package probes

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// LadderProbe is the name of the task that runs ladders of one port to itself.
const LadderProbe = "ladder"

var _ = register(LadderProbe, func(ctx context.Context, lib *verbs.Library, params json.RawMessage, tell Reporter) error {
	var p LadderParams
	if err := decode(params, &p); err != nil {
		return err
	}
	return Ladders(ctx, lib, p, tell)
})

// LadderParams say which port and which path, and what may be done there.
type LadderParams struct {
	Device    string `json:"device"`
	Port      int    `json:"port"`
	Transport string `json:"transport"` // as facts.Path has it
	GIDIndex  int    `json:"gid_index"`
	GID       string `json:"gid,omitempty"`    // of that index, as the facts have it
	Netdev    string `json:"netdev,omitempty"` // of that GID
	PathMTU   int    `json:"path_mtu_bytes,omitempty"`
	PkeyIndex int    `json:"pkey_index,omitempty"`
	SL        int    `json:"sl,omitempty"`
	TClass    int    `json:"traffic_class,omitempty"`
	Priority  *int   `json:"priority,omitempty"`     // that the bytes ride, as the facts say
	Address   string `json:"address,omitempty"`      // of the netdev, for rdma_cm
	MRMax     uint64 `json:"mr_max_bytes,omitempty"` // registrations grow up to this; 0: they do not
	Refusals  bool   `json:"refusals,omitempty"`     // also try what must be refused
	Messages  int    `json:"messages,omitempty"`     // small writes, one after the other
	Repeat    int    `json:"repeat,omitempty"`       // so many times before the one that is told
}

// The times that a ladder waits.
const (
	openLimit     = 15 * time.Second // libibverbs itself waits 5 s for a device node
	transferLimit = 10 * time.Second // (retry_cnt + 1) * timeout, up to four times
	arrivalLimit  = 2 * time.Second  // data that was sent, where nobody acknowledges
	registerLimit = 60 * time.Second // of a gigabyte
)

// ladder is one ladder while it runs.
type ladder struct {
	ctx   context.Context
	lib   *verbs.Library
	par   LadderParams
	tell  Reporter
	id    int
	out   facts.Ladder
	begun time.Time

	dev    *verbs.Context
	attr   verbs.DeviceAttr
	port   verbs.PortAttr
	pd     *verbs.PD
	ch     *verbs.CompChannel
	cq, rq *verbs.CQ // of the requester, with the channel, and the responder
	mem    *buffers
	before counts

	managers []*verbs.Context // the device as rdma_cm has opened it
}

// Ladders runs the ladders that the port's transport has: RC with everything,
// UC and UD beside it, or rdma_cm for iWARP.
func Ladders(ctx context.Context, lib *verbs.Library, p LadderParams, tell Reporter) error {
	if p.Repeat > 0 {
		repeated(ctx, lib, p, tell)
	}
	once(ctx, lib, p, tell)
	return nil
}

func once(ctx context.Context, lib *verbs.Library, p LadderParams, tell Reporter) {
	if p.Transport == "iWARP" {
		newLadder(ctx, lib, p, tell, 1, "RC").run((*ladder).managed)
		return
	}
	rc := newLadder(ctx, lib, p, tell, 1, "RC")
	rc.run((*ladder).reliable)
	if rc.failed() || ctx.Err() != nil {
		return // The others would fail for the same reason, and hide it.
	}
	newLadder(ctx, lib, p, tell, 2, "UC").run((*ladder).unreliable)
	newLadder(ctx, lib, p, tell, 3, "UD").run((*ladder).datagram)
}

func newLadder(ctx context.Context, lib *verbs.Library, p LadderParams, tell Reporter, id int, service string) *ladder {
	l := &ladder{ctx: ctx, lib: lib, par: p, tell: tell, id: id, begun: time.Now()}
	l.out = facts.Ladder{Probe: "self", Local: facts.LinkName(p.Device, p.Port), Path: facts.Path{
		Transport: p.Transport, Service: service, Netdev: p.Netdev}}
	if p.Priority != nil {
		l.out.Path.Priority = facts.Some(*p.Priority)
	}
	return l
}

// run carries out a ladder and leaves nothing open.
func (l *ladder) run(climb func(*ladder)) {
	l.tell.Ladder(l.id, &l.out)
	// Firmware that answers no more is met here first: reading counters asks it.
	l.tell.Begin("counters", transferLimit)
	l.before = readCounts(l.par.Device, l.par.Port)
	climb(l)
	l.down()
	l.out.Time = time.Since(l.begun)
	l.out.End = facts.ProbeEnd{Outcome: facts.Completed}
	if l.ctx.Err() != nil {
		l.out.End = facts.ProbeEnd{Outcome: facts.Stopped, Detail: "before it was done"}
	}
	l.tell.Ladder(l.id, &l.out)
}

// down closes what is open.
func (l *ladder) down() {
	l.tell.Begin("close", transferLimit)
	l.events()
	if l.dev != nil {
		if err := l.dev.Close(); err != nil {
			l.out.Steps = append(l.out.Steps, facts.ProbeStep{Name: "close", Error: stepError("ibv_close_device", err)})
		}
	}
	l.mem.close()
	l.moved()
}

// failed reports whether a step failed.
func (l *ladder) failed() bool {
	for i := range l.out.Steps {
		if l.out.Steps[i].Error != nil {
			return true
		}
	}
	return false
}

// step makes one step and tells it. False: it failed, or the run is over.
func (l *ladder) step(name string, f func(*facts.ProbeStep) error) bool {
	return l.stepFor(name, "", transferLimit+arrivalLimit, f)
}

func (l *ladder) stepFor(name, role string, limit time.Duration, f func(*facts.ProbeStep) error) bool {
	s := l.made(name, role, limit, f)
	if l.ctx.Err() != nil {
		return false
	}
	l.out.Steps = append(l.out.Steps, s)
	l.tell.Step(l.id, false, s)
	return s.Error == nil
}

// made is a step that was made.
func (l *ladder) made(name, role string, limit time.Duration, f func(*facts.ProbeStep) error) facts.ProbeStep {
	s := facts.ProbeStep{Name: name, Role: role}
	l.tell.Begin(name, limit)
	begun := time.Now()
	err := f(&s)
	if s.Time == 0 {
		s.Time = time.Since(begun)
	}
	s.Error = stepError("", err)
	l.events()
	return s
}

// skip says what is left out.
func (l *ladder) skip(what, format string, args ...any) {
	l.out.Skipped = append(l.out.Skipped, facts.SkippedReason{What: what, Why: fmt.Sprintf(format, args...)})
}

// events takes the asynchronous events that are waiting.
func (l *ladder) events() (names []string) {
	for _, dev := range append([]*verbs.Context{l.dev}, l.managers...) {
		if dev != nil {
			names = append(names, l.eventsOf(dev)...)
		}
	}
	return names
}

// eventsOf takes those of one opened device.
func (l *ladder) eventsOf(dev *verbs.Context) (names []string) {
	for range 64 { // No more than that is news.
		e, err := dev.AsyncEvent()
		if err != nil {
			return names
		}
		a := facts.AsyncEvent{Name: "IBV_EVENT_" + e.Type.String(), After: time.Since(l.begun), Subject: l.par.Device}
		switch {
		case e.Type.OfPort():
			a.Subject = facts.LinkName(l.par.Device, e.Port)
		case e.Type.OfQP():
			a.Subject = fmt.Sprintf("qp %#x", e.QPN)
		}
		l.out.Events = append(l.out.Events, a)
		names = append(names, a.Name)
	}
	return names
}
