package collect

import (
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

func TestPCI(t *testing.T) {
	s := collected(t, constructed(t, "pci-mlx5"), facts.PCISysfs)
	noGaps(t, s)
	if len(s.PCI) != 3 {
		t.Fatalf("functions: %+v", s.PCI)
	}
	port, nic, vf := s.PCI[0], s.PCI[1], s.PCI[2]
	moved := func(first, last uint64) facts.Counter {
		return facts.Counter{First: facts.Some(first), Last: facts.Some(last)}
	}
	want(t, "root port's AER", port.AER["correctable/RxErr"], moved(3, 5))
	want(t, "NIC's AER", nic.AER["nonfatal/TOTAL_ERR_NONFATAL"], moved(0, 0))
	want(t, "NIC's AER counters", len(nic.AER), 12)
	port.AER, nic.AER = nil, nil
	want(t, "root port", port, facts.PCIFunction{
		Address: "0000:3a:00.0", Class: facts.Some("0x060400"), Vendor: facts.Some[uint16](0x8086), DeviceID: facts.Some[uint16](0x347a),
		Subsystem: facts.Some("15b3:0023"), Driver: facts.Some("pcieport"), NUMANode: facts.Some(0),
		CurrentSpeed: facts.Some(16.0), MaxSpeed: facts.Some(16.0), CurrentWidth: facts.Some(8), MaxWidth: facts.Some(16),
	})
	want(t, "NIC", nic, facts.PCIFunction{
		Address: "0000:3b:00.0", Class: facts.Some("0x020000"), Vendor: facts.Some[uint16](0x15b3), DeviceID: facts.Some[uint16](0x101d),
		Subsystem: facts.Some("15b3:0023"), Driver: facts.Some("mlx5_core"), NUMANode: facts.Some(0), Parent: "0000:3a:00.0",
		CurrentSpeed: facts.Some(16.0), MaxSpeed: facts.Some(16.0), CurrentWidth: facts.Some(8), MaxWidth: facts.Some(16),
		LocalCPUs: facts.Some("0-15,32-47"), Power: facts.Some("active"), TotalVFs: facts.Some(8), VFs: facts.Some(1),
		Config: facts.Some(facts.PCIConfig{
			Bytes: 256, PortType: facts.Some("endpoint"), MaxPayload: facts.Some(256), MaxPayloadCap: facts.Some(512),
			MaxReadRequest: facts.Some(4096), RelaxedOrdering: facts.Some(true), ASPM: facts.Some("off"),
		}),
		IOMMUType: facts.Some("DMA-FQ"), Netdevs: []string{"eth2"}, RDMADevices: []string{"mlx5_0"}, RDMACapable: "mlx5_ib",
	})
	want(t, "VF", vf, facts.PCIFunction{
		Address: "0000:3b:00.2", Class: facts.Some("0x020000"), Vendor: facts.Some[uint16](0x15b3), DeviceID: facts.Some[uint16](0x101e),
		Subsystem: facts.Some("15b3:0023"), Driver: facts.Some(""), NUMANode: facts.Some(0), Parent: "0000:3a:00.0", VF: true, PhysFn: "0000:3b:00.0", RDMACapable: "mlx5_ib",
	})
}

func TestPCIUnknownNICWithRDMADevice(t *testing.T) {
	s := &facts.Snapshot{Devices: []facts.Device{{Name: "new_0", PCI: facts.Some("0000:00:04.0")}}}
	readWith(t, s, constructed(t, "pci-mlx5"), facts.PCISysfs)
	if i := slices.IndexFunc(s.PCI, func(f facts.PCIFunction) bool { return f.Address == "0000:00:04.0" }); i < 0 {
		t.Errorf("a function with an RDMA device is left out: %+v", s.PCI)
	}
}

// Reading some files reaches the device or its firmware.
func TestPCIReadsNothingElse(t *testing.T) {
	h := constructed(t, "pci-mlx5")
	collected(t, h, facts.PCISysfs)
	read := 0
	for _, key := range h.Log {
		switch name := base(key); {
		case name == "vpd", name == "rom", strings.HasPrefix(name, "resource"):
			t.Errorf("asked for %s", key)
		case strings.HasPrefix(key, "read:/sys/bus/pci/devices/0000:3b:00.0/"):
			read++
		}
	}
	if read < 10 {
		t.Errorf("only %d files of the NIC were read", read)
	}
}

func TestPCIBad(t *testing.T) {
	empty := collected(t, fixture.Host(fixture.Parse("")), facts.PCISysfs)
	want(t, "no PCI", gap(t, empty, "/sys/bus/pci/devices").Kind, facts.Absent)
	want(t, "sources", empty.Sources, []facts.Source{})
	for _, file := range []string{"class", "numa_node", "current_link_speed", "max_link_width", "sriov_numvfs", "aer_dev_correctable"} {
		for _, bad := range []string{"errno: EACCES", "timed out", "nonsense"} {
			h := constructed(t, "pci-mlx5")
			h.Put("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/"+file, bad)
			s := collected(t, h, facts.PCISysfs)
			gap(t, s, "/sys/bus/pci/devices/0000:3b:00.0/"+file)
			want(t, file+" "+bad, len(s.PCI), 3)
		}
	}
}

func TestRDMAModule(t *testing.T) {
	tests := []struct {
		vendor, device uint16
		want           string
	}{
		{0x15b3, 0x1021, "mlx5_ib"}, {0x15b3, 0xa2dc, "mlx5_ib"}, {0x15b3, 0x1003, "mlx4_ib"},
		{0x14e4, 0x16d7, "bnxt_re"}, {0x14e4, 0x1760, "bnxt_re"}, {0x14e4, 0x16d1, ""}, {0x14e4, 0x1657, ""},
		{0x8086, 0x1592, "irdma"}, {0x8086, 0x37d2, "irdma"}, {0x8086, 0x1572, ""}, {0x8086, 0x1889, ""}, {0x8086, 0x24f0, "hfi1"},
		{0x1d0f, 0xefa2, "efa"}, {0x1d0f, 0xec20, ""}, {0x1414, 0x00ba, "mana_ib"}, {0x1425, 0x6410, "iw_cxgb4"}, {0x1425, 0x6010, ""},
		{0x1af4, 0x1041, ""}, {0, 0, ""},
	}
	for _, tt := range tests {
		if got := rdmaModule(tt.vendor, tt.device); got != tt.want {
			t.Errorf("rdmaModule(%#x, %#x) = %q, want %q", tt.vendor, tt.device, got, tt.want)
		}
	}
	for i, f := range rdmaFunctions {
		if f.first > f.last || !rdmaModules[f.module] {
			t.Errorf("row %d is wrong: %+v", i, f)
		}
		for _, g := range rdmaFunctions[:i] {
			if f.vendor == g.vendor && f.first <= g.last && g.first <= f.last {
				t.Errorf("rows overlap: %+v, %+v", g, f)
			}
		}
	}
}

func TestParsePCI(t *testing.T) {
	checkParser(t, "parseLinkSpeed", parseLinkSpeed, []parsed[float64]{
		{text: "16.0 GT/s PCIe", want: 16}, {text: "2.5 GT/s PCIe", want: 2.5}, {text: "8 GT/s", want: 8}, {text: "128.0 GT/s PCIe", want: 128},
		{text: "Unknown", err: true}, {text: "Unknown speed", err: true}, {text: "16.0 GT/s PCI", err: true}, {text: "0 GT/s", err: true},
		{text: "16 GT", err: true}, {text: "", err: true}, {text: "9999 GT/s", err: true},
	})
	checkParser(t, "parseLinkWidth", parseLinkWidth, []parsed[int]{
		{text: "16", want: 16}, {text: "1", want: 1}, {text: "0", err: true}, {text: "255", err: true}, {text: "63", err: true}, {text: "-1", err: true}, {text: "64", err: true}, {text: "x8", err: true},
	})
	checkParser(t, "parseAER", parseAER, []parsed[map[string]uint64]{
		{text: "RxErr 1\nTOTAL_ERR_COR 1\n", want: map[string]uint64{"RxErr": 1, "TOTAL_ERR_COR": 1}},
		{text: "RxErr", err: true}, {text: "RxErr -1", err: true}, {text: "", err: true}, {text: " 1", err: true},
	})
	checkParser(t, "parsePCIClass", parsePCIClass, []parsed[string]{
		{text: "0x020700", want: "0x020700"}, {text: "0x1020700", err: true}, {text: "020700", err: true},
	})
}

func FuzzPCI(f *testing.F) {
	for _, s := range []string{"16.0 GT/s PCIe", "Unknown", "16", "RxErr 0\nBadTLP 1\n", "0x020000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := parseLinkSpeed(s); err == nil && !(v > 0 && v < 1000) {
			t.Errorf("parseLinkSpeed(%q) = %v", s, v)
		}
		if v, err := parseLinkWidth(s); err == nil && (v < 1 || v > 32) {
			t.Errorf("parseLinkWidth(%q) = %d", s, v)
		}
		if m, err := parseAER(s); err == nil && len(m) == 0 {
			t.Errorf("parseAER(%q) is empty", s)
		}
		parsePCIClass(s)
		parseSubsystem(s, s)
	})
}
