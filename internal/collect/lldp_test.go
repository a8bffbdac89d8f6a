package collect

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// tlv is one TLV (IEEE 802.1AB, 8.4).
func tlv(typ uint16, value string) []byte {
	return append(binary.BigEndian.AppendUint16(nil, typ<<9|uint16(len(value))), value...)
}

// lldpFrame is a constructed frame to the nearest bridge's group address.
func lldpFrame(tlvs ...[]byte) []byte {
	frame := []byte{0x01, 0x80, 0xc2, 0, 0, 0x0e, 0x1c, 0x34, 0xda, 0, 0, 1, 0x88, 0xcc}
	for _, t := range tlvs {
		frame = append(frame, t...)
	}
	return append(frame, 0, 0)
}

// leafFrame is what a switch sends.
func leafFrame() []byte {
	return lldpFrame(tlv(1, "\x04\x1c\x34\xda\x00\x00\x01"), tlv(2, "\x05swp12"), tlv(3, "\x00\x78"), tlv(4, "to gpu-017"),
		tlv(5, "leaf3.example"), tlv(6, "Cumulus Linux"), tlv(8, "\x05\x01\x0a\x00\x00\x03\x02\x00\x00\x00\x0a\x00"))
}

// lldpFile is frames as networkd-lldp-rx.c writes them.
func lldpFile(frames ...[]byte) []byte {
	var file []byte
	for _, f := range frames {
		file = append(binary.LittleEndian.AppendUint64(file, uint64(len(f))), f...)
	}
	return file
}

func TestParseLLDPFile(t *testing.T) {
	leaf := facts.LLDPNeighbor{Chassis: "1c:34:da:00:00:01", Port: "swp12", About: "to gpu-017", System: "leaf3.example"}
	for name, tt := range map[string]struct {
		data []byte
		want []facts.LLDPNeighbor
		bad  bool
	}{
		"a switch":     {lldpFile(leafFrame()), []facts.LLDPNeighbor{leaf}, false},
		"none":         {nil, nil, false},
		"two":          {lldpFile(leafFrame(), lldpFrame(tlv(1, "\x07c1"), tlv(2, "\x07p1"))), []facts.LLDPNeighbor{leaf, {Chassis: "c1", Port: "p1"}}, false},
		"an address":   {lldpFile(lldpFrame(tlv(1, "\x05\x01\x0a\x00\x00\x03"), tlv(2, "\x03\x1c\x34\xda\x00\x00\x02"))), []facts.LLDPNeighbor{{Chassis: "10.0.0.3", Port: "1c:34:da:00:00:02"}}, false},
		"no end":       {lldpFile(leafFrame()[:len(leafFrame())-2]), []facts.LLDPNeighbor{leaf}, false},
		"unclean text": {lldpFile(lldpFrame(tlv(1, "\x07c\x1b[31m"), tlv(2, "\x07p"))), []facts.LLDPNeighbor{{Chassis: "c[31m", Port: "p"}}, false},
		"cut length":   {lldpFile(leafFrame())[:7], nil, true},
		"cut frame":    {lldpFile(leafFrame())[:40], nil, true},
		"cut second":   {append(lldpFile(leafFrame()), 200, 0, 0, 0, 0, 0, 0, 0), []facts.LLDPNeighbor{leaf}, true},
		"huge length":  {[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, nil, true},
		"other type":   {lldpFile(append([]byte{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 8, 0}, leafFrame()[14:]...)), nil, true},
		"cut TLV":      {lldpFile(append(leafFrame()[:14], 0x02, 0x40, 1)), nil, true},
		"no port":      {lldpFile(lldpFrame(tlv(1, "\x07c1"))), nil, true},
		"empty IDs":    {lldpFile(lldpFrame(tlv(1, ""), tlv(2, "\x05"))), nil, true},
	} {
		got, err := parseLLDPFile(tt.data)
		if (err != nil) != tt.bad {
			t.Errorf("%s: error %v, want one: %v", name, err, tt.bad)
		}
		want(t, name, got, tt.want)
	}
}

func TestLLDP(t *testing.T) {
	replies := ethtoolReplies(t)
	replies["/run/systemd/netif/lldp/2"] = "hex: " + hex.EncodeToString(lldpFile(leafFrame()))
	replies["/run/systemd/netif/lldp/99"] = "timed out" // Nobody's.
	s := collected(t, answers(replies), facts.Links, facts.RDMANetlink, facts.LLDPFiles)
	want(t, "read", s.Has(facts.LLDPFiles), true)
	var got []string
	for _, n := range s.Netdevs {
		for _, far := range n.LLDP {
			got = append(got, n.Name+" "+far.String())
		}
	}
	want(t, "far ends", got, []string{"eth2 leaf3.example port swp12 (to gpu-017)"})

	replies["/run/systemd/netif/lldp/2"] = "short"
	s = collected(t, answers(replies), facts.Links, facts.RDMANetlink, facts.LLDPFiles)
	want(t, "malformed", gap(t, s, "/run/systemd/netif/lldp/2").Kind, facts.Malformed)
	want(t, "neighbours", len(s.Netdev("eth2").LLDP), 0)

	s = collected(t, answers(ethtoolReplies(t)), facts.Links, facts.RDMANetlink, facts.LLDPFiles)
	want(t, "absent", gap(t, s, "/run/systemd/netif/lldp").Kind, facts.Absent)
	want(t, "absent is read", s.Has(facts.LLDPFiles), false)
}

// What the files of the first namespace say is of other interfaces here.
func TestLLDPOtherNamespace(t *testing.T) {
	replies := ethtoolReplies(t)
	replies["/run/systemd/netif/lldp/2"] = "hex: " + hex.EncodeToString(lldpFile(leafFrame()))
	replies["/proc/self/ns/net"] = "-> net:[4026532000]"
	replies["/proc/1/ns/net"] = "-> net:[4026531840]"
	s := collected(t, answers(replies), facts.Namespaces, facts.Links, facts.RDMANetlink, facts.LLDPFiles)
	want(t, "namespace", s.Host.InitNetns, facts.Some(false))
	want(t, "neighbours", len(s.Netdev("eth2").LLDP), 0)
	want(t, "gap", gap(t, s, "/run/systemd/netif/lldp").Kind, facts.Unsupported)
}

func FuzzLLDPFile(f *testing.F) {
	f.Add(lldpFile(leafFrame()))
	f.Add(lldpFile(leafFrame())[:30])
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		all, _ := parseLLDPFile(data)
		for _, n := range all {
			if n.Chassis == "" || n.Port == "" || strings.ContainsRune(n.System+n.About, 0x1b) {
				t.Errorf("neighbour %+v", n)
			}
		}
	})
}
