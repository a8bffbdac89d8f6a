package facts

// PCIFunction is a PCI function that matters to RDMA: an RDMA-capable NIC, a
// GPU, or a bridge above one.
type PCIFunction struct {
	Address      string         `json:"address"` // "0000:3b:00.0"
	Class        Opt[string]    `json:"class,omitzero"`
	Vendor       Opt[uint16]    `json:"vendor,omitzero"`
	DeviceID     Opt[uint16]    `json:"device_id,omitzero"`
	Subsystem    Opt[string]    `json:"subsystem,omitzero"`
	Driver       Opt[string]    `json:"driver,omitzero"` // "" : none bound
	NUMANode     Opt[int]       `json:"numa_node,omitzero"`
	LocalCPUs    Opt[string]    `json:"local_cpulist,omitzero"` // of RDMA NICs and GPUs: "0-15,32-47"
	Parent       string         `json:"parent,omitempty"`       // address of the bridge above
	CurrentSpeed Opt[float64]   `json:"current_link_speed_gtps,omitzero"`
	MaxSpeed     Opt[float64]   `json:"max_link_speed_gtps,omitzero"`
	CurrentWidth Opt[int]       `json:"current_link_width,omitzero"`
	MaxWidth     Opt[int]       `json:"max_link_width,omitzero"`
	VF           bool           `json:"vf,omitempty"`     // a virtual function: has physfn, or its ID is one's
	PhysFn       string         `json:"physfn,omitempty"` // address of a VF's physical function, on its host
	VFs          Opt[int]       `json:"sriov_numvfs,omitzero"`
	TotalVFs     Opt[int]       `json:"sriov_totalvfs,omitzero"`
	IOMMUType    Opt[string]    `json:"iommu_group_type,omitzero"`
	Power        Opt[string]    `json:"runtime_status,omitzero"` // "active", "suspended", ...; a suspended one is not read further
	Config       Opt[PCIConfig] `json:"config,omitzero"`
	// DevlinkParams are the switches "enable_rdma", "enable_roce" and
	// "enable_iwarp" (devlink-params), as the driver was or will be started with.
	DevlinkParams map[string]bool `json:"devlink_params,omitempty"`
	RoCEEnable    Opt[bool]       `json:"roce_enable,omitzero"` // the switch of that name that OFED's mlx5 has in sysfs
	// Serial is the board's serial number, else the chip's
	// (DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER, DEVLINK_ATTR_INFO_SERIAL_NUMBER).
	Serial Opt[string] `json:"serial_number,omitzero"`
	// VirtualFunctions is what a physical function has set for its virtual ones.
	VirtualFunctions []VirtualFunction `json:"virtual_functions,omitempty"`

	AER         map[string]Counter `json:"aer,omitempty"` // "correctable/RxErr", ... from aer_dev_*
	Netdevs     []string           `json:"netdevs,omitempty"`
	RDMADevices []string           `json:"rdma_devices,omitempty"`
	RDMACapable string             `json:"rdma_capable,omitempty"` // kernel RDMA driver module this function needs, from the product's table
	GPU         bool               `json:"gpu,omitempty"`          // by vendor and class
}

// VirtualFunction is one entry of IFLA_VFINFO_LIST (if_link.h): what the host
// has set for a virtual function.
type VirtualFunction struct {
	Number    int                `json:"number"`
	Address   string             `json:"address,omitempty"`    // of its PCI function, from virtfnN
	LinkState Opt[string]        `json:"link_state,omitzero"`  // "auto", "enable", "disable"
	MinTxRate Opt[BitsPerSecond] `json:"min_tx_rate,omitzero"` // 0: none is guaranteed
	MaxTxRate Opt[BitsPerSecond] `json:"max_tx_rate,omitzero"` // 0: no limit
	NodeGUID  Opt[string]        `json:"node_guid,omitzero"`   // InfiniBand; zeros: not set
	PortGUID  Opt[string]        `json:"port_guid,omitzero"`   // InfiniBand; zeros: not set
	Trust     Opt[bool]          `json:"trust,omitzero"`       // may change what matters to others
	Spoof     Opt[bool]          `json:"spoof_check,omitzero"` // may send from its own address only
}

// PCIConfig is what a function's configuration space says (PCI Express Base
// Specification, chapter 7.5; the registers' names are those of pci_regs.h).
type PCIConfig struct {
	// Bytes is how many were there: 64 without CAP_SYS_ADMIN, 256 where the rest
	// was not asked for.
	Bytes int `json:"bytes"`
	// AllOnes says that every byte was 0xff, at both samples where there are two:
	// nothing answers at this address.
	AllOnes bool `json:"all_ones,omitempty"`
	// PortType is "endpoint", "root-port", "upstream", "downstream", ... of the
	// PCI Express capability, as are the next four.
	PortType        Opt[string] `json:"port_type,omitzero"`
	MaxPayload      Opt[int]    `json:"max_payload_bytes,omitzero"`           // Max_Payload_Size of Device Control
	MaxPayloadCap   Opt[int]    `json:"max_payload_supported_bytes,omitzero"` // of Device Capabilities
	MaxReadRequest  Opt[int]    `json:"max_read_request_bytes,omitzero"`
	RelaxedOrdering Opt[bool]   `json:"relaxed_ordering,omitzero"` // Enable Relaxed Ordering of Device Control
	// ASPM is which sleep of the link is on: "off", "L0s", "L1", "L0s L1" (ASPM
	// Control of Link Control).
	ASPM Opt[string] `json:"aspm,omitzero"`
	// ACS is the control register of the Access Control Services capability. It
	// is not read where Bytes is below 4096, else the function has none.
	ACS Opt[uint16] `json:"acs_control,omitzero"`
}

// Bits of the ACS control register (pci_regs.h, PCI_ACS_*).
const (
	ACSRequestRedirect    = 0x04 // PCI_ACS_RR
	ACSCompletionRedirect = 0x08 // PCI_ACS_CR
	ACSDirectTranslated   = 0x40 // PCI_ACS_DT: translated requests go the short way
)

// PCIConfigSpace is the size of the extended configuration space, in bytes.
const PCIConfigSpace = 4096

// A PCITree finds functions by address.
type PCITree map[string]*PCIFunction

// PCITree is the tree of the functions in the snapshot.
func (s *Snapshot) PCITree() PCITree {
	t := make(PCITree, len(s.PCI))
	for i := range s.PCI {
		t[s.PCI[i].Address] = &s.PCI[i]
	}
	return t
}

// deepestPCI bounds a way up; a deeper tree is a loop in hostile input.
const deepestPCI = 16

// Bridges are the bridges above f, the nearest first, up to the root port.
func (t PCITree) Bridges(f *PCIFunction) []*PCIFunction {
	var up []*PCIFunction
	for range deepestPCI {
		if f = t[f.Parent]; f == nil {
			break
		}
		up = append(up, f)
	}
	return up
}

// Between are the bridges that traffic from a to b passes below the one that
// both have above them. It is false where they have none in common: then all
// traffic goes through the root complex anyway.
func (t PCITree) Between(a, b *PCIFunction) (bridges []*PCIFunction, common *PCIFunction) {
	fromA, fromB := t.Bridges(a), t.Bridges(b)
	for i, up := range fromA {
		for j, other := range fromB {
			if up == other {
				return append(fromA[:i:i], fromB[:j]...), up
			}
		}
	}
	return nil, nil
}
