package anonymise

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strings"
)

// lldpDir is where systemd-networkd keeps the frames that it heard.
const lldpDir = "/run/systemd/netif/lldp/"

// The types of TLVs that stay (IEEE 802.1AB-2016, table 8-1).
const (
	tlvEnd, tlvChassis, tlvPort, tlvTTL, tlvPortDescription, tlvSystemName = 0, 1, 2, 3, 4, 5
)

// lldp replaces the names and addresses in a file of frames, each behind its
// length. What nobody reads of a frame is left out: administrators write
// anything there. So is all behind what is no frame.
func (a *Anonymiser) lldp(data []byte) []byte {
	var out []byte
	for len(data) >= 8 {
		size := binary.LittleEndian.Uint64(data)
		if data = data[8:]; size > uint64(len(data)) || size < 14 {
			break
		}
		frame := a.lldpFrame(data[:size])
		out = append(binary.LittleEndian.AppendUint64(out, uint64(len(frame))), frame...)
		data = data[size:]
	}
	return out
}

func (a *Anonymiser) lldpFrame(frame []byte) []byte {
	out := bytes.Clone(frame[:14])
	a.bytes(out[6:12]) // The sender.
	for rest := frame[14:]; len(rest) >= 2; {
		head := binary.BigEndian.Uint16(rest)
		size := int(head & 0x1ff)
		if rest = rest[2:]; size > len(rest) {
			break
		}
		value := bytes.Clone(rest[:size])
		rest = rest[size:]
		switch head >> 9 {
		case tlvChassis:
			a.lldpID(value, 4, 5)
		case tlvPort:
			a.lldpID(value, 3, 4)
		case tlvPortDescription:
			copy(value, a.key.word(string(value)))
		case tlvSystemName:
			copy(value, a.lldpName(string(value)))
		case tlvEnd, tlvTTL:
		default:
			continue
		}
		out = append(binary.BigEndian.AppendUint16(out, head), value...)
	}
	return out
}

// lldpName replaces a switch's name part by part, as a host's is.
func (a *Anonymiser) lldpName(name string) string {
	parts := strings.Split(name, ".")
	for i, p := range parts {
		parts[i] = a.key.word(p)
	}
	return strings.Join(parts, ".")
}

// lldpID replaces the bytes of a chassis or port ID. What a switch calls its
// port stays.
func (a *Anonymiser) lldpID(value []byte, mac, address byte) {
	if len(value) < 2 {
		return
	}
	switch subtype, id := value[0], value[1:]; {
	case subtype == mac && len(id) == 6:
		a.bytes(id)
	case subtype == address && (len(id) == 5 || len(id) == 17):
		if ip, ok := netip.AddrFromSlice(id[1:]); ok {
			copy(id[1:], a.key.ip(ip).AsSlice())
		}
	case mac == 4: // A chassis that has a name.
		copy(id, a.key.word(string(id)))
	}
}
