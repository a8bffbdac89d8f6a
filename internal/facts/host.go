package facts

import "time"

// Host identifies the machine.
type Host struct {
	Hostname   string             `json:"hostname,omitempty"`
	Kernel     Opt[string]        `json:"kernel_release,omitzero"`
	Machine    Opt[string]        `json:"machine,omitzero"` // uname -m
	OS         Opt[string]        `json:"os,omitzero"`      // PRETTY_NAME of os-release
	Uptime     Opt[time.Duration] `json:"uptime_nanos,omitzero"`
	Container  Opt[string]        `json:"container,omitzero"`    // runtime if one shows itself, "" if none
	Virtual    Opt[bool]          `json:"virtual,omitzero"`      // CPU flag hypervisor; on arm64, which has none, by DMI
	InitNetns  Opt[bool]          `json:"init_netns,omitzero"`   // /proc/self/ns/net equals /proc/1/ns/net
	InitUserns Opt[bool]          `json:"init_userns,omitzero"`  // uid_map is the identity
	Vendor     Opt[string]        `json:"sys_vendor,omitzero"`   // DMI
	Product    Opt[string]        `json:"product_name,omitzero"` // DMI
}

// CharDev is a character device that RDMA programs open.
type CharDev struct {
	Path     string      `json:"path"` // "/dev/infiniband/uverbs0"
	Kind     string      `json:"kind"` // "uverbs", "rdma_cm", "umad", "issm"
	Device   string      `json:"device,omitempty"`
	Port     Opt[int]    `json:"port,omitzero"`
	Exists   Opt[bool]   `json:"exists,omitzero"`
	Mode     Opt[uint32] `json:"mode,omitzero"` // permission bits
	UID      Opt[int]    `json:"uid,omitzero"`
	GID      Opt[int]    `json:"gid,omitzero"`
	Number   Opt[string] `json:"rdev,omitzero"`      // "231:192" of the node
	SysfsDev Opt[string] `json:"sysfs_dev,omitzero"` // "231:192" that the kernel wants
	// OpenError is the errno name of open(2), "" where it worked. Only uverbs and
	// rdma_cm are opened: opening issm would set the port's IsSM bit.
	OpenError Opt[string] `json:"open_error,omitzero"`
}

// Module is a loaded kernel module.
type Module struct {
	Name    string      `json:"name"`
	Size    int         `json:"size_bytes,omitempty"`
	State   string      `json:"state,omitempty"`  // "Live", "Loading", "Unloading"
	Taints  string      `json:"taints,omitempty"` // "OE": out of tree, unsigned
	Version Opt[string] `json:"version,omitzero"`
	// Parameters are those of modules that RDMA uses (/sys/module/NAME/parameters),
	// as the kernel prints them, without those that only say what is logged.
	Parameters map[string]string `json:"parameters,omitempty"`
}

// KernelModules is what this kernel could load.
type KernelModules struct {
	IndexRead bool            `json:"index_read"`          // modules.dep or modules.builtin of this release was read
	Available map[string]bool `json:"available,omitempty"` // by module name, of the modules RDMA needs
	Builtin   map[string]bool `json:"builtin,omitempty"`
}

// Userland is the verbs library and its providers, found by file.
type Userland struct {
	Libibverbs  []string     `json:"libibverbs,omitempty"` // paths of libibverbs.so.1*
	Librdmacm   []string     `json:"librdmacm,omitempty"`
	DriverFiles []DriverFile `json:"driver_files,omitempty"` // /etc/libibverbs.d/*.driver
	Providers   []string     `json:"providers,omitempty"`    // paths of lib<name>-rdmav<abi>.so
	// Private are the versions of libibverbs' private symbols by path:
	// "IBVERBS_PRIVATE_34" that libibverbs.so.1 defines, or that the provider of a
	// device here needs. A library that was not read is not in it.
	Private   map[string]string `json:"private_versions,omitempty"`
	ConfigDir string            `json:"config_dir,omitempty"` // where driver files are looked for
}

// DriverFile is one file of libibverbs.d: the line "driver NAME".
type DriverFile struct {
	Path   string `json:"path"`
	Driver string `json:"driver"`
}

// Process is one process and the limits it runs under.
type Process struct {
	PID      int              `json:"pid,omitempty"`
	Comm     string           `json:"comm,omitempty"`
	UID      Opt[int]         `json:"uid,omitzero"`
	User     string           `json:"user,omitempty"`
	Limits   map[string]Limit `json:"limits,omitempty"` // "memlock" and "nofile": bytes and descriptors
	VmPin    Opt[uint64]      `json:"vm_pin_bytes,omitzero"`
	VmLck    Opt[uint64]      `json:"vm_lck_bytes,omitzero"`
	CapEff   Opt[uint64]      `json:"cap_eff,omitzero"`
	Cgroup   string           `json:"cgroup,omitempty"`
	Unit     string           `json:"unit,omitempty"`     // systemd unit from the cgroup path
	Uverbs   []string         `json:"uverbs,omitempty"`   // nodes it has open
	Services []string         `json:"services,omitempty"` // what it launches for: "slurm", "containerd", ...
	Files    Opt[int]         `json:"open_files,omitzero"`
	MapCount Opt[int]         `json:"map_count,omitzero"`
	// CPUs and Mems are the processors and memory nodes that it may use.
	CPUs Opt[string] `json:"cpus_allowed_list,omitzero"`
	Mems Opt[string] `json:"mems_allowed_list,omitzero"`
	// Env are the variables of its environment that steer RDMA libraries
	// (/proc/PID/environ, as it was when the program started).
	Env map[string]string `json:"env,omitempty"`
	// OwnNetns is whether it is in the examining process's network namespace, so
	// that both see the same GIDs.
	OwnNetns Opt[bool] `json:"own_netns,omitzero"`
}

// Setting is one line NAME=VALUE of a file that gives an RDMA library its
// settings where the environment has none.
type Setting struct {
	File  string `json:"file"`
	Line  int    `json:"line"`
	Name  string `json:"name"` // of the environment variable that it stands for
	Value string `json:"value"`
}

// CapIPCLock is CAP_IPC_LOCK, which lifts RLIMIT_MEMLOCK in the initial user
// namespace.
const CapIPCLock = 14

// Limit is a resource limit as /proc/PID/limits shows it.
type Limit struct {
	Soft          uint64 `json:"soft"`
	Hard          uint64 `json:"hard"`
	SoftUnlimited bool   `json:"soft_unlimited,omitempty"`
	HardUnlimited bool   `json:"hard_unlimited,omitempty"`
}

// LimitRule is one line of limits.conf(5).
type LimitRule struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Domain string `json:"domain"`
	Type   string `json:"type"` // "soft", "hard", "-"
	Item   string `json:"item"` // "memlock" in KiB, "nofile"
	Value  string `json:"value"`
}

// Unit is a systemd unit file with the limits it gives, drop-ins applied.
type Unit struct {
	Name    string            `json:"name"`
	Files   []string          `json:"files"`             // in the order they apply
	Limits  map[string]string `json:"limits,omitempty"`  // "LimitMEMLOCK", "LimitNOFILE", as written
	Manager string            `json:"manager,omitempty"` // "slurm", "containerd", "kubelet", "docker", ...
}

// LogRecord is one line of the kernel log.
type LogRecord struct {
	SinceBoot time.Duration `json:"since_boot_nanos"`
	Level     int           `json:"level"` // 0 emergency to 7 debug
	Text      string        `json:"text"`
	Device    string        `json:"device,omitempty"` // DEVICE= of the record, e.g. "+pci:0000:3b:00.0"
}

// Memory is the host's memory, in bytes.
type Memory struct {
	Total       Opt[uint64] `json:"total_bytes,omitzero"`
	Available   Opt[uint64] `json:"available_bytes,omitzero"`
	SwapTotal   Opt[uint64] `json:"swap_total_bytes,omitzero"`
	SwapFree    Opt[uint64] `json:"swap_free_bytes,omitzero"`
	CgroupMax   Opt[uint64] `json:"cgroup_max_bytes,omitzero"`
	CgroupUsed  Opt[uint64] `json:"cgroup_current_bytes,omitzero"`
	MaxMapCount Opt[int]    `json:"max_map_count,omitzero"`
}
