package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/lab/wire"
)

// takeInventory lists what a scenario may change. It is taken in the guest's
// root, when no command runs.
func takeInventory(root *guestRoot) (wire.Inventory, error) {
	inv := make(wire.Inventory)
	sections := []struct {
		name string
		list func() ([]string, error)
	}{
		{"modules", modules},
		{"processes", processNames},
		{"links", linkStates},
		{"rdma", rdmaNames},
		{"addresses", addresses},
		{"routes", func() ([]string, error) { return routeKeys(unix.RTM_GETROUTE) }},
		{"rules", func() ([]string, error) { return routeKeys(unix.RTM_GETRULE) }},
		{"mounts", mounts},
		{"cgroups", cgroups},
		{"devices", deviceNodes},
		{"written", root.upperFiles},
		{"sysctl", func() ([]string, error) {
			values, err := sysctls()
			return lines(values), err
		}},
	}
	for _, s := range sections {
		items, err := s.list()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		slices.Sort(items)
		inv[s.name] = items
	}
	return inv, nil
}

// differences lists what of two inventories is not the same.
func differences(want, got wire.Inventory) []string {
	var diff []string
	for name := range want {
		for _, item := range missing(want[name], got[name]) {
			diff = append(diff, name+": gone: "+item)
		}
		for _, item := range missing(got[name], want[name]) {
			diff = append(diff, name+": left: "+item)
		}
	}
	slices.Sort(diff)
	return diff
}

// missing lists the items of a that b has not, as often as it has them not.
func missing(a, b []string) []string {
	count := make(map[string]int, len(b))
	for _, item := range b {
		count[item]++
	}
	var none []string
	for _, item := range a {
		if count[item]--; count[item] < 0 {
			none = append(none, item)
		}
	}
	return none
}

func lines(values map[string]string) []string {
	all := make([]string, 0, len(values))
	for name, value := range values {
		all = append(all, name+" = "+value)
	}
	return all
}

func modules() ([]string, error) {
	return firstFields("/proc/modules", 0)
}

func moduleLoaded(name string) bool {
	_, err := os.Stat("/sys/module/" + name)
	return err == nil
}

// firstFields lists one field of each line of a file.
func firstFields(name string, field int) ([]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []string
	in := bufio.NewScanner(f)
	for in.Scan() {
		if fields := strings.Fields(in.Text()); field < len(fields) {
			all = append(all, fields[field])
		}
	}
	return all, in.Err()
}

// process is a process of user space other than this one.
type process struct {
	pid  int
	name string
}

func processes() ([]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var all []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == 1 {
			continue
		}
		b, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // It has ended meanwhile.
		}
		p, kernel, err := parseStat(string(b))
		if err != nil {
			return nil, err
		}
		if !kernel {
			all = append(all, p)
		}
	}
	return all, nil
}

// parseStat reads a line of /proc/PID/stat, and says whether the process is
// a thread of the kernel.
func parseStat(line string) (p process, kernel bool, err error) {
	bad := fmt.Errorf("/proc/PID/stat: malformed %q", line)
	// The name, in parentheses, may hold anything, even parentheses.
	pid, rest, ok := strings.Cut(line, " (")
	end := strings.LastIndex(rest, ") ")
	if !ok || end < 0 {
		return process{}, false, bad
	}
	fields := strings.Fields(rest[end+2:])
	if len(fields) < 7 {
		return process{}, false, bad
	}
	p.name = rest[:end]
	if p.pid, err = strconv.Atoi(pid); err != nil || p.pid <= 0 {
		return process{}, false, bad
	}
	const kernelThread = 0x00200000 // PF_KTHREAD of linux/sched.h
	flags, err := strconv.ParseUint(fields[6], 10, 64)
	if err != nil {
		return process{}, false, bad
	}
	return p, flags&kernelThread != 0, nil
}

func processNames() ([]string, error) {
	all, err := processes()
	var names []string
	for _, p := range all {
		names = append(names, p.name)
	}
	return names, err
}

func linkStates() ([]string, error) {
	all, err := links()
	var states []string
	for _, l := range all {
		states = append(states, l.state)
	}
	return states, err
}

func routeKeys(request netlink.HeaderType) ([]string, error) {
	all, err := routes(request)
	var keys []string
	for _, r := range all {
		keys = append(keys, r.key)
	}
	return keys, err
}

func rdmaNames() ([]string, error) {
	all, err := rdmaLinks()
	var names []string
	for _, l := range all {
		names = append(names, l.name)
	}
	return names, err
}

// mounts lists mount points; their numbers differ after a reset.
func mounts() ([]string, error) {
	return firstFields("/proc/self/mountinfo", 4)
}

// cgroups lists control groups with what the root hands down to them.
func cgroups() ([]string, error) {
	var all []string
	err := filepath.WalkDir(cgroupDir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			all = append(all, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(cgroupDir + "/cgroup.subtree_control")
	return append(all, "subtree_control "+strings.TrimSpace(string(b))), err
}

// deviceNodes lists /dev with modes and owners. The kernel keeps one device
// file system for all its mounts, so a change stays when the root is replaced.
func deviceNodes() ([]string, error) {
	var all []string
	err := filepath.WalkDir("/dev", func(name string, d fs.DirEntry, err error) error {
		if name == "/dev/pts" || name == "/dev/shm" {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(name, &st); err != nil {
			return err
		}
		all = append(all, fmt.Sprintf("%s %o %d:%d %d", name, st.Mode, st.Uid,
			st.Gid, st.Rdev))
		return nil
	})
	return all, err
}
