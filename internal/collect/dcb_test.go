package collect

import (
	"testing"

	"github.com/mdlayher/netlink"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

// dcbBody is a constructed answer: PFC on for priority 3, two of the three
// traffic classes by ETS, DSCP 26 to priority 3.
func dcbBody(t testing.TB, requests uint64) []byte {
	return body(t, []byte{0, dcbIEEEGet, 0, 0}, func(ae *netlink.AttributeEncoder) {
		ae.String(dcbAttrIfname, "eth2")
		nest(ae, dcbAttrIEEE, func(in *netlink.AttributeEncoder) {
			ets := make([]byte, sizeofETS)
			ets[0] = 1
			copy(ets[3:], []byte{60, 40, 0, 0, 0, 0, 0, 0})
			copy(ets[19:], []byte{2, 2, 0, 255, 0, 0, 0, 1})
			copy(ets[27:], []byte{0, 0, 0, 1, 0, 0, 2, 7})
			in.Bytes(dcbIEEEETS, ets)
			pfc := make([]byte, sizeofPFC)
			pfc[0], pfc[1], pfc[4] = 8, 1<<3, 77
			native.PutUint64(pfc[8+8*3:], requests)
			native.PutUint64(pfc[72+8*3:], 2*requests)
			in.Bytes(dcbIEEEPFC, pfc)
			nest(in, dcbIEEEAppTable, func(app *netlink.AttributeEncoder) {
				app.Bytes(1, []byte{5, 3, 26, 0})
				app.Bytes(1, []byte{1, 4, 0x06, 0x89}) // RoCE v1, ethertype 0x8906 read in the host's order
				app.Bytes(1, []byte{5, 3})             // Too short, passed over.
			})
			rates := make([]byte, sizeofMaxRate)
			native.PutUint64(rates[8*3:], 10_000_000)
			native.PutUint64(rates[8*5:], 1<<64-1)
			in.Bytes(dcbIEEEMaxRate, rates)
			buffer := make([]byte, sizeofBuffer)
			buffer[3] = 1
			native.PutUint32(buffer[8+4:], 262144)
			native.PutUint32(buffer[40:], 524288)
			in.Bytes(dcbIEEEBuffer, buffer)
			nest(in, dcbIEEETrust, func(trust *netlink.AttributeEncoder) {
				trust.Uint8(2, 5)
				trust.Uint8(1, 255)
				trust.Uint8(1, 99)
			})
		})
		ae.Uint8(dcbAttrDCBX, 0x0d)
	})
}

// roce is a host with a RoCE device on each of netdevs, which are told by a
// link dump.
func roce(t testing.TB, links string, netdevs ...string) map[string]string {
	replies := map[string]string{"netlink:route/link-dump": links}
	var devices [][]byte
	for i, n := range netdevs {
		name := "mlx5_" + string(rune('0'+i))
		devices = append(devices, nlDevice(t, uint32(i), name, "roce", 1))
		replies["netlink:rdma/port-dump."+name] = reply(t, nlPort(t, 1, 4, 5, n))
	}
	replies["netlink:rdma/device-dump"] = reply(t, devices...)
	return replies
}

func twoNICs(t testing.TB) string {
	return reply(t, linkSpec{2, "eth2", 1, nil}.body(t), linkSpec{3, "eth3", 1, nil}.body(t), linkSpec{4, "eth4", 1, nil}.body(t))
}

func TestDCB(t *testing.T) {
	replies := roce(t, twoNICs(t), "eth2", "eth3")
	replies["netlink:route/dcb-ieee-get.eth2"] = reply(t, dcbBody(t, 10))
	replies["then netlink:route/dcb-ieee-get.eth2"] = reply(t, dcbBody(t, 17))
	replies["netlink:route/dcb-ieee-get.eth3"] = "errno: EOPNOTSUPP"
	replies["netlink:route/dcb-ieee-get.eth4"] = reply(t, dcbBody(t, 1))
	s := collected(t, answers(replies), facts.Links, facts.RDMANetlink, facts.DCBNetlink)
	d, _ := s.Netdev("eth2").DCB.Get()
	pfc, _ := d.PFC.Get()
	if !pfc.On(3) || pfc.On(0) || pfc.Capability != 8 || pfc.Delay != 77 {
		t.Errorf("PFC %+v", pfc)
	}
	want(t, "rate limits", d.MaxRate, facts.Some([8]facts.BitsPerSecond{3: 10e9}))
	for prio := range 8 {
		sent, ok1 := pfc.Requests[prio].Delta()
		got, ok2 := pfc.Indications[prio].Delta()
		wantSent := uint64(0)
		if prio == 3 {
			wantSent = 7
		}
		if !ok1 || !ok2 || sent != wantSent || got != 2*wantSent {
			t.Errorf("priority %d: %d sent (%v), %d received (%v), want %d and %d", prio, sent, ok1, got, ok2, wantSent, 2*wantSent)
		}
	}
	want(t, "ETS", d.ETS, facts.Some(facts.ETS{
		Willing: true, Bandwidth: [8]int{60, 40}, TSA: [8]int{2, 2, 0, 255, 7: 1}, PrioTC: [8]int{3: 1, 6: 2, 7: 7},
	}))
	want(t, "apps", d.Apps, []facts.App{{Selector: 1, Priority: 4, Protocol: 0x8906}, {Selector: 5, Priority: 3, Protocol: 26}})
	want(t, "buffer", d.Buffer, facts.Some(facts.Buffer{PrioBuffer: [8]int{3: 1}, Size: [8]uint32{1: 262144}, Total: 524288}))
	want(t, "trust", d.Trust, []string{"dscp", "pcp"})
	want(t, "DCBX", d.DCBX, facts.Some(13))
	if s.Netdev("eth3").DCB.Known() {
		t.Error("EOPNOTSUPP became a DCB state")
	}
	want(t, "gap", gap(t, s, "route/dcb-ieee-get.eth3"), facts.Gap{
		Source: facts.DCBNetlink, What: "route/dcb-ieee-get.eth3", Kind: facts.Unsupported, Detail: "EOPNOTSUPP",
	})
	if s.Netdev("eth4").DCB.Known() {
		t.Error("a netdev without RDMA was asked")
	}
}

func TestDCBModeOnItsOwn(t *testing.T) {
	replies := roce(t, twoNICs(t), "eth2", "eth3")
	empty := body(t, []byte{0, dcbIEEEGet, 0, 0}, func(ae *netlink.AttributeEncoder) { nest(ae, dcbAttrIEEE, func(*netlink.AttributeEncoder) {}) })
	replies["netlink:route/dcb-ieee-get.eth2"] = reply(t, empty)
	replies["netlink:route/dcb-gdcbx.eth2"] = reply(t, body(t, []byte{0, dcbGDCBX, 0, 0}, func(ae *netlink.AttributeEncoder) { ae.Uint8(dcbAttrDCBX, 4) }))
	replies["netlink:route/dcb-ieee-get.eth3"] = reply(t, empty)
	replies["netlink:route/dcb-gdcbx.eth3"] = "errno: EOPNOTSUPP"
	s := collected(t, answers(replies), facts.Links, facts.RDMANetlink, facts.DCBNetlink)
	want(t, "eth2", s.Netdev("eth2").DCB, facts.Some(facts.DCB{DCBX: facts.Some(4)}))
	want(t, "eth3", s.Netdev("eth3").DCB, facts.Some(facts.DCB{}))
	for _, g := range s.Gaps {
		if g.Source == facts.DCBNetlink {
			t.Errorf("unexpected gap %+v", g)
		}
	}
}

func TestDCBMalformed(t *testing.T) {
	whole := dcbBody(t, 1)
	for name, b := range map[string][]byte{
		"header cut":    whole[:2],
		"attribute cut": whole[:len(whole)-30],
		"short PFC": body(t, []byte{0, dcbIEEEGet, 0, 0}, func(ae *netlink.AttributeEncoder) {
			nest(ae, dcbAttrIEEE, func(in *netlink.AttributeEncoder) { in.Bytes(dcbIEEEPFC, make([]byte, 135)) })
		}),
		"wide DCBX": body(t, []byte{0, dcbIEEEGet, 0, 0}, func(ae *netlink.AttributeEncoder) { ae.Uint32(dcbAttrDCBX, 4) }),
	} {
		var d facts.DCB
		if err := parseDCB(b, &d); err == nil && d.PFC.Known() {
			t.Errorf("%s: taken for PFC %+v", name, d.PFC)
		}
	}
}

// Both ends of a stack are asked for the right things: DCB is where the queues
// are.
func TestCarriers(t *testing.T) {
	s := collected(t, answers(roce(t, linkReply(t, 1), "bond0.100")), facts.Links, facts.RDMANetlink)
	var names, own []string
	for _, n := range carriers(s) {
		names = append(names, n.Name)
		if ownsLink(n) {
			own = append(own, n.Name)
		}
	}
	want(t, "carriers", names, []string{"bond0", "bond0.100", "eth2", "eth3"})
	want(t, "owners of links", own, []string{"eth2", "eth3"})
	s = collected(t, answers(roce(t, linkReply(t, 1), "eth2")), facts.Links, facts.RDMANetlink)
	if got := carriers(s); len(got) != 1 || got[0].Name != "eth2" {
		t.Errorf("carriers of a port on a bond member: %d", len(got))
	}
	// A loop in hostile input ends.
	loop := fixture.Host(&fixture.Archive{})
	loop.Put("netlink:route/link-dump", reply(t, linkSpec{2, "a", 1, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(5, 3)
		kind(ae, "vlan", nil)
	}}.body(t), linkSpec{3, "b", 1, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(5, 2)
		kind(ae, "vlan", nil)
	}}.body(t)))
	if got := carriers(collected(t, loop, facts.Links)); len(got) != 0 {
		t.Errorf("carriers without RDMA: %d", len(got))
	}
}
