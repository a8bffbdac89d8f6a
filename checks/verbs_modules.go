package checks

import (
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var verbsModules = register(&Check{
	ID:    "verbs-modules",
	Title: "user space can reach the RDMA devices",
	Doc: "ib_uverbs makes /dev/infiniband/uverbsN, without which no program can use a device. rdma_ucm makes " +
		"/dev/infiniband/rdma_cm, without which programs that connect with rdma_cm cannot start.",
	Layer: Driver,
	Needs: []facts.Source{facts.SysfsRDMA, facts.ModuleList},
	Uses:  []facts.Source{facts.ModuleIndex, facts.CharDevNodes, facts.Links, facts.ProcessList, facts.RDMANetlink},
	Codes: []string{"uverbs-missing", "rdma-ucm-missing"},
	Params: Params{
		"uverbs-missing":   "module path",
		"rdma-ucm-missing": "module path",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.ModuleList, facts.ModuleIndex, facts.CharDevNodes)
		want := false
		for d := range p.Devices(nil) {
			ok, _ := p.WantedDevice(d)
			want = want || ok
		}
		if len(s.Devices) == 0 {
			p.Otherwise(noDevice)
			return
		}
		report := func(code, module, path, kind, lost string, severity Severity) {
			if loaded(s, module, kind) {
				return
			}
			if !want {
				severity = Info
			}
			seen := []Evidence{{"/proc/modules", "no " + module}, {path, "no " + kind + " device registered"}}
			confidence := Likely // It may be built in where the index was not read.
			if s.Kernel.IndexRead {
				confidence = Proved
				seen = append(seen, Evidence{moduleDir(s) + "modules.builtin", "no " + module})
			}
			p.Report(Finding{
				Code: code, Severity: severity, Subject: hostSubject, Confidence: confidence,
				Message: module + " is not loaded: " + lost, Evidence: seen,
				Params: params("module", module, "path", path),
			})
		}
		report("uverbs-missing", "ib_uverbs", "/dev/infiniband/uverbs0", "uverbs",
			"programs cannot open any RDMA device", Fail)
		report("rdma-ucm-missing", "rdma_ucm", "/dev/infiniband/rdma_cm", "rdma_cm",
			"programs cannot connect with rdma_cm", Warn)
	},
})

// loaded reports whether module is in the kernel, by the module list, the
// built-in list or a character device that it registered.
func loaded(s *facts.Snapshot, module, kind string) bool {
	if s.Module(module) != nil || s.Kernel.Builtin[module] {
		return true
	}
	return slices.ContainsFunc(s.CharDevs, func(c facts.CharDev) bool { return c.Kind == kind && c.SysfsDev.Known() })
}
