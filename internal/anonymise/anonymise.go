// Package anonymise makes recordings that can be given away. Names, addresses
// and the text of the kernel log are replaced by others of the same form, the
// same one each time, so that the host is diagnosed as it was.
//
// What stays: the names of devices, netdevs, drivers and firmware, PCI places,
// process and user numbers, settings, counters and times.
package anonymise

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/netip"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rdmadoctor/rdmadoctor/internal/flight"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

// An Anonymiser learns what there is to replace and then replaces it. What is
// replaced with one key is the same in all recordings.
type Anonymiser struct {
	key        key
	known      map[string]bool // addresses and GUIDs as bytes
	dictionary map[string]bool // names of hosts, people and groups, and serial numbers
	serials    map[string]bool // those of the dictionary that may be all digits
	host       map[string]bool // the host's, to be replaced where only a host's can be
	processes  map[string]bool // names of programs
	// words is any of the dictionary, marks those of it that stand for nothing
	// else: serial numbers and names of hosts. programs is any of processes.
	words, marks, programs *wordSet
	// binaryMarks is marks for bytes, which have no bounds of words.
	binaryMarks *wordSet
	ready       bool
}

// New returns an Anonymiser. An empty secret makes a key that nobody knows
// afterwards.
func New(secret string) *Anonymiser {
	k := key(secret)
	if secret == "" {
		k = make(key, 32)
		_, _ = rand.Read(k) // It never fails (crypto/rand).
	}
	return &Anonymiser{key: k, known: map[string]bool{}, dictionary: map[string]bool{}, serials: map[string]bool{}, host: map[string]bool{},
		processes: map[string]bool{}}
}

// Learn takes note of what one sample holds. All samples are learned before the
// first is replaced.
func (a *Anonymiser) Learn(s flight.Sample) {
	for k, res := range s.Results {
		kind, name := opOf(k)
		switch {
		case kind == hostio.Netlink:
			a.learnNetlink(name, res.Data)
		case kind == hostio.KernelLog:
			a.learnLog(string(res.Data))
		case !keeps(kind, name):
			a.learnText(string(res.Data))
			a.learnNames(kind, name, string(res.Data))
			if serials.MatchString(name[strings.LastIndexByte(name, '/')+1:]) {
				a.learnSerial(string(res.Data))
			}
		}
	}
	// Serial numbers are found by the collectors that know where they stand.
	var facts any
	if text, err := json.Marshal(flight.Snapshot(context.Background(), s)); err == nil && json.Unmarshal(text, &facts) == nil {
		a.learnSerials(facts)
	}
}

// ErrStays is what Ready says where no key was found under which every address
// becomes one that is not on the host.
var ErrStays = errors.New("too many addresses: some would stay as they are")

// Ready ends the learning. It changes the key until no address becomes one that
// another was.
func (a *Anonymiser) Ready() error {
	first := a.key
	for try := range 1000 {
		if try > 0 {
			next := first.hash("next", []byte(strconv.Itoa(try)))
			a.key = next[:]
		}
		if !a.collides() {
			a.compile()
			a.ready = true
			return nil
		}
	}
	return ErrStays
}

func (a *Anonymiser) collides() bool {
	for was := range a.known {
		b := []byte(was)
		if len(b) == 4 {
			is := a.key.ip(netip.AddrFrom4([4]byte(b))).As4()
			b = is[:]
		} else {
			a.bytes(b)
		}
		if a.known[string(b)] {
			return true
		}
	}
	return false
}

// Replace gives the sample without what was learned.
func (a *Anonymiser) Replace(s flight.Sample) flight.Sample {
	if !a.ready {
		panic("anonymise: Replace before Ready")
	}
	out := flight.Sample{Began: s.Began, Results: make(map[string]hostio.Result, len(s.Results))}
	for k, res := range s.Results {
		kind, name := opOf(k)
		res.Data = a.replace(kind, name, res.Data)
		out.Results[a.keyText(kind, name)] = res
	}
	return out
}

func (a *Anonymiser) replace(kind hostio.Kind, name string, data []byte) []byte {
	switch {
	case len(data) == 0:
		return data
	case kind == hostio.Netlink:
		return a.netlink(name, data)
	case kind == hostio.KernelLog:
		return []byte(a.kernelLog(string(data)))
	case keeps(kind, name):
		return data
	case kind == hostio.ReadFile && strings.HasPrefix(name, lldpDir):
		return a.lldp(data)
	case !utf8.Valid(data):
		return a.netlink(name, data)
	case kind == hostio.System && name == "uname":
		return rewritten(data, func(u *hostio.Uname) { u.Nodename, u.Version = a.ofHost(u.Nodename), a.marked(u.Version) })
	case kind == hostio.System && name == "ids":
		return rewritten(data, func(ids *hostio.IDs) { ids.User = a.text(ids.User) })
	case strings.HasPrefix(name, "/proc/sys/kernel/") && strings.HasSuffix(name, "name"),
		strings.HasSuffix(name, "/node_desc"):
		return []byte(a.ofHost(string(data)))
	case strings.HasSuffix(name, "/status") && strings.HasPrefix(name, "/proc/"):
		return []byte(inGroup(statusName, string(data), a.process))
	case strings.HasSuffix(name, "/comm") && strings.HasPrefix(name, "/proc/"):
		return []byte(a.process(strings.TrimRight(string(data), "\n")) + "\n")
	case inControlGroup(name):
		return []byte(a.controlGroup(string(data)))
	case !namesStand(kind, name):
		return []byte(a.marked(string(data)))
	}
	return []byte(a.text(string(data)))
}

// rewritten changes what an answer in JSON says. One in another form says
// nothing.
func rewritten[T any](data []byte, change func(*T)) []byte {
	var v T
	if json.Unmarshal(data, &v) != nil {
		return []byte("{}")
	}
	change(&v)
	out, _ := json.Marshal(v) // It was JSON.
	return out
}

// ofHost replaces the host's name however short it is.
func (a *Anonymiser) ofHost(s string) string {
	for name := range a.host {
		if name != "" && !ofNobody(name) && !a.dictionary[name] {
			s = regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).ReplaceAllStringFunc(s, a.word)
		}
	}
	return a.text(s)
}

// Host replaces a host's name.
func (a *Anonymiser) Host(name string) string {
	if name == "" {
		return ""
	}
	return a.word(name)
}

// keyText is the key of an op. Few files are named after somebody.
func (a *Anonymiser) keyText(kind hostio.Kind, name string) string {
	switch {
	case strings.HasPrefix(name, cgroupRoot):
		dir, file := path.Split(name)
		if kind != hostio.ReadFile { // It is of a group itself.
			dir, file = name, ""
		}
		name = cgroupRoot + a.controlGroup(strings.TrimPrefix(dir, cgroupRoot)) + file
	case home.MatchString(name), strings.HasPrefix(name, "/etc/security/limits.d/"):
		name = a.text(name)
	}
	return string(kind) + ":" + name
}

// kernels are the beginnings of paths where the kernel or the software names
// things: a word there that is also somebody's name is not meant as that.
var kernels = pattern.Of(`^/(sys|proc|usr|lib|lib32|lib64|dev|etc/libibverbs\.d|etc/systemd|run)(/|$)`)

// namesStand reports whether names of people and hosts can stand in an answer.
func namesStand(kind hostio.Kind, name string) bool {
	return kind == hostio.Environ || !kernels.MatchString(name) || name == "/proc/cmdline"
}

func opOf(key string) (hostio.Kind, string) {
	kind, name, _ := strings.Cut(key, ":")
	return hostio.Kind(kind), name
}

// plainFiles hold versions and numbers that look like addresses, or what the
// kernel names itself.
var plainFiles = pattern.Of(`/(fw_ver|fw_version|version|board_id|hca_type|hw_rev|modalias|config|osrelease|uptime|cpuinfo|meminfo|modules|maps|` +
	`modules\.dep|modules\.builtin|os-release|resource|aer_dev_[a-z]+|limits|gid_attrs/types/[0-9]+)$`)

// keeps reports whether the answer to an op has nothing of anyone in it.
func keeps(kind hostio.Kind, name string) bool {
	switch kind {
	case hostio.EthtoolDriver, hostio.EthtoolStats, hostio.EthtoolPause, hostio.Stat, hostio.OpenNodes, hostio.CountLines, hostio.SymbolVersions:
		return true
	case hostio.ReadLink, hostio.ReadDir:
		return strings.HasPrefix(name, "/sys/") && !strings.HasPrefix(name, "/sys/fs/cgroup") || strings.HasPrefix(name, "/proc")
	}
	return plainFiles.MatchString(name)
}

// learnText learns the addresses in a text.
func (a *Anonymiser) learnText(s string) {
	for _, m := range macForm.FindAllString(s, -1) {
		if b, err := hex.DecodeString(strings.NewReplacer(":", "", "-", "").Replace(m)); err == nil {
			a.learnBytes(b)
		}
	}
	for _, m := range groupsForm.FindAllString(s, -1) {
		if b, err := hex.DecodeString(strings.ReplaceAll(m, ":", "")); err == nil && len(m) == 19 && len(b) == 8 {
			a.learnBytes(b)
			continue
		}
		addr, _, _ := strings.Cut(m, "/")
		if ip, err := netip.ParseAddr(addr); err == nil {
			a.learnIP(ip.AsSlice())
		}
	}
	for _, m := range ip4Form.FindAllString(s, -1) {
		addr, _, _ := strings.Cut(m, "/")
		if ip, err := netip.ParseAddr(addr); err == nil {
			a.learnIP(ip.AsSlice())
		}
	}
}

// learnIP learns an IP address, unless it means the same everywhere.
func (a *Anonymiser) learnIP(b []byte) {
	ip, ok := netip.AddrFromSlice(b)
	if !ok {
		return
	}
	if ip = ip.Unmap(); ip.Is4() {
		v := ip.As4()
		// 10.0.0.0 and the like are no address of anyone, and as bytes a number.
		if a.key.ip(ip) != ip && binary.BigEndian.Uint32(v[:])&0xffffff != 0 {
			a.known[string(v[:])] = true
		}
		return
	}
	v := ip.As16()
	if a.key.ip(ip) != ip {
		a.known[string(v[:])] = true
	}
	if !ip.IsMulticast() {
		a.learnBytes(v[8:])
	}
}

// learnBytes learns a MAC address with the identifiers made of it, a GUID, or
// the address of an IPoIB netdev.
func (a *Anonymiser) learnBytes(b []byte) {
	switch len(b) {
	case 6:
		m := [6]byte(b)
		if a.key.mac(m) == m {
			return
		}
		a.known[string(m[:])] = true
		for _, middle := range [][]byte{{0xff, 0xfe}, {3, 0}, {0, 3}} {
			for _, flip := range []byte{0, 2} {
				a.known[string([]byte{m[0] ^ flip, m[1], m[2], middle[0], middle[1], m[3], m[4], m[5]})] = true
			}
		}
	case 8:
		g := [8]byte(b)
		if a.key.guid(g) != g {
			a.known[string(g[:])] = true
		}
	case 20:
		a.learnIP(b[4:])
	}
}
