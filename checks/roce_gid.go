package checks

import (
	"fmt"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var roceGID = register(&Check{
	ID:    "roce-gid",
	Title: "every wanted RoCE port has a RoCE v2 GID of an address",
	Doc: "RoCE addresses peers by GIDs, which the kernel makes from the addresses of the port's netdev. Without an IP " +
		"address only the link-local default GID is there, which reaches no other subnet and which IPv4 peers refuse.",
	Layer: Addressing,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links},
	Uses:  []facts.Source{facts.ProcessList, facts.RDMANetlink},
	Codes: []string{"gid-none", "gid-only-link-local", "gid-v1-only"},
	Params: Params{
		"gid-none":            "device port netdev pci?",
		"gid-only-link-local": linkLocalParams,
		"gid-v1-only":         "device port netdev pci? gid_index",
	},
	Run: func(p *Pass) {
		for port := range p.Ports(RoCE) {
			n := p.Read(facts.Links).Netdev(port.Netdev.Or(""))
			switch {
			case n == nil:
				p.Unread(port.String(), "netdev") // Its GIDs may be of another namespace.
				continue
			case down(n) || down(p.snap.Beneath(n)):
				p.NotApplicable("netdev %s is down", n.Name)
				continue
			case bondOf(p.snap, n) != nil:
				p.NotApplicable("%s is a member of a bond, which has the addresses", n.Name)
				continue
			case !port.GIDTableLen.Known() && len(port.GIDs) == 0:
				p.Unread(port.String(), "GID table")
				continue
			}
			judgeGIDs(p, port, n)
		}
	},
})

func judgeGIDs(p *Pass, port PortRef, n *facts.Netdev) {
	severity := Fail
	if want, _ := p.Wanted(port); !want {
		severity = Info
	}
	f := Finding{Severity: severity, Subject: port.String(), Confidence: Proved, Where: port.Where(), Params: port.Params()}
	routable := slices.DeleteFunc(slices.Clone(port.GIDs), facts.GID.LinkLocal)
	v2 := slices.ContainsFunc(routable, func(g facts.GID) bool { return g.Type.Or("") == facts.GIDTypeRoCEv2 })
	typed := slices.ContainsFunc(routable, func(g facts.GID) bool { return !g.Type.Known() })
	switch {
	case v2:
		return
	case len(port.GIDs) == 0:
		f.Code = "gid-none"
		f.Message = fmt.Sprintf("the GID table has no entry: netdev %s has no address", n.Name)
		f.Evidence = []Evidence{{port.Path("gids"), fmt.Sprintf("%s entries, none used", port.GIDTableLen)}}
	case len(routable) == 0:
		g := port.GIDs[0]
		f.Code = "gid-only-link-local"
		f.Message = fmt.Sprintf("all %d GIDs are link-local: netdev %s has no routable address", len(port.GIDs), n.Name)
		f.Evidence = []Evidence{{port.Path(fmt.Sprintf("gids/%d", g.Index)), g.Value}}
		f.Params["gid_index"] = fmt.Sprint(g.Index)
	case typed:
		p.Unread(port.String(), "GID types")
		return
	default:
		g := routable[0]
		f.Code = "gid-v1-only"
		if f.Severity == Fail {
			f.Severity = Warn // RoCE v1 works inside one subnet.
		}
		f.Message = fmt.Sprintf("none of the %d routable GIDs is RoCE v2", len(routable))
		f.Evidence = []Evidence{{port.Path(fmt.Sprintf("gid_attrs/types/%d", g.Index)), g.Type.String()}}
		f.Params["gid_index"] = fmt.Sprint(g.Index)
	}
	p.Report(f)
}
