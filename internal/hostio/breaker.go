package hostio

import (
	"path"
	"strings"
)

// A breaker remembers where reads did not come back, so that one dead firmware
// costs one or two deadlines and not one for every counter, in this sample and
// the next.
type breaker struct {
	blocked map[string]bool
	strikes map[string]int // timeouts by wider scope
}

// Timeouts that block a wider scope.
const (
	deviceStrikes = 2 // a device's directories or requests
	familyStrikes = 3 // a netlink family, with route and ethtool as one: both wait for the rtnl lock
)

// scope is where an op reads: the place blocked by its first timeout, and the
// wider places, each with the timeouts that block it.
func scope(op Op) (place string, wider map[string]int) {
	switch op.Kind {
	case ReadFile, ReadLink, ReadDir, Stat, TryOpen:
		dir := path.Dir(op.Name)
		if op.Kind == ReadDir {
			dir = path.Clean(op.Name)
		}
		if rest, ok := strings.CutPrefix(dir+"/", "/sys/class/infiniband/"); ok {
			if dev, _, _ := strings.Cut(rest, "/"); dev != "" {
				wider = map[string]int{"rdma device " + dev: deviceStrikes}
			}
		}
		return "dir " + dir, wider
	case EthtoolStats, EthtoolDriver, EthtoolPause:
		return "netdev " + op.Name, map[string]int{"rtnl": familyStrikes}
	case Netlink:
		family, request, _ := strings.Cut(op.Name, "/")
		_, subject, ok := strings.Cut(request, ".")
		switch family {
		case "rdma":
			wider = map[string]int{"rdma netlink": familyStrikes}
			if ok {
				dev, _, _ := strings.Cut(subject, "/")
				wider["rdma device "+dev] = deviceStrikes
				return "rdma request " + dev, wider
			}
		case "route", "ethtool":
			wider = map[string]int{"rtnl": familyStrikes}
			if ok {
				return "netdev " + subject, wider
			}
		}
		return op.Key(), wider
	}
	return op.Key(), nil
}

// open reports whether op may be tried.
func (b *breaker) open(op Op) bool {
	if len(b.blocked) == 0 { // Nothing hung yet, as a rule.
		return true
	}
	place, wider := scope(op)
	for w := range wider {
		if b.blocked[w] {
			return false
		}
	}
	return !b.blocked[place]
}

// trip notes that op timed out.
func (b *breaker) trip(op Op) {
	if b.blocked == nil {
		b.blocked, b.strikes = map[string]bool{}, map[string]int{}
	}
	place, wider := scope(op)
	b.blocked[place] = true
	for w, limit := range wider {
		if b.strikes[w]++; b.strikes[w] >= limit {
			b.blocked[w] = true
		}
	}
}
