package checks

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var gpuMemoryReached = register(&Check{
	ID:    "gpu-memory-reached",
	Title: "RDMA NICs can reach the memory of NVIDIA GPUs",
	Doc: "GPUDirect needs a way to pin GPU memory for the NIC: the peer memory module, or dma-buf, which the open kernel driver " +
		"gives on Linux 5.12 and newer. With neither, libraries copy through host memory and say little about it. A host may " +
		"mean to do without: alone it is information.",
	Layer: Application,
	Needs: []facts.Source{facts.SysfsRDMA, facts.PCISysfs, facts.ModuleList},
	Uses:  []facts.Source{facts.Namespaces},
	Codes: []string{"gpudirect-off"},
	Params: Params{
		"gpudirect-off": "gpu",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.SysfsRDMA, facts.PCISysfs, facts.ModuleList, facts.Namespaces)
		p.Otherwise("no NVIDIA GPU with its driver is beside an RDMA NIC")
		gpu := nvidiaGPU(s)
		if gpu == nil || !slices.ContainsFunc(s.Devices, func(d facts.Device) bool { return d.PCI.Known() }) {
			return
		}
		p.Examine(1)
		if pinsGPUMemory(s) {
			return
		}
		open, ok1 := s.GPUDirect.NVIDIAOpen.Get()
		kernel, ok2 := s.Host.Kernel.Get()
		switch {
		case !ok1:
			p.Unread(gpu.Address, "kind of the NVIDIA kernel driver")
			return
		case open && !ok2:
			p.Unread(gpu.Address, "kernel release")
			return
		case open && atLeast(kernel, 5, 12):
			return
		case open && strings.Contains(kernel, ".el"):
			p.NotApplicable("whether kernel %s has dma-buf registration its number does not tell", kernel)
			return
		}
		f := Finding{
			Code: "gpudirect-off", Severity: Info, Subject: hostSubject, Confidence: Likely,
			Message: "NICs cannot reach GPU memory: no peer memory module is loaded, and the closed NVIDIA driver gives no dma-buf",
			Evidence: []Evidence{
				{"/proc/modules", "no nvidia_peermem"},
				{"/proc/driver/nvidia/version", driverKind(open) + " " + s.GPUDirect.NVIDIA.String()},
			},
			Params: params("gpu", gpu.Address),
		}
		if open {
			f.Message = "NICs cannot reach GPU memory: no peer memory module is loaded, and dma-buf registration needs Linux 5.12"
			f.Evidence = append(f.Evidence, Evidence{"uname -r", kernel})
		}
		p.Report(f)
	},
})

func driverKind(open bool) string {
	if open {
		return "Open Kernel Module"
	}
	return "Kernel Module"
}

// nvidiaGPU is the first GPU that NVIDIA's driver is bound to, or nil.
func nvidiaGPU(s *facts.Snapshot) (first *facts.PCIFunction) {
	for i := range s.PCI {
		f := &s.PCI[i]
		if f.GPU && f.Driver.Or("") == "nvidia" && (first == nil || f.Address < first.Address) {
			first = f
		}
	}
	return first
}

// pinsGPUMemory reports whether a peer memory client of NVIDIA's is there.
func pinsGPUMemory(s *facts.Snapshot) bool {
	for _, name := range []string{"nvidia_peermem", "nv_peer_mem"} {
		if s.Module(name) != nil {
			return true
		}
	}
	return slices.ContainsFunc(s.GPUDirect.Peers, func(peer facts.PeerMemory) bool { return strings.HasPrefix(peer.Name, "nv") })
}

// atLeast reports whether a kernel release, "6.12.48-amd64", is that or newer.
func atLeast(release string, major, minor int) bool {
	parts := strings.FieldsFunc(release, func(c rune) bool { return c < '0' || c > '9' })
	if len(parts) < 2 {
		return false
	}
	a, err1 := strconv.Atoi(parts[0])
	b, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (a > major || a == major && b >= minor)
}
