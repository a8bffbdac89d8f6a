package checks

import (
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

var modulesMatch = register(&Check{
	ID:    "modules-match",
	Title: "the RDMA modules come from one build",
	Doc: "Vendor packages replace the kernel's RDMA modules as a set. Where one of the kernel's own meets one of the " +
		"vendor's, the loader refuses it for its symbol versions and devices are missing.",
	Layer: Driver,
	Needs: []facts.Source{facts.ModuleList},
	Uses:  []facts.Source{facts.KernelLog},
	Codes: []string{"module-ofed-mixed"},
	Params: Params{
		"module-ofed-mixed": "module",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.ModuleList, facts.KernelLog)
		p.Otherwise("no RDMA module is loaded")
		core := s.Module("ib_core")
		if core == nil {
			return
		}
		p.Examine(1)
		for _, rec := range s.Log {
			m := symbolVersion.FindStringSubmatch(rec.Text)
			if m == nil || logNow(s)-rec.SinceBoot > recent {
				continue
			}
			p.Report(Finding{
				Code: "module-ofed-mixed", Severity: Fail, Subject: hostSubject, Confidence: Proved,
				Message:  "the kernel refused " + m[1] + ": its symbol versions are those of another build",
				Evidence: []Evidence{logEvidence(rec)},
				Params:   params("module", m[1]),
			})
			return
		}
		// mlx_compat carries the vendor's backports; its core is out of tree, so an
		// ib_core without that taint is the kernel's own.
		if s.Module("mlx_compat") != nil && !strings.Contains(core.Taints, "O") {
			p.Report(Finding{
				Code: "module-ofed-mixed", Severity: Warn, Subject: hostSubject, Confidence: Likely,
				Message:  "the vendor's mlx_compat is loaded beside the kernel's own ib_core",
				Evidence: []Evidence{{"/proc/modules", "mlx_compat"}, {"/proc/modules", "ib_core, not out of tree"}},
				Params:   params("module", "mlx_compat"),
			})
		}
	},
})

// symbolVersion is what the module loader says of an RDMA module of another
// build (kernel/module/version.c).
var symbolVersion = pattern.Of(`^((?:ib|rdma|iw|mlx[45]|bnxt|irdma|ionic|hns|efa|erdma|mana|qed|nvme_rdma|nvmet_rdma|xprtrdma|rpcrdma)[a-z0-9_]*): disagrees about version of symbol `, "disagrees about version")
