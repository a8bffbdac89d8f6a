package probes

import (
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// reliable is the ladder of an RC queue pair.
func (l *ladder) reliable() {
	if !l.opened() || !l.queued() || !l.registered() {
		return
	}
	l.ceiling()
	w, s := l.firstWay(), l.usual(verbs.RC)
	l.describe(w, s)
	l.tell.Ladder(l.id, &l.out)
	if l.port.State != verbs.PortActive {
		l.skip("queue pairs", "the port is %s, not ACTIVE", portState(l.port.State))
		return
	}
	p, err := l.connect(w, s, l.told)
	if err != nil {
		l.vary(w, s)
		return
	}
	l.inline()
	if !l.transfers(p, w, s) {
		p.close()
		return
	}
	l.messages(p)
	l.refusals(w, p)
	l.step("destroy-qp", func(*facts.ProbeStep) error { return p.req.Close() })
	p.close()
	l.step("dereg-mr", func(*facts.ProbeStep) error { return l.mem.mr.Close() })
}

// registered registers the ladder's own memory.
func (l *ladder) registered() bool {
	ok := l.step("reg-mr", func(s *facts.ProbeStep) (err error) {
		if l.mem, err = newBuffers(l.lib); err != nil {
			return err
		}
		s.Bytes = 2 * l.mem.page
		l.mem.mr, err = l.pd.RegMR(l.mem.mem, uint64(l.mem.page), uint64(s.Bytes), l.access())
		if err == nil {
			s.Time = l.mem.mr.Took()
		}
		return err
	})
	if !ok {
		l.varyRegistration()
		return false
	}
	// Addresses and lengths off every boundary are fine: reg_mr needs none.
	l.step("reg-mr-unaligned", func(s *facts.ProbeStep) error {
		s.Bytes = l.mem.page/2 + 3
		mr, err := l.pd.RegMR(l.mem.mem, uint64(l.mem.page+1), uint64(s.Bytes), verbs.AccessLocalWrite|verbs.AccessRemoteRead)
		if err != nil {
			return err
		}
		s.Time = mr.Took()
		return mr.Close()
	})
	return true
}

// inline finds how much data can be sent inside a work request.
func (l *ladder) inline() {
	l.tell.Begin("create-qp", transferLimit)
	for _, n := range []int{1024, 512, 220, 128, 64, 32} {
		q, err := l.createQP(verbs.RC, l.cq, n)
		if err == nil {
			_ = q.Close()
			l.out.Limits.MaxInline = n
			return
		}
	}
}

// messages writes small messages, one after the other.
func (l *ladder) messages(p *pair) {
	if l.par.Messages == 0 {
		return
	}
	l.step("write", func(s *facts.ProbeStep) error {
		s.Bytes, s.Detail = smallBytes, "one after the other"
		for range l.par.Messages {
			if err := l.post(p, verbs.OpRDMAWrite, smallBytes); err != nil {
				return err
			}
		}
		return nil
	})
}
