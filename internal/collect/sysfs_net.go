package collect

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

// sysfsNet reads /sys/class/net (Documentation/ABI/testing/sysfs-class-net). It
// runs after the RDMA devices, so that it knows which netdevs are theirs, and
// before netlink, which says more about each.
var _ = register(Collector{
	Source: facts.Links,
	After:  1,
	Read: func(r *Reader) {
		names := listNetdevs(r)
		if names == nil {
			return
		}
		r.Have()
		collectNetdevs(r, names)
		collectSpeeds(r, names)
	},
	Again: func(r *Reader) {
		b := r.batch()
		for i := range r.Snap.Netdevs {
			n := &r.Snap.Netdevs[i]
			if n.CarrierChanges.First.Known() {
				attrIf(b, netDir(n.Name)+"carrier_changes", &n.CarrierChanges.Last, parseUint)
			}
		}
		b.run()
	},
})

const classNet = "/sys/class/net"

func netDir(name string) string { return classNet + "/" + name + "/" }

// A netdevDir is what the listing of one netdev's directory says.
type netdevDir struct {
	bond   bool
	device bool
	lowers []string
}

// listNetdevs returns the directories of the class by netdev name. Files such
// as bonding_masters are passed over.
func listNetdevs(r *Reader) map[string]*netdevDir {
	class, b := r.batch(), r.batch()
	var found map[string]*netdevDir
	class.dir(classNet, func(names []string) {
		found = map[string]*netdevDir{}
		for _, name := range names {
			b.dirIf(classNet+"/"+name, func(entries []string) { found[name] = readNetdevDir(entries) })
		}
	})
	class.run()
	b.run()
	return found
}

func readNetdevDir(entries []string) *netdevDir {
	d := &netdevDir{}
	for _, e := range entries {
		switch lower, ok := strings.CutPrefix(e, "lower_"); {
		case ok:
			d.lowers = append(d.lowers, lower)
		case e == "bonding":
			d.bond = true
		case e == "device":
			d.device = true
		}
	}
	return d
}

// collectNetdevs reads what every netdev has.
func collectNetdevs(r *Reader, dirs map[string]*netdevDir) {
	names := slices.Sorted(maps.Keys(dirs))
	if len(r.Snap.Netdevs) == 0 { // The usual case, and quick for many netdevs.
		r.Snap.Netdevs = make([]facts.Netdev, len(names))
		for i, name := range names {
			r.Snap.Netdevs[i].Name = name
		}
	}
	for _, name := range names {
		r.netdev(name)
	}
	b := r.batch()
	iflink := map[string]int{}
	for i := range r.Snap.Netdevs {
		n := &r.Snap.Netdevs[i]
		d, dir := dirs[n.Name], netDir(n.Name)
		if d == nil {
			continue
		}
		b.file(dir+"ifindex", func(text string) { keep(r, dir+"ifindex", text, &n.Index, parseInt) })
		b.file(dir+"flags", func(text string) {
			var flags uint32
			if keep(r, dir+"flags", text, &flags, parseHex32) {
				n.AdminUp = facts.Some(flags&1 != 0) // IFF_UP
			}
		})
		attr(b, dir+"operstate", &n.OperState, parseText)
		attr(b, dir+"mtu", &n.MTU, parseInt)
		attr(b, dir+"carrier_changes", &n.CarrierChanges.First, parseUint)
		attrIf(b, dir+"address", &n.MAC, parseLinkAddress)
		b.fileIf(dir+"uevent", func(text string) { setKind(n, text) })
		askCarrier(b, dir+"carrier", n)
		b.linkIf(classNet+"/"+n.Name, func(target string) {
			if found := pciAddresses(target); len(found) > 0 {
				n.PCI = facts.Some(found[len(found)-1])
			}
		})
		b.linkIf(dir+"master", func(target string) { n.Master = facts.Some(base(target)) })
		if d.device {
			b.linkIf(dir+"device/driver", func(target string) { n.Driver = facts.Some(base(target)) })
		}
		if d.bond {
			attr(b, dir+"bonding/mode", &n.BondMode, parseBondMode)
		}
		if len(d.lowers) == 1 {
			b.fileIf(dir+"iflink", func(text string) {
				if v, err := parseInt(text); err == nil {
					iflink[n.Name] = v
				}
			})
		}
	}
	b.run()
	setLowers(r.Snap, dirs, iflink)
}

// keep is store for a plain value.
func keep[T any](r *Reader, path, text string, dst *T, parse func(string) (T, error)) bool {
	var v facts.Opt[T]
	store(r, path, text, &v, parse)
	got, ok := v.Get()
	if ok {
		*dst = got
	}
	return ok
}

// askCarrier reads carrier, which is EINVAL while the netdev is down: then there
// is none to speak of, and no gap.
func askCarrier(b *batch, path string, n *facts.Netdev) {
	b.add(hostio.Op{Kind: hostio.ReadFile, Name: path}, func(res hostio.Result) {
		switch err := res.Err(); {
		case err == nil:
			store(b.r, path, res.Text(), &n.Carrier, parseBool01)
		case !errorIs(err, "EINVAL"):
			b.r.Gap(path, err)
		}
	})
}

// errorIs reports whether err is the errno of that name.
func errorIs(err error, name string) bool { return errnoName(err) == name }

// setLowers notes the single netdev beneath each, such as a VLAN's parent. The
// index of iflink may be one of another namespace, so the link to the lower
// netdev has to agree.
func setLowers(s *facts.Snapshot, dirs map[string]*netdevDir, iflink map[string]int) {
	for name, index := range iflink {
		lower := s.Netdev(dirs[name].lowers[0])
		if lower != nil && lower.Index == index {
			s.Netdev(name).Lower = facts.Some(lower.Name)
		}
	}
}

// setKind takes the kind from the DEVTYPE of uevent for those kinds where it
// is IFLA_INFO_KIND's word.
func setKind(n *facts.Netdev, uevent string) {
	for line := range strings.Lines(uevent) {
		switch kind, ok := strings.CutPrefix(strings.TrimSpace(line), "DEVTYPE="); {
		case !ok:
		case kind == "vlan", kind == "bond", kind == "bridge", kind == "macvlan", kind == "vxlan":
			n.Kind = facts.Some(kind)
		}
	}
}

// collectSpeeds reads speed and duplex of hardware and of bonds. They take the
// rtnl lock and may ask firmware, so no others are asked, and these in a batch
// of their own.
func collectSpeeds(r *Reader, dirs map[string]*netdevDir) {
	b := r.batch()
	for i := range r.Snap.Netdevs {
		n := &r.Snap.Netdevs[i]
		if d := dirs[n.Name]; d != nil && (d.device || d.bond) {
			askSpeeds(b, n)
		}
	}
	b.run()
}

func askSpeeds(b *batch, n *facts.Netdev) {
	askSpeed(b, netDir(n.Name)+"speed", &n.Speed, parseSpeed)
	askSpeed(b, netDir(n.Name)+"duplex", &n.Duplex, parseDuplex)
}

// sysfsNetRDMA reads speed and duplex of the other netdevs that RDMA rides on,
// such as VLANs. It runs when the GID tables have told which those are.
var _ = register(Collector{
	Source: facts.Links,
	After:  22,
	Read: func(r *Reader) {
		if !r.Snap.Has(facts.Links) {
			return
		}
		rdma := rdmaNetdevs(r.Snap)
		b := r.batch()
		for i := range r.Snap.Netdevs {
			n := &r.Snap.Netdevs[i]
			if rdma[n.Name] && !n.Speed.Known() && !n.PCI.Known() && !n.BondMode.Known() {
				askSpeeds(b, n)
			}
		}
		b.run()
	},
})

// askSpeed reads speed or duplex. EINVAL is the answer while the netdev is down
// and of drivers that know no speed, for which newer kernels say EOPNOTSUPP: no
// gap. ENODEV is a device that fell off the bus.
func askSpeed[T any](b *batch, path string, dst *facts.Opt[T], parse func(string) (T, error)) {
	b.add(hostio.Op{Kind: hostio.ReadFile, Name: path}, func(res hostio.Result) {
		err := res.Err()
		if err == nil {
			store(b.r, path, res.Text(), dst, parse)
			return
		}
		if kind, _ := classify(err); kind != facts.Unsupported && kind != facts.Absent || errorIs(err, "ENODEV") {
			b.r.Gap(path, err)
		}
	})
}

// parseSpeed reads speed, megabits per second. SPEED_UNKNOWN prints -1, or
// 65535 where an old driver keeps 16 bits.
func parseSpeed(s string) (facts.BitsPerSecond, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil || n < -1 || n > 1e9:
		return 0, form("megabits per second, or -1")
	case n <= 0 || n == 65535:
		return 0, errNoValue
	}
	return facts.BitsPerSecond(n) * 1e6, nil
}

// parseDuplex reads duplex.
func parseDuplex(s string) (string, error) {
	switch s {
	case "full", "half":
		return s, nil
	case "unknown":
		return "", errNoValue
	}
	return "", form(`"full", "half" or "unknown"`)
}

// parseBool01 reads a switch that prints 0 or 1.
func parseBool01(s string) (bool, error) {
	if s != "0" && s != "1" {
		return false, form("0 or 1")
	}
	return s == "1", nil
}

// parseBondMode reads bonding/mode, name and number: "802.3ad 4".
func parseBondMode(s string) (string, error) {
	name, number, ok := strings.Cut(s, " ")
	if _, err := parseInt(number); !ok || err != nil || name == "" {
		return "", form(`"MODE NUMBER"`)
	}
	return strings.ToValidUTF8(name, "�"), nil
}

var linkAddress = pattern.Of(`^[0-9a-f]{2}(:[0-9a-f]{2}){5,19}$`)

// parseLinkAddress reads address: six octets on Ethernet, twenty on IPoIB.
// Tunnels print an IP address or nothing there, which is not a MAC.
func parseLinkAddress(s string) (string, error) {
	if !linkAddress.MatchString(s) {
		return "", errNoValue
	}
	return s, nil
}
