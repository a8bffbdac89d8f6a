package worker

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Observer looks at what the kernel does to processes.
type Observer interface {
	// Asleep says which thread of the process sleeps uninterruptibly and where
	// in the kernel, "" for none.
	Asleep(pid int) string
	// OOMKills counts the processes that the OOM killer has ended.
	OOMKills() oomCount
}

// oomCount is oom_kill of /proc/vmstat and of the memory.events of this
// process's cgroup. A count that cannot be read is -1.
type oomCount struct{ host, group int64 }

func (c oomCount) grew(since oomCount) bool {
	return c.host > since.host && since.host >= 0 || c.group > since.group && since.group >= 0
}

// liveHost is this host.
type liveHost struct{}

func (liveHost) OOMKills() oomCount {
	c := oomCount{host: counted("/proc/vmstat", "oom_kill"), group: -1}
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return c
	}
	for line := range strings.Lines(string(text)) {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			c.group = counted("/sys/fs/cgroup"+dir+"/memory.events", "oom_kill")
		}
	}
	return c
}

// counted is the number that follows name on a line of its own.
func counted(file, name string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			if n, err := strconv.ParseInt(f[1], 10, 64); err == nil && n >= 0 {
				return n
			}
		}
	}
	return -1
}

func (liveHost) Asleep(pid int) string {
	dir := fmt.Sprintf("/proc/%d/task/", pid)
	threads, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, t := range threads {
		stat, err := os.ReadFile(dir + t.Name() + "/stat")
		if err != nil || !uninterruptible(string(stat)) {
			continue
		}
		// The function it sleeps in, 0 where the kernel does not tell.
		where, err := os.ReadFile(dir + t.Name() + "/wchan")
		if name := strings.TrimSpace(string(where)); err == nil && name != "" && name != "0" {
			return fmt.Sprintf("thread %s sleeps uninterruptibly in the kernel, in %s", t.Name(), name)
		}
		return fmt.Sprintf("thread %s sleeps uninterruptibly in the kernel", t.Name())
	}
	return ""
}

// uninterruptible reads the state of a /proc/PID/stat line. The name before it
// is in parentheses and may hold any character.
func uninterruptible(stat string) bool {
	i := strings.LastIndex(stat, ") ")
	return i >= 0 && strings.HasPrefix(stat[i+2:], "D")
}
