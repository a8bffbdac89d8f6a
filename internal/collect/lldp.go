package collect

import (
	"encoding/binary"
	"errors"
	"net"
	"strconv"
	"strings"
	"unicode"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// lldpFiles reads what systemd-networkd heard by LLDP on the links of RDMA
// netdevs: the name of the far end. It keeps the frames in a file for each
// interface (networkd-lldp-rx.c, link_lldp_save). Other agents, such as lldpd,
// have them in memory only and would have to be asked.
var _ = register(Collector{
	Source: facts.LLDPFiles,
	After:  45,
	Read: func(r *Reader) {
		if own, ok := r.Snap.Host.InitNetns.Get(); ok && !own {
			r.gap(lldpDir, facts.Unsupported, "its files are of the first network namespace's interfaces")
			return
		}
		links := r.carriers()
		list, reads := r.batch(), r.batch()
		list.add(hostio.Op{Kind: hostio.ReadDir, Name: lldpDir}, func(res hostio.Result) {
			switch err := res.Err(); {
			case err == nil:
				r.Have()
				askLLDP(reads, links, r.bounded(lldpDir, res.Lines()))
			case r.Snap.Origin == facts.Live && absent(err):
				r.gap(lldpDir, facts.Absent, "no agent keeps its neighbours in files here, as systemd-networkd does")
			default:
				r.Gap(lldpDir, err)
			}
		})
		list.run()
		reads.run()
	},
})

const lldpDir = "/run/systemd/netif/lldp"

// askLLDP asks for the files of links, which are called by the index.
func askLLDP(b *batch, links []*facts.Netdev, names []string) {
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
	}
	for _, n := range links {
		index := strconv.Itoa(n.Index)
		if !ownsLink(n) || !there[index] {
			continue
		}
		path := lldpDir + "/" + index
		b.add(hostio.Op{Kind: hostio.ReadFile, Name: path}, func(res hostio.Result) {
			switch err := res.Err(); {
			case err == nil:
				var bad error
				if n.LLDP, bad = parseLLDPFile(res.Data); bad != nil {
					b.r.gap(path, facts.Malformed, bad.Error())
				}
			case !absent(err): // It goes when the neighbour does.
				b.r.Gap(path, err)
			}
		})
	}
}

var (
	errLLDPFile  = errors.New("want frames, each behind its length of 64 bits, little endian")
	errLLDPFrame = errors.New("want Ethernet frames of type 0x88cc with chassis and port ID")
)

// mostFrames bounds the neighbours of one link, as systemd-networkd does.
const mostFrames = 128

// parseLLDPFile reads the neighbours of a file, those before the first mistake
// with it.
func parseLLDPFile(data []byte) ([]facts.LLDPNeighbor, error) {
	var all []facts.LLDPNeighbor
	for len(data) > 0 && len(all) < mostFrames {
		if len(data) < 8 {
			return all, errLLDPFile
		}
		size := binary.LittleEndian.Uint64(data)
		if data = data[8:]; size > uint64(len(data)) {
			return all, errLLDPFile
		}
		n, err := parseLLDP(data[:size])
		if err != nil {
			return all, err
		}
		all, data = append(all, n), data[size:]
	}
	return all, nil
}

// The types of TLVs (IEEE 802.1AB-2016, table 8-1) and the subtypes of chassis
// and port IDs that hold bytes (tables 8-2 and 8-3).
const (
	tlvEnd, tlvChassis, tlvPort, tlvPortDescription, tlvSystemName = 0, 1, 2, 4, 5

	chassisMAC, chassisAddress = 4, 5
	portMAC, portAddress       = 3, 4
)

const etherTypeLLDP = 0x88cc

// parseLLDP reads one frame.
func parseLLDP(frame []byte) (facts.LLDPNeighbor, error) {
	var n facts.LLDPNeighbor
	if len(frame) < 14 || binary.BigEndian.Uint16(frame[12:]) != etherTypeLLDP {
		return n, errLLDPFrame
	}
	for rest := frame[14:]; len(rest) >= 2; {
		head := binary.BigEndian.Uint16(rest)
		size := int(head & 0x1ff)
		if rest = rest[2:]; size > len(rest) {
			return n, errLLDPFrame
		}
		value := rest[:size]
		rest = rest[size:]
		switch head >> 9 {
		case tlvEnd:
			rest = nil
		case tlvChassis:
			n.Chassis = lldpID(value, chassisMAC, chassisAddress)
		case tlvPort:
			n.Port = lldpID(value, portMAC, portAddress)
		case tlvPortDescription:
			n.About = printable(value)
		case tlvSystemName:
			n.System = printable(value)
		}
	}
	if n.Chassis == "" || n.Port == "" {
		return n, errLLDPFrame
	}
	return n, nil
}

// printable is a text of the far end's without what a terminal obeys.
func printable(b []byte) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, text(string(b)))
}

// lldpID spells a chassis or port ID, which is a text unless the subtype says
// otherwise.
func lldpID(value []byte, mac, address byte) string {
	if len(value) < 2 {
		return ""
	}
	switch subtype, id := value[0], value[1:]; {
	case subtype == mac && len(id) == 6:
		return net.HardwareAddr(id).String()
	case subtype == address && (len(id) == 5 || len(id) == 17): // Behind the address family's number.
		return net.IP(id[1:]).String()
	default:
		return printable(id)
	}
}
