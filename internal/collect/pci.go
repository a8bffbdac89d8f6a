package collect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

// pciFunctions reads /sys/bus/pci/devices (Documentation/ABI/testing/
// sysfs-bus-pci): RDMA NICs by their IDs, what carries an RDMA device, GPUs, and
// the bridges above. It reads attributes by name only; vpd, rom and resources
// are never touched.
var _ = register(Collector{
	Source: facts.PCISysfs,
	After:  10, // RDMA devices say which functions matter besides the table.
	Read: func(r *Reader) {
		found := selectFunctions(r)
		if found == nil {
			return
		}
		r.Have()
		r.Snap.PCI = withBridges(r, found)
		collectFunctions(r)
		collectLinks(r)
		collectConfig(r)
		collectAER(r, asFirst)
	},
	Again: func(r *Reader) {
		collectAER(r, asLast)
		confirmLost(r)
	},
})

const pciDevices = "/sys/bus/pci/devices"

// mostFunctions bounds the functions that are read in full: eight NICs with
// all their virtual functions.
const mostFunctions = 2048

// selectFunctions lists the bus and keeps what matters to RDMA. It is nil where
// the bus could not be listed.
func selectFunctions(r *Reader) []facts.PCIFunction {
	list, ids := r.batch(), r.batch()
	var all []facts.PCIFunction
	list.dir(pciDevices, func(names []string) {
		all = make([]facts.PCIFunction, 0, len(names))
		for _, name := range names {
			if isPCIAddress(name) {
				all = append(all, facts.PCIFunction{Address: name})
			}
		}
	})
	list.run()
	if all == nil {
		return nil
	}
	for i := range all {
		f := &all[i]
		attr(ids, pciDir(f)+"vendor", &f.Vendor, parseHex16)
		attr(ids, pciDir(f)+"device", &f.DeviceID, parseHex16)
	}
	ids.run()
	findGPUs(r, all)
	carriers := map[string]bool{}
	for _, d := range r.Snap.Devices {
		carriers[d.PCI.Or("")] = true
	}
	kept, gpus := []facts.PCIFunction{}, []facts.PCIFunction{}
	for _, f := range all {
		f.RDMACapable = rdmaModule(f.Vendor.Or(0), f.DeviceID.Or(0))
		f.VF = virtualID(f.Vendor.Or(0), f.DeviceID.Or(0))
		switch {
		case f.RDMACapable != "" || carriers[f.Address]:
			kept = append(kept, f)
		case f.GPU:
			gpus = append(gpus, f)
		}
	}
	if len(kept) > mostFunctions {
		r.gap(pciDevices, facts.Malformed, "more than 2048 RDMA functions, the rest is left out")
		kept = kept[:mostFunctions]
	}
	if len(kept) == 0 {
		return kept // GPUs alone are none of our business.
	}
	return append(kept, gpus[:min(len(gpus), mostGPUs)]...)
}

func pciDir(f *facts.PCIFunction) string { return pciDevices + "/" + f.Address + "/" }

// withBridges adds the bridges above each function, up to the root port, from
// the path that the function's link leads along.
func withBridges(r *Reader, functions []facts.PCIFunction) []facts.PCIFunction {
	b := r.batch()
	parents := map[string]string{}
	for i := range functions {
		b.linkIf(pciDevices+"/"+functions[i].Address, func(target string) {
			path := pciAddresses(target)
			for j := 1; j < len(path); j++ {
				parents[path[j]] = path[j-1]
			}
		})
	}
	b.run()
	known := map[string]bool{}
	for i := range functions {
		functions[i].Parent = parents[functions[i].Address]
		known[functions[i].Address] = true
	}
	for _, above := range parents {
		if !known[above] {
			known[above] = true
			functions = append(functions, facts.PCIFunction{Address: above, Parent: parents[above]})
		}
	}
	slices.SortFunc(functions, func(a, b facts.PCIFunction) int { return strings.Compare(a.Address, b.Address) })
	return functions
}

// collectFunctions reads the attributes of the functions in the snapshot.
func collectFunctions(r *Reader) {
	b := r.batch()
	for i := range r.Snap.PCI {
		f := &r.Snap.PCI[i]
		dir := pciDir(f)
		if !f.Vendor.Known() {
			attr(b, dir+"vendor", &f.Vendor, parseHex16)
			attr(b, dir+"device", &f.DeviceID, parseHex16)
		}
		if !f.Class.Known() {
			attr(b, dir+"class", &f.Class, parsePCIClass)
		}
		var vendor string
		b.fileIf(dir+"subsystem_vendor", func(text string) { vendor = text })
		b.fileIf(dir+"subsystem_device", func(text string) {
			if id, err := parseSubsystem(vendor, text); err == nil {
				f.Subsystem = facts.Some(id)
			}
		})
		attrIf(b, dir+"numa_node", &f.NUMANode, parseInt)
		attrIf(b, dir+"sriov_numvfs", &f.VFs, parseInt)
		attrIf(b, dir+"iommu_group/type", &f.IOMMUType, parseText)
		attrIf(b, dir+"sriov_totalvfs", &f.TotalVFs, parseInt)
		attrIf(b, dir+"power/runtime_status", &f.Power, parseText)
		attrIf(b, dir+"roce_enable", &f.RoCEEnable, parseBool01)
		if f.RDMACapable != "" || f.GPU {
			attrIf(b, dir+"local_cpulist", &f.LocalCPUs, parseCPUList)
		}
		b.linkIf(dir+"physfn", func(target string) {
			f.VF = true
			if pf := base(target); isPCIAddress(pf) {
				f.PhysFn = pf
			}
		})
		b.dirIf(dir+"net", func(names []string) { f.Netdevs = names })
		b.dirIf(dir+"infiniband", func(names []string) { f.RDMADevices = names })
		askDriver(b, dir+"driver", f)
	}
	b.run()
}

// collectLinks reads the state of the links, which newer kernels wake a sleeping
// function for.
func collectLinks(r *Reader) {
	b := r.batch()
	for i := range r.Snap.PCI {
		f := &r.Snap.PCI[i]
		dir := pciDir(f)
		if asleep(f) {
			continue
		}
		// A virtual function's own link says nothing, and functions inside a root
		// complex have none.
		attrIf(b, dir+"current_link_speed", &f.CurrentSpeed, parseLinkSpeed)
		attrIf(b, dir+"max_link_speed", &f.MaxSpeed, parseLinkSpeed)
		attrIf(b, dir+"current_link_width", &f.CurrentWidth, parseLinkWidth)
		attrIf(b, dir+"max_link_width", &f.MaxWidth, parseLinkWidth)
	}
	b.run()
}

// askDriver reads the driver link; without one no driver is bound, except in a
// copied tree, which may just lack the link.
func askDriver(b *batch, path string, f *facts.PCIFunction) {
	b.add(hostio.Op{Kind: hostio.ReadLink, Name: path}, func(res hostio.Result) {
		switch err := res.Err(); {
		case err == nil:
			f.Driver = facts.Some(base(res.Text()))
		case !b.r.missing(err):
			b.r.Gap(path, err)
		case absent(err) && b.r.Snap.Origin != facts.Tree:
			f.Driver = facts.Some("")
		}
	})
}

// collectAER reads the error counters that the AER driver keeps (Documentation/
// ABI/testing/sysfs-bus-pci-devices-aer_stats). Functions without the
// capability, and kernels without the driver, have no such files.
func collectAER(r *Reader, set func(*facts.Counter, uint64)) {
	b := r.batch()
	for i := range r.Snap.PCI {
		f := &r.Snap.PCI[i]
		for _, kind := range []string{"correctable", "nonfatal", "fatal"} {
			path := pciDir(f) + "aer_dev_" + kind
			b.fileIf(path, func(text string) {
				counts, err := parseAER(text)
				if err != nil {
					r.Malformed(path, text, err.Error())
					return
				}
				if f.AER == nil {
					f.AER = map[string]facts.Counter{}
				}
				for name, v := range counts {
					c := f.AER[kind+"/"+name]
					set(&c, v)
					f.AER[kind+"/"+name] = c
				}
			})
		}
	}
	b.run()
}

// parseAER reads lines of "RxErr 0". The last is a total, TOTAL_ERR_COR.
func parseAER(s string) (map[string]uint64, error) {
	counts := map[string]uint64{}
	for line := range strings.Lines(s) {
		name, number, ok := strings.Cut(strings.TrimSpace(line), " ")
		v, err := parseUint(number)
		if !ok || err != nil || name == "" {
			return nil, form("lines of NAME NUMBER")
		}
		counts[strings.ToValidUTF8(name, "�")] = v
	}
	if len(counts) == 0 {
		return nil, form("lines of NAME NUMBER")
	}
	return counts, nil
}

var linkSpeedForm = pattern.Of(`^(\d{1,3}(?:\.\d)?) GT/s(?: PCIe)?$`)

// parseLinkSpeed reads "16.0 GT/s PCIe" (older kernels: "8 GT/s"), in 10^9
// transfers per second. "Unknown", and "Unknown speed" of older kernels, is
// what virtual functions print.
func parseLinkSpeed(s string) (float64, error) {
	if s == "Unknown" || s == "Unknown speed" {
		return 0, errNoValue
	}
	m := linkSpeedForm.FindStringSubmatch(s)
	if m == nil {
		return 0, form(`"N GT/s PCIe" or "Unknown"`)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil || v == 0 {
		return 0, form(`"N GT/s PCIe" or "Unknown"`)
	}
	return v, nil
}

// parseLinkWidth reads a number of lanes. 0 and 255 stand for unknown; 63 is
// what the six bits of a register give that reads as ones.
func parseLinkWidth(s string) (int, error) {
	switch n, err := parseInt(s); {
	case err != nil || n < 0 || n > 32 && n != 63 && n != 255:
		return 0, form("a number of lanes")
	case n == 0 || n == 63 || n == 255:
		return 0, errNoValue
	default:
		return n, nil
	}
}

// parsePCIClass checks the class code, "0x020000".
func parsePCIClass(s string) (string, error) {
	if v, err := parseHex32(s); err != nil || v > 0xffffff {
		return "", form("0x and six hexadecimal digits")
	}
	return s, nil
}

// parseSubsystem joins subsystem_vendor and subsystem_device: "15b3:0023".
func parseSubsystem(vendor, device string) (string, error) {
	if _, err := parseHex16(vendor); err != nil {
		return "", err
	}
	if _, err := parseHex16(device); err != nil {
		return "", err
	}
	return strings.TrimPrefix(vendor, "0x") + ":" + strings.TrimPrefix(device, "0x"), nil
}
