package hostio

import (
	"os"
	"strconv"
	"strings"
)

// activity is what a process is doing, by /proc/PID/task/*/stat (proc(5)).
type activity struct {
	known         bool
	runs          bool   // a thread runs or waits for a processor
	uninterrupted bool   // a thread sleeps and cannot be killed
	ticks         uint64 // processor time of all threads
}

// watch looks at a process.
func watch(pid int) activity {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, err := os.ReadDir(dir)
	if err != nil {
		return activity{}
	}
	a := activity{known: true}
	for _, t := range threads {
		b, err := os.ReadFile(dir + t.Name() + "/stat")
		if err != nil {
			continue
		}
		state, ticks, ok := parseStat(string(b))
		if !ok {
			continue
		}
		a.runs = a.runs || state == 'R'
		a.uninterrupted = a.uninterrupted || state == 'D'
		a.ticks += ticks
	}
	return a
}

// parseStat reads the state and the processor time, user and system, of a stat
// line. The name before them is in parentheses and may hold any character.
func parseStat(s string) (state byte, ticks uint64, ok bool) {
	i := strings.LastIndex(s, ") ")
	if i < 0 {
		return 0, 0, false
	}
	f := strings.Fields(s[i+2:]) // From field 3 on; utime is 14, stime 15.
	if len(f) < 13 || len(f[0]) != 1 {
		return 0, 0, false
	}
	user, err1 := strconv.ParseUint(f[11], 10, 64)
	system, err2 := strconv.ParseUint(f[12], 10, 64)
	return f[0][0], user + system, err1 == nil && err2 == nil
}
