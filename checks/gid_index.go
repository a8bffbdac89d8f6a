package checks

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var gidIndex = register(&Check{
	ID:    "gid-index",
	Title: "GID indexes that programs are told to use exist here",
	Doc: "NCCL and UCX find the right entry of a RoCE port's GID table by themselves. Where a variable or a file names an " +
		"index they take it without a look, though the same index means another address, another version or nothing on " +
		"another host and after the next change of addresses.",
	Layer: Addressing,
	Needs: []facts.Source{facts.SysfsRDMA},
	Uses:  []facts.Source{facts.ProcessList, facts.ProcLimits, facts.LibraryConf, facts.Links, facts.RDMANetlink, facts.Namespaces},
	Codes: []string{"gid-index-empty", "gid-index-not-usable-here", "gid-index-pinned", "gid-index-wrong-type"},
	Params: Params{
		"gid-index-empty":           pinParams,
		"gid-index-not-usable-here": pinParams,
		"gid-index-pinned":          pinParams,
		"gid-index-wrong-type":      pinParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.ProcessList, facts.ProcLimits, facts.LibraryConf, facts.Links, facts.RDMANetlink, facts.Namespaces)
		pins := findPins(s)
		for port := range p.Ports(RoCE) {
			switch {
			case !s.Has(facts.ProcessList) && !s.Has(facts.ProcLimits) && !s.Has(facts.LibraryConf):
				p.Unread(port.String(), "settings of programs")
				continue
			case !port.GIDTableLen.Known():
				p.Unread(port.String(), "GID table")
				continue
			}
			told := map[Evidence]bool{} // The ranks of a job have one setting.
			for _, pin := range pins {
				same := Evidence{pin.variable, strconv.Itoa(pin.index)}
				if pin.concerns(port) && !told[same] {
					told[same] = true
					judgePin(p, port, pin)
				}
			}
		}
	},
})

const pinParams = "device port netdev? pci? gid_index? variable? choice? pid?"

// A pin is one setting that names a GID index.
type pin struct {
	library  string // "NCCL" or "UCX"
	variable string
	index    int
	source   Evidence
	proc     *facts.Process // nil: no running RDMA program, but what the next one gets
	devices  adapters
}

// gidVariables are the variables that name an index, and those that say which
// devices the library uses.
var gidVariables = map[string]struct{ library, devices string }{
	"NCCL_IB_GID_INDEX": {"NCCL", "NCCL_IB_HCA"},
	"UCX_IB_GID_INDEX":  {"UCX", "UCX_NET_DEVICES"},
}

// findPins lists the settings of running RDMA programs, of the environment
// that the doctor was started in, and of the libraries' files.
func findPins(s *facts.Snapshot) []pin {
	var pins []pin
	add := func(env map[string]string, from string, proc *facts.Process) {
		for _, name := range slices.Sorted(slices.Values([]string{"NCCL_IB_GID_INDEX", "UCX_IB_GID_INDEX"})) {
			of := gidVariables[name]
			index, err := strconv.Atoi(env[name])
			if err != nil || index < 0 { // "auto" and -1 leave the choice to the library.
				continue
			}
			pins = append(pins, pin{library: of.library, variable: name, index: index, proc: proc,
				source: Evidence{from, name + "=" + env[name]}, devices: parseAdapters(env[of.devices])})
		}
	}
	for _, proc := range byPID(s) {
		// Another namespace's process sees other entries at the same indexes.
		if len(proc.Uverbs) > 0 && proc.OwnNetns.Or(false) {
			add(proc.Env, fmt.Sprintf("/proc/%d/environ (%s)", proc.PID, proc.Comm), proc)
		}
	}
	add(s.Self.Env, "environment of this shell", nil)
	files := map[string]map[string]string{}
	var order []string
	for _, set := range s.Settings {
		if files[set.File] == nil {
			files[set.File] = map[string]string{}
			order = append(order, set.File)
		}
		files[set.File][set.Name] = set.Value
	}
	for _, file := range order {
		add(files[file], file, nil)
	}
	return pins
}

// concerns reports whether the pin would be used on port.
func (pn pin) concerns(port PortRef) bool {
	if pn.proc != nil && !opens(pn.proc, port.Device) {
		return false
	}
	return port.State.Or("") == facts.StateActive && pn.devices.use(port)
}

func judgePin(p *Pass, port PortRef, pn pin) {
	f := Finding{
		Severity: Info, Subject: port.String(), Confidence: Likely, Where: port.Where(), Evidence: []Evidence{pn.source},
		Params: port.Params("gid_index", strconv.Itoa(pn.index), "variable", pn.variable),
	}
	if pn.proc != nil {
		f.Params["pid"] = strconv.Itoa(pn.proc.PID)
	}
	var best facts.Opt[int]
	if c, ok := port.Choice.Get(); ok {
		best = c.NCCL
		if pn.library == "UCX" {
			best = c.UCX
		}
	}
	g, used := port.GIDAt(pn.index)
	at := port.Path(fmt.Sprintf("gids/%d", pn.index))
	switch {
	case !used && !slotRead(port, pn.index):
		p.Unread(port.String(), fmt.Sprintf("GID slot %d", pn.index))
		return
	case !used:
		f.Code = "gid-index-empty"
		f.Message = fmt.Sprintf("%s names GID index %d, which is an empty slot of %s", pn.variable, pn.index, port)
		f.Evidence = append(f.Evidence, Evidence{at, "no entry"})
		if table := port.GIDTableLen.Or(0); pn.index >= table {
			f.Message = fmt.Sprintf("%s names GID index %d, and the table of %s ends at %d", pn.variable, pn.index, port, table-1)
		} else if hidesEntries(p.snap) {
			f.Code = "gid-index-not-usable-here"
			f.Message = fmt.Sprintf("%s names GID index %d, which is no entry of this network namespace", pn.variable, pn.index)
		}
		// A program that runs with it, or was given the device by name, will try it.
		if pn.proc != nil || pn.devices.names(port) {
			f.Severity = Warn
		}
	case !g.Type.Known():
		return
	case best.Known() && best.Or(-1) == pn.index:
		return
	case g.LinkLocal() || g.Type.Or("") != facts.GIDTypeRoCEv2:
		if !routableV2(port) {
			return // There is nothing better.
		}
		f.Code = "gid-index-wrong-type"
		f.Message = fmt.Sprintf("%s names GID index %d of %s, which is %s", pn.variable, pn.index, port, kindOf(g))
		f.Evidence = append(f.Evidence, Evidence{at, g.Value + ", " + g.Type.String()})
	case !best.Known():
		return
	default:
		f.Code = "gid-index-pinned"
		f.Message = fmt.Sprintf("%s names GID index %d of %s, where %s itself would take %d", pn.variable, pn.index, port, pn.library, best.Or(0))
		f.Evidence = append(f.Evidence, Evidence{at, g.Value + ", " + g.Type.String()})
	}
	if b, ok := best.Get(); ok {
		f.Params["choice"] = strconv.Itoa(b)
	}
	p.Report(f)
}

// slotRead reports whether a slot that no entry is known of was looked at.
func slotRead(port PortRef, index int) bool {
	table := port.GIDTableLen.Or(0)
	return index < port.GIDSlotsRead.Or(table) || index >= table
}

// hidesEntries reports whether entries of other namespaces are hidden from here:
// they read as empty slots.
func hidesEntries(s *facts.Snapshot) bool { return !inInitNetns(s.Host) }

func routableV2(port PortRef) bool {
	return slices.ContainsFunc(port.GIDs, func(g facts.GID) bool {
		return !g.LinkLocal() && g.Type.Or("") == facts.GIDTypeRoCEv2
	})
}

func kindOf(g facts.GID) string {
	if g.Type.Or("") != facts.GIDTypeRoCEv2 {
		return "RoCE v1"
	}
	return "link-local"
}
