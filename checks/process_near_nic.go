package checks

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var processNearNIC = register(&Check{
	ID:    "process-near-nic",
	Title: "RDMA programs may run beside a NIC that they use",
	Doc: "A program bound to processors of another NUMA node than its NIC drives every buffer and doorbell across the link " +
		"between them. Only a program that may run beside none of the devices it has open is told; alone it is information.",
	Layer: Performance,
	Needs: []facts.Source{facts.SysfsRDMA, facts.ProcessList, facts.PCISysfs},
	Codes: []string{"numa-remote"},
	Params: Params{
		"numa-remote": numaParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.SysfsRDMA, facts.ProcessList, facts.PCISysfs)
		p.Otherwise("no process with an RDMA device open is known")
		tree := s.PCITree()
		for _, proc := range byPID(s) {
			if len(proc.Uverbs) == 0 {
				continue
			}
			p.Examine(1)
			subject := fmt.Sprintf("pid %d", proc.PID)
			allowed, ok := proc.CPUs.Get()
			if !ok {
				p.Unread(subject, "Cpus_allowed_list")
				continue
			}
			far, near, told := farDevices(s, tree, proc, cpuRanges(allowed))
			if !told {
				p.NotApplicable("the platform does not tell the NUMA node of what %s has open", subject)
				continue
			}
			if near || len(far) == 0 {
				continue
			}
			d := far[0]
			f := tree[d.PCI.Or("")]
			p.Report(Finding{
				Code: "numa-remote", Severity: Info, Subject: subject, Confidence: Likely,
				Where:   Where{PID: proc.PID, Device: d.Name, PCI: f.Address},
				Message: fmt.Sprintf("%s may run on processors %s only, and %s is on NUMA node %s with processors %s", proc.Comm, allowed, d.Name, f.NUMANode, f.LocalCPUs),
				Evidence: []Evidence{
					{fmt.Sprintf("/proc/%d/status", proc.PID), "Cpus_allowed_list: " + allowed},
					{pciFile(f, "local_cpulist"), f.LocalCPUs.Or("")},
				},
				Params: params("pid", strconv.Itoa(proc.PID), "device", d.Name, "numa_node", f.NUMANode.String(), "cpus", f.LocalCPUs.Or("")),
			})
		}
	},
})

// farDevices are the devices that proc has open and may run beside none of the
// processors of, by name; near says that there is one that it may run beside,
// and told that the place of any is known.
func farDevices(s *facts.Snapshot, tree facts.PCITree, proc *facts.Process, allowed [][2]int) (far []*facts.Device, near, told bool) {
	for i := range s.Devices {
		d := &s.Devices[i]
		f := tree[d.PCI.Or("")]
		if !opens(proc, d) {
			continue
		}
		if f == nil || f.NUMANode.Or(-1) < 0 || !f.LocalCPUs.Known() {
			near = near || f == nil // A software device is near to all.
			continue
		}
		told = true
		if overlap(allowed, cpuRanges(f.LocalCPUs.Or(""))) {
			near = true
		} else {
			far = append(far, d)
		}
	}
	// A node that is no device here may be near.
	if len(proc.Uverbs) > 0 && slices.ContainsFunc(proc.Uverbs, func(u string) bool { return isUverbs(u) && !anyHas(s, u) }) {
		near = true
	}
	slices.SortFunc(far, func(a, b *facts.Device) int { return strings.Compare(a.Name, b.Name) })
	return far, near, told
}

func isUverbs(node string) bool { return strings.HasPrefix(path.Base(node), "uverbs") }

func anyHas(s *facts.Snapshot, node string) bool {
	return slices.ContainsFunc(s.Devices, func(d facts.Device) bool { return d.Uverbs.Or("") == path.Base(node) })
}

// cpuRanges splits a list as the kernel prints it, "0-3,8"; what is no number is
// left out.
func cpuRanges(list string) (ranges [][2]int) {
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, err1 := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err1 == nil && err2 == nil {
			ranges = append(ranges, [2]int{a, b})
		}
	}
	return ranges
}

func overlap(a, b [][2]int) bool {
	for _, x := range a {
		for _, y := range b {
			if x[0] <= y[1] && y[0] <= x[1] {
				return true
			}
		}
	}
	return false
}
