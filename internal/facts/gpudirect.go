package facts

// GPUDirect is how the kernel lets NICs reach the memory of GPUs: by a peer
// memory client of OFED's ib_core, or by dma-buf of the GPU's driver.
type GPUDirect struct {
	Peers []PeerMemory `json:"memory_peers,omitempty"` // by Name
	// NVIDIA is the version of NVIDIA's kernel driver, and NVIDIAOpen says that it
	// is the open one, which gives GPU memory out as dma-buf.
	NVIDIA     Opt[string] `json:"nvidia_version,omitzero"`
	NVIDIAOpen Opt[bool]   `json:"nvidia_open,omitzero"`
}

// PeerMemory is a client of /sys/kernel/mm/memory_peers, "nv_mem" or "amdkfd".
type PeerMemory struct {
	Name    string      `json:"name"`
	Version Opt[string] `json:"version,omitzero"`
}
