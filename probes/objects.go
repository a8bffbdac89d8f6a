package probes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// opened opens the device and asks it what it is.
func (l *ladder) opened() bool {
	return l.stepFor("open", "", openLimit, func(*facts.ProbeStep) (err error) {
		l.dev, err = l.lib.Open(l.par.Device)
		return l.nodeError(err)
	}) && l.step("query-device", func(s *facts.ProbeStep) (err error) {
		if l.attr, err = l.dev.QueryDevice(); err != nil {
			return err
		}
		l.out.Limits = limits(l.attr)
		s.Detail = "firmware " + l.attr.FWVer
		return nil
	}) && l.step("query-port", func(s *facts.ProbeStep) (err error) {
		if l.port, err = l.dev.QueryPort(l.par.Port); err != nil {
			return err
		}
		s.Detail = fmt.Sprintf("%s, active_mtu %d", portState(l.port.State), l.port.ActiveMTU)
		return nil
	})
}

// queued makes what queue pairs are made of.
func (l *ladder) queued() bool {
	return l.step("alloc-pd", func(*facts.ProbeStep) (err error) {
		l.pd, err = l.dev.AllocPD()
		return err
	}) && l.step("create-comp-channel", func(*facts.ProbeStep) (err error) {
		l.ch, err = l.dev.CreateCompChannel()
		return err
	}) && l.step("create-cq", func(s *facts.ProbeStep) (err error) {
		if l.cq, err = l.dev.CreateCQ(queueDepth, l.ch); err != nil {
			return err
		}
		s.Detail = fmt.Sprintf("%d entries", l.cq.CQE())
		l.rq, err = l.dev.CreateCQ(queueDepth, nil)
		return err
	})
}

// queueDepth is how many work requests and completions there is room for.
const queueDepth = 32

func limits(a verbs.DeviceAttr) facts.DeviceLimits {
	caps := map[int]string{0: "IBV_ATOMIC_NONE", 1: "IBV_ATOMIC_HCA", 2: "IBV_ATOMIC_GLOB"}
	return facts.DeviceLimits{MaxQP: a.MaxQP, MaxQPWR: a.MaxQPWR, MaxCQ: a.MaxCQ, MaxCQE: a.MaxCQE, MaxMR: a.MaxMR,
		MaxMRBytes: a.MaxMRSize, MaxPD: a.MaxPD, MaxQPRDAtom: a.MaxQPRdAtom, AtomicCap: caps[a.AtomicCap],
		OnDemandPage: a.ODPGeneral != 0}
}

func portState(n int) string {
	names := []string{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"}
	if n < 0 || n >= len(names) {
		return fmt.Sprintf("state %d", n)
	}
	return names[n]
}

// access is what the ladder's own region allows: everything the device can do.
func (l *ladder) access() verbs.Access {
	a := verbs.AccessLocalWrite | verbs.AccessRemoteWrite | verbs.AccessRemoteRead
	if l.atomics() && !l.iWARP() {
		a |= verbs.AccessRemoteAtomic
	}
	return a
}

func (l *ladder) iWARP() bool { return l.par.Transport == "iWARP" }

func (l *ladder) atomics() bool { return l.attr.AtomicCap != 0 }

// nodeError is why the device could not be opened. Where the node is refused,
// libibverbs waits for another one to appear and then tells the errno of that
// (open_cdev.c): what open(2) itself says is the truth.
func (l *ladder) nodeError(err error) error {
	var failed *verbs.Errno
	if !errors.As(err, &failed) || failed.Call != "ibv_open_device" {
		return err
	}
	devices, listErr := l.lib.Devices()
	if listErr != nil {
		return err
	}
	for _, d := range devices {
		if d.Name != l.par.Device || d.Uverbs == "" {
			continue
		}
		node := filepath.Join("/dev/infiniband", filepath.Base(d.Uverbs))
		f, openErr := os.OpenFile(node, os.O_RDWR|syscall.O_CLOEXEC, 0)
		if openErr == nil {
			_ = f.Close()
			return err
		}
		var errno syscall.Errno
		if errors.As(openErr, &errno) && (errno != syscall.ENOENT || failed.Errno == syscall.ENOENT) {
			return &facts.StepError{Call: "open", Errno: int(errno), Name: verbs.ErrnoName(errno), Text: openErr.Error()}
		}
	}
	return err
}
