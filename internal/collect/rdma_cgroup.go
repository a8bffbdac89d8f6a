package collect

import (
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// rdmaCgroup reads what the rdma controller allows the own cgroup and those
// above it (Documentation/admin-guide/cgroup-v2.rst, "RDMA"). Without the
// controller there are no such files and no limit.
var _ = register(Collector{
	Source: facts.RDMACgroup,
	Read: func(r *Reader) {
		b := r.batch()
		var text string
		b.file("/proc/self/cgroup", func(t string) { text = t })
		b.run()
		root, cgroup := rdmaController(text)
		if cgroup == "" {
			return
		}
		collectRDMACgroup(r, root, cgroup)
	},
})

// rdmaController returns where the rdma controller's hierarchy is mounted and
// the own path in it: a hierarchy of its own in cgroup v1, else the unified
// one.
func rdmaController(s string) (root, cgroup string) {
	for line := range strings.Lines(s) {
		if _, p, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ":rdma:"); ok {
			return cgroupRoot + "/rdma", p
		}
	}
	return cgroupRoot, parseUnified(s)
}

func collectRDMACgroup(r *Reader, root, cgroup string) {
	b := r.batch()
	// The root's listing proves that the hierarchy is mounted, so that absent
	// files mean that the controller is off.
	b.dirIf(root, func(names []string) {
		if slices.Contains(names, "cgroup.procs") {
			r.Have()
		}
	})
	levels := cgroupDirs(cgroup)
	limits := make([][]facts.RDMACgroupLimit, len(levels))
	for i, dir := range levels {
		dir = root + strings.TrimPrefix(dir, cgroupRoot)
		path := strings.TrimRight(strings.TrimPrefix(dir, root), "/")
		if path == "" {
			path = "/"
		}
		b.fileIf(dir+"rdma.max", func(text string) { addRDMALimits(r, dir+"rdma.max", path, text, &limits[i], false) })
		b.fileIf(dir+"rdma.current", func(text string) { addRDMALimits(r, dir+"rdma.current", path, text, &limits[i], true) })
	}
	b.run()
	for i, found := range limits {
		for _, l := range found {
			if i == 0 || l.HandleMax.Known() || l.ObjectMax.Known() {
				r.Snap.RDMA.Cgroup = append(r.Snap.RDMA.Cgroup, l)
			}
		}
	}
}

// addRDMALimits joins a file's lines into the limits of one cgroup.
func addRDMALimits(r *Reader, file, path, text string, dst *[]facts.RDMACgroupLimit, current bool) {
	for line := range strings.Lines(text) {
		device, handle, object, err := parseRDMALimit(line)
		if err != nil {
			r.Malformed(file, strings.TrimSpace(line), err.Error())
			continue
		}
		i := slices.IndexFunc(*dst, func(l facts.RDMACgroupLimit) bool { return l.Device == device })
		if i < 0 {
			i = len(*dst)
			*dst = append(*dst, facts.RDMACgroupLimit{Path: path, Device: device})
		}
		if l := &(*dst)[i]; current {
			l.HandleCurrent, l.ObjectCurrent = handle, object
		} else {
			l.HandleMax, l.ObjectMax = handle, object
		}
	}
}

// parseRDMALimit reads "mlx5_0 hca_handle=2 hca_object=max".
func parseRDMALimit(line string) (device string, handle, object facts.Opt[uint64], err error) {
	f := strings.Fields(strings.ToValidUTF8(line, "�"))
	bad := form("DEVICE hca_handle=N hca_object=N")
	if len(f) < 2 {
		return "", handle, object, bad
	}
	for _, pair := range f[1:] {
		key, value, _ := strings.Cut(pair, "=")
		v, err := parseCgroupMax(value)
		if err != nil && err != errNoValue {
			return "", handle, object, bad
		}
		if err != nil {
			continue
		}
		switch key {
		case "hca_handle":
			handle = facts.Some(v)
		case "hca_object":
			object = facts.Some(v)
		}
	}
	return f[0], handle, object, nil
}
