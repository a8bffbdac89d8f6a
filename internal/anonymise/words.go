package anonymise

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rdmadoctor/rdmadoctor/internal/collect"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

// common are names that say nothing of whose host this is, and that mean
// something to whoever reads them.
var common = []string{"root", "nobody", "localhost", "localdomain", "host", "node", "server", "linux", "debian", "ubuntu", "none",
	"systemd", "init", "bash", "zsh", "fish", "dash", "sleep", "sudo", "su", "cron", "login", "agetty", "dbus-daemon", "python", "python3",
	"ssh", "slurmctld", "munged", "opensm", "ibacm", "srp_daemon", "rdma-ndd", "iwpmd", "mpirun", "mpiexec", "srun", "ray", "java",
	"nvidia-smi", "nv-hostengine", "nvidia-persistenced", "dcgm-exporter", "node_exporter", "rdmadoctor", "ib_write_bw", "ib_read_bw",
	"ib_send_bw", "ib_write_lat", "ib_read_lat", "ib_send_lat", "rping", "udaddy", "ucmatose", "ibv_rc_pingpong", "all_reduce_perf"}

// kernelThread are the kernel's own.
var kernelThread = pattern.Of(`^(kworker|ksoftirqd|migration|rcu|swapper|kthread|khungtask|kcompactd|kswapd|irq/|cpuhp|watchdog|ib_|rdma|iw_|mlx[45]|ipoib|infiniband|nvme|jbd2|xfs|scsi)`)

// ofNobody reports whether a name may stay.
func ofNobody(name string) bool {
	return len(name) < 2 || slices.Contains(common, name) || kernelThread.MatchString(name) || collect.IsLauncher(name) || strings.Trim(name, "0123456789-") == ""
}

// process is what a process is called instead.
func (a *Anonymiser) process(name string) string {
	if ofNobody(name) {
		return name
	}
	return a.word(name)
}

// learnProcess learns a program's name. Such a name may be any word at all, so
// it is replaced only where a process is named, and in the log and the names of
// control groups where it is long and no word of theirs.
func (a *Anonymiser) learnProcess(name string) {
	if len(name) >= 5 && !ofNobody(name) && !meansSomething(name) && !unitName.MatchString(name) {
		a.processes[name] = true
	}
}

// learnWord learns the name of a host, a user or a group.
func (a *Anonymiser) learnWord(w string) {
	w = strings.TrimSpace(w)
	if len(w) >= 3 && len(w) <= 253 && !ofNobody(w) && !meansSomething(w) && utf8.ValidString(w) {
		a.dictionary[w] = true
	}
}

// vocabulary are the words with which limits.conf(5), unit files, control
// groups and the settings of RDMA libraries say what they mean.
var vocabulary = strings.Fields("soft hard memlock nofile unlimited infinity core data fsize nproc stack priority maxlogins " +
	"system user users machine slice scope service session kubepods burstable besteffort guaranteed docker containerd podman libpod " +
	"slurm job step task uid app cgroup cpu cpuset memory pids io blkio devices freezer perf_event net_cls net_prio hugetlb misc max min high low " +
	"etc conf limits security driver all auto off enable disable true false yes roce device devices port ports group nccl ucx socket net network plugin tree ring algo")

// plainWord is a word as sentences have them.
var plainWord = pattern.Of(`^[A-Z]?[a-z]+$`)

// unitName is the name of a unit of systemd's, as control groups have it.
var unitName = pattern.Of(`\.(service|scope|slice|socket)$`)

// meansSomething reports whether a word may stand for what it says rather than
// for somebody: one of the vocabulary, or one that makes a line of the log
// matter.
func meansSomething(w string) bool {
	return slices.Contains(vocabulary, strings.ToLower(w)) || collect.SpeaksOfRDMA(w)
}

// learnHost learns a host's name, whole and its parts.
func (a *Anonymiser) learnHost(name string) {
	a.host[name] = true
	short, domain, _ := strings.Cut(name, ".")
	a.host[short] = true
	for _, w := range []string{name, short, domain} {
		if len(w) >= 4 || strings.ContainsAny(w, "0123456789") {
			a.learnWord(w)
		}
	}
}

// word is what a name is replaced by. A host's whole name is replaced part by
// part, as its short one is.
func (a *Anonymiser) word(w string) string {
	if a.serials[w] {
		return a.key.word(w)
	}
	if short, domain, ok := strings.Cut(w, "."); ok {
		return a.word(short) + "." + a.word(domain)
	}
	if ofNobody(w) {
		return w
	}
	return a.key.word(w)
}

// compile makes sets of the words.
func (a *Anonymiser) compile() {
	marks := map[string]bool{}
	for w := range a.dictionary {
		short, _, _ := strings.Cut(w, ".")
		if a.serials[w] || a.host[w] || a.host[short] {
			marks[w] = true
		}
	}
	a.words = newWordSet(a.dictionary, true)
	a.marks, a.binaryMarks = newWordSet(marks, true), newWordSet(marks, false)
	programs := map[string]bool{}
	for w := range a.processes {
		if !plainWord.MatchString(w) { // "timeout" may be what the log says.
			programs[w] = true
		}
	}
	a.programs = newWordSet(programs, true)
}

var (
	home       = pattern.Of(`/(?:home|Users|users|scratch|work|projects?)/([A-Za-z0-9._-]+)`)
	statusName = pattern.Of(`(?m)^Name:[ \t]*(.*)$`)
	domainForm = pattern.Of(`(?m)^[ \t]*@?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]+(?:soft|hard|-)[ \t]`)
)

// learnNames learns names of people, hosts and programs from what is read of
// one op.
func (a *Anonymiser) learnNames(kind hostio.Kind, name, text string) {
	for _, m := range home.FindAllStringSubmatch(text, -1) {
		a.learnWord(m[1])
	}
	switch {
	case kind == hostio.System && name == "uname":
		var u hostio.Uname
		if json.Unmarshal([]byte(text), &u) == nil {
			a.learnHost(u.Nodename)
		}
	case kind == hostio.System && name == "ids":
		var ids hostio.IDs
		if json.Unmarshal([]byte(text), &ids) == nil {
			a.learnWord(ids.User)
		}
	case name == "/proc/sys/kernel/hostname", name == "/proc/sys/kernel/domainname", name == "/etc/hostname":
		a.learnHost(strings.TrimSpace(text))
	case strings.HasPrefix(name, "/etc/security/"):
		for _, m := range domainForm.FindAllStringSubmatch(text, -1) {
			a.learnWord(m[1])
		}
	case strings.HasSuffix(name, "/status") && strings.HasPrefix(name, "/proc/"):
		for _, m := range statusName.FindAllStringSubmatch(text, -1) {
			a.learnProcess(strings.TrimSpace(m[1]))
		}
	case strings.HasSuffix(name, "/comm") && strings.HasPrefix(name, "/proc/"):
		a.learnProcess(strings.TrimSpace(text))
	}
}

// serials are keys of JSON and of files whose value is a serial number.
var serials = pattern.Of(`(?i)serial|(^|_)sn$|asset_tag|product_uuid`)

// learnSerial learns a serial number, which may be all digits.
func (a *Anonymiser) learnSerial(s string) {
	if s = strings.TrimSpace(s); len(s) >= 5 && len(s) <= 253 {
		a.dictionary[s], a.serials[s] = true, true
	}
}

// learnSerials learns the values of all fields that name a serial number.
func (a *Anonymiser) learnSerials(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			if s, ok := e.(string); ok && serials.MatchString(name) {
				a.learnSerial(s)
			}
			a.learnSerials(e)
		}
	case []any:
		for _, e := range v {
			a.learnSerials(e)
		}
	}
}
