package collect

import (
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

const (
	memoryPeers   = "/sys/kernel/mm/memory_peers"
	nvidiaVersion = "/proc/driver/nvidia/version"
)

// collectGPUDirect reads the peer memory clients of OFED's ib_core and the
// version of NVIDIA's driver. Hosts without GPUs have neither.
func collectGPUDirect(r *Reader) {
	g := &r.Snap.GPUDirect
	lists, reads := r.batch(), r.batch()
	lists.dirIf(memoryPeers, func(names []string) {
		for _, name := range names[:min(len(names), mostPeers)] {
			g.Peers = append(g.Peers, facts.PeerMemory{Name: name})
		}
	})
	lists.fileIf(nvidiaVersion, func(text string) {
		version, open, err := parseNVIDIA(text)
		if err != nil {
			r.Malformed(nvidiaVersion, text, err.Error())
			return
		}
		g.NVIDIA, g.NVIDIAOpen = facts.Some(version), facts.Some(open)
	})
	lists.run()
	for i := range g.Peers {
		attrIf(reads, memoryPeers+"/"+g.Peers[i].Name+"/version", &g.Peers[i].Version, parseText)
	}
	reads.run()
}

// mostPeers bounds the clients; a kernel has one for each maker of GPUs.
const mostPeers = 16

var nvidiaForm = pattern.Of(`(?m)^NVRM version: NVIDIA .*Kernel Module .*?\b(\d{3,4}\.\d+(?:\.\d+)?)\b`)

// parseNVIDIA reads the first line of /proc/driver/nvidia/version:
// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  565.77  Release
// Build …", of the closed driver "NVIDIA UNIX x86_64 Kernel Module  550.135  …".
func parseNVIDIA(s string) (version string, open bool, err error) {
	m := nvidiaForm.FindStringSubmatch(s)
	if m == nil {
		return "", false, form(`"NVRM version: NVIDIA … Kernel Module … N.N"`)
	}
	return m[1], strings.Contains(m[0], "Open Kernel Module"), nil
}
