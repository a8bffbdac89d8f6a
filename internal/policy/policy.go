// Package policy is what the hosts of a site should look like: a small YAML
// file, made from a good host and edited by hand, that turns what is legitimate
// elsewhere into a finding here.
package policy

import (
	"fmt"
	"path"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// Version is the version of the file's form. Within it keys are only added.
const Version = 1

// Policy is a policy file. What is left out is not demanded.
type Policy struct {
	// Version is 1.
	Version int `json:"version" jsonschema:"enum=1"`
	// Devices says which RDMA devices must be here.
	Devices *Devices `json:"devices,omitempty"`
	// Ports says what ports should be like. The first entry that matches a port
	// is the port's.
	Ports []Ports `json:"ports,omitempty"`
	// Dark lists ports that may be without link, by the same names as match.
	Dark []string `json:"dark,omitempty"`
	// Firmware lists, by board id (board_id of the device), the versions that are
	// allowed.
	Firmware map[string][]string `json:"firmware,omitempty"`
	// Modules lists, by kernel module, what its parameters must be, as
	// /sys/module/NAME/parameters shows them.
	Modules map[string]map[string]string `json:"module_parameters,omitempty"`
	// Limits are the least that RDMA programs and the services that start them
	// must have.
	Limits *Limits `json:"limits,omitempty"`
}

// Devices are the RDMA devices of a host. Software devices (rxe, siw) count
// only where a name of them is listed.
type Devices struct {
	// Count is how many there must be at least.
	Count int `json:"count,omitempty" jsonschema:"minimum=1,maximum=1024"`
	// Present lists devices that must be there, by name (mlx5_0) or by PCI place
	// (0000:3b:00.0).
	Present []string `json:"present,omitempty"`
}

// Ports is what some ports should be like.
type Ports struct {
	// Match names the ports: by device (mlx5_0), port (mlx5_0/1), netdev
	// (ens1f0np0) or PCI place (0000:3b:00.0); * ? and [0-7] stand for letters.
	Match []string `json:"match" jsonschema:"minItems=1"`
	// Transport is what the port speaks.
	Transport string `json:"transport,omitempty" jsonschema:"enum=RoCE,enum=InfiniBand,enum=iWARP"`
	// Rate is the speed of the link, 400 Gb/s.
	Rate string `json:"rate,omitempty" jsonschema:"pattern=^[0-9]+(\\.[0-9]+)? ?[GMk]b/s$"`
	// MTU is that of the netdev, in bytes.
	MTU int `json:"mtu,omitempty" jsonschema:"minimum=68,maximum=65535"`
	// PFC lists the priorities that have PFC, and no others; [] is none.
	PFC *[]int `json:"pfc,omitempty"`
	// DSCP maps a DSCP (0 to 63) to the priority (0 to 7) that it must ride.
	DSCP map[string]int `json:"dscp,omitempty"`
	// Trust is which field of a packet chooses the priority.
	Trust string `json:"trust,omitempty" jsonschema:"enum=dscp,enum=pcp"`
	// ECN is whether congestion control is on for the priorities with PFC, or for
	// 3 where none has.
	ECN *bool `json:"ecn,omitempty"`

	// line is where the entry stands in the file, 0 where it was made.
	line int
	rate facts.BitsPerSecond
}

// Bytes is a number of bytes in digits, or "unlimited".
type Bytes string

// Limits are resource limits.
type Limits struct {
	// Memlock is RLIMIT_MEMLOCK: bytes, or unlimited.
	Memlock Bytes `json:"memlock,omitempty"`
	// Nofile is RLIMIT_NOFILE.
	Nofile int `json:"nofile,omitempty" jsonschema:"minimum=1"`
	// MaxMapCount is vm.max_map_count.
	MaxMapCount int `json:"max_map_count,omitempty" jsonschema:"minimum=1"`
}

// entry is what the policy says of a port, nil where it says nothing.
func (p *Policy) entry(d *facts.Device, port *facts.Port) *Ports {
	for i := range p.Ports {
		if matches(p.Ports[i].Match, d, port) {
			return &p.Ports[i]
		}
	}
	return nil
}

// mayBeDark reports whether a port may be without link.
func (p *Policy) mayBeDark(d *facts.Device, port *facts.Port) bool { return matches(p.Dark, d, port) }

// matches reports whether one of the patterns names the port.
func matches(patterns []string, d *facts.Device, port *facts.Port) bool {
	names := []string{facts.LinkName(d.Name, port.Number), d.Name, port.Netdev.Or(""), d.PCI.Or("")}
	for _, pattern := range patterns {
		if slices.ContainsFunc(names, func(name string) bool {
			ok, err := path.Match(pattern, name)
			return name != "" && err == nil && ok
		}) {
			return true
		}
	}
	return false
}

// Wanted names the ports that the policy wants to work, and the devices that it
// wants to be there and are not.
func (p *Policy) Wanted(s *facts.Snapshot) []string {
	var names []string
	for i := range s.Devices {
		d := &s.Devices[i]
		for j := range d.Ports {
			if p.entry(d, &d.Ports[j]) != nil && !p.mayBeDark(d, &d.Ports[j]) {
				names = append(names, facts.LinkName(d.Name, d.Ports[j].Number))
			}
		}
	}
	if p.Devices != nil {
		for _, want := range p.Devices.Present {
			if !has(s, want) {
				names = append(names, want)
			}
		}
		if p.Devices.Count > 0 && len(s.Devices) == 0 && len(names) == 0 {
			names = append(names, "an RDMA device")
		}
	}
	return names
}

// has reports whether a device is here, by name or PCI place.
func has(s *facts.Snapshot, want string) bool {
	return slices.ContainsFunc(s.Devices, func(d facts.Device) bool { return d.Name == want || d.PCI.Or("") == want })
}

// Summary says what is demanded, in a few words.
func (p *Policy) Summary() string {
	devices, limits := "no devices", "no limits"
	if d := p.Devices; d != nil {
		devices = fmt.Sprintf("%d devices", max(d.Count, len(d.Present)))
	}
	if p.Limits != nil {
		limits = "limits"
	}
	return fmt.Sprintf("%s, %d entries for ports, %d boards and %s", devices, len(p.Ports), len(p.Firmware), limits)
}
