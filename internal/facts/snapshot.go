// Package facts holds what rdmadoctor knows about a host: plain values, no
// I/O, no judgement. A Snapshot is the contract between the collectors, which
// fill it, and the checks, which judge it.
package facts

import "time"

// SchemaVersion is the version of the snapshot's JSON form.
const SchemaVersion = "1.0"

// Snapshot is one host, read once for what stands still and twice for what
// moves. It round-trips through JSON. Lists are sorted, so that equal hosts
// give equal snapshots.
type Snapshot struct {
	Schema   string        `json:"schema"`
	Origin   Origin        `json:"origin"`
	Taken    time.Time     `json:"taken,omitzero"`           // start of the first sample
	Interval time.Duration `json:"interval_nanos,omitempty"` // between the samples, as measured; 0: one sample only
	// Elapsed is how far apart each source's own samples are; a source not in it
	// has Interval.
	Elapsed map[Source]time.Duration `json:"elapsed_nanos,omitempty"`
	Sources []Source                 `json:"sources"` // read completely or partly
	Gaps    []Gap                    `json:"gaps,omitempty"`

	Host      Host          `json:"host"`
	RDMA      RDMA          `json:"rdma"`
	Devices   []Device      `json:"devices,omitempty"`   // sorted by Name
	Netdevs   []Netdev      `json:"netdevs,omitempty"`   // sorted by Name
	CharDevs  []CharDev     `json:"chardevs,omitempty"`  // sorted by Path
	Routes    []Route       `json:"routes,omitempty"`    // as the kernel lists them
	Rules     []Rule        `json:"rules,omitempty"`     // by priority
	Neighbors []Neighbor    `json:"neighbors,omitempty"` // by netdev, then address
	Filter    []FilterChain `json:"filter,omitempty"`    // by family, hook, priority
	PCI       []PCIFunction `json:"pci,omitempty"`       // sorted by Address
	Modules   []Module      `json:"modules,omitempty"`   // sorted by Name
	Kernel    KernelModules `json:"kernel_modules"`
	GPUDirect GPUDirect     `json:"gpudirect,omitzero"`
	Userland  Userland      `json:"userland"`
	Self      Process       `json:"self"` // the examining process
	Processes []Process     `json:"processes,omitempty"`
	Units     []Unit        `json:"units,omitempty"` // services that start RDMA work, by Name
	Limits    []LimitRule   `json:"limit_rules,omitempty"`
	Settings  []Setting     `json:"settings,omitempty"` // of RDMA libraries, by file and line
	Log       []LogRecord   `json:"log,omitempty"`      // kernel log, oldest first
	Memory    Memory        `json:"memory"`
	CPU       CPU           `json:"cpu"`
	Measured  []Measurement `json:"measured,omitempty"` // probes put their results here
	Ladders   []Ladder      `json:"ladders,omitempty"`  // the same
	// Peer is the far end of a pair, as it saw itself.
	Peer *Snapshot `json:"peer,omitempty"`
}

// Origin says where a snapshot's facts come from.
type Origin string

// The origins.
const (
	Live      Origin = "live"      // this host, now
	Recording Origin = "recording" // a replayed recording
	Tree      Origin = "tree"      // a copied /sys (and /proc) tree
)

// Source names one collector's input. Checks declare the sources they need.
type Source string

// The sources.
const (
	SysfsRDMA    Source = "sysfs-rdma"    // /sys/class/infiniband
	RDMANetlink  Source = "rdma-netlink"  // NETLINK_RDMA, RDMA_NL_NLDEV
	CharDevNodes Source = "chardev"       // /dev/infiniband, /sys/class/infiniband_verbs, _mad, misc/rdma_cm
	Links        Source = "link"          // RTM_GETLINK, /sys/class/net
	Ethtool      Source = "ethtool"       // SIOCETHTOOL
	DCBNetlink   Source = "dcb"           // RTM_GETDCB
	RoutesSource Source = "route"         // RTM_GETROUTE, RTM_GETRULE
	NeighSource  Source = "neighbour"     // RTM_GETNEIGH
	FilterSource Source = "filter"        // NFT_MSG_GETCHAIN, NFT_MSG_GETRULE
	SysctlNet    Source = "sysctl-net"    // /proc/sys/net/ipv4
	PCISysfs     Source = "pci"           // /sys/bus/pci/devices
	Devlink      Source = "devlink"       // DEVLINK_CMD_PARAM_GET
	SRIOV        Source = "sriov"         // RTM_GETLINK with IFLA_VFINFO_LIST, /sys/bus/pci/devices/*/virtfn*
	ModuleList   Source = "module"        // /proc/modules, /sys/module
	ModuleIndex  Source = "module-index"  // /lib/modules/RELEASE/modules.{dep,builtin}
	LibraryFiles Source = "library-files" // provider libraries and libibverbs.d
	ProcLimits   Source = "limits"        // /proc/PID/{limits,status}, limits.conf
	UnitFiles    Source = "unit-files"    // systemd unit files and drop-ins
	ProcessList  Source = "process"       // /proc/PID of RDMA users
	KernelLog    Source = "kernel-log"    // /dev/kmsg
	Namespaces   Source = "namespace"     // /proc/self/ns, /proc/1/ns
	MemorySource Source = "memory"        // /proc/meminfo, cgroup memory
	CPUSource    Source = "cpu"           // /sys/devices/system/cpu, /sys/devices/system/node
	RDMACgroup   Source = "rdma-cgroup"   // rdma.max, rdma.current
	LibraryConf  Source = "library-conf"  // /etc/nccl.conf, /etc/ucx/ucx.conf
	ConfigFS     Source = "configfs-cma"  // /sys/kernel/config/rdma_cm
	LLDPFiles    Source = "lldp"          // /run/systemd/netif/lldp

	RecordingFile Source = "recording" // the recording itself, where it was cut off

	// Probes are the ladders and measurements of active probes. It counts as read
	// where there are any.
	Probes Source = "probe"
)

// Gap is something a collector wanted and could not read, and why.
type Gap struct {
	Source Source  `json:"source"`
	What   string  `json:"what"` // a path, a netlink request, a device
	Kind   GapKind `json:"kind"`
	Detail string  `json:"detail"` // errno name, the text found and the form expected
}

// Details of Timeout gaps that are no fault of what was read: it was not asked.
const (
	NotAsked = "not asked: a read near it got no answer, or the run was over"
	// NoAnswer is the detail of a read that was asked and did not come back.
	NoAnswer = "no answer within the deadline"
)

// NotInForm is the detail of an Unsupported gap whose source the input, such as
// a copied tree, never holds.
const NotInForm = "not in this kind of input"

// GapKind classifies why something was not read.
type GapKind string

// The kinds of gap.
const (
	Absent      GapKind = "absent"      // not there: ENOENT, ENODEV
	Denied      GapKind = "denied"      // EACCES, EPERM
	Unsupported GapKind = "unsupported" // EOPNOTSUPP, EINVAL by contract, not in this kind of input
	Malformed   GapKind = "malformed"   // read, and not in the documented form
	Timeout     GapKind = "timeout"     // no answer within the deadline
)

// Has reports whether src was read at all.
func (s *Snapshot) Has(src Source) bool {
	if src == Probes && len(s.Ladders)+len(s.Measured) > 0 {
		return true
	}
	for _, have := range s.Sources {
		if have == src {
			return true
		}
	}
	return false
}

// Between is the time between the two readings of src's counters, 0 where
// there is one sample only.
func (s *Snapshot) Between(src Source) time.Duration {
	if d, ok := s.Elapsed[src]; ok {
		return d
	}
	return s.Interval
}

// Netdev returns the netdev called name, or nil.
func (s *Snapshot) Netdev(name string) *Netdev {
	for i := range s.Netdevs {
		if s.Netdevs[i].Name == name {
			return &s.Netdevs[i]
		}
	}
	return nil
}

// NetdevByIndex returns the netdev with that ifindex, or nil.
func (s *Snapshot) NetdevByIndex(index int) *Netdev {
	for i := range s.Netdevs {
		if s.Netdevs[i].Index == index {
			return &s.Netdevs[i]
		}
	}
	return nil
}

// Device returns the RDMA device called name, or nil.
func (s *Snapshot) Device(name string) *Device {
	for i := range s.Devices {
		if s.Devices[i].Name == name {
			return &s.Devices[i]
		}
	}
	return nil
}

// Beneath follows VLAN, macvlan and single lower links down to the netdev that
// owns the hardware queues, where DCB, pause and per-priority counters live.
// It returns n itself where nothing is beneath it in this namespace.
func (s *Snapshot) Beneath(n *Netdev) *Netdev {
	for range 8 { // A stack deeper than this is a loop in hostile input.
		lower, ok := n.Lower.Get()
		if !ok || (n.Kind.Or("") != "vlan" && n.Kind.Or("") != "macvlan" && n.Kind.Or("") != "ipvlan") {
			return n
		}
		next := s.Netdev(lower)
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// Hardware are the netdevs that own the hardware queues of n: that beneath it
// or, where that is a bond or team, the members, by name.
func (s *Snapshot) Hardware(n *Netdev) []*Netdev {
	n = s.Beneath(n)
	switch n.Kind.Or("") {
	case "bond", "team":
	default:
		return []*Netdev{n}
	}
	var members []*Netdev
	for i := range s.Netdevs {
		if s.Netdevs[i].Master.Or("") == n.Name {
			members = append(members, &s.Netdevs[i])
		}
	}
	if members == nil {
		return []*Netdev{n}
	}
	return members
}

// Module returns the loaded module called name, or nil.
func (s *Snapshot) Module(name string) *Module {
	for i := range s.Modules {
		if s.Modules[i].Name == name {
			return &s.Modules[i]
		}
	}
	return nil
}
