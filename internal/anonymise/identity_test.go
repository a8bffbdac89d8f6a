package anonymise

import (
	"encoding/binary"
	"net/netip"
	"regexp"
	"testing"
)

var keys = []key{key("a"), key("another"), key("third")}

// Two cards never become one, and none stays.
func TestScrambleIsOneToOne(t *testing.T) {
	k := keys[0]
	seen := make([]bool, 1<<24)
	for v := range uint32(1 << 16) {
		b := []byte{byte(v >> 4), byte(v), byte(v>>8) ^ 0x5a}
		k.scramble("x", b)
		at := uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
		if seen[at] {
			t.Fatalf("two values become %06x", at)
		}
		seen[at] = true
	}
}

// The identifiers made of one MAC address stay made of one.
func TestIdentifiersOfOneCard(t *testing.T) {
	m := [6]byte{0x9c, 0x9c, 0xb3, 0x68, 0x97, 0x70}
	for _, k := range keys {
		is := k.mac(m)
		if is == m || [3]byte(is[:3]) != [3]byte(m[:3]) {
			t.Errorf("%x becomes %x, want another card of the same maker", m, is)
		}
		for name, g := range map[string]struct{ was, want [8]byte }{
			"EUI-64":       {[8]byte{m[0], m[1], m[2], 0xff, 0xfe, m[3], m[4], m[5]}, [8]byte{m[0], m[1], m[2], 0xff, 0xfe, is[3], is[4], is[5]}},
			"interface id": {[8]byte{m[0] ^ 2, m[1], m[2], 0xff, 0xfe, m[3], m[4], m[5]}, [8]byte{m[0] ^ 2, m[1], m[2], 0xff, 0xfe, is[3], is[4], is[5]}},
			"mlx5 GUID":    {[8]byte{m[0], m[1], m[2], 3, 0, m[3], m[4], m[5]}, [8]byte{m[0], m[1], m[2], 3, 0, is[3], is[4], is[5]}},
		} {
			if got := k.guid(g.was); got != g.want {
				t.Errorf("%s: %x becomes %x, want %x", name, g.was, got, g.want)
			}
			link := [16]byte{0xfe, 0x80}
			copy(link[8:], g.was[:])
			want := link
			copy(want[8:], g.want[:])
			if got := k.ip(netip.AddrFrom16(link)); got != netip.AddrFrom16(want) {
				t.Errorf("%s in a link-local address: %v, want %v", name, got, netip.AddrFrom16(want))
			}
		}
	}
}

func shared(a, b netip.Addr) int {
	x, y := a.As16(), b.As16()
	for i := range 128 {
		if (x[i/8]^y[i/8])&(0x80>>(i%8)) != 0 {
			return i
		}
	}
	return 128
}

// Addresses that share a prefix share one as long, and no longer one.
func TestPrefixesStay(t *testing.T) {
	addrs := []string{"10.1.2.3", "10.1.2.4", "10.1.3.3", "10.2.2.3", "10.129.2.3", "192.168.1.17", "192.168.2.17", "172.16.5.5", "172.31.5.5",
		"203.0.113.9", "2001:db8:1:2::17", "2001:db8:1:3::17", "2001:db9::17", "fd00:1::1", "fd00:2::1"}
	for _, k := range keys {
		for _, x := range addrs {
			a := netip.MustParseAddr(x)
			if k.ip(a).IsPrivate() != a.IsPrivate() || k.ip(a).IsGlobalUnicast() != a.IsGlobalUnicast() {
				t.Errorf("%s becomes %s, which means another thing", a, k.ip(a))
			}
			for _, y := range addrs {
				b := netip.MustParseAddr(y)
				if a.Is4() == b.Is4() && shared(a, b) != shared(k.ip(a), k.ip(b)) {
					t.Errorf("%s and %s share %d bits, %s and %s %d", a, b, shared(a, b), k.ip(a), k.ip(b), shared(k.ip(a), k.ip(b)))
				}
			}
		}
		for _, x := range []string{"127.0.0.1", "0.0.0.0", "255.255.255.255", "224.0.0.1", "169.254.1.1", "::", "::1", "ff02::1", "fe80::1"} {
			if a := netip.MustParseAddr(x); k.ip(a) != a {
				t.Errorf("%s becomes %s, and means the same everywhere", a, k.ip(a))
			}
		}
		mapped := netip.MustParseAddr("::ffff:10.1.2.3")
		if got := k.ip(mapped); got.Unmap() != k.ip(mapped.Unmap()) || !got.Is4In6() {
			t.Errorf("%s becomes %s, not what 10.1.2.3 does", mapped, got)
		}
	}
}

func TestWordsKeepTheirForm(t *testing.T) {
	form := func(w string) string {
		for re, by := range map[string]string{"[a-z]": "a", "[A-Z]": "A", "[0-9]": "0"} {
			w = regexp.MustCompile(re).ReplaceAllString(w, by)
		}
		return w
	}
	for _, w := range []string{"gpu-017", "Rack12_a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa9"} {
		if got := keys[0].word(w); got == w || form(got) != form(w) {
			t.Errorf("%q becomes %q, want another word of the same form", w, got)
		}
	}
}

func TestGUIDNumbersStay(t *testing.T) {
	for _, v := range []uint64{0, 1, 0xffff, ^uint64(0)} {
		var g [8]byte
		binary.BigEndian.PutUint64(g[:], v)
		if keys[0].guid(g) != g {
			t.Errorf("%x is a number, no card", v)
		}
	}
}
