package collect

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

const (
	nvidiaOpen   = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  565.77  Release Build  (nixbld@)  Sun Feb  9 11:08:26 UTC 2025\nGCC version:  gcc version 13.3.0 (GCC)\n"
	nvidiaClosed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.135  Fri Jan 10 20:00:00 UTC 2025\nGCC version:  gcc version 11.4.0\n"
)

func TestGPUDirect(t *testing.T) {
	h := constructed(t, "host-debian-guest")
	want(t, "without GPU", collected(t, h, facts.ModuleList).GPUDirect, facts.GPUDirect{})
	h = constructed(t, "host-debian-guest")
	h.Put(nvidiaVersion, nvidiaClosed)
	h.Put(memoryPeers+"/nv_mem/version", "1.4-0")
	h.Put(memoryPeers+"/amdkfd/num_alloc_mrs", "0")
	s := collected(t, h, facts.ModuleList)
	want(t, "with GPU", s.GPUDirect, facts.GPUDirect{
		Peers:  []facts.PeerMemory{{Name: "amdkfd"}, {Name: "nv_mem", Version: facts.Some("1.4-0")}},
		NVIDIA: facts.Some("550.135"), NVIDIAOpen: facts.Some(false),
	})
	h.Put(nvidiaVersion, "NVRM\n")
	want(t, "malformed", gap(t, collected(t, h, facts.ModuleList), nvidiaVersion).Kind, facts.Malformed)
	h.Put(memoryPeers+"/", "errno: EACCES")
	want(t, "denied", gap(t, collected(t, h, facts.ModuleList), memoryPeers).Kind, facts.Denied)
}

func TestParseNVIDIA(t *testing.T) {
	for _, tt := range []struct {
		text, version string
		open          bool
	}{
		{nvidiaOpen, "565.77", true}, {nvidiaClosed, "550.135", false},
		{"NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.95.05  Release Build", "580.95.05", true},
		{"NVRM version: NVIDIA UNIX x86_64 Kernel Module", "", false}, {"", "", false},
		{"GCC version:  gcc version 11.4.0", "", false}, {"NVRM version: NVIDIA Kernel Module x", "", false},
	} {
		version, open, err := parseNVIDIA(tt.text)
		if version != tt.version || open != tt.open || (err != nil) != (tt.version == "") {
			t.Errorf("parseNVIDIA(%q) = %q, %v, %v", tt.text, version, open, err)
		}
	}
}

func FuzzNVIDIA(f *testing.F) {
	f.Add(nvidiaOpen)
	f.Add(nvidiaClosed)
	f.Add("NVRM version: NVIDIA")
	f.Fuzz(func(t *testing.T, s string) {
		if version, open, err := parseNVIDIA(s); (version == "") != (err != nil) || open && err != nil {
			t.Errorf("parseNVIDIA(%q) = %q, %v, %v", s, version, open, err)
		}
	})
}
