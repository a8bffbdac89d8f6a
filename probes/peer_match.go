package probes

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// Match is a port here and the port there that it is to reach.
type Match struct {
	Near, Far Planned
	Why       string // they belong together
}

// MatchPorts finds the pair of ports to probe, of those that are asked for: of
// one transport, both active, and in one subnet, or with a route from here to
// there. The error says why there is none.
func MatchPorts(near, far *facts.Snapshot, askNear, askFar Ask) (*Match, error) {
	here, there := Plan(near, askNear), Plan(far, askFar)
	if len(here) == 0 || len(there) == 0 {
		return nil, fmt.Errorf("no port to probe: %d here, %d at the far end", len(here), len(there))
	}
	var best *Match
	most := 0
	for i := range here {
		for j := range there {
			m := &Match{Near: here[i], Far: there[j]}
			m.prefer(near, far, askNear, askFar)
			if score := m.score(near, far); score > most {
				best, most = m, score
			}
		}
	}
	if best == nil {
		return nil, fmt.Errorf("no port here goes with one there: here %s; at the far end %s", candidates(near, here), candidates(far, there))
	}
	return best, nil
}

// prefer takes GIDs of the same kind at both ends, where none is asked for.
func (m *Match) prefer(near, far *facts.Snapshot, askNear, askFar Ask) {
	a, b := &m.Near.Params, &m.Far.Params
	if !strings.HasPrefix(a.Transport, "RoCE") || !strings.HasPrefix(b.Transport, "RoCE") {
		return
	}
	switch mine, yours := gidOf(near, a), gidOf(far, b); {
	case mine.Value == "" || yours.Value == "" || sameKind(mine, yours):
	case askFar.GIDIndex == nil:
		takeKind(far, b, mine)
	case askNear.GIDIndex == nil:
		takeKind(near, a, yours)
	}
}

func gidOf(s *facts.Snapshot, l *LadderParams) facts.GID {
	if p := portOf(s, l.Device, l.Port); p != nil {
		g, _ := p.GIDAt(l.GIDIndex)
		return g
	}
	return facts.GID{}
}

func portOf(s *facts.Snapshot, device string, number int) *facts.Port {
	d := s.Device(device)
	if d == nil {
		return nil
	}
	i := slices.IndexFunc(d.Ports, func(p facts.Port) bool { return p.Number == number })
	if i < 0 {
		return nil
	}
	return &d.Ports[i]
}

func sameKind(a, b facts.GID) bool {
	return a.Type.Or("") == b.Type.Or("") && a.IPv4() == b.IPv4() && a.LinkLocal() == b.LinkLocal()
}

// takeKind moves l to the first GID of the kind of want, if there is one.
func takeKind(s *facts.Snapshot, l *LadderParams, want facts.GID) {
	p := portOf(s, l.Device, l.Port)
	if p == nil {
		return
	}
	for _, g := range p.GIDs {
		if sameKind(g, want) {
			l.GIDIndex, l.GID, l.Netdev = g.Index, g.Value, g.Netdev.Or(l.Netdev)
			l.Transport = "RoCE v2"
			if g.Type.Or("") == facts.GIDTypeRoCEv1 {
				l.Transport = "RoCE v1"
			}
			return
		}
	}
}

// score is how well two ports go together, 0 for not at all.
func (m *Match) score(near, far *facts.Snapshot) int {
	a, b := &m.Near, &m.Far
	if family(a.Params.Transport) == "" || family(a.Params.Transport) != family(b.Params.Transport) {
		return 0
	}
	p, q := portOf(near, a.Params.Device, a.Params.Port), portOf(far, b.Params.Device, b.Params.Port)
	if p == nil || q == nil {
		return 0
	}
	score := 1
	m.Why = "both are " + family(a.Params.Transport)
	if p.State.Or("") == facts.StateActive && q.State.Or("") == facts.StateActive {
		score += 100
	}
	// A port that must be named is taken only where no other is left.
	if a.Skip == "" && b.Skip == "" {
		score += 1000
	}
	switch {
	case family(a.Params.Transport) == "InfiniBand" && samePrefix(p, q):
		score += 50
		m.Why = "both are in the same InfiniBand subnet"
	case family(a.Params.Transport) == "InfiniBand":
	case sameSubnet(near, &a.Params, far, &b.Params):
		score += 50
		m.Why = "their addresses are in one subnet"
	case routed(near, &a.Params, far, &b.Params):
		score += 20
		m.Why = "a route leads from " + a.Params.Netdev + " to it"
	}
	if a.Params.Device == b.Params.Device && a.Params.Port == b.Params.Port {
		score++
	}
	return score
}

// family is the transport without the version, since a mismatch of versions is
// for the connection to show.
func family(transport string) string {
	if strings.HasPrefix(transport, "RoCE") {
		return "RoCE"
	}
	return transport
}

func samePrefix(p, q *facts.Port) bool {
	a, ok1 := p.GIDAt(0)
	b, ok2 := q.GIDAt(0)
	return ok1 && ok2 && len(a.Value) >= 19 && len(b.Value) >= 19 && a.Value[:19] == b.Value[:19]
}

// addressOf is the address that the path of l ends at: its GID's, or its
// netdev's.
func addressOf(l *LadderParams) netip.Addr {
	if a, err := netip.ParseAddr(l.GID); err == nil && strings.HasPrefix(l.Transport, "RoCE") {
		return a.Unmap()
	}
	a, _ := netip.ParseAddr(l.Address)
	return a.Unmap()
}

// PeerAddress is the address of the far port, the zero Addr where it has none.
func (m *Match) PeerAddress() netip.Addr { return addressOf(&m.Far.Params) }

// NearAddress is the address of the port here, the zero Addr where it has none.
func (m *Match) NearAddress() netip.Addr { return addressOf(&m.Near.Params) }

func sameSubnet(near *facts.Snapshot, a *LadderParams, far *facts.Snapshot, b *LadderParams) bool {
	mine, yours := near.Netdev(a.Netdev), far.Netdev(b.Netdev)
	if mine == nil || yours == nil {
		return false
	}
	to := addressOf(b)
	for _, x := range mine.Addresses {
		ip, err := netip.ParseAddr(x.IP)
		if err != nil || !to.IsValid() {
			continue
		}
		if prefix, err := ip.Prefix(x.PrefixLen); err == nil && prefix.Contains(to) && !ip.IsLinkLocalUnicast() {
			return true
		}
	}
	return false
}

func routed(near *facts.Snapshot, a *LadderParams, _ *facts.Snapshot, b *LadderParams) bool {
	r := routeTo(near, addressOf(b))
	return r != nil && r.Netdev == a.Netdev
}

// routeTo is the most specific route to an address, as far as the main table
// tells.
func routeTo(s *facts.Snapshot, to netip.Addr) *facts.Route {
	var best *facts.Route
	bits := -1
	for i := range s.Routes {
		r := &s.Routes[i]
		if r.Dst == "default" {
			if bits < 0 && to.IsValid() {
				best, bits = r, 0
			}
			continue
		}
		prefix, err := netip.ParsePrefix(r.Dst)
		if err != nil {
			addr, err := netip.ParseAddr(r.Dst)
			if err != nil {
				continue
			}
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		if prefix.Contains(to) && prefix.Bits() > bits {
			best, bits = r, prefix.Bits()
		}
	}
	return best
}

func candidates(s *facts.Snapshot, ps []Planned) string {
	var words []string
	for _, p := range ps {
		state := "state not read"
		if port := portOf(s, p.Params.Device, p.Params.Port); port != nil {
			state = string(port.State.Or("state not read"))
		}
		transport := p.Params.Transport
		if transport == "" {
			transport = "no RC transport"
		}
		words = append(words, fmt.Sprintf("%s (%s, %s)", facts.LinkName(p.Params.Device, p.Params.Port), transport, state))
	}
	return strings.Join(words, ", ")
}
