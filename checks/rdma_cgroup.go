package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var rdmaCgroup = register(&Check{
	ID:    "rdma-cgroup",
	Title: "the rdma cgroup leaves room for more objects",
	Doc: "The rdma cgroup controller limits how many devices a group may open (hca_handle) and how many objects it may " +
		"create (hca_object). At the limit opening or creating fails with EAGAIN.",
	Layer: Driver,
	Needs: []facts.Source{facts.SysfsRDMA, facts.RDMACgroup},
	Codes: []string{"rdma-cgroup-limit"},
	Params: Params{
		"rdma-cgroup-limit": cgroupParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.SysfsRDMA, facts.RDMACgroup)
		p.Otherwise("no cgroup above this process limits RDMA")
		for _, l := range s.RDMA.Cgroup {
			judge := func(unit string, limit, current facts.Opt[uint64]) {
				most, limited := limit.Get()
				now, known := current.Get()
				if !limited {
					return
				}
				p.Examine(1)
				if !known {
					p.Unread(l.Path, "rdma.current")
					return
				}
				f := Finding{
					Code: "rdma-cgroup-limit", Severity: Fail, Subject: l.Device, Confidence: Proved,
					Where:   Where{Device: l.Device},
					Message: fmt.Sprintf("cgroup %s holds %d of %d %s of %s", l.Path, now, most, unit, l.Device),
					Evidence: []Evidence{{"rdma.max of " + l.Path, fmt.Sprintf("%s %s=%d", l.Device, unit, most)},
						{"rdma.current of " + l.Path, fmt.Sprintf("%s %s=%d", l.Device, unit, now)}},
					Params: params("path", l.Path, "device", l.Device, "limit", fmt.Sprint(most), "unit", unit),
				}
				switch {
				case now >= most:
				case now >= most-most/10: // A tenth left is one program's start away from the limit.
					f.Severity = Warn
				default:
					return
				}
				p.Report(f)
			}
			judge("hca_handle", l.HandleMax, l.HandleCurrent)
			judge("hca_object", l.ObjectMax, l.ObjectCurrent)
		}
	},
})
