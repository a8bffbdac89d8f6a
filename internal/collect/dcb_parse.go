package collect

import (
	"cmp"
	"encoding/binary"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// parseETS reads struct ieee_ets: willing, capability, CBS, then arrays of
// eight: transmit and receive bandwidth, TSA, traffic class of each priority,
// and the recommendations.
func parseETS(b []byte) facts.ETS {
	e := facts.ETS{Willing: b[0] != 0}
	for i := range 8 {
		e.Bandwidth[i] = int(b[3+i])
		e.TSA[i] = int(b[3+16+i])
		e.PrioTC[i] = int(b[3+24+i])
	}
	return e
}

// parsePFC reads struct ieee_pfc: capability, enabled priorities, MBC, delay,
// and counters of eight bytes: requests sent and indications received.
func parsePFC(b []byte) facts.PFC {
	p := facts.PFC{Capability: int(b[0]), Enabled: b[1], Delay: int(binary.NativeEndian.Uint16(b[offPFCDelay:]))}
	for i := range 8 {
		p.Requests[i].First = facts.Some(binary.NativeEndian.Uint64(b[offPFCCounter+8*i:]))
		p.Indications[i].First = facts.Some(binary.NativeEndian.Uint64(b[offPFCCounter+64+8*i:]))
	}
	return p
}

// againPFC takes the counters of a second answer into the last half of n's.
func againPFC(body []byte, n *facts.Netdev) error {
	var again facts.DCB
	err := parseDCB(body, &again)
	d, _ := n.DCB.Get()
	p, had := d.PFC.Get()
	now, has := again.PFC.Get()
	if err != nil || !had || !has {
		return err
	}
	for i := range 8 {
		p.Requests[i].Last = now.Requests[i].First
		p.Indications[i].Last = now.Indications[i].First
	}
	d.PFC = facts.Some(p)
	n.DCB = facts.Some(d)
	return nil
}

// parseBuffer reads struct dcbnl_buffer: the buffer of each priority, the size
// of each buffer, the total.
func parseBuffer(b []byte) facts.Buffer {
	var v facts.Buffer
	for i := range 8 {
		v.PrioBuffer[i] = int(b[i])
		v.Size[i] = binary.NativeEndian.Uint32(b[8+4*i:])
	}
	v.Total = binary.NativeEndian.Uint32(b[40:])
	return v
}

// parseMaxRate reads struct ieee_maxrate: kilobits per second of each traffic
// class. A rate that no link has is none.
func parseMaxRate(b []byte) (rates [8]facts.BitsPerSecond) {
	for i := range rates {
		if v := binary.NativeEndian.Uint64(b[8*i:]); v < 1<<40 {
			rates[i] = facts.BitsPerSecond(v * 1000)
		}
	}
	return rates
}

// parseApp reads struct dcb_app: selector, priority, protocol in the host's
// byte order.
func parseApp(b []byte) facts.App {
	return facts.App{Selector: int(b[0]), Priority: int(b[1]), Protocol: int(binary.NativeEndian.Uint16(b[2:]))}
}

func compareApps(a, b facts.App) int {
	return cmp.Or(cmp.Compare(a.Selector, b.Selector), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Priority, b.Priority))
}
