package checks

import "github.com/rdmadoctor/rdmadoctor/internal/facts"

var kernelLog = register(&Check{
	ID:    "kernel-log",
	Title: "the kernel log tells no fault of RDMA hardware",
	Doc: "Drivers tell of firmware asserts, refused modules, DMA faults and lost interrupts in the kernel log only. Known " +
		"messages are decoded here; a line of the last day that is no older than the driver's last load counts, older " +
		"ones are history.",
	Layer: Driver,
	Needs: []facts.Source{facts.SysfsRDMA, facts.KernelLog},
	Uses:  []facts.Source{facts.Links, facts.ProcessList, facts.RDMANetlink},
	Codes: []string{"firmware-health", "module-fault", "kernel-log-rdma-error", "gpu-fault", "sa-timeout"},
	Params: Params{
		"firmware-health":       logParams,
		"module-fault":          moduleParams,
		"kernel-log-rdma-error": logParams,
		"gpu-fault":             logParams,
		"sa-timeout":            logParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.KernelLog)
		for range p.Devices(nil) {
		}
		if len(s.Devices) == 0 {
			p.Otherwise(noDevice)
		}
		for _, h := range logHits(s) {
			switch h.code {
			case "firmware-health":
				p.Report(h.finding(p, Fail))
			case "module-fault", "kernel-log-rdma-error":
				p.Report(h.finding(p, Warn))
			case "sa-timeout":
				// IPoIB asks again; a subnet manager that restarts costs a line or two.
				severity := Info
				if h.count > 2 {
					severity = Warn
				}
				p.Report(h.finding(p, severity))
			case "gpu-fault":
				p.Report(h.finding(p, Info))
			}
		}
	},
})
