package probes

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// tick is the unit of times in /proc/stat and /proc/PID/stat: USER_HZ is 100
// on every architecture that RDMA runs on.
const tick = 10 * time.Millisecond

// kernelThread is PF_KTHREAD of a process's flags (include/linux/sched.h). What
// software RoCE does in kernel threads is the probe's own work.
const kernelThread = 0x00200000

// mostProcesses bounds how many processes a reading looks at.
const mostProcesses = 8192

// A Load is a reading of how busy the processors of this host have been since
// it was up, in all and by process.
type Load struct {
	at         time.Time
	processors int
	busy       uint64 // in ticks, as the next
	stolen     uint64
	own        uint64
	others     map[int]spent
}

// spent is the time that a process took.
type spent struct {
	comm  string
	ticks uint64
}

// ReadLoad reads the load below proc, "/proc". Own names the processes of the
// probe by comm, besides this one; their time is not other work's.
func ReadLoad(proc string, own ...string) (Load, error) {
	text, err := os.ReadFile(filepath.Join(proc, "stat"))
	if err != nil {
		return Load{}, fmt.Errorf("read load: %w", err)
	}
	l := Load{at: time.Now(), others: map[int]spent{}}
	if l.busy, l.stolen, l.processors, err = parseStat(string(text)); err != nil {
		return Load{}, err
	}
	d, err := os.Open(proc)
	if err != nil {
		return Load{}, fmt.Errorf("list processes: %w", err)
	}
	defer d.Close()
	names, _ := d.Readdirnames(mostProcesses) // What cannot be listed is not there.
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(proc, name, "stat"))
		if err != nil {
			continue // It has ended.
		}
		comm, took, kernel, err := parseProcessStat(string(text))
		switch {
		case err != nil, kernel:
		case pid == os.Getpid() || among(own, comm):
			l.own += took
		default:
			l.others[pid] = spent{comm, took}
		}
	}
	return l, nil
}

func among(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

// Since is what the processors did between an earlier reading and this one.
func (l Load) Since(before Load) facts.HostLoad {
	h := facts.HostLoad{Processors: l.processors, Elapsed: l.at.Sub(before.at), Busy: span(before.busy, l.busy),
		Stolen: span(before.stolen, l.stolen), Own: span(before.own, l.own)}
	top := 0
	for pid, now := range l.others {
		was := before.others[pid]
		if was.comm != now.comm {
			was.ticks = 0
		}
		took := span(was.ticks, now.ticks)
		if took > h.TopTime || took == h.TopTime && took > 0 && pid < top {
			top, h.TopTime, h.Top = pid, took, fmt.Sprintf("%s (pid %d)", now.comm, pid)
		}
	}
	return h
}

// mostTicks is what no span between two readings reaches: years on thousands
// of processors.
const mostTicks = 1 << 38

// span is the time between two counts of ticks; a count that went back or leapt
// tells nothing.
func span(before, now uint64) time.Duration {
	if now < before || now-before > mostTicks {
		return 0
	}
	return time.Duration(now-before) * tick
}

// parseStat reads /proc/stat (proc(5)): the times of all processors together,
// and how many there are.
func parseStat(text string) (busy, stolen uint64, processors int, err error) {
	seen := false
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, isProcessor := strings.CutPrefix(name, "cpu")
		if !isProcessor {
			continue
		}
		if n != "" {
			processors++
			continue
		}
		// user nice system idle iowait irq softirq steal; guest is part of user.
		var ticks [8]uint64
		for i, f := range strings.Fields(rest) {
			if i == len(ticks) {
				break
			}
			if ticks[i], err = strconv.ParseUint(f, 10, 64); err != nil {
				return 0, 0, 0, fmt.Errorf("parse /proc/stat: %q: want ticks", f)
			}
		}
		busy, stolen = ticks[0]+ticks[1]+ticks[2]+ticks[5]+ticks[6], ticks[7]
		seen = true
	}
	if !seen || processors == 0 {
		return 0, 0, 0, fmt.Errorf("parse /proc/stat: no processors in %d bytes", len(text))
	}
	return busy, stolen, processors, nil
}

// parseProcessStat reads /proc/PID/stat (proc_pid_stat(5)). The name stands in
// parentheses and may hold anything, so the last one closes it.
func parseProcessStat(text string) (comm string, ticks uint64, kernel bool, err error) {
	open, closed := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || closed < open {
		return "", 0, false, fmt.Errorf("parse /proc/PID/stat: no name in %d bytes", len(text))
	}
	comm = text[open+1 : closed]
	f := strings.Fields(text[closed+1:]) // From field 3, the state, on.
	const flags, utime, stime = 9 - 3, 14 - 3, 15 - 3
	if len(f) <= stime {
		return "", 0, false, fmt.Errorf("parse /proc/PID/stat: %d fields", len(f)+2)
	}
	bits, err1 := strconv.ParseUint(f[flags], 10, 32)
	user, err2 := strconv.ParseUint(f[utime], 10, 64)
	system, err3 := strconv.ParseUint(f[stime], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return "", 0, false, fmt.Errorf("parse /proc/PID/stat: want numbers in fields 9, 14 and 15")
	}
	return comm, user + system, bits&kernelThread != 0, nil
}
