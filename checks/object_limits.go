package checks

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var objectLimits = register(&Check{
	ID:    "object-limits",
	Title: "the devices have room for more QPs and other objects",
	Doc: "A device holds a fixed number of QPs, CQs, memory regions and protection domains. All-to-all programs need one " +
		"QP a peer and process; at the limit creating one fails with ENOMEM or EINVAL.",
	Layer: Limits,
	Needs: []facts.Source{facts.SysfsRDMA, facts.RDMANetlink},
	Uses:  []facts.Source{facts.ModuleList},
	Codes: []string{"qp-limit"},
	Params: Params{
		"qp-limit": objectParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.RDMANetlink, facts.ModuleList)
		for d := range p.Devices(nil) {
			if len(d.Resources) == 0 {
				p.Unread(d.Name, "object counts")
				continue
			}
			limited := false
			for _, kind := range slices.Sorted(maps.Keys(d.Resources)) {
				u := d.Resources[kind]
				most, source, ok := objectLimit(s, d, kind)
				if !ok || most == 0 {
					continue
				}
				limited = true
				if u.Current < most-most/10 {
					continue
				}
				f := Finding{
					Code: "qp-limit", Severity: Warn, Subject: d.Name, Confidence: Proved,
					Where:    Where{Device: d.Name, PCI: d.PCI.Or("")},
					Message:  fmt.Sprintf("%d of %d objects of kind %s are in use", u.Current, most, kind),
					Evidence: []Evidence{{"rdma resource show " + d.Name, fmt.Sprintf("%s %d of %d", kind, u.Current, most)}},
					Params: params("device", d.Name, "pci", d.PCI.Or(""), "kind", kind,
						"used", strconv.FormatUint(u.Current, 10), "limit", strconv.FormatUint(most, 10)),
				}
				if source != "" {
					f.Evidence = append(f.Evidence, Evidence{source, strconv.FormatUint(most, 10)})
				}
				if u.Current >= most {
					f.Severity = Fail
				}
				p.Report(f)
			}
			if !limited {
				p.NotApplicable("the kernel does not tell the limits of %s; ibv_devinfo -v, which opens it, does", d.Name)
			}
		}
	},
})

// parameterLimits are the drivers whose limits are parameters of their module:
// by kind of object the parameter (hfi1/verbs.c, qib/qib_verbs.c). Others have
// theirs from the device and tell them to the newest kernels' netlink, or to a
// program that opens the device (ibv_query_device). Their debugfs is not read.
var parameterLimits = map[string]map[string]string{
	"hfi1":   {"qp": "max_qps", "cq": "max_cqs", "pd": "max_pds", "srq": "max_srqs"},
	"ib_qib": {"qp": "max_qps", "cq": "max_cqs", "pd": "max_pds", "srq": "max_srqs"},
}

// objectLimit is how many objects of a kind the device has, and the file where
// that stands, if it is one.
func objectLimit(s *facts.Snapshot, d *facts.Device, kind string) (most uint64, source string, ok bool) {
	if most, ok := d.Resources[kind].Max.Get(); ok {
		return most, "", true
	}
	driver := d.Driver.Or("")
	name := parameterLimits[driver][kind]
	m := s.Module(driver)
	if name == "" || m == nil {
		return 0, "", false
	}
	most, err := strconv.ParseUint(m.Parameters[name], 10, 64)
	return most, "/sys/module/" + driver + "/parameters/" + name, err == nil
}
