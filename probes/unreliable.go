package probes

import (
	"errors"
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// climbed opens and registers without telling it again: the RC ladder did. It
// says why where it fails nevertheless.
func (l *ladder) climbed() bool {
	l.tell.Begin("open", openLimit)
	err := func() (err error) {
		if l.dev, err = l.lib.Open(l.par.Device); err != nil {
			return err
		}
		if l.attr, err = l.dev.QueryDevice(); err != nil {
			return err
		}
		if l.port, err = l.dev.QueryPort(l.par.Port); err != nil {
			return err
		}
		if l.pd, err = l.dev.AllocPD(); err != nil {
			return err
		}
		if l.ch, err = l.dev.CreateCompChannel(); err != nil {
			return err
		}
		if l.cq, err = l.dev.CreateCQ(queueDepth, l.ch); err != nil {
			return err
		}
		if l.rq, err = l.dev.CreateCQ(queueDepth, nil); err != nil {
			return err
		}
		if l.mem, err = newBuffers(l.lib); err != nil {
			return err
		}
		l.mem.mr, err = l.pd.RegMR(l.mem.mem, uint64(l.mem.page), uint64(2*l.mem.page), l.access())
		return err
	}()
	if err != nil {
		return l.step("open", func(*facts.ProbeStep) error { return err })
	}
	if l.port.State != verbs.PortActive {
		l.skip("queue pairs", "the port is %s, not ACTIVE", portState(l.port.State))
		return false
	}
	return true
}

// offered reports whether the device makes queue pairs of the service. Not
// having one is no failure.
func (l *ladder) offered(service verbs.QPType) bool {
	l.tell.Begin("create-qp", transferLimit)
	q, err := l.createQP(service, l.cq, 0)
	if err != nil {
		l.skip(service.String(), "the device makes no such queue pair: %v", err)
		return false
	}
	_ = q.Close()
	return true
}

// unreliable is the ladder of a UC queue pair: write and send, which nobody
// acknowledges.
func (l *ladder) unreliable() {
	if !l.climbed() || !l.offered(verbs.UC) {
		return
	}
	w, s := l.firstWay(), l.usual(verbs.UC)
	s.access = verbs.AccessLocalWrite | verbs.AccessRemoteWrite
	l.describe(w, s)
	p, err := l.connect(w, s, l.told)
	if err != nil {
		l.vary(w, s)
		return
	}
	for _, op := range []operation{{"write", smallBytes, write}, {"write", l.mem.page, write}, {"send", smallBytes, send}} {
		if !l.step(op.name, func(st *facts.ProbeStep) error {
			st.Bytes = op.bytes
			return op.run(l, p, st)
		}) {
			break
		}
	}
	p.close()
}

// grhBytes is what a UD receive begins with.
const grhBytes = 40

// datagram is the ladder of a UD queue pair: an address handle, and a message
// that is no larger than the path MTU.
func (l *ladder) datagram() {
	if !l.climbed() || !l.offered(verbs.UD) {
		return
	}
	w, s := l.firstWay(), l.usual(verbs.UD)
	l.describe(w, s)
	l.out.Path.PathMTU = 0
	p, err := l.connect(w, s, l.told)
	if err != nil {
		l.vary(w, s)
		return
	}
	defer p.close()
	var ah *verbs.AH
	if !l.step("create-ah", func(*facts.ProbeStep) (err error) {
		gid, _ := l.dev.QueryGID(l.par.Port, w.gid)
		ah, err = l.pd.CreateAH(l.address(w, gid))
		return err
	}) {
		return
	}
	l.step("send", func(st *facts.ProbeStep) error {
		st.Bytes = smallBytes
		return l.sendTo(p, ah, st)
	})
}

func (l *ladder) sendTo(p *pair, ah *verbs.AH, s *facts.ProbeStep) error {
	l.mem.wipe()
	want := l.mem.source()[:s.Bytes]
	pattern(want, 4)
	if err := p.rsp.PostRecv(1, l.mem.mr, 0, uint32(grhBytes+s.Bytes)); err != nil {
		return err
	}
	err := p.req.PostSend(verbs.WR{Op: verbs.OpSend, MR: l.mem.mr, Offset: uint64(l.mem.page), Length: uint32(s.Bytes),
		AH: ah, RemoteQPN: p.rsp.Num(), RemoteQKey: qkey})
	if err != nil {
		return err
	}
	if err := l.completion(p.req, "send"); err != nil {
		return err
	}
	wc, err := l.received(p.rsp, arrivalLimit)
	if err != nil {
		var status *verbs.WCError
		if errors.As(err, &status) {
			return err
		}
		return &facts.StepError{Call: "ibv_poll_cq", TimedOut: true, Text: "it was sent and did not arrive: " + err.Error()}
	}
	if int(wc.ByteLen) != grhBytes+s.Bytes {
		return &facts.StepError{Call: "ibv_poll_cq", Text: fmt.Sprintf("the receive says %d bytes, %d were sent behind a GRH", wc.ByteLen, s.Bytes)}
	}
	return l.verify(s, l.mem.target()[grhBytes:grhBytes+s.Bytes], want)
}
