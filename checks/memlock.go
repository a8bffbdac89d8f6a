package checks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// The steps of RLIMIT_MEMLOCK, in bytes.
const (
	// memlockOld was the kernel's default before 5.16. Queues and one buffer of a
	// small program do not fit.
	memlockOld = 64 << 10
	// memlockDefault is the kernel's default since 5.16, MLOCK_LIMIT: what a shell
	// has where nobody set anything.
	memlockDefault = 8 << 20
	// memlockEnough is what a finite limit must reach to hold the buffers of MPI
	// and NCCL; their guides ask for unlimited.
	memlockEnough = 1 << 30
)

// enough reports whether a memlock limit needs no word.
func enough(l facts.Limit) bool { return l.SoftUnlimited || l.Soft >= memlockEnough }

// shellSeverity judges the limit of a shell, whose programs are not known.
func shellSeverity(soft uint64) Severity {
	switch {
	case soft <= memlockOld:
		return Fail
	case soft < memlockDefault:
		return Warn
	}
	return Info
}

// jobSeverity judges the limit of what starts or runs RDMA programs.
func jobSeverity(soft uint64) Severity {
	if soft <= memlockOld {
		return Fail
	}
	return Warn
}

// lifted reports whether a capability makes the kernel ignore the limit. It
// counts in the initial user namespace only (ib_umem_get asks capable()).
func lifted(proc facts.Process, host facts.Host) bool {
	return proc.CapEff.Or(0)&(1<<facts.CapIPCLock) != 0 && host.InitUserns.Or(true)
}

// limitText is a limit as /proc/PID/limits shows it.
func limitText(l facts.Limit) string {
	show := func(n uint64, unlimited bool) string {
		if unlimited {
			return "unlimited"
		}
		return strconv.FormatUint(n, 10)
	}
	return show(l.Soft, l.SoftUnlimited) + " " + show(l.Hard, l.HardUnlimited)
}

// memlockEvidence is the line of /proc/PID/limits.
func memlockEvidence(pid string, l facts.Limit) Evidence {
	return Evidence{"/proc/" + pid + "/limits", "Max locked memory " + limitText(l) + " bytes"}
}

// size shows bytes in the largest unit that is exact.
func size(n uint64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for n >= 1024 && n%1024 == 0 && i < len(units)-1 {
		n, i = n/1024, i+1
	}
	return fmt.Sprintf("%d %s", n, units[i])
}

// limitRule finds the line of limits.conf(5) that gives user a soft limit of
// soft bytes. A rule for the user beats one for all, and of equals the last
// read wins, as pam_limits does it.
func limitRule(rules []facts.LimitRule, user, item string, soft uint64) (facts.LimitRule, bool) {
	var found facts.LimitRule
	rank := 0
	for _, r := range rules {
		if r.Item != item || r.Type == "hard" {
			continue
		}
		mine := 0
		switch {
		case r.Domain == "*":
			mine = 1
		case user != "" && r.Domain == user:
			mine = 2
		}
		if mine > 0 && mine >= rank {
			found, rank = r, mine
		}
	}
	if rank == 0 {
		return found, false
	}
	n, err := strconv.ParseUint(found.Value, 10, 64)
	if item == "memlock" {
		n <<= 10 // limits.conf(5) counts memlock in KiB.
	}
	return found, err == nil && n == soft
}

// ruleEvidence shows a line of limits.conf(5).
func ruleEvidence(r facts.LimitRule) Evidence {
	return Evidence{fmt.Sprintf("%s:%d", r.File, r.Line), strings.Join([]string{r.Domain, r.Type, r.Item, r.Value}, " ")}
}

// unit finds the unit file of a service.
func unit(s *facts.Snapshot, name string) (facts.Unit, bool) {
	i := slices.IndexFunc(s.Units, func(u facts.Unit) bool { return name != "" && u.Name == name })
	if i < 0 {
		return facts.Unit{}, false
	}
	return s.Units[i], true
}

// unitEvidence shows what the unit's files say of a limit.
func unitEvidence(u facts.Unit, directive string) Evidence {
	source := u.Name
	if len(u.Files) > 0 {
		source = u.Files[len(u.Files)-1]
	}
	value, ok := u.Limits[directive]
	if !ok {
		return Evidence{source, "no " + directive + ", so the manager's default holds"}
	}
	return Evidence{source, directive + "=" + value}
}
