package lab

import (
	"time"

	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
)

// Options say what guest to boot. Only Kernel must be set.
type Options struct {
	// Kernel is the kernel to boot.
	Kernel kernels.Kernel
	// Name is the guest's host name, "lab-a" if empty.
	Name string
	// MemoryMiB is the guest's memory, 512 MiB if 0.
	MemoryMiB int
	// Tools are programs of this host that are copied into the guest's
	// memory, where they are found in PATH under their base names.
	Tools []string
	// Networks are the Unix sockets of switch ports, one network card each:
	// eth0, eth1 and so on.
	Networks []Network
	// Steady makes the guest's clock count instructions, so that two runs
	// of the same work take the same time in it. It is slower.
	Steady bool
	// BootLimit is how long the guest may take until its agent answers, 2
	// minutes if 0: ten times what it takes on an idle machine.
	BootLimit time.Duration
	// HangLimit is how long the agent may be silent, 30 seconds if 0.
	HangLimit time.Duration

	// init replaces the agent, to test what a guest does that never boots.
	init []byte
}

// Network is a network card of a guest.
type Network struct {
	// Socket is the Unix socket that takes and gives Ethernet frames, each
	// after its 4-byte big-endian length.
	Socket string
	// MAC is the card's address, "02:00:00:00:00:01".
	MAC string
	// MTU is what the card offers as largest, 4200 if 0: what path MTU 4096
	// takes.
	MTU int
}

// withDefaults fills in what was left empty.
func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = "lab-a"
	}
	if o.MemoryMiB == 0 {
		o.MemoryMiB = 512
	}
	if o.BootLimit == 0 {
		o.BootLimit = 2 * time.Minute
	}
	if o.HangLimit == 0 {
		o.HangLimit = 30 * time.Second
	}
	networks := make([]Network, len(o.Networks))
	for i, n := range o.Networks {
		if n.MTU == 0 {
			n.MTU = 4200
		}
		networks[i] = n
	}
	o.Networks = networks
	return o
}
