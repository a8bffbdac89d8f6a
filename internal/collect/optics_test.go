package collect

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/mdlayher/netlink"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// memory is the answer to one read of a module's memory (constructed by the
// byte tables of SFF-8472, SFF-8636 and CMIS).
func memory(t testing.TB, data []byte) string {
	return reply(t, body(t, []byte{ethModuleEEPROMGet, 1, 0, 0}, func(ae *netlink.AttributeEncoder) {
		ae.Bytes(ethEEPROMData, data)
	}))
}

// fields puts text at offsets into n bytes of spaces.
func fields(n int, at map[int]string) []byte {
	b := []byte(strings.Repeat(" ", n))
	for off, s := range at {
		copy(b[off:], s)
	}
	return b
}

func opticReplies(t testing.TB) map[string]string {
	replies := ethtoolReplies(t)
	replies["netlink:ethtool/module-50-00-0.eth2"] = memory(t, []byte{0x18, 0x40, 0x00})
	replies["netlink:ethtool/module-50-00-14.eth2"] = memory(t, []byte{62, 0x80})
	page := fields(73, map[int]string{0: "Amphenol", 19: "NDAAFF-0001", 37: "APF1234"})
	page[72] = 48
	replies["netlink:ethtool/module-50-00-129.eth2"] = memory(t, page)
	replies["netlink:ethtool/module-50-02-128.eth2"] = memory(t, []byte{75, 0, 0xfb, 0, 70, 0})
	return replies
}

// opticHost is read with the PCI function of eth2 known.
func opticHost(t *testing.T, replies map[string]string, virtual, vf bool) *facts.Netdev {
	t.Helper()
	s := &facts.Snapshot{PCI: []facts.PCIFunction{{Address: "0000:3b:00.0", VF: vf}}}
	s.Host.Virtual = facts.Some(virtual)
	h := answers(replies)
	readWith(t, s, h, facts.Links)
	readWith(t, s, h, facts.RDMANetlink)
	s.Netdev("eth2").Carrier = facts.Some(true)
	readWith(t, s, h, facts.Ethtool)
	return s.Netdev("eth2")
}

func TestOptics(t *testing.T) {
	replies := opticReplies(t)
	n := opticHost(t, replies, false, false)
	want(t, "CMIS", n.Transceiver, facts.Some(facts.Transceiver{Form: "QSFP-DD", Vendor: "Amphenol", Part: "NDAAFF-0001", Serial: "APF1234",
		Temperature: facts.Some(62.5), HighWarning: facts.Some(70.0), HighAlarm: facts.Some(75.0), MaxPower: facts.Some(12.0)}))

	for _, tt := range []struct {
		name string
		edit func(map[string]string)
		want facts.Opt[facts.Transceiver]
	}{
		{"a copper cable has neither sensor nor pages", func(r map[string]string) {
			r["netlink:ethtool/module-50-00-0.eth2"] = memory(t, []byte{0x18, 0x40, 0x80})
			r["netlink:ethtool/module-50-00-14.eth2"] = memory(t, []byte{0, 0})
		}, facts.Some(facts.Transceiver{Form: "QSFP-DD", Vendor: "Amphenol", Part: "NDAAFF-0001", Serial: "APF1234", MaxPower: facts.Some(12.0)})},
		{"QSFP28", func(r map[string]string) {
			r["netlink:ethtool/module-50-00-0.eth2"] = memory(t, []byte{0x11, 7, 2})
			r["netlink:ethtool/module-50-00-22.eth2"] = memory(t, []byte{0xff, 0x80})
			r["netlink:ethtool/module-50-00-148.eth2"] = memory(t, fields(64, map[int]string{0: "Mellanox", 20: "MMA1B00-C100D", 48: "MT2"}))
			r["netlink:ethtool/module-50-03-128.eth2"] = memory(t, []byte{0, 0, 0, 0, 0, 0})
		}, facts.Some(facts.Transceiver{Form: "QSFP28", Vendor: "Mellanox", Part: "MMA1B00-C100D", Serial: "MT2", Temperature: facts.Some(-0.5)})},
		{"SFP", func(r map[string]string) {
			r["netlink:ethtool/module-50-00-0.eth2"] = memory(t, []byte{3, 4, 7})
			r["netlink:ethtool/module-50-00-20.eth2"] = memory(t, fields(64, map[int]string{0: "FINISAR", 20: "FTLF", 48: "X1"}))
			r["netlink:ethtool/module-51-00-0.eth2"] = memory(t, []byte{78, 0, 0xf3, 0, 73, 0})
			r["netlink:ethtool/module-51-00-96.eth2"] = memory(t, []byte{41, 0})
		}, facts.Some(facts.Transceiver{Form: "SFP", Vendor: "FINISAR", Part: "FTLF", Serial: "X1", Temperature: facts.Some(41.0),
			HighWarning: facts.Some(73.0), HighAlarm: facts.Some(78.0)})},
		{"unknown identifier", func(r map[string]string) {
			r["netlink:ethtool/module-50-00-0.eth2"] = memory(t, []byte{0xee, 0, 0})
		}, facts.Opt[facts.Transceiver]{}},
		{"erased memory", func(r map[string]string) {
			r["netlink:ethtool/module-50-00-129.eth2"] = memory(t, []byte(strings.Repeat("\xff", 73)))
			r["netlink:ethtool/module-50-00-14.eth2"] = memory(t, []byte{0x80, 0})
		}, facts.Some(facts.Transceiver{Form: "QSFP-DD", HighWarning: facts.Some(70.0), HighAlarm: facts.Some(75.0)})},
		{"too little of it", func(r map[string]string) {
			r["netlink:ethtool/module-50-00-129.eth2"] = memory(t, []byte("short"))
			delete(r, "netlink:ethtool/module-50-02-128.eth2")
		}, facts.Some(facts.Transceiver{Form: "QSFP-DD", Temperature: facts.Some(62.5)})},
		{"not root", func(r map[string]string) {
			r["netlink:ethtool/module-50-00-0.eth2"] = "errno: EPERM"
		}, facts.Opt[facts.Transceiver]{}},
	} {
		replies := opticReplies(t)
		tt.edit(replies)
		want(t, tt.name, opticHost(t, replies, false, false).Transceiver, tt.want)
	}
	want(t, "a virtual machine", opticHost(t, replies, true, false).Transceiver.Known(), false)
	want(t, "a virtual function", opticHost(t, replies, false, true).Transceiver.Known(), false)
}

// Flags of the lower page are cleared by reading them: no read covers them.
func TestOpticsReadNoFlags(t *testing.T) {
	for id, m := range moduleForms {
		flags := map[*moduleLayout][2]int{&qsfp: {3, 21}, &cmis: {4, 13}, &sfp: {128, 128}}[m.layout]
		for _, part := range append(m.layout.parts, m.layout.limits...) {
			last := part.offset + part.length - 1
			if part.page == 0 && part.address == 0 && part.offset <= flags[1] && last >= flags[0] {
				t.Errorf("identifier %#x: bytes %d to %d hold flags", id, part.offset, last)
			}
			if part.page != 0 && part.offset < 128 || part.offset < 128 && last > 127 || last > 255 {
				t.Errorf("identifier %#x: the kernel refuses bytes %d to %d of page %d", id, part.offset, last, part.page)
			}
			op := memoryOp("eth2", part.moduleRead)
			if !hostio.Allowed(op) {
				t.Errorf("%s is not allowed", op.Name)
			}
		}
	}
}

func FuzzParseMemory(f *testing.F) {
	seed, _ := hex.DecodeString("1f0100000700070018400000")
	f.Add(seed)
	f.Add([]byte{31, 1, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		data, err := parseMemory(b, 73)
		if err != nil {
			return
		}
		for _, m := range moduleForms {
			for _, part := range append(m.layout.parts, m.layout.limits...) {
				if part.length <= len(data) {
					part.set(&facts.Transceiver{}, data)
				}
			}
		}
	})
}
