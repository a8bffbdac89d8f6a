package collect

import (
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

func TestHost(t *testing.T) {
	s := collected(t, constructed(t, "host-debian-guest"), facts.Namespaces, facts.ModuleList, facts.ModuleIndex)
	noGaps(t, s)
	want(t, "host", s.Host, facts.Host{
		Hostname: "host1", Kernel: facts.Some("6.1.0-40-amd64"), Machine: facts.Some("x86_64"),
		OS: facts.Some("Debian GNU/Linux 12 (bookworm)"), Uptime: facts.Some(1561720 * time.Millisecond),
		Container: facts.Some(""), Virtual: facts.Some(true), InitNetns: facts.Some(true),
		InitUserns: facts.Some(true), Vendor: facts.Some("QEMU"),
	})
	want(t, "modules", s.Modules, []facts.Module{
		{Name: "ib_core", Size: 458752, State: "Live", Taints: "OE", Parameters: map[string]string{"netns_mode": "N"}},
		{Name: "mlx5_ib", Size: 401408, State: "Live", Taints: "OE", Version: facts.Some("24.07-0.6.1")},
		{Name: "rdma_cm", Size: 118784, State: "Loading"},
		{Name: "veth", Size: 32768, State: "Live"},
	})
	want(t, "netns mode", s.RDMA.NetnsMode, facts.Some("exclusive"))
	want(t, "kernel", s.Kernel, facts.KernelModules{
		IndexRead: true,
		Available: map[string]bool{"ib_core": true, "rdma_rxe": true, "nvme_rdma": true},
		Builtin:   map[string]bool{"crc32c_generic": true, "ib_uverbs": true},
	})
	want(t, "sources", s.Sources, []facts.Source{facts.ModuleList, facts.ModuleIndex, facts.Namespaces})
}

func TestNamespaces(t *testing.T) {
	tests := []struct {
		name, self, pid, init string
		want                  facts.Opt[bool]
		gap                   facts.GapKind
	}{
		{"another netns", "-> net:[4026532000]", "-> pid:[4026531836]", "-> net:[4026531840]", facts.Some(false), ""},
		{"init not readable", "-> net:[4026532000]", "-> pid:[4026531836]", "errno: EACCES", facts.Opt[bool]{}, facts.Denied},
		{"the first one, by number", "-> net:[4026531833]", "-> pid:[4026531836]", "errno: EACCES", facts.Some(true), ""},
		{"process 1 is the container's", "-> net:[4026532000]", "-> pid:[4026532001]", "-> net:[4026532000]", facts.Opt[bool]{}, facts.Unsupported},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := constructed(t, "host-debian-guest")
			h.Put("/proc/self/ns/net", tt.self)
			h.Put("/proc/self/ns/pid", tt.pid)
			h.Put("/proc/1/ns/net", tt.init)
			s := collected(t, h, facts.Namespaces)
			want(t, "init netns", s.Host.InitNetns, tt.want)
			if tt.gap == "" {
				noGaps(t, s)
			} else {
				want(t, "gap", gap(t, s, "/proc/1/ns/net").Kind, tt.gap)
			}
		})
	}
}

func TestContainer(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		{"podman", "/run/.containerenv", "", "podman"},
		{"podman says its version", "/run/.containerenv", "engine=\"podman-4.3.1\"\nname=\"x\"\n", "podman"},
		{"docker", "/.dockerenv", "", "docker"},
		{"nspawn", "/run/systemd/container", "systemd-nspawn\n", "systemd-nspawn"},
		{"kubernetes", "/var/run/secrets/kubernetes.io/serviceaccount/namespace", "default", "kubernetes"},
		{"by cgroup", "/proc/self/cgroup", "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-0a.scope\n", "kubernetes"},
		{"none", "/proc/self/cgroup", "0::/\n", ""},
	}
	for _, tt := range tests {
		h := constructed(t, "host-debian-guest")
		h.Put(tt.file, tt.text)
		want(t, tt.name, collected(t, h, facts.Namespaces).Host.Container, facts.Some(tt.want))
	}
}

func TestHostUnreadable(t *testing.T) {
	empty := collected(t, fixture.Host(fixture.Parse("")), facts.Namespaces, facts.ModuleList, facts.ModuleIndex)
	want(t, "sources", empty.Sources, []facts.Source{})
	want(t, "host", empty.Host, facts.Host{Container: facts.Some("")})
	for _, what := range []string{"namespace", "/proc/uptime", "/proc/cpuinfo", "/proc/self/ns/net", "/proc/self/uid_map", "/proc/modules", "/sys/module", "/lib/modules"} {
		gap(t, empty, what)
	}
	h := constructed(t, "host-debian-guest")
	for file, bad := range map[string]string{
		"/proc/uptime": "soon", "/proc/self/uid_map": "0 0", "/proc/modules": "ib_core x 0 - Live 0x0\nrdma_cm 1 0 - Live 0x0\n",
		"/sys/module/ib_core/parameters/netns_mode": "maybe", "/usr/lib/modules/6.1.0-40-amd64/modules.dep": "errno: EACCES",
		"/.dockerenv": "errno: EACCES"} {
		h.Put(file, bad)
	}
	h.Put("system:uname", "{}")
	h.Put("/proc/sys/kernel/osrelease", "6.1.0-40-amd64\n")
	s := collected(t, h, facts.Namespaces, facts.ModuleList, facts.ModuleIndex)
	for _, what := range []string{"uname", "/proc/uptime", "/proc/self/uid_map", "/proc/modules", "/.dockerenv", "/sys/module/ib_core/parameters/netns_mode"} {
		gap(t, s, what)
	}
	want(t, "dep denied", gap(t, s, "/lib/modules/6.1.0-40-amd64/modules.dep").Kind, facts.Denied)
	want(t, "the other line is kept", s.Modules, []facts.Module{{Name: "rdma_cm", Size: 1, State: "Live"}})
	want(t, "builtin index is kept", s.Kernel.Builtin["crc32c_generic"], true)
}

func TestModulesOfKernelWithoutModules(t *testing.T) {
	h := constructed(t, "host-debian-guest")
	h.Remove("/proc/modules")
	s := collected(t, h, facts.ModuleList)
	noGaps(t, s)
	want(t, "read", s.Has(facts.ModuleList), true)
	want(t, "built in", s.Kernel.Builtin["ib_core"], true)
}

func TestParseHost(t *testing.T) {
	checkParser(t, "parseUptime", parseUptime, []parsed[time.Duration]{
		{text: "1.50 2.00", want: 1500 * time.Millisecond}, {text: "0.00 0.00", want: 0},
		{text: "1.50", err: true}, {text: "-1 0", err: true}, {text: "NaN 0", err: true}, {text: "1e99 0", err: true}, {text: "", err: true},
	})
	checkParser(t, "parseOSRelease", parseOSRelease, []parsed[string]{
		{text: "ID=x\nPRETTY_NAME=Plain\n", want: "Plain"},
		{text: `PRETTY_NAME='single'`, want: "single"},
		{text: `PRETTY_NAME="a \"b\" \$c"`, want: `a "b" $c`},
		{text: `PRETTY_NAME="`, want: `"`},
		{text: `PRETTY_NAME=""`, err: true}, {text: "NAME=x", err: true}, {text: "", err: true},
	})
	checkParser(t, "parseUIDMap", parseUIDMap, []parsed[bool]{
		{text: "0 0 4294967295", want: true}, {text: "0 1000 1\n1 100000 65536"}, {text: ""},
		{text: "0 0", err: true}, {text: "a b c", err: true},
	})
	checkParser(t, "parseBoolYN", parseBoolYN, []parsed[bool]{{text: "Y", want: true}, {text: "N"}, {text: "1", err: true}})
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"1.5 2", "PRETTY_NAME=\"a\\\"b\"", "flags : hypervisor", "0 0 4294967295", "engine=\"podman-4\"", "0::/kubepods"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := parseUptime(s); err == nil && d < 0 {
			t.Errorf("parseUptime(%q) = %v", s, d)
		}
		if name, err := parseOSRelease(s); err == nil && name == "" {
			t.Errorf("parseOSRelease(%q) is empty", s)
		}
		parseHypervisor(s)
		parseUIDMap(s)
		if parseContainerEnv(s) == "" {
			t.Errorf("parseContainerEnv(%q) is empty", s)
		}
		parseContainerCgroup(s)
	})
}

func FuzzModules(f *testing.F) {
	f.Add("ib_core 458752 3 rdma_cm, Live 0x0 (OE)\n")
	f.Add("kernel/drivers/nvme/host/nvme-rdma.ko.xz: a.ko\n")
	f.Fuzz(func(t *testing.T, s string) {
		modules, _ := parseModules(s)
		for _, m := range modules {
			if m.Name == "" || m.State == "" {
				t.Errorf("parseModules(%q) holds %+v", s, m)
			}
		}
		for name := range parseModuleIndex(s) {
			if !rdmaModules[name] {
				t.Errorf("parseModuleIndex(%q) holds %q", s, name)
			}
		}
	})
}

// Where the processor has no flag for it, DMI tells a guest.
func TestVirtualByDMI(t *testing.T) {
	for _, tt := range []struct {
		vendor, product, cpuinfo string
		want                     facts.Opt[bool]
	}{
		{"QEMU", "KVM Virtual Machine", "processor\t: 0\nFeatures\t: fp\n", facts.Some(true)},
		{"Amazon EC2", "p6e-gb200.36xlarge", "Features\t: fp\n", facts.Some(true)},
		{"Amazon EC2", "c7gn.metal", "Features\t: fp\n", facts.Opt[bool]{}},
		{"Amazon EC2", "m8g.metal-24xl", "Features\t: fp\n", facts.Opt[bool]{}},
		{"NVIDIA", "GB200 NVL", "Features\t: fp\n", facts.Opt[bool]{}},
		{"Microsoft Corporation", "Virtual Machine", "Features\t: fp\n", facts.Some(true)},
		{"QEMU", "Standard PC", "flags\t\t: fpu\n", facts.Some(false)}, // The flag decides where there is one.
	} {
		h := constructed(t, "host-debian-guest")
		h.Put("/proc/cpuinfo", tt.cpuinfo)
		h.Put("/sys/class/dmi/id/sys_vendor", tt.vendor)
		h.Put("/sys/class/dmi/id/product_name", tt.product)
		want(t, tt.vendor+" "+tt.product, collected(t, h, facts.Namespaces).Host.Virtual, tt.want)
	}
}
