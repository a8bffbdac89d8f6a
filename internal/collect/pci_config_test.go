package collect

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

// space makes a constructed configuration space of n bytes: a header with the
// PCI Express capability of that port type at 0x60 behind a power management
// one at 0x40, and, where acs is not negative, an extended list of AER and ACS.
func space(n int, portType, control uint16, acs int) []byte {
	b := make([]byte, facts.PCIConfigSpace)
	copy(b, []byte{0xb3, 0x15, 0x1d, 0x10})
	b[pciStatus], b[pciCapPointer] = pciCapList, 0x40
	b[0x40], b[0x41] = 0x01, 0x60
	b[0x60] = pciCapExp
	binary.LittleEndian.PutUint16(b[0x60+pciExpFlags:], 2|portType<<4)
	binary.LittleEndian.PutUint16(b[0x60+pciExpDevCap:], 2)
	binary.LittleEndian.PutUint16(b[0x60+pciExpDevCtl:], control)
	if acs >= 0 {
		binary.LittleEndian.PutUint32(b[0x100:], 0x0001|1<<16|0x148<<20)
		binary.LittleEndian.PutUint32(b[0x148:], pciExtACS|1<<16)
		binary.LittleEndian.PutUint16(b[0x148+pciACSControl:], uint16(acs))
	}
	return b[:n]
}

func TestParseConfig(t *testing.T) {
	loop := space(256, 0, 0, -1)
	loop[0x41] = 0x40
	inside := space(256, 0, 0, -1)
	inside[pciCapPointer] = 0x20
	extLoop := space(4096, 0, 0, 0)
	binary.LittleEndian.PutUint32(extLoop[0x148:], 0x0002|1<<16|0x100<<20)
	bare := space(256, 0, 0, -1)
	bare[pciStatus] = 0
	express := func(c facts.PCIConfig, kind string) facts.PCIConfig {
		c.PortType, c.MaxPayloadCap, c.ASPM = facts.Some(kind), facts.Some(512), facts.Some("off")
		return c
	}
	sleepy := space(256, 0, 0x5036, -1)
	sleepy[0x60+pciExpLinkCtl] = 0x42 // L1, common clock.
	awake := func(c facts.PCIConfig) facts.PCIConfig {
		c.ASPM = facts.Some("L1")
		return c
	}
	integrated := func(c facts.PCIConfig) facts.PCIConfig {
		c.ASPM = facts.Opt[string]{}
		return c
	}
	for _, tt := range []struct {
		name string
		b    []byte
		want facts.PCIConfig
		err  string
	}{
		{"endpoint", space(256, 0, 0x5036, -1), express(facts.PCIConfig{
			Bytes: 256, MaxPayload: facts.Some(256), MaxReadRequest: facts.Some(4096), RelaxedOrdering: facts.Some(true)}, "endpoint"), ""},
		{"link sleeps", sleepy, awake(express(facts.PCIConfig{
			Bytes: 256, MaxPayload: facts.Some(256), MaxReadRequest: facts.Some(4096), RelaxedOrdering: facts.Some(true)}, "endpoint")), ""},
		{"no link", space(256, 9, 0x5036, -1), integrated(express(facts.PCIConfig{
			Bytes: 256, MaxPayload: facts.Some(256), MaxReadRequest: facts.Some(4096), RelaxedOrdering: facts.Some(true)}, "rc-integrated-endpoint")), ""},
		{"small reads, ordered", space(256, 0, 0x1000, -1), express(facts.PCIConfig{
			Bytes: 256, MaxPayload: facts.Some(128), MaxReadRequest: facts.Some(256), RelaxedOrdering: facts.Some(false)}, "endpoint"), ""},
		{"reserved sizes", space(256, 0, 0x70e0, -1), express(facts.PCIConfig{
			Bytes: 256, RelaxedOrdering: facts.Some(false)}, "endpoint"), ""},
		{"downstream with ACS", space(4096, 6, 0x2830, 0x1d), express(facts.PCIConfig{
			Bytes: 4096, MaxPayload: facts.Some(256), MaxReadRequest: facts.Some(512), RelaxedOrdering: facts.Some(true),
			ACS: facts.Some[uint16](0x1d)}, "downstream"), ""},
		{"without ACS", space(4096, 4, 0x2830, -1), express(facts.PCIConfig{
			Bytes: 4096, MaxPayload: facts.Some(256), MaxReadRequest: facts.Some(512), RelaxedOrdering: facts.Some(true)}, "root-port"), ""},
		{"header only", space(64, 0, 0x5036, -1), facts.PCIConfig{Bytes: 64}, ""},
		{"cut before Device Control", space(0x69, 0, 0x5036, -1), facts.PCIConfig{Bytes: 0x69}, ""},
		{"nothing answers", slices.Repeat([]byte{0xff}, 256), facts.PCIConfig{Bytes: 256, AllOnes: true}, ""},
		{"no list", bare, facts.PCIConfig{Bytes: 256}, ""},
		{"cut", space(63, 0, 0, -1), facts.PCIConfig{Bytes: 63}, "63 bytes, want 64 or more"},
		{"empty", nil, facts.PCIConfig{}, "0 bytes, want 64 or more"},
		{"loop", loop, facts.PCIConfig{Bytes: 256}, "a capability list without end"},
		{"pointer into the header", inside, facts.PCIConfig{Bytes: 256}, "a capability inside the header"},
		{"extended loop", extLoop, express(facts.PCIConfig{
			Bytes: 4096, MaxPayload: facts.Some(128), MaxReadRequest: facts.Some(128), RelaxedOrdering: facts.Some(false)}, "endpoint"),
			"an extended capability list without end"},
	} {
		got, err := parseConfig(tt.b)
		want(t, tt.name, got, tt.want)
		text := ""
		if err != nil {
			text = err.Error()
		}
		want(t, tt.name+": error", text, tt.err)
	}
}

func hexed(b []byte) string { return "hex: " + hex.EncodeToString(b) }

// switched is pci-mlx5 with a switch between its root port and NIC, and an
// NVIDIA GPU at another port of that switch.
func switched(t testing.TB) *fixture.Tree {
	t.Helper()
	h := constructed(t, "pci-mlx5")
	const root = "/sys/devices/pci0000:3c/0000:3c:00.0"
	add := func(path, vendor, device, class string, config []byte) {
		address := path[strings.LastIndexByte(path, '/')+1:]
		h.Put("/sys/bus/pci/devices/"+address, "-> ../../.."+strings.TrimPrefix(path, "/sys"))
		h.Put(path+"/vendor", vendor)
		h.Put(path+"/device", device)
		h.Put(path+"/class", class)
		h.Put(path+"/config", hexed(config))
	}
	add(root, "0x8086", "0x347a", "0x060400", space(4096, 4, 0x2830, 0))
	add(root+"/0000:3d:00.0", "0x1000", "0xc030", "0x060400", space(4096, 5, 0x2830, -1))
	add(root+"/0000:3d:00.0/0000:3e:00.0", "0x1000", "0xc030", "0x060400", space(4096, 6, 0x2830, 0x1d))
	add(root+"/0000:3d:00.0/0000:3e:01.0", "0x1000", "0xc030", "0x060400", space(4096, 6, 0x2830, 0x01))
	add(root+"/0000:3d:00.0/0000:3e:00.0/0000:3f:00.0", "0x15b3", "0x1021", "0x020700", space(256, 0, 0x5936, -1))
	add(root+"/0000:3d:00.0/0000:3e:01.0/0000:40:00.0", "0x10de", "0x2330", "0x030200", space(256, 0, 0x2930, -1))
	return h
}

func TestPCISwitch(t *testing.T) {
	s := collected(t, switched(t), facts.PCISysfs)
	noGaps(t, s)
	tree := s.PCITree()
	nic, gpu := tree["0000:3f:00.0"], tree["0000:40:00.0"]
	if nic == nil || gpu == nil || !gpu.GPU || nic.GPU {
		t.Fatalf("NIC %+v, GPU %+v", nic, gpu)
	}
	between, common := tree.Between(nic, gpu)
	var names []string
	acs := map[string]facts.Opt[uint16]{}
	for _, b := range between {
		names = append(names, b.Address)
		acs[b.Address] = b.Config.Or(facts.PCIConfig{}).ACS
	}
	want(t, "common bridge", common.Address, "0000:3d:00.0")
	want(t, "bridges between", names, []string{"0000:3e:00.0", "0000:3e:01.0"})
	want(t, "ACS", acs, map[string]facts.Opt[uint16]{"0000:3e:00.0": facts.Some[uint16](0x1d), "0000:3e:01.0": facts.Some[uint16](0x01)})
	want(t, "a GPU's own space", gpu.Config.Known(), false)
	if _, common := tree.Between(tree["0000:3b:00.0"], gpu); common != nil {
		t.Errorf("NIC and GPU of different root ports have %s in common", common.Address)
	}
}

// Without CAP_SYS_ADMIN the kernel gives 64 bytes: one gap says so.
func TestPCIConfigDenied(t *testing.T) {
	h := constructed(t, "pci-mlx5")
	h.Put(nicConfig, hexed(space(64, 0, 0x5936, -1)))
	s := collected(t, h, facts.PCISysfs)
	want(t, "gap", gap(t, s, pciDevices).Kind, facts.Denied)
	want(t, "config", s.PCITree()["0000:3b:00.0"].Config, facts.Some(facts.PCIConfig{Bytes: 64}))
}

const nicConfig = "/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/config"

// Reading the registers of a suspended function would wake it.
func TestPCIAsleep(t *testing.T) {
	h := constructed(t, "pci-mlx5")
	h.Put("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/power/runtime_status", "suspended")
	s := collected(t, h, facts.PCISysfs)
	noGaps(t, s)
	nic := s.PCITree()["0000:3b:00.0"]
	if nic.Config.Known() || nic.CurrentSpeed.Known() || !nic.NUMANode.Known() {
		t.Errorf("a suspended NIC: %+v", nic)
	}
	for _, key := range h.Log {
		if strings.HasPrefix(key, "read:/sys/bus/pci/devices/0000:3b:00.0/") &&
			(strings.HasSuffix(key, "/config") || strings.HasSuffix(key, "_link_speed") || strings.HasSuffix(key, "_link_width")) {
			t.Errorf("%s wakes it", key)
		}
	}
}

// Ones that are gone at the second sample were a reset.
func TestPCILost(t *testing.T) {
	for last, lost := range map[string]bool{hexed(slices.Repeat([]byte{0xff}, 64)): true, hexed(space(64, 0, 0, -1)): false, "errno: EIO": true} {
		h := constructed(t, "pci-mlx5")
		h.Put(nicConfig, hexed(slices.Repeat([]byte{0xff}, 256)))
		s := &facts.Snapshot{}
		r := &Reader{ctx: t.Context(), host: h, src: facts.PCISysfs, Snap: s}
		c := collectorOf(t, facts.PCISysfs)
		c.Read(r)
		h.Put(nicConfig, last)
		c.Again(r)
		want(t, "lost after "+last, s.PCITree()["0000:3b:00.0"].Config.Or(facts.PCIConfig{}).AllOnes, lost)
	}
}

func collectorOf(t *testing.T, src facts.Source) Collector {
	t.Helper()
	cs := All()
	i := slices.IndexFunc(cs, func(c Collector) bool { return c.Source == src })
	if i < 0 {
		t.Fatalf("no collector reads %s", src)
	}
	return cs[i]
}

func TestParseCPUList(t *testing.T) {
	checkParser(t, "parseCPUList", parseCPUList, []parsed[string]{
		{text: "0", want: "0"}, {text: "0-15,32-47", want: "0-15,32-47"}, {text: "0-3,8,10-11", want: "0-3,8,10-11"},
		{text: "", err: true}, {text: "3-0", err: true}, {text: "1,1", err: true}, {text: "0-", err: true}, {text: "-1", err: true},
		{text: "0-99999", err: true}, {text: "0,,2", err: true}, {text: "a", err: true},
	})
}

func FuzzConfig(f *testing.F) {
	f.Add(space(256, 0, 0x5936, -1))
	f.Add(space(4096, 6, 0x2830, 0x1d))
	f.Add(space(64, 0, 0, -1))
	f.Add(slices.Repeat([]byte{0xff}, 64))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, _ := parseConfig(b)
		for _, size := range []facts.Opt[int]{c.MaxPayload, c.MaxPayloadCap, c.MaxReadRequest} {
			if v, ok := size.Get(); ok && (v < 128 || v > 4096 || v&(v-1) != 0) {
				t.Errorf("a size of %d", v)
			}
		}
		if c.AllOnes && c != (facts.PCIConfig{Bytes: len(b), AllOnes: true}) || c.Bytes != len(b) {
			t.Errorf("%d bytes give %+v", len(b), c)
		}
		if c.ACS.Known() && len(b) < pciExtStart+8 {
			t.Errorf("ACS out of %d bytes", len(b))
		}
	})
}

func FuzzCPUList(f *testing.F) {
	f.Add("0-3,8,10-11")
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := parseCPUList(s); err == nil && got != s {
			t.Errorf("parseCPUList(%q) = %q", s, got)
		}
	})
}

// What a VF's ID says, and that no physical function has it.
func TestVirtualID(t *testing.T) {
	for id, virtual := range map[[2]uint16]bool{
		{0x15b3, 0x101e}: true, {0x15b3, 0x101d}: false, {0x14e4, 0x1806}: true, {0x14e4, 0x1750}: false, {0x8086, 0x1889}: true,
		{0x8086, 0x1592}: false, {0x1d0f, 0xefa2}: false, {0, 0}: false,
	} {
		want(t, "virtual", virtualID(id[0], id[1]), virtual)
	}
	for vendor, ids := range virtualIDs {
		if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
			t.Errorf("IDs of %04x are not in order", vendor)
		}
	}
}

func TestGPUs(t *testing.T) {
	for _, tt := range []struct {
		vendor, device uint16
		class          string
		want           bool
	}{
		{0x10de, 0x2330, "0x030200", true}, {0x10de, 0x22a3, "0x068000", false}, {0x1002, 0x74a1, "0x120000", true},
		{0x1002, 0x1478, "0x060400", false}, {0x8086, 0x0bd5, "0x038000", true}, {0x8086, 0x1592, "0x020000", false},
		{0x1a03, 0x2000, "0x030000", false}, {0x1da3, 0x1020, "0x120000", true},
	} {
		h := constructed(t, "pci-mlx5")
		const dir = "/sys/devices/pci0000:3a/0000:3a:01.0"
		h.Put("/sys/bus/pci/devices/0000:3a:01.0", "-> ../../../devices/pci0000:3a/0000:3a:01.0")
		h.Put(dir+"/vendor", fmt.Sprintf("0x%04x", tt.vendor))
		h.Put(dir+"/device", fmt.Sprintf("0x%04x", tt.device))
		h.Put(dir+"/class", tt.class)
		f := collected(t, h, facts.PCISysfs).PCITree()["0000:3a:01.0"]
		want(t, fmt.Sprintf("%04x:%04x %s", tt.vendor, tt.device, tt.class), f != nil && f.GPU, tt.want)
	}
}
