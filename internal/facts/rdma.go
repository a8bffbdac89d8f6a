package facts

import (
	"fmt"
	"strings"
)

// RDMA is what holds for the whole RDMA subsystem of the host.
type RDMA struct {
	// SubsystemPresent is whether /sys/class/infiniband exists (ib_core is loaded
	// or built in).
	SubsystemPresent Opt[bool] `json:"subsystem_present,omitzero"`
	// NetnsMode is "shared" or "exclusive"
	// (RDMA_NLDEV_SYS_ATTR_NETNS_MODE, else ib_core's parameter netns_mode).
	NetnsMode Opt[string] `json:"netns_mode,omitzero"`
	// PrivilegedQKey is RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE.
	PrivilegedQKey Opt[bool] `json:"privileged_qkey,omitzero"`
	// Cgroup holds rdma.max and rdma.current of the examining process's cgroup
	// and its ancestors that set a limit.
	Cgroup []RDMACgroupLimit `json:"cgroup,omitempty"`
}

// RDMACgroupLimit is one device's line in an rdma controller.
type RDMACgroupLimit struct {
	Path          string      `json:"path"` // of the cgroup, from the mount point of cgroup2
	Device        string      `json:"device"`
	HandleMax     Opt[uint64] `json:"hca_handle_max,omitzero"` // not read: "max", no limit
	ObjectMax     Opt[uint64] `json:"hca_object_max,omitzero"`
	HandleCurrent Opt[uint64] `json:"hca_handle_current,omitzero"`
	ObjectCurrent Opt[uint64] `json:"hca_object_current,omitzero"`
}

// Device is one RDMA device (struct ib_device), by the name rdma(8) shows.
type Device struct {
	Name            string           `json:"name"`
	Index           Opt[int]         `json:"index,omitzero"`     // RDMA_NLDEV_ATTR_DEV_INDEX
	NodeType        Opt[string]      `json:"node_type,omitzero"` // "CA", "RNIC", "switch", ... (node_type after "N: ")
	Protocol        Opt[string]      `json:"protocol,omitzero"`  // "ib", "roce", "iw", "opa", "usnic" (RDMA_NLDEV_ATTR_DEV_PROTOCOL)
	Driver          Opt[string]      `json:"driver,omitzero"`    // kernel driver, e.g. "mlx5_core", "rdma_rxe", "siw"
	Provider        Opt[string]      `json:"provider,omitzero"`  // user-space provider library, e.g. "mlx5", "rxe"
	FirmwareVersion Opt[string]      `json:"fw_ver,omitzero"`    // fw_ver
	BoardID         Opt[string]      `json:"board_id,omitzero"`  // board_id (PSID)
	HCAType         Opt[string]      `json:"hca_type,omitzero"`  // hca_type
	HWRev           Opt[string]      `json:"hw_rev,omitzero"`    // hw_rev
	NodeGUID        Opt[string]      `json:"node_guid,omitzero"` // "9c9c:b3ff:fe68:9770", as sysfs prints it
	SysImageGUID    Opt[string]      `json:"sys_image_guid,omitzero"`
	NodeDesc        Opt[string]      `json:"node_desc,omitzero"`
	Serial          Opt[string]      `json:"serial_number,omitzero"` // serial, of hfi1 and qib
	PCI             Opt[string]      `json:"pci,omitzero"`           // address of the PCI function; software devices have none
	NUMANode        Opt[int]         `json:"numa_node,omitzero"`     // -1: the platform does not say
	Uverbs          Opt[string]      `json:"uverbs,omitzero"`        // "uverbs0"
	NetnsNetdevs    []string         `json:"netdevs,omitempty"`      // netdevs of the PCI function seen in this namespace
	Resources       map[string]Usage `json:"resources,omitempty"`    // "qp", "cq", "mr", "pd", "cm_id", "ctx", "srq" (RDMA_NLDEV_CMD_RES_GET)
	Ports           []Port           `json:"ports,omitempty"`        // by Number
	ParentType      Opt[string]      `json:"link_type,omitzero"`     // "rxe", "siw" for devices made with rdma link add
}

// Usage is a current count and, where the kernel tells it, the maximum.
type Usage struct {
	Current uint64      `json:"current"`
	Max     Opt[uint64] `json:"max,omitzero"`
}

// Software reports whether the device is an emulation without hardware limits.
func (d *Device) Software() bool {
	switch d.Provider.Or(d.ParentType.Or("")) {
	case "rxe", "siw":
		return true
	}
	return false
}

// PortState is the logical state, spelt as ports/N/state prints it.
type PortState string

// The port states (IBTA PortInfo:PortState).
const (
	StateNOP         PortState = "NOP"
	StateDown        PortState = "DOWN"
	StateInit        PortState = "INIT"
	StateArmed       PortState = "ARMED"
	StateActive      PortState = "ACTIVE"
	StateActiveDefer PortState = "ACTIVE_DEFER"
)

// Link layers as ports/N/link_layer prints them.
const (
	InfiniBand = "InfiniBand"
	Ethernet   = "Ethernet"
)

// Port is one port of a device. Numbers start at 1.
type Port struct {
	Number    int            `json:"number"`
	State     Opt[PortState] `json:"state,omitzero"`      // at the first sample
	StateLast Opt[PortState] `json:"state_last,omitzero"` // at the last sample
	PhysState Opt[string]    `json:"phys_state,omitzero"` // "LinkUp", "Polling", "Disabled", ...
	LinkLayer Opt[string]    `json:"link_layer,omitzero"` // InfiniBand or Ethernet

	// Rate is the figure that ports/N/rate prints, lanes times lane speed. It is
	// the true data rate only for EDR and faster, and on Ethernet it is synthetic.
	Rate Opt[BitsPerSecond] `json:"rate_bits_per_second,omitzero"`
	// DataRate is what the link carries after line coding, on InfiniBand only: 32
	// Gb/s for a 4X QDR link whose rate reads 40.
	DataRate Opt[BitsPerSecond] `json:"data_rate_bits_per_second,omitzero"`
	Width    Opt[int]           `json:"width_lanes,omitzero"` // 1, 2, 4, 8, 12
	Speed    Opt[string]        `json:"speed,omitzero"`       // "SDR" ... "XDR"

	ActiveMTU Opt[int] `json:"active_mtu_bytes,omitzero"` // ibv_query_port; needs verbs
	MaxMTU    Opt[int] `json:"max_mtu_bytes,omitzero"`

	LID     Opt[uint32] `json:"lid,omitzero"`
	SMLID   Opt[uint32] `json:"sm_lid,omitzero"`
	LMC     Opt[int]    `json:"lmc,omitzero"`
	SMSL    Opt[int]    `json:"sm_sl,omitzero"`
	CapMask Opt[uint32] `json:"cap_mask,omitzero"`

	PKeys []PKey `json:"pkeys,omitempty"` // non-zero entries
	// GIDs are the non-zero entries, by Index. Where all GIDs that the addresses of
	// the netdev and of what is on it make were found, a long run of empty slots
	// ends the reading.
	GIDs         []GID    `json:"gids,omitempty"`
	GIDTableLen  Opt[int] `json:"gid_table_len,omitzero"`
	GIDSlotsRead Opt[int] `json:"gid_slots_read,omitzero"` // from slot 0 on; the others were not looked at
	// Choice is which GIDs programs take by themselves on a RoCE port.
	Choice Opt[GIDChoice] `json:"gid_choice,omitzero"`

	Netdev Opt[string] `json:"netdev,omitzero"` // RDMA_NLDEV_ATTR_NDEV_NAME, else gid_attrs/ndevs

	// Counters are ports/N/counters by file name, in the unit of the kernel's
	// ABI document, except that port_xmit_data and port_rcv_data are octets.
	Counters   map[string]Counter `json:"counters,omitempty"`
	HWCounters map[string]Counter `json:"hw_counters,omitempty"` // ports/N/hw_counters or RDMA_NLDEV_CMD_STAT_GET
	// CM are the messages of the connection manager by directory and file:
	// "cm_tx_retries/req" (ports/N/cm_*, in older kernels below
	// /sys/class/infiniband_cm). iWARP devices have none.
	CM map[string]Counter `json:"cm_counters,omitempty"`

	TrafficClass Opt[int]    `json:"traffic_class,omitzero"` // OFED override tc/N/traffic_class
	CMRoCEMode   Opt[string] `json:"cm_roce_mode,omitzero"`  // configfs default_roce_mode
	CMRoCETOS    Opt[int]    `json:"cm_roce_tos,omitzero"`   // configfs default_roce_tos
}

// PKey is one entry of the partition table. Bit 15 set is full membership.
type PKey struct {
	Index int    `json:"index"`
	Value uint16 `json:"value"`
}

// Full reports whether the entry is a full member of its partition.
func (k PKey) Full() bool { return k.Value&0x8000 != 0 }

// GID types as the kernel spells them in gid_attrs/types.
const (
	GIDTypeRoCEv1 = "IB/RoCE v1"
	GIDTypeRoCEv2 = "RoCE v2"
)

// GID is one used entry of a port's GID table.
type GID struct {
	Index  int         `json:"index"`
	Value  string      `json:"gid"`           // eight groups of four hex digits, as sysfs prints it
	Type   Opt[string] `json:"type,omitzero"` // GIDTypeRoCEv1 (also InfiniBand) or GIDTypeRoCEv2
	Netdev Opt[string] `json:"netdev,omitzero"`
}

// LinkLocal reports whether the GID is in fe80::/10, or an IPv4 link-local
// address mapped into IPv6.
func (g GID) LinkLocal() bool {
	return strings.HasPrefix(g.Value, "fe8") || strings.HasPrefix(g.Value, "fe9") ||
		strings.HasPrefix(g.Value, "fea") || strings.HasPrefix(g.Value, "feb") ||
		strings.HasPrefix(g.Value, "0000:0000:0000:0000:0000:ffff:a9fe:")
}

// RoCE reports whether the device speaks RoCE on this port. iWARP and EFA
// also sit on Ethernet or on an unnamed link layer, so the protocol decides
// where it was read.
func RoCE(d *Device, p *Port) bool {
	switch proto, ok := d.Protocol.Get(); {
	case ok && (proto == "iw" || proto == "usnic"):
		return false
	case ok && proto == "roce":
		return p.LinkLayer.Or(Ethernet) == Ethernet
	}
	switch d.Provider.Or("") {
	case "efa", "siw", "cxgb4", "usnic":
		return false
	}
	return p.LinkLayer.Or("") == Ethernet && d.NodeType.Or("CA") == "CA"
}

// LinkName is the port as rdma(8) writes it, "mlx5_0/1".
func LinkName(device string, port int) string { return fmt.Sprintf("%s/%d", device, port) }
