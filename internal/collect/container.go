package collect

import (
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// askContainer looks for the marks that container runtimes leave in the file
// system and in the own cgroup's path.
func askContainer(b *batch) {
	h := &b.r.Snap.Host
	// The first mark found wins, so the more telling ones come first.
	found := func(runtime string) {
		if h.Container.Or("") == "" && runtime != "" {
			h.Container = facts.Some(runtime)
		}
	}
	mark := func(path string, then func(text string)) {
		b.add(hostio.Op{Kind: hostio.ReadFile, Name: path}, func(res hostio.Result) {
			switch err := res.Err(); {
			case err == nil, res.Truncated:
				then(string(res.Data))
			case !b.r.missing(err):
				b.r.Gap(path, err)
			case absent(err) && !h.Container.Known():
				h.Container = facts.Some("")
			}
		})
	}
	mark("/run/.containerenv", func(text string) { found(parseContainerEnv(text)) })
	mark("/.dockerenv", func(string) { found("docker") })
	mark("/run/systemd/container", func(text string) { found(strings.ToValidUTF8(strings.TrimSpace(text), "�")) })
	b.fileIf("/var/run/secrets/kubernetes.io/serviceaccount/namespace", func(string) { found("kubernetes") })
	b.fileIf("/proc/self/cgroup", func(text string) { found(parseContainerCgroup(text)) })
}

// parseContainerEnv reads podman's /run/.containerenv, empty unless the
// container is privileged: engine="podman-4.3.1".
func parseContainerEnv(s string) string {
	for line := range strings.Lines(s) {
		if engine, ok := strings.CutPrefix(strings.TrimSpace(line), "engine="); ok {
			name, _, _ := strings.Cut(strings.Trim(engine, `"`), "-")
			if name, err := parseText(name); err == nil {
				return name
			}
		}
	}
	return "podman"
}

// parseContainerCgroup names the runtime from the path of a cgroup, which is
// shown unless the container has a cgroup namespace of its own.
func parseContainerCgroup(s string) string {
	marks := []struct{ part, runtime string }{
		{"kubepods", "kubernetes"},
		{"docker-", "docker"},
		{"/docker/", "docker"},
		{"libpod-", "podman"},
		{"cri-containerd-", "containerd"},
		{"crio-", "cri-o"},
		{"/lxc/", "lxc"},
		{"lxc.payload", "lxc"},
		{"machine.slice/machine-", "systemd-nspawn"},
	}
	for _, m := range marks {
		if strings.Contains(s, m.part) {
			return m.runtime
		}
	}
	return ""
}

// The inode numbers of the first namespaces, as include/linux/proc_ns.h gives
// them. The first network namespace has a fixed one in newer kernels only.
const (
	initPIDNamespace = "pid:[4026531836]"
	initNetNamespace = "net:[4026531833]"
)

// askNamespaces finds out whether the process sees the machine's own network
// and users. /proc/1 is the machine's init only in the first PID namespace; in
// a container that has one of its own the comparison proves nothing.
func askNamespaces(b *batch) {
	h := &b.r.Snap.Host
	var selfNet, selfPID string
	const ownNet, initNet = "/proc/self/ns/net", "/proc/1/ns/net"
	link := func(path string, then func(text string)) {
		b.add(hostio.Op{Kind: hostio.ReadLink, Name: path}, func(res hostio.Result) {
			if err := res.Err(); err != nil {
				if path != initNet || !h.InitNetns.Known() {
					b.r.Gap(path, err)
				}
				return
			}
			b.r.Have()
			then(res.Text())
		})
	}
	link(ownNet, func(text string) {
		if selfNet = text; selfNet == initNetNamespace {
			h.InitNetns = facts.Some(true)
		}
	})
	link("/proc/self/ns/pid", func(text string) { selfPID = text })
	link(initNet, func(text string) {
		switch {
		case h.InitNetns.Known() || selfNet == "":
		case text != selfNet:
			h.InitNetns = facts.Some(false)
		case selfPID == initPIDNamespace:
			h.InitNetns = facts.Some(true)
		default:
			b.r.gap(initNet, facts.Unsupported, "process 1 is not the machine's, in a PID namespace")
		}
	})
	attr(b, "/proc/self/uid_map", &h.InitUserns, parseUIDMap)
}

// parseUIDMap reports whether uid_map is the identity, as in the first user
// namespace.
func parseUIDMap(s string) (bool, error) {
	f := strings.Fields(s)
	if len(f) == 0 {
		return false, nil // A new user namespace that nothing is mapped into yet.
	}
	if len(f)%3 != 0 {
		return false, form("lines of three numbers")
	}
	for _, n := range f {
		if _, err := parseUint(n); err != nil {
			return false, form("lines of three numbers")
		}
	}
	return len(f) == 3 && f[0] == "0" && f[1] == "0" && f[2] == "4294967295", nil
}
