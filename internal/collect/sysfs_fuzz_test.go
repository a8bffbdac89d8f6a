package collect

import (
	"testing"
	"unicode/utf8"
)

func FuzzRate(f *testing.F) {
	for _, s := range []string{"100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X)", "0 GB/sec", "9 Gb/sec (0X )"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := parseRate(s)
		if err == nil && (r.width < 1 || r.width > 99 || r.rate > 1e14) {
			t.Errorf("parseRate(%q) = %+v", s, r)
		}
	})
}

func FuzzPortState(f *testing.F) {
	f.Add("4: ACTIVE")
	f.Add("7: ")
	f.Fuzz(func(t *testing.T, s string) {
		if st, err := parsePortState(s); (st == "") != (err != nil) {
			t.Errorf("parsePortState(%q) = %q, %v", s, st, err)
		}
		if _, name, err := parseNumbered(s); err == nil && !utf8.ValidString(name) {
			t.Errorf("parseNumbered(%q) gives invalid UTF-8", s)
		}
	})
}

func FuzzGID(f *testing.F) {
	f.Add("fe80:0000:0000:0000:0000:5eff:fe00:5301")
	f.Add("0000:0000:0000:0000:0000:0000:0000:0000")
	f.Fuzz(func(t *testing.T, s string) {
		if g, err := parseGID(s); err == nil && (g != s || len(g) != 39) {
			t.Errorf("parseGID(%q) = %q", s, g)
		}
		if g, err := parseGUID(s); err == nil && len(g) != 19 {
			t.Errorf("parseGUID(%q) = %q", s, g)
		}
	})
}

func FuzzPKey(f *testing.F) {
	f.Add("0x7fff")
	f.Add("0x")
	f.Fuzz(func(t *testing.T, s string) {
		short, err1 := parseHex16(s)
		long, err2 := parseHex32(s)
		if err1 == nil && (err2 != nil || uint32(short) != long) {
			t.Errorf("%q is %#x and %#x, %v", s, short, long, err2)
		}
	})
}

func FuzzCounter(f *testing.F) {
	f.Add("port_xmit_data", "4611686018427387904")
	f.Add("symbol_error", "N/A (no PMA)")
	f.Fuzz(func(t *testing.T, name, s string) {
		v, err := parseCounter(name, s)
		if err == nil && name == "port_xmit_data" && v%4 != 0 {
			t.Errorf("parseCounter(%q, %q) = %d, not whole units of four octets", name, s, v)
		}
	})
}

func FuzzTrafficClass(f *testing.F) {
	f.Add("Global tclass=106\n")
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := parseTrafficClass(s); err == nil && (c < 0 || c > 255) {
			t.Errorf("parseTrafficClass(%q) = %d", s, c)
		}
	})
}

func FuzzPCIAddresses(f *testing.F) {
	f.Add("../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/net/eth2")
	f.Fuzz(func(t *testing.T, s string) {
		for _, a := range pciAddresses(s) {
			if len(a) < 12 || len(a) > 16 {
				t.Errorf("pciAddresses(%q) holds %q", s, a)
			}
		}
	})
}
