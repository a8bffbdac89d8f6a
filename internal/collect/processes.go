package collect

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// processes finds who uses RDMA (an open node under /dev/infiniband, pinned
// memory) and the services that launch such programs, with the limits that
// each runs under. It reads /proc only: asking the RDMA subsystem for its
// objects costs firmware commands.
var _ = register(Collector{
	Source: facts.ProcessList,
	After:  20,
	Read: func(r *Reader) {
		all := listProcesses(r)
		if all == nil {
			return
		}
		r.Have()
		findOpenNodes(r, all)
		collectProcesses(r, all)
	},
})

// Bounds of the search. Past them a gap says that the rest was left out.
const (
	mostProcesses = 8192
	mostReported  = 256
	mostMaps      = 16 // processes whose mappings are counted
)

// launchers are the services that start RDMA programs, by comm (15 bytes at
// most), and what they launch for.
var launchers = map[string]string{
	"slurmd":          "slurm",
	"slurmstepd":      "slurm",
	"containerd":      "containerd",
	"containerd-shim": "containerd",
	"dockerd":         "docker",
	"kubelet":         "kubelet",
	"crio":            "crio",
	"conmon":          "podman",
	"sshd":            "ssh",
	"pbs_mom":         "pbs",
	"sge_execd":       "gridengine",
	"condor_startd":   "htcondor",
	"sbatchd":         "lsf",
	"orted":           "openmpi",
	"prted":           "openmpi",
	"hydra_pmi_proxy": "mpich",
	"raylet":          "ray",
}

// IsLauncher reports whether a program of that name starts others that use
// RDMA.
func IsLauncher(comm string) bool { return launchers[comm] != "" }

// listProcesses reads the status of every process. It is nil where /proc could
// not be listed.
func listProcesses(r *Reader) []facts.Process {
	list, reads := r.batch(), r.batch()
	var all []facts.Process
	list.dir("/proc", func(names []string) {
		all = []facts.Process{}
		for _, name := range names {
			if pid, err := strconv.ParseUint(name, 10, 31); err == nil && strconv.FormatUint(pid, 10) == name {
				all = append(all, facts.Process{PID: int(pid)})
			}
		}
	})
	list.run()
	slices.SortFunc(all, func(a, b facts.Process) int { return cmp.Compare(a.PID, b.PID) })
	if len(all) > mostProcesses {
		r.gap("/proc", facts.Unsupported, fmt.Sprintf("%d processes, of which %d were looked at", len(all), mostProcesses))
		all = all[:mostProcesses]
	}
	for i := range all {
		p := &all[i]
		path := procDir(p) + "status"
		// A process that has ended meanwhile is no gap.
		reads.fileIf(path, func(text string) { setStatus(r, p, path, text) })
	}
	reads.run()
	return all
}

func procDir(p *facts.Process) string { return "/proc/" + strconv.Itoa(p.PID) + "/" }

// findOpenNodes looks through open files for RDMA nodes. Those of other users
// can be listed by root only.
func findOpenNodes(r *Reader, all []facts.Process) {
	b := r.batch()
	denied := 0
	for i := range all {
		p := &all[i]
		if !p.VmLck.Known() { // Kernel threads have no memory and no files.
			continue
		}
		dir := procDir(p) + "fd"
		b.add(hostio.Op{Kind: hostio.OpenNodes, Name: dir}, func(res hostio.Result) {
			err := res.Err()
			var open hostio.NodesOpen
			switch {
			case err == nil, res.Truncated:
				if json.Unmarshal(res.Data, &open) != nil {
					r.Malformed(dir, res.Text(), "a count and names of nodes")
					return
				}
				p.Files, p.Uverbs = facts.Some(open.Files), open.Nodes
				for j := range p.Uverbs {
					p.Uverbs[j] = strings.ToValidUTF8(p.Uverbs[j], "�")
				}
			case absent(err): // It has ended.
			case errors.Is(err, fs.ErrPermission):
				denied++
			default:
				r.Gap(dir, err)
			}
		})
	}
	b.run()
	if denied > 0 {
		r.gap("/proc/PID/fd", facts.Denied, fmt.Sprintf("of %d processes", denied))
	}
}

// collectProcesses keeps the users of RDMA and the launchers and reads their
// limits.
func collectProcesses(r *Reader, all []facts.Process) {
	var kept []facts.Process
	for _, p := range all {
		if service := launchers[p.Comm]; service != "" {
			p.Services = []string{service}
		}
		if p.VmPin.Or(0) > 0 || len(p.Uverbs) > 0 || p.Services != nil {
			kept = append(kept, p)
		}
	}
	if len(kept) > mostReported {
		r.gap("/proc", facts.Unsupported, fmt.Sprintf("%d processes use or launch RDMA, of which %d are shown", len(kept), mostReported))
		// Users before launchers: there may be hundreds of sshd.
		slices.SortStableFunc(kept, func(a, b facts.Process) int { return cmp.Compare(b.VmPin.Or(0), a.VmPin.Or(0)) })
		kept = kept[:mostReported]
		slices.SortFunc(kept, func(a, b facts.Process) int { return cmp.Compare(a.PID, b.PID) })
	}
	b := r.batch()
	maps := 0
	var own string
	b.linkIf("/proc/self/ns/net", func(target string) { own = target })
	for i := range kept {
		p := &kept[i]
		dir := procDir(p)
		b.fileIf(dir+"limits", func(text string) { setLimits(r, p, dir+"limits", text) })
		b.fileIf(dir+"cgroup", func(text string) { setCgroup(p, text) })
		p.User = userName(r.Snap, p)
		if len(p.Uverbs) > 0 {
			askVariables(b, p, dir+"environ")
			b.linkIf(dir+"ns/net", func(target string) {
				if own != "" {
					p.OwnNetns = facts.Some(target == own)
				}
			})
		}
		if len(p.Uverbs) > 0 && maps < mostMaps {
			maps++
			b.add(hostio.Op{Kind: hostio.CountLines, Name: dir + "maps"}, func(res hostio.Result) {
				if n, err := parseInt(res.Text()); res.Err() == nil && err == nil {
					p.MapCount = facts.Some(n)
				}
			})
		}
	}
	b.run()
	r.Snap.Processes = kept
}

// userName knows root and the examining user.
func userName(s *facts.Snapshot, p *facts.Process) string {
	uid, ok := p.UID.Get()
	self, known := s.Self.UID.Get()
	switch {
	case ok && known && uid == self:
		return s.Self.User
	case ok && uid == 0:
		return "root"
	}
	return ""
}
