package facts

import (
	"fmt"
	"slices"
	"strings"
)

// GIDChoice is the index in a RoCE port's GID table that programs take by
// themselves, each by its own rule and with its defaults. A field is not read
// where the program would find none.
type GIDChoice struct {
	// Perftest is the choice of ib_write_bw and its kin without -x: IPv4 before
	// IPv6, then routable before link-local, then RoCE v2
	// (perftest_communication.c). Versions before 2024 take 0.
	Perftest Opt[int] `json:"perftest,omitzero"`
	// NCCL is the choice without NCCL_IB_GID_INDEX (net_ib connect.cc): the first
	// RoCE v2 entry of an IPv4 address. Versions before 2.21 take 0.
	NCCL Opt[int] `json:"nccl,omitzero"`
	// UCX is the choice of UCX_IB_GID_INDEX=auto (ib_device.c): RoCE v2 before v1,
	// then IPv4 before IPv6.
	UCX Opt[int] `json:"ucx,omitzero"`
	// RDMACM is what rdma_cm uses from the netdev's own address: the entry with
	// its default_roce_mode, RoCE v2 where nothing is set (cma.c).
	RDMACM Opt[int] `json:"rdma_cm,omitzero"`
}

// IPv4 reports whether the GID is an IPv4 address mapped into IPv6.
func (g GID) IPv4() bool {
	return strings.HasPrefix(g.Value, "0000:0000:0000:0000:0000:ffff:")
}

// version is 2 or 1, 0 where the type was not read.
func (g GID) version() int {
	switch g.Type.Or("") {
	case GIDTypeRoCEv2:
		return 2
	case GIDTypeRoCEv1:
		return 1
	}
	return 0
}

// GIDAt returns the used entry at index.
func (p *Port) GIDAt(index int) (GID, bool) {
	for _, g := range p.GIDs {
		if g.Index == index {
			return g, true
		}
	}
	return GID{}, false
}

// ChooseGIDs works out which entries of the table of p, in order of their
// index, programs take. It means nothing on a port that is not RoCE.
func ChooseGIDs(p *Port) GIDChoice {
	// An entry without a type is empty by now or of another network namespace.
	gids := slices.DeleteFunc(slices.Clone(p.GIDs), func(g GID) bool { return g.version() == 0 })
	if len(gids) == 0 {
		return GIDChoice{}
	}
	return GIDChoice{
		Perftest: byScore(gids, func(g GID) int {
			return 100*one(g.IPv4()) + 10*one(!g.LinkLocal()) + g.version()
		}),
		NCCL:   chooseNCCL(gids),
		UCX:    byScore(gids, func(g GID) int { return 10*g.version() + one(g.IPv4()) }),
		RDMACM: chooseCM(p),
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// byScore is the first entry of those with the highest score.
func byScore(gids []GID, score func(GID) int) Opt[int] {
	best := gids[0]
	for _, g := range gids[1:] {
		if score(g) > score(best) {
			best = g
		}
	}
	return Some(best.Index)
}

// chooseNCCL walks up from index 0 and moves on to the first IPv4 entry, then
// to a routable one of RoCE v2 where the one it has is neither.
func chooseNCCL(gids []GID) Opt[int] {
	var have GID // Index 0, which may be empty.
	if gids[0].Index == 0 {
		have = gids[0]
	}
	for _, g := range gids {
		switch {
		case g.Index == 0 || !g.IPv4():
		case !have.IPv4():
			have = g
		case !g.LinkLocal() && g.version() == 2 && (have.version() != 2 || have.LinkLocal()):
			have = g
		}
	}
	if have.Value == "" {
		return Opt[int]{}
	}
	return Some(have.Index)
}

// chooseCM is the entry of the netdev's own first address in rdma_cm's mode.
func chooseCM(p *Port) Opt[int] {
	mode := p.CMRoCEMode.Or(GIDTypeRoCEv2)
	for _, g := range p.GIDs {
		own := g.Netdev.Or("") == p.Netdev.Or("") && p.Netdev.Known()
		if own && !g.LinkLocal() && g.Type.Or("") == mode {
			return Some(g.Index)
		}
	}
	return Opt[int]{}
}

// String lists the choices, "perftest 3, NCCL 3, UCX 3, rdma_cm 3".
func (c GIDChoice) String() string {
	var parts []string
	for _, p := range []struct {
		name  string
		index Opt[int]
	}{{"perftest", c.Perftest}, {"NCCL", c.NCCL}, {"UCX", c.UCX}, {"rdma_cm", c.RDMACM}} {
		if i, ok := p.index.Get(); ok {
			parts = append(parts, fmt.Sprintf("%s %d", p.name, i))
		} else {
			parts = append(parts, p.name+" none")
		}
	}
	return strings.Join(parts, ", ")
}
