package anonymise

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

// The forms in which identifiers stand in text.
var (
	macForm    = pattern.Of(`\b[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}[:-]){4,18}[0-9a-fA-F]{2}\b`)
	mappedForm = pattern.Of(`[0-9a-fA-F:]*:\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,3})?`)
	groupsForm = pattern.Of(`[0-9a-fA-F:]*:[0-9a-fA-F:]*:[0-9a-fA-F:]*(?:/\d{1,3})?`)
	ip4Form    = pattern.Of(`\b\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?\b`)
	plainForm  = pattern.Of(`\b(0[xX])?[0-9a-fA-F]{12,64}\b`)
	uuidForm   = pattern.Of(`\b[0-9a-fA-F]{8}[-_][0-9a-fA-F]{4}[-_][0-9a-fA-F]{4}[-_][0-9a-fA-F]{4}[-_][0-9a-fA-F]{12}\b`)
)

// text replaces the identifiers and names in a text in which names can stand.
func (a *Anonymiser) text(s string) string { return a.without(s, a.words) }

// marked replaces the identifiers in a text of the kernel's, and what can be
// nothing else than a serial number or a host's name.
func (a *Anonymiser) marked(s string) string { return a.without(s, a.marks) }

// without replaces the identifiers in a text and the words that any of the
// expressions finds. Each form is looked for in what the others left, so that
// nothing is replaced twice: a hole is kept in its place.
func (a *Anonymiser) without(s string, words ...*wordSet) string {
	var parts []string
	replace := func(form interface {
		ReplaceAllStringFunc(string, func(string) string) string
	}, with func(string) (string, bool)) {
		s = form.ReplaceAllStringFunc(s, func(found string) string {
			other, ok := with(found)
			if !ok {
				return found
			}
			parts = append(parts, other)
			return "\x00" + strconv.Itoa(len(parts)-1) + "\x01"
		})
	}
	replace(uuidForm, func(f string) (string, bool) { return a.key.hex(f), true })
	replace(macForm, a.macText)
	replace(mappedForm, a.prefixText)
	replace(groupsForm, a.groupsText)
	replace(ip4Form, a.prefixText)
	replace(plainForm, a.plainText)
	for _, form := range words {
		replace(form, func(f string) (string, bool) { return a.word(f), true })
	}
	if len(parts) == 0 {
		return s
	}
	var b strings.Builder
	for s != "" {
		before, rest, ok := strings.Cut(s, "\x00")
		b.WriteString(before)
		number, after, closed := strings.Cut(rest, "\x01")
		n, err := strconv.Atoi(number)
		switch {
		case !ok:
		case closed && err == nil && n < len(parts):
			b.WriteString(parts[n])
			s = after
			continue
		default: // A NUL of the text itself.
			b.WriteByte(0)
		}
		s = rest
	}
	return b.String()
}

// macText maps a MAC address, an EUI-64 or an IPoIB address (queue pair and
// GID) in bytes with colons or dashes.
func (a *Anonymiser) macText(f string) (string, bool) {
	sep := f[2:3]
	b, err := hex.DecodeString(strings.NewReplacer(":", "", "-", "").Replace(f))
	if err != nil || !a.bytes(b) {
		return f, false
	}
	var out []string
	for _, c := range b {
		out = append(out, hexOf([]byte{c}, f))
	}
	return strings.Join(out, sep), true
}

// bytes maps an address by its length, in place.
func (a *Anonymiser) bytes(b []byte) bool {
	switch len(b) {
	case 6:
		m := a.key.mac([6]byte(b))
		copy(b, m[:])
	case 8:
		g := a.key.guid([8]byte(b))
		copy(b, g[:])
	case 16:
		ip := a.key.ip(netip.AddrFrom16([16]byte(b))).As16()
		copy(b, ip[:])
	case 20:
		return a.bytes(b[4:])
	default:
		return false
	}
	return true
}

// hexOf spells bytes in the case of like.
func hexOf(b []byte, like string) string {
	if strings.ContainsAny(like, "ABCDEF") {
		return strings.ToUpper(hex.EncodeToString(b))
	}
	return hex.EncodeToString(b)
}

// groupsText maps a GUID ("9c9c:b3ff:fe68:9770") or an IPv6 address or GID,
// short or as sysfs prints it.
func (a *Anonymiser) groupsText(f string) (string, bool) {
	if groups := strings.Split(f, ":"); len(groups) == 4 && len(f) == 19 {
		b, err := hex.DecodeString(strings.ReplaceAll(f, ":", ""))
		if err != nil || len(b) != 8 || !a.bytes(b) {
			return f, false
		}
		return a.grouped(b, f), true
	}
	return a.prefixText(f)
}

func (a *Anonymiser) grouped(b []byte, like string) string {
	var out []string
	for i := 0; i < len(b); i += 2 {
		out = append(out, hexOf(b[i:i+2], like))
	}
	return strings.Join(out, ":")
}

// prefixText maps an IP address, with the length of a prefix or without.
func (a *Anonymiser) prefixText(f string) (string, bool) {
	addr, length, hasLength := strings.Cut(f, "/")
	ip, err := netip.ParseAddr(addr)
	if err != nil {
		return f, false
	}
	is := a.key.ip(ip)
	if is == ip {
		return f, false // As it was written: "0::" is no address in /proc/self/cgroup.
	}
	if n, err := strconv.Atoi(length); hasLength && err == nil {
		is = network(ip, is, n)
	}
	out := is.String()
	if ip.Is6() && len(addr) == 39 { // As sysfs prints it.
		b := is.As16()
		out = a.grouped(b[:], addr)
	}
	if hasLength {
		out += "/" + length
	}
	return out, true
}

// network clears of the new address the host bits that the old one had clear,
// and sets those of a broadcast address.
func network(was, is netip.Addr, length int) netip.Addr {
	p, err := was.Prefix(length)
	if err != nil {
		return is
	}
	if p.Masked().Addr() == was {
		q, _ := is.Prefix(length)
		return q.Masked().Addr()
	}
	if was.Is4() {
		b, c := was.As4(), is.As4()
		low := uint32(1)<<(32-length) - 1
		if v := binary.BigEndian.Uint32(b[:]); v&low == low {
			binary.BigEndian.PutUint32(c[:], binary.BigEndian.Uint32(c[:])|low)
			return netip.AddrFrom4(c)
		}
	}
	return is
}

// plainText maps hexadecimal digits without marks if they are an address that
// stands elsewhere in another form, or as long as a container's name.
func (a *Anonymiser) plainText(f string) (string, bool) {
	digits := strings.TrimPrefix(strings.TrimPrefix(f, "0x"), "0X")
	if b, err := hex.DecodeString(digits); err == nil && a.known[string(b)] && a.bytes(b) {
		return f[:len(f)-len(digits)] + hexOf(b, digits), true
	}
	if len(digits) >= 32 && len(digits) == len(f) {
		return a.key.hex(f), true
	}
	return f, false
}
