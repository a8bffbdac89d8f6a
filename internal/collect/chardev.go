package collect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// charDevs compares the character devices that the kernel offers
// (/sys/class/infiniband_verbs, infiniband_mad, misc/rdma_cm) with the nodes
// under /dev/infiniband, and tries to open those whose opening changes
// nothing: uverbs and rdma_cm. Opening issm would make the port a subnet
// manager's, and umad is left alone with it.
var _ = register(Collector{
	Source: facts.CharDevNodes,
	After:  5,
	Read: func(r *Reader) {
		r.Snap.CharDevs = listCharDevs(r)
		describeCharDevs(r)
		if r.Snap.Origin != facts.Tree { // A tree's nodes are not device nodes.
			statCharDevs(r)
			openCharDevs(r)
			dropGone(r)
		}
	},
})

const (
	devInfiniBand = "/dev/infiniband"
	classMAD      = "/sys/class/infiniband_mad"
	rdmaCMDev     = "/sys/class/misc/rdma_cm/dev"
)

// nodeKinds are the names under /dev/infiniband, rdma_cm without a number.
var nodeKinds = []string{"uverbs", "umad", "issm"}

// listCharDevs lists what sysfs offers and what is in /dev, by path.
func listCharDevs(r *Reader) []facts.CharDev {
	b := r.batch()
	found := map[string]facts.CharDev{}
	offer := func(kind, name string) {
		path := devInfiniBand + "/" + name
		found[path] = facts.CharDev{Path: path, Kind: kind}
	}
	numbered := func(names []string) {
		for _, kind := range nodeKinds {
			for _, name := range nodesOf(kind, names) {
				offer(kind, name)
			}
		}
	}
	for _, class := range []string{classVerbs, classMAD} {
		b.dirIf(class, func(names []string) {
			r.Have()
			numbered(names)
		})
	}
	if r.Snap.Origin != facts.Tree {
		// With the classes listed, absent ones are known to be absent.
		b.dirIf("/sys/class", func([]string) { r.Have() })
	}
	b.fileIf(rdmaCMDev, func(string) {
		r.Have()
		offer("rdma_cm", "rdma_cm")
	})
	// A node that sysfs does not know is a stale one, or one that a container
	// was given.
	b.dirIf(devInfiniBand, func(names []string) {
		r.Have()
		numbered(names)
		if slices.Contains(names, "rdma_cm") {
			offer("rdma_cm", "rdma_cm")
		}
	})
	b.run()
	if !r.Snap.Has(facts.CharDevNodes) {
		r.nothing(devInfiniBand)
	}
	var devs []facts.CharDev
	for _, d := range found {
		devs = append(devs, d)
	}
	slices.SortFunc(devs, func(a, b facts.CharDev) int { return strings.Compare(a.Path, b.Path) })
	return devs
}

// describeCharDevs reads whose each node is and which number it has to have.
func describeCharDevs(r *Reader) {
	b := r.batch()
	for i := range r.Snap.CharDevs {
		d := &r.Snap.CharDevs[i]
		name := base(d.Path)
		switch d.Kind {
		case "rdma_cm":
			attrIf(b, rdmaCMDev, &d.SysfsDev, parseDevNumber)
		case "uverbs":
			b.fileIf(classVerbs+"/"+name+"/ibdev", func(text string) { d.Device = strings.ToValidUTF8(text, "�") })
			attrIf(b, classVerbs+"/"+name+"/dev", &d.SysfsDev, parseDevNumber)
		default:
			b.fileIf(classMAD+"/"+name+"/ibdev", func(text string) { d.Device = strings.ToValidUTF8(text, "�") })
			attrIf(b, classMAD+"/"+name+"/port", &d.Port, parseInt)
			attrIf(b, classMAD+"/"+name+"/dev", &d.SysfsDev, parseDevNumber)
		}
	}
	b.run()
}

// parseDevNumber checks the form of a dev attribute, "231:192".
func parseDevNumber(s string) (string, error) {
	major, minor, ok := strings.Cut(s, ":")
	for _, n := range []string{major, minor} {
		if v, err := parseUint(n); err != nil || v > 1<<32-1 || n != fmt.Sprint(v) {
			ok = false
		}
	}
	if !ok {
		return "", form("MAJOR:MINOR")
	}
	return s, nil
}

func statCharDevs(r *Reader) {
	b := r.batch()
	for i := range r.Snap.CharDevs {
		d := &r.Snap.CharDevs[i]
		b.add(hostio.Op{Kind: hostio.Stat, Name: d.Path}, func(res hostio.Result) {
			switch err := res.Err(); {
			case err == nil:
				setStat(r, d, res.Data)
			case absent(err):
				d.Exists = facts.Some(false)
			default:
				r.Gap(d.Path, err)
			}
		})
	}
	b.run()
}

// setStat takes over the stat of a node.
func setStat(r *Reader, d *facts.CharDev, data []byte) {
	var st hostio.FileStat
	if json.Unmarshal(data, &st) != nil {
		r.Malformed(d.Path, string(data), "a file's status")
		return
	}
	d.Exists = facts.Some(true)
	d.Mode = facts.Some(st.Mode & 0o7777)
	d.UID, d.GID = facts.Some(int(st.UID)), facts.Some(int(st.GID))
	if st.Mode&syscall.S_IFMT != syscall.S_IFCHR {
		r.gap(d.Path, facts.Malformed, "not a character device")
		return
	}
	d.Number = facts.Some(fmt.Sprintf("%d:%d", st.Major, st.Minor))
}

func openCharDevs(r *Reader) {
	b := r.batch()
	for i := range r.Snap.CharDevs {
		d := &r.Snap.CharDevs[i]
		if d.Kind != "uverbs" && d.Kind != "rdma_cm" || !d.Number.Known() {
			continue
		}
		b.add(hostio.Op{Kind: hostio.TryOpen, Name: d.Path}, func(res hostio.Result) {
			switch {
			case res.Err() == nil:
				d.OpenError = facts.Some("")
			case res.Errno != 0:
				d.OpenError = facts.Some(errnoName(res.Errno))
			default:
				r.Gap(d.Path, res.Err())
			}
		})
	}
	b.run()
}

// dropGone leaves out nodes whose device was taken away while they were looked
// at: what did not answer is no longer offered either.
func dropGone(r *Reader) {
	gone := map[string]bool{}
	b := r.batch()
	for i := range r.Snap.CharDevs {
		d := &r.Snap.CharDevs[i]
		switch d.OpenError.Or("") {
		case "ENOENT", "ENXIO", "ENODEV":
		default:
			if d.Exists.Or(true) {
				continue
			}
		}
		class := classMAD
		switch {
		case d.Device == "" && !d.SysfsDev.Known() || d.Kind == "rdma_cm":
			continue // It was not offered to begin with.
		case d.Kind == "uverbs":
			class = classVerbs
		}
		b.add(hostio.Op{Kind: hostio.Stat, Name: class + "/" + base(d.Path)}, func(res hostio.Result) {
			if err := res.Err(); err != nil && absent(err) {
				gone[d.Path] = true
			}
		})
	}
	b.run()
	r.Snap.CharDevs = slices.DeleteFunc(r.Snap.CharDevs, func(d facts.CharDev) bool { return gone[d.Path] })
}
