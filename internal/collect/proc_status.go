package collect

import (
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// A procStatus is what is kept of /proc/PID/status. Kernel threads have no
// memory and so no Vm lines.
type procStatus struct {
	comm         string
	uid          facts.Opt[int] // effective
	vmPin, vmLck facts.Opt[uint64]
	capEff       facts.Opt[uint64]
	cpus, mems   facts.Opt[string]
}

// parseStatus reads /proc/PID/status (proc_pid_status).
func parseStatus(s string) (procStatus, error) {
	var st procStatus
	for line := range strings.Lines(s) {
		key, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if !ok {
			continue
		}
		switch key {
		case "Name":
			st.comm = strings.ToValidUTF8(value, "�")
		case "Uid": // real, effective, saved, file system
			f := strings.Fields(value)
			if len(f) != 4 {
				return st, form("four user numbers after Uid:")
			}
			uid, err := strconv.ParseUint(f[1], 10, 32)
			if err != nil {
				return st, form("four user numbers after Uid:")
			}
			st.uid = facts.Some(int(uid))
		case "VmPin", "VmLck":
			bytes, err := parseKiB(value)
			if err != nil {
				return st, err
			}
			if key == "VmPin" {
				st.vmPin = facts.Some(bytes)
			} else {
				st.vmLck = facts.Some(bytes)
			}
		case "CapEff":
			v, err := strconv.ParseUint(value, 16, 64)
			if err != nil {
				return st, form("hexadecimal digits after CapEff:")
			}
			st.capEff = facts.Some(v)
		case "Cpus_allowed_list", "Mems_allowed_list":
			list, err := parseCPUList(value)
			if err != nil {
				continue // An empty one, of a process that ends.
			}
			if key == "Cpus_allowed_list" {
				st.cpus = facts.Some(list)
			} else {
				st.mems = facts.Some(list)
			}
		}
	}
	if st.comm == "" && !st.uid.Known() {
		return st, form("lines of NAME: VALUE")
	}
	return st, nil
}

// parseKiB reads "8192 kB", which is KiB, as bytes.
func parseKiB(s string) (uint64, error) {
	digits, ok := strings.CutSuffix(s, " kB")
	v, err := parseUint(strings.TrimSpace(digits))
	if !ok || err != nil || v > 1<<53 {
		return 0, form(`"N kB"`)
	}
	return v << 10, nil
}

// setStatus takes over /proc/PID/status.
func setStatus(r *Reader, p *facts.Process, path, text string) {
	st, err := parseStatus(text)
	if err != nil {
		r.Malformed(path, text, err.Error())
		return
	}
	p.Comm = st.comm
	if !p.UID.Known() {
		p.UID = st.uid
	}
	p.VmPin, p.VmLck, p.CapEff = st.vmPin, st.vmLck, st.capEff
	p.CPUs, p.Mems = st.cpus, st.mems
}

// setCgroup takes over /proc/PID/cgroup.
func setCgroup(p *facts.Process, text string) {
	p.Cgroup = parseCgroup(text)
	p.Unit = unitOf(p.Cgroup)
}

// parseCgroup returns the path in the unified hierarchy ("0::PATH"), else in
// systemd's own of cgroup v1 ("1:name=systemd:PATH"), "" where there is
// neither.
func parseCgroup(s string) string {
	var named string
	for line := range strings.Lines(strings.ToValidUTF8(s, "�")) {
		line = strings.TrimSuffix(line, "\n")
		if p, ok := strings.CutPrefix(line, "0::"); ok && p != "/" {
			return p
		}
		if _, p, ok := strings.Cut(line, ":name=systemd:"); ok {
			named = p
		} else if line == "0::/" && named == "" {
			named = "/"
		}
	}
	return named
}

// unitOf is the systemd unit of the system manager that a cgroup belongs to:
// the first service or scope on the path.
func unitOf(cgroup string) string {
	for elem := range strings.SplitSeq(cgroup, "/") {
		if strings.HasSuffix(elem, ".service") || strings.HasSuffix(elem, ".scope") {
			return elem
		}
	}
	return ""
}
