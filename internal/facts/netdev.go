package facts

import "time"

// Netdev is one network interface of this namespace.
type Netdev struct {
	Name           string             `json:"name"`
	Index          int                `json:"index"`
	AdminUp        Opt[bool]          `json:"admin_up,omitzero"`  // IFF_UP
	OperState      Opt[string]        `json:"operstate,omitzero"` // "up", "down", "lowerlayerdown", ...
	Carrier        Opt[bool]          `json:"carrier,omitzero"`   // IFLA_CARRIER; meaningless while admin down
	CarrierChanges Counter            `json:"carrier_changes,omitzero"`
	MTU            Opt[int]           `json:"mtu_bytes,omitzero"`
	MinMTU         Opt[int]           `json:"min_mtu_bytes,omitzero"` // IFLA_MIN_MTU
	MaxMTU         Opt[int]           `json:"max_mtu_bytes,omitzero"` // IFLA_MAX_MTU; 0 in the kernel means no limit and is not read
	MAC            Opt[string]        `json:"mac,omitzero"`
	Kind           Opt[string]        `json:"kind,omitzero"`   // IFLA_INFO_KIND: "vlan", "bond", "veth", ...; hardware has none
	Master         Opt[string]        `json:"master,omitzero"` // bond, bridge or VRF it belongs to
	Lower          Opt[string]        `json:"lower,omitzero"`  // IFLA_LINK in this namespace (parent of a VLAN, peer of a veth)
	VLANID         Opt[int]           `json:"vlan_id,omitzero"`
	VLANEgressQoS  map[int]int        `json:"vlan_egress_qos,omitempty"` // skb priority to PCP
	BondMode       Opt[string]        `json:"bond_mode,omitzero"`
	Speed          Opt[BitsPerSecond] `json:"speed_bits_per_second,omitzero"` // /sys/class/net/X/speed; -1 is not read
	Duplex         Opt[string]        `json:"duplex,omitzero"`
	Driver         Opt[string]        `json:"driver,omitzero"` // ethtool_drvinfo
	DriverVersion  Opt[string]        `json:"driver_version,omitzero"`
	Firmware       Opt[string]        `json:"fw_ver,omitzero"`
	PCI            Opt[string]        `json:"pci,omitzero"` // ethtool_drvinfo bus_info or the device link, a PCI address
	Addresses      []Address          `json:"addresses,omitempty"`
	Qdiscs         []Qdisc            `json:"qdiscs,omitempty"`

	// Ethtool are the driver's own counters (ethtool -S) by name.
	Ethtool map[string]Counter `json:"ethtool,omitempty"`
	Stats   map[string]Counter `json:"stats,omitempty"` // rtnl_link_stats64 by field name
	// FECCounters are what ETHTOOL_A_FEC_STATS counts since the driver took the
	// port: "corrected_blocks", "uncorrectable_blocks", "corrected_bits".
	FECCounters map[string]Counter `json:"fec_counters,omitempty"`

	Pause       Opt[Pause]       `json:"pause,omitzero"`
	DCB         Opt[DCB]         `json:"dcb,omitzero"`
	LinkModes   Opt[LinkModes]   `json:"link_modes,omitzero"`
	FEC         Opt[string]      `json:"fec_active,omitzero"`     // "RS", "BaseR", "Off" (ETHTOOL_A_FEC_ACTIVE)
	FECModes    []string         `json:"fec_modes,omitempty"`     // configured (ETHTOOL_A_FEC_MODES): "None", "RS", "BASER", "LLRS"
	FECAuto     Opt[bool]        `json:"fec_auto,omitzero"`       // the driver chooses (ETHTOOL_A_FEC_AUTO)
	Transceiver Opt[Transceiver] `json:"transceiver,omitzero"`    // the module or cable in the port
	ExtState    Opt[string]      `json:"link_ext_state,omitzero"` // why the link is down (ETHTOOL_A_LINKSTATE_EXT_STATE)
	Sysctl      map[string]int   `json:"sysctl,omitempty"`        // effective rp_filter, arp_ignore, arp_announce, arp_filter: the larger of all and X
	ECN         map[string]int   `json:"ecn,omitempty"`           // "roce_np/enable/3" and the like, where the driver shows them
	// LLDP are the neighbours on the link that the host's own agent heard, as
	// systemd-networkd keeps them.
	LLDP []LLDPNeighbor `json:"lldp,omitempty"`
}

// LLDPNeighbor is one port that sends LLDP frames (IEEE 802.1AB) on a link: the
// far end, or what a bridge between lets through. What the frame lacks is empty.
type LLDPNeighbor struct {
	Chassis string `json:"chassis"`                    // chassis ID, a MAC address mostly
	Port    string `json:"port"`                       // port ID, as the sender calls it
	About   string `json:"port_description,omitempty"` // what its administrator or maker says of the port
	System  string `json:"system_name,omitempty"`
}

// String names the neighbour as its administrator would: "leaf3 Ethernet12".
func (n LLDPNeighbor) String() string {
	name, port := n.System, n.Port
	if name == "" {
		name = n.Chassis
	}
	if n.About != "" && n.About != port {
		port += " (" + n.About + ")"
	}
	return name + " port " + port
}

// Address is one IP address of a netdev.
type Address struct {
	IP        string `json:"ip"`
	PrefixLen int    `json:"prefix_len"`
	Scope     string `json:"scope"`               // "global", "link", "host"
	Tentative bool   `json:"tentative,omitempty"` // IFA_F_TENTATIVE or IFA_F_DADFAILED
	// Duplicate is IFA_F_DADFAILED: another host answered for the IPv6 address.
	Duplicate bool `json:"duplicate,omitempty"`
}

// Qdisc is one queueing discipline of a netdev.
type Qdisc struct {
	Kind   string             `json:"kind"`
	Parent string             `json:"parent"` // "root" or a handle, as tc(8) prints it
	Loss   Opt[float64]       `json:"netem_loss_fraction,omitzero"`
	Delay  Opt[time.Duration] `json:"netem_delay_nanos,omitzero"`
	Drops  Counter            `json:"drops,omitzero"`
}

// Pause is 802.3x global pause (ETHTOOL_GPAUSEPARAM).
type Pause struct {
	Autoneg bool `json:"autoneg"`
	RX      bool `json:"rx"`
	TX      bool `json:"tx"`
}

// LinkModes is what a port can do and what was agreed
// (ETHTOOL_MSG_LINKMODES_GET). Modes are named as ethtool(8) prints them.
type LinkModes struct {
	Autoneg    Opt[bool] `json:"autoneg,omitzero"`
	Lanes      Opt[int]  `json:"lanes,omitzero"` // in use (ETHTOOL_A_LINKMODES_LANES)
	Supported  []string  `json:"supported,omitempty"`
	Advertised []string  `json:"advertised,omitempty"`
	Partner    []string  `json:"partner,omitempty"`
	// MaxAdvertised is the fastest advertised mode; 0 where none is known.
	MaxAdvertised BitsPerSecond `json:"max_advertised_bits_per_second,omitempty"`
	MaxSupported  BitsPerSecond `json:"max_supported_bits_per_second,omitempty"`
	MaxPartner    BitsPerSecond `json:"max_partner_bits_per_second,omitempty"`
}

// Transceiver is the module or cable in a port, as its memory says (SFF-8472,
// SFF-8636, CMIS; ETHTOOL_MSG_MODULE_EEPROM_GET).
type Transceiver struct {
	Form   string `json:"form"` // "SFP", "QSFP28", "QSFP-DD", "OSFP", ...
	Vendor string `json:"vendor,omitempty"`
	Part   string `json:"part_number,omitempty"`
	Serial string `json:"serial_number,omitempty"`
	// Temperature is the module's own reading; copper cables have none.
	Temperature Opt[float64] `json:"temperature_celsius,omitzero"`
	// HighWarning and HighAlarm are the module's own limits.
	HighWarning Opt[float64] `json:"high_warning_celsius,omitzero"`
	HighAlarm   Opt[float64] `json:"high_alarm_celsius,omitzero"`
	MaxPower    Opt[float64] `json:"max_power_watts,omitzero"` // CMIS only
}

// DCB is Data Center Bridging of one netdev (RTM_GETDCB, DCB_CMD_IEEE_GET and
// DCB_CMD_GDCBX). A part the driver does not answer is not read.
type DCB struct {
	PFC    Opt[PFC]    `json:"pfc,omitzero"`
	ETS    Opt[ETS]    `json:"ets,omitzero"`
	Apps   []App       `json:"apps,omitempty"`
	DCBX   Opt[int]    `json:"dcbx,omitzero"` // DCB_CAP_DCBX_*: 1 host, 2 LLD managed, 4 CEE, 8 IEEE, 16 static
	Buffer Opt[Buffer] `json:"buffer,omitzero"`
	// MaxRate limits what each traffic class sends (DCB_ATTR_IEEE_MAXRATE); 0 is
	// no limit.
	MaxRate Opt[[8]BitsPerSecond] `json:"max_rate_bits_per_second,omitzero"`
	// Trust is the selector order of DCB_ATTR_DCB_APP_TRUST_TABLE, newer kernels
	// only: "dscp", "pcp", ...
	Trust []string `json:"trust,omitempty"`
}

// PFC is struct ieee_pfc. Arrays are indexed by priority.
type PFC struct {
	Enabled     uint8      `json:"enabled"` // bit p: priority p is lossless
	Capability  int        `json:"capability"`
	Delay       int        `json:"delay"`
	Requests    [8]Counter `json:"requests"`    // PFC frames sent
	Indications [8]Counter `json:"indications"` // PFC frames received
}

// On reports whether PFC is enabled for priority prio (0 to 7).
func (p PFC) On(prio int) bool { return prio >= 0 && prio < 8 && p.Enabled&(1<<prio) != 0 }

// ETS is struct ieee_ets, the parts in use. Bandwidth is percent.
type ETS struct {
	Willing   bool   `json:"willing"`
	PrioTC    [8]int `json:"prio_tc"`
	Bandwidth [8]int `json:"tc_bandwidth_percent"`
	TSA       [8]int `json:"tc_tsa"` // 0 strict, 1 CB shaper, 2 ETS, 255 vendor
}

// App is struct dcb_app: what traffic maps to which priority.
type App struct {
	Selector int `json:"selector"` // 1 ethertype, 2 TCP, 3 UDP, 4 any port, 5 DSCP
	Protocol int `json:"protocol"` // the port, ethertype or DSCP
	Priority int `json:"priority"`
}

// SelectorDSCP is IEEE_8021QAZ_APP_SEL_DSCP.
const SelectorDSCP = 5

// Buffer is struct dcbnl_buffer: receive buffers, sizes in bytes.
type Buffer struct {
	PrioBuffer [8]int    `json:"prio_buffer"`
	Size       [8]uint32 `json:"size_bytes"`
	Total      uint32    `json:"total_bytes"`
}

// Route is one IP route.
type Route struct {
	Family  string `json:"family"` // "ipv4", "ipv6"
	Table   int    `json:"table"`
	Dst     string `json:"dst"` // CIDR, or "default"
	Gateway string `json:"gateway,omitempty"`
	Netdev  string `json:"netdev,omitempty"`
	Source  string `json:"prefsrc,omitempty"`
	Metric  int    `json:"metric,omitempty"`
	Type    string `json:"type"` // "unicast", "local", "blackhole", ...
}

// Rule is one IP policy rule.
type Rule struct {
	Family   string `json:"family"`
	Priority int    `json:"priority"`
	Src      string `json:"src,omitempty"`
	IIF      string `json:"iif,omitempty"`
	OIF      string `json:"oif,omitempty"`
	Table    int    `json:"table"` // 0: the rule looks no table up
	// Narrower is whether the rule selects by more than is shown here: a mark, a
	// destination, ports, users, or the inverse of what is shown.
	Narrower bool `json:"narrower,omitempty"`
}

// Neighbor is one entry of the neighbour table.
type Neighbor struct {
	Netdev string `json:"netdev"`
	IP     string `json:"ip"`
	MAC    string `json:"mac,omitempty"`
	State  string `json:"state"` // "REACHABLE", "STALE", "FAILED", "INCOMPLETE", ... (NUD_*)
}
