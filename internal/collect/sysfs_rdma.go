package collect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// sysfsRDMA reads /sys/class/infiniband (kernel document
// Documentation/ABI/stable/sysfs-class-infiniband): devices, ports, P_Key
// tables, counters. Each level of the tree is one batch for all devices.
var _ = register(Collector{
	Source: facts.SysfsRDMA,
	Read: func(r *Reader) {
		if !collectDevices(r) {
			return
		}
		collectPorts(r)
		collectPKeys(r)
		collectCounters(r, func(c *facts.Counter, v uint64) { c.First = facts.Some(v) })
	},
	Again: func(r *Reader) {
		b := r.batch()
		eachPort(r.Snap, func(d *facts.Device, p *facts.Port) {
			attr(b, portDir(d, p)+"state", &p.StateLast, parsePortState)
		})
		b.run()
		collectCounters(r, func(c *facts.Counter, v uint64) { c.Last = facts.Some(v) })
	},
})

// The classes that ib_core and ib_uverbs make.
const (
	classInfiniBand = "/sys/class/infiniband"
	classVerbs      = "/sys/class/infiniband_verbs"
)

func deviceDir(d *facts.Device) string { return classInfiniBand + "/" + d.Name + "/" }

func portDir(d *facts.Device, p *facts.Port) string {
	return deviceDir(d) + "ports/" + strconv.Itoa(p.Number) + "/"
}

func eachPort(s *facts.Snapshot, f func(*facts.Device, *facts.Port)) {
	for i := range s.Devices {
		d := &s.Devices[i]
		for j := range d.Ports {
			f(d, &d.Ports[j])
		}
	}
}

// collectDevices lists the devices and reads what describes each. It is false
// where the class could not be listed.
func collectDevices(r *Reader) bool {
	b := r.batch()
	var names, uverbs []string
	var class, parent hostio.Result
	b.add(hostio.Op{Kind: hostio.ReadDir, Name: classInfiniBand}, func(res hostio.Result) { class = res })
	b.add(hostio.Op{Kind: hostio.ReadDir, Name: "/sys/class"}, func(res hostio.Result) { parent = res })
	b.dirIf(classVerbs, func(found []string) { uverbs = nodesOf("uverbs", found) })
	b.run()
	switch err := class.Err(); {
	case err == nil:
		names = r.bounded(classInfiniBand, class.Lines())
	case absent(err) && parent.Err() == nil && r.Snap.Origin != facts.Tree:
		// A copied tree may hold only parts of /sys/class, so that there
		// absence proves nothing.
		r.Have()
		r.Snap.RDMA.SubsystemPresent = facts.Some(false)
		return false
	default:
		r.Gap(classInfiniBand, err)
		return false
	}
	r.Have()
	r.Snap.RDMA.SubsystemPresent = facts.Some(true)
	r.Snap.Devices = make([]facts.Device, len(names))
	for i, name := range names {
		r.Snap.Devices[i].Name = name
	}
	describeDevices(r, uverbs)
	return true
}

// describeDevices reads the attributes of each device and which uverbs node
// is whose.
func describeDevices(r *Reader, uverbs []string) {
	b := r.batch()
	for i := range r.Snap.Devices {
		d := &r.Snap.Devices[i]
		dir := deviceDir(d)
		attr(b, dir+"node_type", &d.NodeType, parseName)
		attr(b, dir+"node_guid", &d.NodeGUID, parseGUID)
		attr(b, dir+"sys_image_guid", &d.SysImageGUID, parseGUID)
		attr(b, dir+"node_desc", &d.NodeDesc, parseText)
		attr(b, dir+"fw_ver", &d.FirmwareVersion, parseText)
		attrIf(b, dir+"board_id", &d.BoardID, parseText)
		attrIf(b, dir+"hca_type", &d.HCAType, parseText)
		attrIf(b, dir+"hw_rev", &d.HWRev, parseText)
		attrIf(b, dir+"serial", &d.Serial, parseText)
		attrIf(b, dir+"device/numa_node", &d.NUMANode, parseInt)
		// The class link goes through the PCI function also where "device" is
		// something on it, such as a subfunction.
		b.linkIf(classInfiniBand+"/"+d.Name, func(target string) { setPCI(d, target) })
		b.linkIf(dir+"device", func(target string) { setPCI(d, target) })
		b.linkIf(dir+"device/driver", func(target string) { setDriver(d, base(target)) })
		b.dirIf(dir+"device/net", func(names []string) { d.NetnsNetdevs = names })
		b.dir(dir+"ports", func(names []string) { d.Ports = portsOf(r, dir, names) })
		b.fileIf(dir+"parent", func(string) { softwareDevice(d, "rdma_rxe") })
	}
	for _, node := range uverbs {
		b.file(classVerbs+"/"+node+"/ibdev", func(text string) {
			if d := r.Snap.Device(text); d != nil {
				d.Uverbs = facts.Some(node)
			}
		})
	}
	b.run()
	for i := range r.Snap.Devices {
		d := &r.Snap.Devices[i]
		// siw has no attribute of its own; its user library, too, knows it by
		// this description.
		if d.NodeDesc.Or("") == "Software iWARP stack" {
			softwareDevice(d, "siw")
		}
		if !d.Driver.Known() {
			d.Provider = providerOfChip(d.HCAType.Or(""))
		}
	}
}

func setPCI(d *facts.Device, target string) {
	if found := pciAddresses(target); len(found) > 0 && !d.PCI.Known() {
		d.PCI = facts.Some(found[len(found)-1])
	}
}

func setDriver(d *facts.Device, driver string) {
	d.Driver = facts.Some(driver)
	if p, ok := provider(driver); ok {
		d.Provider = facts.Some(p)
	}
}

// softwareDevice corrects what the links of a software device say: before
// Linux 5.11 they lead to the NIC beneath its netdev, as if it were the NIC's
// own device.
func softwareDevice(d *facts.Device, driver string) {
	setDriver(d, driver)
	d.ParentType = d.Provider
	d.PCI = facts.Opt[string]{}
	d.NUMANode = facts.Opt[int]{}
	d.NetnsNetdevs = nil
}

// portsOf makes the ports of a ports directory, by number.
func portsOf(r *Reader, dir string, names []string) []facts.Port {
	var numbers []int
	for _, name := range names {
		n, err := parseInt(name)
		if err != nil || n < 1 || n > 255 {
			r.Malformed(dir+"ports", name, "port numbers")
			continue
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	ports := make([]facts.Port, len(numbers))
	for i, n := range numbers {
		ports[i].Number = n
	}
	return ports
}

// nodesOf keeps the names that are PREFIX and a number.
func nodesOf(prefix string, names []string) []string {
	var nodes []string
	for _, name := range names {
		digits, ok := strings.CutPrefix(name, prefix)
		if _, err := strconv.ParseUint(digits, 10, 16); ok && err == nil {
			nodes = append(nodes, name)
		}
	}
	return nodes
}
