package policy

import (
	"fmt"
	"iter"
	"maps"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

func keysOf[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

// limits judges what RDMA programs, and the services that start them, may use.
// A shell's own limits count where nothing of the kind runs.
func (j *judge) limits() {
	l := j.Limits
	if l == nil {
		return
	}
	if l.MaxMapCount > 0 {
		is, ok := j.snap.Memory.MaxMapCount.Get()
		switch {
		case !ok:
			j.unread("vm.max_map_count")
		case is < l.MaxMapCount:
			j.mismatch("host", checks.Where{}, checks.Warn, "vm.max_map_count", strconv.Itoa(is), strconv.Itoa(l.MaxMapCount)+" or more", "/proc/sys/vm/max_map_count")
		}
		j.result.Examined++
	}
	memlock, err := strconv.ParseUint(string(l.Memlock), 10, 64)
	if err != nil || l.Memlock == unlimited {
		memlock = 0
	}
	judged := false
	for i := range j.snap.Processes {
		p := &j.snap.Processes[i]
		if launches(p) || len(p.Uverbs) > 0 {
			judged = true
			j.process(p, fmt.Sprintf("pid %d", p.PID), memlock)
		}
	}
	if !judged {
		j.process(&j.snap.Self, "host", memlock)
	}
}

// launches reports whether a process starts jobs: a login's limits come from
// PAM, not from the daemon that answers it.
func launches(p *facts.Process) bool {
	for _, s := range p.Services {
		if s != "" && s != "ssh" && s != "systemd" && s != "other" {
			return true
		}
	}
	return false
}

func (j *judge) process(p *facts.Process, subject string, memlock uint64) {
	j.result.Examined++
	who, file := "the shell", "/proc/self/limits"
	where := checks.Where{}
	if subject != "host" {
		where.PID = p.PID
		who, file = fmt.Sprintf("%s (pid %d)", p.Comm, p.PID), fmt.Sprintf("/proc/%d/limits", p.PID)
	}
	// The kernel asks for the capability in the initial user namespace. What a
	// daemon starts inherits its limits and not its capabilities.
	lifted := p.CapEff.Or(0)&(1<<facts.CapIPCLock) != 0 && j.snap.Host.InitUserns.Or(true)
	for _, l := range []struct {
		name      string
		demanded  bool
		unlimited bool
		least     uint64
	}{
		{"memlock", j.Limits.Memlock != "", j.Limits.Memlock == unlimited, memlock},
		{"nofile", j.Limits.Nofile > 0, false, uint64(j.Limits.Nofile)},
	} {
		if !l.demanded {
			continue
		}
		have, ok := p.Limits[l.name]
		switch {
		case !ok:
			j.unread(subject + " " + l.name + " limit")
		case l.name == "memlock" && lifted && !launches(p):
		case have.SoftUnlimited || !l.unlimited && have.Soft >= l.least:
		default:
			want := unlimited
			if !l.unlimited {
				want = strconv.FormatUint(l.least, 10) + " or more"
			}
			j.mismatch(subject, where, checks.Warn, l.name+" limit of "+who, strconv.FormatUint(have.Soft, 10), want, file)
		}
	}
}
