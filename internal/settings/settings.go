// Package settings takes a snapshot apart into the facts that stand still, one
// by one and by name, so that a host can be put beside itself at another time,
// beside other hosts, or beside what it should look like. Counters, times and
// process ids, which differ between any two looks, are left out.
package settings

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// A Thing is one part of a host with what is set on it.
type Thing struct {
	Kind Kind
	// Name tells it apart from others of its kind: "mlx5_0", "mlx5_0/1",
	// "ens1f0np0", "0000:3b:00.0". The host itself has none.
	Name string
	// Fields are values by the JSON names of package facts: "fw_ver",
	// "dcb.pfc.enabled", "gids[3].gid". What was not read is not in it.
	Fields map[string]string
}

// Kind is what a thing is.
type Kind string

// The kinds.
const (
	Host    Kind = "host" // with the memory, modules' index and user space
	Device  Kind = "device"
	Port    Kind = "port"
	Netdev  Kind = "netdev"
	PCI     Kind = "pci"
	CharDev Kind = "chardev"
	Module  Kind = "module"
	Unit    Kind = "unit"
	Route   Kind = "route"
	Rule    Kind = "rule"
	Filter  Kind = "filter"
	Limit   Kind = "limit"
	Library Kind = "library setting"
)

// String is the thing as a reader would call it.
func (t Thing) String() string {
	if t.Name == "" {
		return string(t.Kind)
	}
	return t.Name
}

// Things lists what is set on a host, by kind and name. Netdevs, routes and
// modules that have nothing to do with RDMA are left out: containers bring and
// take theirs all day.
func Things(s *facts.Snapshot) []Thing {
	ts := []Thing{host(s)}
	add := func(kind Kind, name string, v any) {
		ts = append(ts, Thing{kind, name, fields(kind, v)})
	}
	near := Netdevs(s)
	for i := range s.Devices {
		d := &s.Devices[i]
		add(Device, d.Name, d)
		for j := range d.Ports {
			add(Port, facts.LinkName(d.Name, d.Ports[j].Number), &d.Ports[j])
		}
	}
	for i := range s.Netdevs {
		if n := &s.Netdevs[i]; near[n.Name] {
			add(Netdev, n.Name, n)
		}
	}
	for i := range s.PCI {
		add(PCI, s.PCI[i].Address, &s.PCI[i])
	}
	for i := range s.CharDevs {
		add(CharDev, s.CharDevs[i].Path, &s.CharDevs[i])
	}
	ours := modules(s)
	for i := range s.Modules {
		if m := &s.Modules[i]; ours[m.Name] {
			add(Module, m.Name, m)
		}
	}
	for i := range s.Units {
		add(Unit, s.Units[i].Name, &s.Units[i])
	}
	for i := range s.Routes {
		if r := &s.Routes[i]; near[r.Netdev] {
			add(Route, strings.Join([]string{r.Family, itoa(r.Table), r.Dst, r.Netdev}, " "), r)
		}
	}
	for i := range s.Rules {
		r := &s.Rules[i]
		add(Rule, strings.TrimSpace(r.Family+" "+itoa(r.Priority)+" "+r.Src), r)
	}
	for i := range s.Filter {
		c := &s.Filter[i]
		add(Filter, c.Family+" "+c.Table+" "+c.Name, c)
	}
	for i := range s.Limits {
		l := &s.Limits[i]
		add(Limit, strings.Join([]string{l.File, l.Domain, l.Type, l.Item}, " "), l)
	}
	for i := range s.Settings {
		l := &s.Settings[i]
		add(Library, l.File+" "+l.Name, l)
	}
	slices.SortStableFunc(ts, func(a, b Thing) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return ts
}

// host is what holds for the whole host.
func host(s *facts.Snapshot) Thing {
	t := Thing{Host, "", fields(Host, &s.Host)}
	for name, v := range map[string]any{"rdma": &s.RDMA, "memory": &s.Memory, "userland": &s.Userland,
		"kernel_modules": &s.Kernel, "self": &s.Self, "cpu": &s.CPU, "gpudirect": &s.GPUDirect} {
		for field, value := range fields(Host, v) {
			if field = name + "." + field; !moves[string(Host)+"."+Bare(field)] {
				t.Fields[field] = value
			}
		}
	}
	return t
}

// Netdevs names the netdevs that carry RDMA or stand above or beneath one that
// does.
func Netdevs(s *facts.Snapshot) map[string]bool {
	near := map[string]bool{}
	for i := range s.Devices {
		for _, name := range s.Devices[i].NetnsNetdevs {
			near[name] = true
		}
		for j := range s.Devices[i].Ports {
			p := &s.Devices[i].Ports[j]
			if n := s.Netdev(p.Netdev.Or("")); n != nil {
				near[n.Name], near[s.Beneath(n).Name] = true, true
			}
			for _, g := range p.GIDs {
				near[g.Netdev.Or("")] = true
			}
		}
	}
	for i := range s.PCI {
		if f := &s.PCI[i]; f.RDMACapable != "" {
			for _, name := range f.Netdevs {
				near[name] = true
			}
		}
	}
	for range 4 { // A deeper stack is a loop in hostile input.
		for i := range s.Netdevs {
			n := &s.Netdevs[i]
			if near[n.Name] && n.Master.Or("") != "" {
				near[n.Master.Or("")] = true
			}
			if k := n.Kind.Or(""); near[n.Lower.Or("")] && (k == "vlan" || k == "macvlan" || k == "ipvlan") {
				near[n.Name] = true
			}
		}
	}
	delete(near, "")
	return near
}

// modules names the kernel modules that RDMA needs here.
func modules(s *facts.Snapshot) map[string]bool {
	ours := map[string]bool{}
	for _, set := range []map[string]bool{s.Kernel.Available, s.Kernel.Builtin} {
		for name := range set {
			ours[name] = true
		}
	}
	for i := range s.Devices {
		ours[s.Devices[i].Driver.Or("")] = true
	}
	for i := range s.PCI {
		ours[s.PCI[i].Driver.Or("")], ours[s.PCI[i].RDMACapable] = true, true
	}
	return ours
}
