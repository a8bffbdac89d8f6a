package anonymise

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
)

// key makes the same identifier the same other one everywhere.
type key []byte

// hash is the key's word for a value of a kind.
func (k key) hash(kind string, value []byte) [32]byte {
	m := hmac.New(sha256.New, k)
	m.Write([]byte(kind))
	m.Write([]byte{0})
	m.Write(value)
	return [32]byte(m.Sum(nil))
}

// scramble maps the 24 bits of b to others so that no two become one: a Feistel
// network of four rounds.
func (k key) scramble(kind string, b []byte) {
	v := uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
	left, right := v>>12, v&0xfff
	for round := range byte(4) {
		h := k.hash(kind, []byte{round, byte(right >> 8), byte(right)})
		left, right = right, left^uint32(binary.BigEndian.Uint16(h[:]))&0xfff
	}
	v = left<<12 | right
	b[0], b[1], b[2] = byte(v>>16), byte(v>>8), byte(v)
}

// card replaces the low three bytes of an address that begins with an OUI, those
// that tell one card from another. The maker stays. MAC addresses, the EUI-64
// and GUID made of them (mlx5: OUI, 03:00, the rest), and interface identifiers
// with the universal bit flipped all end alike, and so are mapped alike.
func (k key) card(b []byte) {
	oui := []byte{b[0] &^ 2, b[1], b[2]}
	k.scramble("card "+string(oui), b[len(b)-3:])
}

// mac maps a MAC address. Groups keep their meaning; that of a solicited node
// loses the part of the address in it.
func (k key) mac(m [6]byte) [6]byte {
	switch {
	case m == [6]byte{}:
	case m[0] == 0x33 && m[1] == 0x33 && m[2] == 0xff:
		m[3], m[4], m[5] = 0, 0, 0
	case m[0]&1 == 0:
		k.card(m[:])
	}
	return m
}

// guid maps a GUID or an interface identifier. Small ones are numbers that
// people gave, and say nothing of the card.
func (k key) guid(g [8]byte) [8]byte {
	if v := binary.BigEndian.Uint64(g[:]); v >= 1<<16 && v != ^uint64(0) {
		k.card(g[:])
	}
	return g
}

// ip maps an IP address so that two which shared a prefix share one of the same
// length still. What an address means stays: loopback, link-local, multicast,
// private. The last octet of IPv4 and the first 16 bits of IPv6 stay too.
func (k key) ip(a netip.Addr) netip.Addr {
	if a.Is4In6() {
		return netip.AddrFrom16(k.ip(a.Unmap()).As16())
	}
	if a.Is4() {
		b := a.As4()
		switch {
		case b[0] == 0, b[0] == 127, b[0] >= 224, b[0] == 169 && b[1] == 254:
			return a
		case b[0] == 192 && b[1] == 168:
			k.prefix("4", b[:], 16, 24)
		case b[0] == 172 && b[1]>>4 == 1:
			k.prefix("4", b[:], 12, 24)
		default:
			k.prefix("4", b[:], 8, 24)
		}
		return netip.AddrFrom4(b)
	}
	b := a.As16()
	switch {
	case binary.BigEndian.Uint64(b[:]) == 0 && binary.BigEndian.Uint64(b[8:]) <= 1: // :: and ::1
		return a
	case b[0] == 0xff: // A solicited node's group holds part of its address.
		if b[11] == 1 && b[12] == 0xff {
			b[13], b[14], b[15] = 0, 0, 0
		}
		return netip.AddrFrom16(b)
	case b[0] == 0xfe && b[1]>>6 == 2: // fe80::/10
	default:
		k.prefix("6", b[:], 16, 64)
	}
	iid := k.guid([8]byte(b[8:]))
	copy(b[8:], iid[:])
	return netip.AddrFrom16(b)
}

// prefix flips each bit of b from one place to another by what stands before
// it.
func (k key) prefix(kind string, b []byte, from, to int) {
	was := append([]byte(nil), b...)
	for i := from; i < to; i++ {
		head := append([]byte{byte(i)}, was[:i/8+1]...)
		head[len(head)-1] &= ^(byte(0xff) >> (i % 8)) // The bits before it.
		if h := k.hash("prefix"+kind, head); h[0]&1 != 0 {
			b[i/8] ^= 0x80 >> (i % 8)
		}
	}
}

// word replaces letters by letters and digits by digits, so that a name is as
// long as it was and stands where one can.
func (k key) word(s string) string {
	h := k.hash("word", []byte(s))
	b := []byte(s)
	for i := range b {
		n := int(h[i%len(h)]) + i/len(h)*31
		switch c := b[i]; {
		case c >= 'a' && c <= 'z':
			b[i] = 'a' + byte(n%26)
		case c >= 'A' && c <= 'Z':
			b[i] = 'A' + byte(n%26)
		case c >= '0' && c <= '9':
			b[i] = '0' + byte(n%10)
		}
	}
	return string(b)
}

// hex replaces hexadecimal digits by others, in the same case.
func (k key) hex(s string) string {
	h := k.hash("hex", []byte(s))
	b := []byte(s)
	for i := range b {
		n := h[i%len(h)] >> (4 * (i / len(h) & 1)) & 15
		switch c := b[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f':
			b[i] = "0123456789abcdef"[n]
		case c >= 'A' && c <= 'F':
			b[i] = "0123456789ABCDEF"[n]
		}
	}
	return string(b)
}
