package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var rdmaDevice = register(&Check{
	ID:    "rdma-device",
	Title: "an RDMA device is on this host",
	Doc: "Without a device there is nothing to examine. A kernel without RDMA, proved by ib_core being neither " +
		"loaded nor among the modules and built-in parts of this kernel, is told apart from a kernel that has it and " +
		"sees no device.",
	Layer: Driver,
	Needs: []facts.Source{facts.SysfsRDMA},
	Uses:  []facts.Source{facts.ModuleList, facts.ModuleIndex, facts.CharDevNodes, facts.Namespaces, facts.RDMANetlink},
	Codes: []string{"no-rdma-device", "kernel-without-rdma", "netns-exclusive"},
	Params: Params{
		"no-rdma-device":      "kernel?",
		"kernel-without-rdma": "kernel? module",
		"netns-exclusive":     netnsParams,
	},
	Run: func(p *Pass) {
		for d := range p.Devices(nil) {
			if len(d.Ports) == 0 { // A name alone is no sign of health.
				p.Unread(d.Name, "ports")
			}
		}
		s := p.Read(facts.ModuleList, facts.ModuleIndex, facts.CharDevNodes, facts.Namespaces, facts.RDMANetlink)
		if len(s.Devices) > 0 {
			return
		}
		p.Otherwise(noDevice)
		severity := Info
		if p.Named() {
			severity = Fail
		}
		if elsewhere(p, s, severity) {
			return
		}
		kernel := s.Host.Kernel.Or("")
		const class = "/sys/class/infiniband"
		if present, ok := s.RDMA.SubsystemPresent.Get(); ok && !present && withoutRDMA(s) {
			p.Report(Finding{
				Code: "kernel-without-rdma", Severity: severity, Subject: hostSubject, Confidence: Proved,
				Message: "this kernel has no ib_core, neither as a module nor built in, so no RDMA device can appear" + p.named(),
				Evidence: []Evidence{{class, "absent"}, {"/proc/modules", "no ib_core"},
					{moduleDir(s) + "modules.dep, modules.builtin", "no ib_core"}},
				Params: params("kernel", kernel, "module", "ib_core"),
			})
			return
		}
		seen := "no entries"
		if present, ok := s.RDMA.SubsystemPresent.Get(); ok && !present {
			seen = "absent"
		}
		p.Report(Finding{
			Code: "no-rdma-device", Severity: severity, Subject: hostSubject,
			Message:  "the kernel shows no RDMA device of any kind" + p.named(),
			Evidence: []Evidence{{class, seen}},
			Params:   params("kernel", kernel),
		})
	},
})

// named is the end of a sentence that says what should be here and is not.
func (p *Pass) named() string {
	names := slices.Compact(slices.Sorted(slices.Values(p.opt.Wanted)))
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return ": " + names[0] + " is wanted and not here"
	case n > mostNamed:
		return fmt.Sprintf(": %s and %d more are wanted and not here", strings.Join(names[:mostNamed], ", "), n-mostNamed)
	}
	return ": " + strings.Join(names, ", ") + " are wanted and not here"
}

// mostNamed is how many names a sentence has room for.
const mostNamed = 4

// withoutRDMA reports whether ib_core is proved to be no part of this kernel.
func withoutRDMA(s *facts.Snapshot) bool {
	const core = "ib_core"
	return s.Kernel.IndexRead && s.Module(core) == nil && !s.Kernel.Available[core] && !s.Kernel.Builtin[core]
}

// moduleDir is the folder of this kernel's module lists.
func moduleDir(s *facts.Snapshot) string { return "/lib/modules/" + s.Host.Kernel.Or("RELEASE") + "/" }

// netnsParams are the parameters of findings about exclusive namespaces.
const netnsParams = "path kind device"

// elsewhere reports devices that the exclusive namespace mode hides from this
// namespace: their character devices, which no namespace hides, are registered
// although no device shows.
func elsewhere(p *Pass, s *facts.Snapshot, severity Severity) (hidden bool) {
	if s.RDMA.NetnsMode.Or("") != "exclusive" || inInitNetns(s.Host) {
		return false
	}
	for i := range s.CharDevs {
		c := &s.CharDevs[i]
		if c.Kind != "uverbs" || !c.SysfsDev.Known() || c.Device == "" {
			continue
		}
		hidden = true
		p.Report(Finding{
			Code: "netns-exclusive", Severity: severity, Subject: c.Device, Confidence: Proved, Where: Where{Device: c.Device},
			Message: "the RDMA namespace mode is exclusive and the device belongs to another network namespace",
			Evidence: []Evidence{{"/sys/class/infiniband", "no " + c.Device}, {sysfsDevFile(c), c.SysfsDev.String()},
				{"RDMA_NLDEV_SYS_ATTR_NETNS_MODE", "exclusive"}, {"/proc/self/ns/net", initNetns(s.Host)}},
			Params: params("path", c.Path, "kind", c.Kind, "device", c.Device),
		})
	}
	return hidden
}
