package collect

import (
	"cmp"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// rdmaNetlink asks ib_core by netlink (RDMA_NL_NLDEV, rdma(8)): the protocol and
// index of each device, the netdev of each port, the state of the subsystem
// and the summary of resources. It needs no /sys, so in a container that has
// none it finds the devices themselves.
var _ = register(Collector{
	Source: facts.RDMANetlink,
	After:  20,
	Read: func(r *Reader) {
		if !collectNLDevices(r) {
			return
		}
		collectNLPorts(r)
		collectNLStats(r, noneRead, asFirst)
	},
	Again: func(r *Reader) {
		b := r.batch()
		eachNLDevice(r.Snap, func(d *facts.Device, index int) {
			if needed := slices.ContainsFunc(d.Ports, func(p facts.Port) bool { return !p.StateLast.Known() }); needed {
				askNLPorts(b, d, index, func(have *facts.Port, got facts.Port) { fill(&have.StateLast, got.State) })
			}
		})
		b.run()
		collectNLStats(r, halfRead, asLast)
	},
})

func eachNLDevice(s *facts.Snapshot, f func(d *facts.Device, index int)) {
	for i := range s.Devices {
		if index, ok := s.Devices[i].Index.Get(); ok {
			f(&s.Devices[i], index)
		}
	}
}

// collectNLDevices asks what holds for the subsystem and for whole devices. It
// is false where the kernel did not answer.
func collectNLDevices(r *Reader) bool {
	if present, ok := r.Snap.RDMA.SubsystemPresent.Get(); ok && !present {
		r.gap("NETLINK_RDMA", facts.Absent, "ib_core is not loaded")
		return false
	}
	var answered bool
	var devices []facts.Device
	var resources []nlResources
	b := r.batch()
	b.netlink(deviceDump(), keepParsed(parseNLDevice, &devices), func() { answered = true })
	b.run()
	if !answered {
		return false
	}
	r.Have()
	r.Snap.RDMA.SubsystemPresent = facts.Some(true)
	for _, d := range devices {
		mergeDevice(r.device(d.Name), d)
	}
	b = r.batch()
	b.netlink(sysGet(), func(body []byte) error { return parseNLSys(body, &r.Snap.RDMA) }, nil)
	b.netlink(resourceDump(), keepParsed(parseNLResources, &resources), nil)
	b.run()
	for _, res := range resources {
		if d := r.Snap.Device(res.device); d != nil && len(res.usage) > 0 {
			d.Resources = res.usage
		}
	}
	return true
}

// device returns the device called name, adding it where it is new. The
// pointer is good until the next call.
func (r *Reader) device(name string) *facts.Device {
	i, found := slices.BinarySearchFunc(r.Snap.Devices, name, func(d facts.Device, name string) int {
		return cmp.Compare(d.Name, name)
	})
	if !found {
		r.Snap.Devices = slices.Insert(r.Snap.Devices, i, facts.Device{Name: name})
	}
	return &r.Snap.Devices[i]
}

// mergeDevice adds what netlink says and sysfs did not.
func mergeDevice(d *facts.Device, got facts.Device) {
	d.Index = got.Index
	replace(&d.Protocol, got.Protocol)
	fill(&d.NodeType, got.NodeType)
	fill(&d.FirmwareVersion, got.FirmwareVersion)
	fill(&d.NodeGUID, got.NodeGUID)
	fill(&d.SysImageGUID, got.SysImageGUID)
	fill(&d.ParentType, got.ParentType)
}

// collectNLPorts asks for the ports of each device and for its driver.
func collectNLPorts(r *Reader) {
	loaded := uverbsLoaded(r)
	b := r.batch()
	eachNLDevice(r.Snap, func(d *facts.Device, index int) {
		askNLPorts(b, d, index, mergePort)
		if loaded {
			op := uverbsGet(d.Name, index)
			b.netlink(op, func(body []byte) error { return setUverbs(d, body) }, nil)
		}
	})
	b.run()
}

// uverbsLoaded reports whether ib_uverbs is loaded or built in.
func uverbsLoaded(r *Reader) bool {
	rs := r.Do(
		hostio.Op{Kind: hostio.Stat, Name: "/sys/module/ib_uverbs"},
		hostio.Op{Kind: hostio.Stat, Name: classVerbs},
	)
	return slices.ContainsFunc(rs, func(res hostio.Result) bool { return res.Err() == nil })
}

// askNLPorts hands each port that the kernel lists to merge, with the port of d
// that has its number, added where it is new.
func askNLPorts(b *batch, d *facts.Device, index int, merge func(have *facts.Port, got facts.Port)) {
	b.netlink(portDump(d.Name, index), func(body []byte) error {
		got, err := parseNLPort(body)
		if err != nil {
			return err
		}
		i, found := slices.BinarySearchFunc(d.Ports, got.Number, func(p facts.Port, n int) int { return cmp.Compare(p.Number, n) })
		if !found {
			d.Ports = slices.Insert(d.Ports, i, facts.Port{Number: got.Number})
		}
		merge(&d.Ports[i], got)
		return nil
	}, nil)
}

// mergePort adds what netlink says and sysfs did not. Netlink names the netdev
// of the port, while sysfs names those of its GIDs.
func mergePort(have *facts.Port, got facts.Port) {
	fill(&have.State, got.State)
	fill(&have.PhysState, got.PhysState)
	fill(&have.LID, got.LID)
	fill(&have.SMLID, got.SMLID)
	fill(&have.LMC, got.LMC)
	fill(&have.CapMask, got.CapMask)
	replace(&have.Netdev, got.Netdev)
}

// setUverbs notes the node and the driver of a device.
func setUverbs(d *facts.Device, body []byte) error {
	node, id, err := parseNLUverbs(body)
	if err != nil {
		return err
	}
	if node != "" {
		fill(&d.Uverbs, facts.Some(node))
	}
	known, ok := driverIDs[id]
	switch {
	case !ok:
	case known.provider == "rxe", known.provider == "siw":
		// The number is the driver's own word; the links of a software device lead
		// to the NIC beneath it on some kernels.
		softwareDevice(d, known.driver)
	default:
		d.Provider = facts.Some(known.provider)
		if known.driver != "" {
			fill(&d.Driver, facts.Some(known.driver))
		}
	}
	return nil
}

// collectNLStats asks for the hw_counters of ports whose counters need says to
// be wanting. EINVAL says that the driver has none: no gap.
func collectNLStats(r *Reader, need func(map[string]facts.Counter) bool, set func(*facts.Counter, uint64)) {
	b := r.batch()
	eachNLDevice(r.Snap, func(d *facts.Device, index int) {
		for i := range d.Ports {
			p := &d.Ports[i]
			if !need(p.HWCounters) {
				continue
			}
			b.netlinkIf(statGet(d.Name, index, p.Number), func(body []byte) error {
				stats, err := parseNLStats(body)
				setCounters(&p.HWCounters, stats, set)
				return err
			})
		}
	})
	b.run()
}

// noneRead reports whether sysfs showed no counters.
func noneRead(cs map[string]facts.Counter) bool { return len(cs) == 0 }

// halfRead reports whether counters have a first sample and no last.
func halfRead(cs map[string]facts.Counter) bool {
	for _, c := range cs {
		if c.First.Known() && !c.Last.Known() {
			return true
		}
	}
	return false
}
