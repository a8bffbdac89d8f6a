package probes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// Ask is what the user wants of a probe of this host's own ports. Nil values
// are chosen.
type Ask struct {
	Device    string // "" is every device
	Port      int    // 0 is every port
	GIDIndex  *int
	PathMTU   *int
	PkeyIndex *int
	SL        *int
	TClass    *int
	MRMax     uint64 // bytes; 0 is chosen
	BusyOK    bool   // treat a port that others use like one that nobody uses
	NoRefuse  bool   // leave out what must be refused
}

// Planned is what is to be run on one port, or why nothing is.
type Planned struct {
	Params LadderParams
	Skip   string // why nothing is run; "" runs
	Busy   string // who uses the port; "" nobody that is known
	CPUs   []int  // of the device's NUMA node; empty: not known
}

// smallMessages is what a port that others use gets besides the ladder.
const smallMessages = 100

// Plan decides what is run on which port. Ports that carry storage or the
// default route are left alone unless they are named.
func Plan(s *facts.Snapshot, ask Ask) []Planned {
	var ps []Planned
	for i := range s.Devices {
		d := &s.Devices[i]
		if ask.Device != "" && ask.Device != d.Name {
			continue
		}
		for j := range d.Ports {
			if p := &d.Ports[j]; ask.Port == 0 || ask.Port == p.Number {
				ps = append(ps, plan(s, d, p, ask))
			}
		}
	}
	return ps
}

func plan(s *facts.Snapshot, d *facts.Device, p *facts.Port, ask Ask) Planned {
	pl := Planned{Params: pathOf(s, d, p, ask), CPUs: nodeCPUs(s, d)}
	pl.Busy = busy(s, d, p)
	l := &pl.Params
	l.MRMax = ask.MRMax
	if l.MRMax == 0 {
		l.MRMax = MRCap(s.Memory)
	}
	free := pl.Busy == "" || ask.BusyOK
	l.Refusals = free && !ask.NoRefuse
	if !free {
		l.Messages = smallMessages
	}
	if ask.Device == "" {
		pl.Skip = carries(s, d, p)
	}
	if l.Transport == "" {
		pl.Skip = "its transport has no RC queue pairs, or is not known"
	}
	return pl
}

// MRCap is how much memory a probe may pin: a gigabyte, or less where the host
// or its cgroup have little left.
func MRCap(m facts.Memory) uint64 {
	most := uint64(1 << 30)
	if free, ok := m.Available.Get(); ok {
		most = min(most, free/20)
	}
	limit, ok := m.CgroupMax.Get()
	if used, known := m.CgroupUsed.Get(); ok && known {
		most = min(most, (limit-min(used, limit))/2)
	}
	return most
}

// pathOf is the way that the user or the facts choose.
func pathOf(s *facts.Snapshot, d *facts.Device, p *facts.Port, ask Ask) LadderParams {
	l := LadderParams{Device: d.Name, Port: p.Number, Transport: transport(d, p), Netdev: p.Netdev.Or("")}
	switch choice := p.Choice.Or(facts.GIDChoice{}); {
	case ask.GIDIndex != nil:
		l.GIDIndex = *ask.GIDIndex
	case strings.HasPrefix(l.Transport, "RoCE"):
		l.GIDIndex = choice.Perftest.Or(choice.RDMACM.Or(0))
	}
	if g, ok := p.GIDAt(l.GIDIndex); ok && strings.HasPrefix(l.Transport, "RoCE") {
		l.GID, l.Netdev = g.Value, g.Netdev.Or(l.Netdev)
		if g.Type.Or("") == facts.GIDTypeRoCEv1 {
			l.Transport = "RoCE v1"
		}
	}
	set := func(to *int, asked *int, otherwise int) {
		if *to = otherwise; asked != nil {
			*to = *asked
		}
	}
	set(&l.PathMTU, ask.PathMTU, 0)
	set(&l.PkeyIndex, ask.PkeyIndex, 0)
	set(&l.SL, ask.SL, 0)
	set(&l.TClass, ask.TClass, p.TrafficClass.Or(p.CMRoCETOS.Or(0)))
	if n := s.Netdev(l.Netdev); n != nil {
		l.Address = ownAddress(n)
	}
	return l
}

// transport is how the port speaks, "" where it cannot be connected.
func transport(d *facts.Device, p *facts.Port) string {
	switch {
	case d.Protocol.Or("") == "iw", d.NodeType.Or("") == "RNIC", d.ParentType.Or("") == "siw":
		return "iWARP"
	case d.Provider.Or("") == "efa", d.Protocol.Or("") == "usnic":
		return ""
	case facts.RoCE(d, p):
		return "RoCE v2"
	case p.LinkLayer.Or(facts.InfiniBand) == facts.InfiniBand:
		return "InfiniBand"
	}
	return ""
}

// ownAddress is the first address that a listener can be bound to.
func ownAddress(n *facts.Netdev) string {
	for _, a := range n.Addresses {
		if a.Scope == "global" && !a.Tentative {
			return a.IP
		}
	}
	return ""
}

// storage are the kernel modules that carry files or blocks over RDMA.
var storage = []string{"nvme_rdma", "nvmet_rdma", "ib_iser", "ib_isert", "ib_srp", "ib_srpt", "rpcrdma", "xprtrdma", "svcrdma",
	"ko2iblnd", "rnbd_client", "rnbd_server", "9pnet_rdma", "ksmbd"}

// carries says why a port that nobody named is left alone.
func carries(s *facts.Snapshot, d *facts.Device, p *facts.Port) string {
	name := p.Netdev.Or("")
	for _, r := range s.Routes {
		if r.Dst != "default" || r.Netdev == "" || name == "" {
			continue
		}
		n := s.Netdev(r.Netdev)
		if r.Netdev == name || n != nil && slices.ContainsFunc(s.Hardware(n), func(h *facts.Netdev) bool { return h.Name == name }) {
			return "it carries the default route by " + r.Netdev + ": name it with --device to probe it"
		}
	}
	// Which device a module uses is not told; connections of rdma_cm without a
	// process are such a module's.
	if d.Resources["cm_id"].Current == 0 {
		return ""
	}
	for _, m := range s.Modules {
		if slices.Contains(storage, m.Name) {
			return "it may carry storage (" + m.Name + " is loaded and the device has connections): name it with --device to probe it"
		}
	}
	return ""
}

// busyFraction of the port's rate is traffic that matters to somebody.
const busyFraction = 0.01

// busy says who uses the port.
func busy(s *facts.Snapshot, d *facts.Device, p *facts.Port) string {
	if node, ok := d.Uverbs.Get(); ok {
		for _, proc := range s.Processes {
			if slices.Contains(proc.Uverbs, node) && proc.PID != s.Self.PID {
				return fmt.Sprintf("process %d (%s) has the device open", proc.PID, proc.Comm)
			}
		}
	}
	seconds := s.Between(facts.SysfsRDMA).Seconds()
	rate, ok := p.Rate.Get()
	if !ok || seconds <= 0 || rate <= 0 {
		return ""
	}
	for _, name := range []string{"port_xmit_data", "port_rcv_data"} {
		moved, ok := p.Counters[name].Delta()
		if used := float64(moved) * 8 / seconds; ok && used > busyFraction*float64(rate) {
			return fmt.Sprintf("%s grew by %s", name, facts.BitsPerSecond(used))
		}
	}
	return ""
}

// nodeCPUs are the processors beside the device.
func nodeCPUs(s *facts.Snapshot, d *facts.Device) []int {
	node, ok := d.NUMANode.Get()
	if !ok || node < 0 {
		return nil
	}
	for _, n := range s.CPU.Nodes {
		if n.ID == node {
			return cpuList(n.CPUs)
		}
	}
	return nil
}

// maxCPU is more than Linux takes (NR_CPUS).
const maxCPU = 8192

// cpuList reads "0-3,8". What is no such list is left out.
func cpuList(text string) []int {
	var cpus []int
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		b := a
		if err == nil && isRange {
			b, err = strconv.Atoi(last)
		}
		if err != nil || a < 0 || b >= maxCPU {
			continue
		}
		for n := a; n <= b; n++ {
			cpus = append(cpus, n)
		}
	}
	return cpus
}

// Ladder is a planned ladder that was not run, with what it would have done.
func (p Planned) Ladder(why string) facts.Ladder {
	l := p.Params
	out := facts.Ladder{Probe: "self", Local: facts.LinkName(l.Device, l.Port),
		Path: facts.Path{Transport: l.Transport, Service: "RC", Netdev: l.Netdev, PathMTU: l.PathMTU,
			ServiceLevel: facts.Some(l.SL), PkeyIndex: facts.Some(l.PkeyIndex)},
		End: facts.ProbeEnd{Outcome: facts.NotRun, Detail: why}}
	if strings.HasPrefix(l.Transport, "RoCE") {
		out.Path.SGIDIndex, out.Path.TrafficClass, out.Path.SGID = facts.Some(l.GIDIndex), facts.Some(l.TClass), l.GID
	}
	if p.Skip == "" {
		out.Planned = p.parts()
	}
	return out
}

// parts are what would be run, with the load that it makes.
func (p Planned) parts() []facts.PlannedPart {
	l := p.Params
	parts := []facts.PlannedPart{{What: "open the device, make a PD, a completion channel and CQs, register two pages, connect queue pairs of the port to itself",
		Load: "one uverbs node, a few objects"}}
	if l.Transport == "iWARP" {
		parts[0] = facts.PlannedPart{What: "open the device, listen with rdma_cm on " + l.Address + " and connect to it", Load: "one listener on that address alone, closed after"}
	}
	parts = append(parts, facts.PlannedPart{What: "register regions of doubling size", Load: fmt.Sprintf("pins up to %d MiB for moments", l.MRMax>>20)},
		facts.PlannedPart{What: "write, read, send and atomics of 8 bytes to a page, data verified", Load: "a dozen messages"})
	if l.Messages > 0 {
		parts = append(parts, facts.PlannedPart{What: fmt.Sprintf("%d writes of %d bytes", l.Messages, smallBytes), Load: "light; others use the port: " + p.Busy})
	}
	if l.Refusals {
		parts = append(parts, facts.PlannedPart{What: "accesses that must be refused: " + strings.Join(refusalNames(), ", "),
			Load: "ten queue pairs end in ERR; error counters of requests and responses grow and some drivers write a line to the kernel log, which site alarms may watch"})
	}
	return parts
}

func refusalNames() []string {
	var ns []string
	for _, r := range refusals {
		if !slices.Contains(ns, r.name) {
			ns = append(ns, r.name)
		}
	}
	return ns
}
