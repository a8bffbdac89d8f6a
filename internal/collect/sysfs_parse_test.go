package collect

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

func TestParseRate(t *testing.T) {
	checkParser(t, "parseRate", parseRate, []parsed[rate]{
		{text: "400 Gb/sec (4X NDR)", want: rate{400e9, 4, "NDR"}},
		{text: "2.5 Gb/sec (1X SDR)", want: rate{25e8, 1, "SDR"}},
		{text: "2.5 Gb/sec (1X)", want: rate{25e8, 1, "SDR"}},
		{text: "10 Gb/sec (4X)", want: rate{10e9, 4, "SDR"}},
		{text: "100 Gb/sec (4X)", want: rate{100e9, 4, ""}},
		{text: "40 Gb/sec (4X FDR10)", want: rate{40e9, 4, "FDR10"}},
		{text: "56 Gb/sec (4X FDR)", want: rate{56e9, 4, "FDR"}},
		{text: "2400 Gb/sec (12X XDR)", want: rate{2400e9, 12, "XDR"}},
		{text: "0 GB/sec", err: true},
		{text: "0 Gb/sec (0X)", err: true},
		{text: "", err: true},
		{text: "100 Gb/sec", err: true},
		{text: "100 Gb/sec (4X EDR", err: true},
		{text: "100.7 Gb/sec (4X EDR)", err: true},
		{text: "-5 Gb/sec (4X EDR)", err: true},
		{text: "99999999999999999999 Gb/sec (4X EDR)", err: true},
		{text: "100 Gb/sec (4X EDR)\n100 Gb/sec (4X EDR)", err: true},
	})
	if _, err := parseRate("0 GB/sec"); err != errNoValue {
		t.Errorf("an unknown rate is %v, want no value", err)
	}
}

func TestParsePortState(t *testing.T) {
	checkParser(t, "parsePortState", parsePortState, []parsed[facts.PortState]{
		{text: "0: NOP", want: "NOP"},
		{text: "4: ACTIVE", want: "ACTIVE"},
		{text: "5: ACTIVE_DEFER", want: "ACTIVE_DEFER"},
		{text: "1: Down", want: "DOWN"},
		{text: "6: UNKNOWN", err: true},
		{text: "-1: ACTIVE", err: true},
		{text: "ACTIVE", err: true},
		{text: "4:", err: true},
		{text: "4: ", err: true},
		{text: "99999999999: ACTIVE", err: true},
	})
	checkParser(t, "parseName", parseName, []parsed[string]{
		{text: "5: LinkUp", want: "LinkUp"},
		{text: "8: <unknown>", want: "<unknown>"},
		{text: "6: usNIC UDP", want: "usNIC UDP"},
		{text: "LinkUp", err: true},
	})
}

func TestParseTables(t *testing.T) {
	checkParser(t, "parseGID", parseGID, []parsed[string]{
		{text: "fe80:0000:0000:0000:0000:5eff:fe00:5301", want: "fe80:0000:0000:0000:0000:5eff:fe00:5301"},
		{text: "0000:0000:0000:0000:0000:0000:0000:0000", err: true},
		{text: "fe80::1", err: true},
		{text: "FE80:0000:0000:0000:0000:5eff:fe00:5301", err: true},
		{text: "fe80:0000:0000:0000:0000:5eff:fe00:530", err: true},
		{text: "fe80-0000-0000-0000-0000-5eff-fe00-5301", err: true},
	})
	checkParser(t, "parseHex16", parseHex16, []parsed[uint16]{
		{text: "0xffff", want: 0xffff}, {text: "0x0000", want: 0}, {text: "0x10000", err: true},
		{text: "ffff", err: true}, {text: "0x", err: true}, {text: "0x-1", err: true},
	})
	checkParser(t, "parseHex32", parseHex32, []parsed[uint32]{
		{text: "0xffffffff", want: 0xffffffff}, {text: "0x1", want: 1}, {text: "0x100000000", err: true}, {text: "12", err: true},
	})
	checkParser(t, "parseGUID", parseGUID, []parsed[string]{
		{text: "9C9C:b3ff:fe68:9770", want: "9c9c:b3ff:fe68:9770"}, {text: "9c9c:b3ff:fe68", err: true}, {text: "", err: true},
	})
	checkParser(t, "parseTrafficClass", parseTrafficClass, []parsed[int]{
		{text: "Global tclass=106", want: 106},
		{text: "Global tclass=0\ntclass=96 dst_ip=198.51.100.1", want: 0},
		{text: "", err: true},
		{text: "tclass=96 dst_ip=198.51.100.1", err: true},
		{text: "Global tclass=256", err: true},
		{text: "Global tclass=-1", err: true},
		{text: "Global tclass=", err: true},
	})
}

func TestParseCounter(t *testing.T) {
	octets := func(s string) (uint64, error) { return parseCounter("port_rcv_data", s) }
	plain := func(s string) (uint64, error) { return parseCounter("port_rcv_packets", s) }
	checkParser(t, "parseCounter(packets)", plain, []parsed[uint64]{
		{text: "0"}, {text: "18446744073709551615", want: 1<<64 - 1},
		{text: "18446744073709551616", err: true}, {text: "-1", err: true}, {text: "", err: true},
		{text: "N/A (no PMA)", err: true}, {text: "0x10", err: true}, {text: "1\n2", err: true},
	})
	checkParser(t, "parseCounter(data)", octets, []parsed[uint64]{
		{text: "3", want: 12}, {text: "4611686018427387903", want: 1<<64 - 4},
		{text: "4611686018427387904", err: true},
	})
}

func TestPCIAddresses(t *testing.T) {
	tests := []struct {
		target string
		want   []string
	}{
		{"../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/infiniband/mlx5_0", []string{"0000:3a:00.0", "0000:3b:00.0"}},
		{"../../../0000:3b:00.1", []string{"0000:3b:00.1"}},
		{"../../devices/pci10000:e0/10000:e0:1d.0/10000:e1:00.0", []string{"10000:e0:1d.0", "10000:e1:00.0"}},
		{"../../devices/virtual/net/lo", nil},
		{"0000:3b:00.", nil},
		{"0000:zz:00.0", nil},
		{"", nil},
	}
	for _, tt := range tests {
		want(t, tt.target, pciAddresses(tt.target), tt.want)
	}
}

func TestProvider(t *testing.T) {
	for driver, name := range map[string]string{"mlx5_core": "mlx5", "mlx5_core.sf": "mlx5", "bnxt_en": "bnxt_re", "ice": "irdma", "rdma_rxe": "rxe"} {
		if got, ok := provider(driver); got != name || !ok {
			t.Errorf("provider(%q) = %q, %v, want %q", driver, got, ok, name)
		}
	}
	for chip, name := range map[string]string{"MT4129": "mlx5", "MT4099": "mlx4", "MT4": "", "BCM957414": "", "": "", "MT99999999": ""} {
		if got := providerOfChip(chip).Or(""); got != name {
			t.Errorf("providerOfChip(%q) = %q, want %q", chip, got, name)
		}
	}
	if got, ok := provider("virtio_net"); ok {
		t.Errorf("provider(virtio_net) = %q, want none", got)
	}
}
