package hostio

import (
	"runtime"
	"strings"

	"github.com/safchain/ethtool"
	"golang.org/x/sys/unix"
)

// ethtool answers the SIOCETHTOOL ops. The kernel tries to load a module named
// after an interface that does not exist (dev_load), so the name is looked up
// by netlink first, which loads nothing.
func (l *Live) ethtool(op Op) Result {
	if res := l.linkExists(op.Name); res.Err() != nil {
		return Result{Errno: res.Errno, TimedOut: res.TimedOut}
	}
	res := Result{Errno: unix.EIO}
	onWideStack(func() { res = askEthtool(op) })
	return res
}

func askEthtool(op Op) Result {
	e, err := ethtool.NewEthtool()
	if err != nil {
		return failed(err)
	}
	defer e.Close()
	switch op.Kind {
	case EthtoolStats:
		stats, err := e.Stats(op.Name)
		if err != nil {
			return failed(err)
		}
		return asJSON(stats)
	case EthtoolDriver:
		d, err := e.DriverInfo(op.Name)
		if err != nil {
			return failed(err)
		}
		return asJSON(DriverInfo{Driver: d.Driver, Version: d.Version, Firmware: d.FwVersion, BusInfo: d.BusInfo})
	case EthtoolPause:
		p, err := e.GetPause(op.Name)
		if err != nil {
			return failed(err)
		}
		return asJSON(PauseParam{Autoneg: p.Autoneg != 0, RX: p.RxPause != 0, TX: p.TxPause != 0})
	}
	return Result{NotInForm: true}
}

// onWideStack runs f deep in a stack that neither grows nor shrinks meanwhile.
// The ethtool package hands addresses of stack variables to the kernel as
// integers, which the runtime does not correct when it moves a stack.
//
//go:noinline
func onWideStack(f func()) {
	var room [24 << 10]byte
	f()
	runtime.KeepAlive(&room)
}

// netdevName reports whether name is one the kernel accepts (dev_valid_name).
func netdevName(name string) bool {
	return name != "" && len(name) < unix.IFNAMSIZ && name != "." && name != ".." &&
		!strings.ContainsAny(name, "/: \t\n\v\f\r\x00")
}
