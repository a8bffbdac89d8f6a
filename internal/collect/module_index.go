package collect

import (
	"encoding/json"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// moduleIndex reads which RDMA modules this kernel could load or has built in:
// depmod(8)'s modules.dep and the kernel build's modules.builtin. Containers
// lack them as a rule.
var _ = register(Collector{
	Source: facts.ModuleIndex,
	After:  2, // The host's kernel release comes first.
	Read: func(r *Reader) {
		release := r.Snap.Host.Kernel.Or(uname(r).Release)
		if release == "" || strings.ContainsAny(release, "/\x00") || release == ".." {
			r.gap("/lib/modules", facts.Unsupported, "the kernel release is not known")
			return
		}
		// /lib is a link to /usr/lib on most distributions, but not in every
		// copied tree.
		for _, dir := range []string{"/lib/modules/", "/usr/lib/modules/"} {
			dep, builtin := dir+release+"/modules.dep", dir+release+"/modules.builtin"
			rs := r.Do(largeFile(dep), largeFile(builtin))
			found := addIndex(r, dep, rs[0], &r.Snap.Kernel.Available)
			if addIndex(r, builtin, rs[1], &r.Snap.Kernel.Builtin) || found {
				r.Snap.Kernel.IndexRead = true
				r.Have()
				return
			}
		}
		r.nothing("/lib/modules/" + release)
	},
})

// largeFile reads an index of some thousand modules, a megabyte or so.
func largeFile(path string) hostio.Op {
	return hostio.Op{Kind: hostio.ReadFile, Name: path, Limit: 16 << 20}
}

// addIndex notes the RDMA modules of an index file in set.
func addIndex(r *Reader, path string, res hostio.Result, set *map[string]bool) bool {
	if err := res.Err(); err != nil {
		if !r.missing(err) {
			r.Gap(path, err)
		}
		return false
	}
	for name := range parseModuleIndex(string(res.Data)) {
		mark(set, name)
	}
	return true
}

// parseModuleIndex returns the RDMA modules of modules.dep or modules.builtin,
// lines of "kernel/drivers/infiniband/core/ib_core.ko.xz: DEPENDENCIES". File
// names may have dashes where the module's name has underscores.
func parseModuleIndex(s string) map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(s) {
		path, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		name, ext, ok := strings.Cut(base(path), ".")
		if !ok || ext != "ko" && !strings.HasPrefix(ext, "ko.") {
			continue
		}
		if name = strings.ReplaceAll(name, "-", "_"); rdmaModules[name] {
			found[name] = true
		}
	}
	return found
}

// uname asks for the kernel's names, empty where they are not to be had.
func uname(r *Reader) (u hostio.Uname) {
	res := r.Do(hostio.Op{Kind: hostio.System, Name: "uname"})[0]
	if res.Err() != nil || json.Unmarshal(res.Data, &u) != nil {
		return hostio.Uname{}
	}
	return u
}
