package collect

import (
	"slices"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// dcb asks the netdevs that carry RDMA, and own their queues, for their Data
// Center Bridging (RTM_GETDCB, dcb(8)). A driver without DCB answers
// EOPNOTSUPP: a gap, and DCB stays unread. DCB_CMD_GDCBX is asked only where
// the answer to DCB_CMD_IEEE_GET lacks the mode.
var _ = register(Collector{
	Source: facts.DCBNetlink,
	After:  40,
	Read: func(r *Reader) {
		b, mode := r.batch(), r.batch()
		for _, n := range r.carriers() {
			if !ownsLink(n) {
				continue
			}
			b.netlink(dcbOp("ieee-get", dcbIEEEGet, n.Name), func(body []byte) error {
				var d facts.DCB
				err := parseDCB(body, &d)
				n.DCB = facts.Some(d)
				return err
			}, func() {
				r.Have()
				if d, ok := n.DCB.Get(); ok && !d.DCBX.Known() {
					mode.netlinkIf(dcbOp("gdcbx", dcbGDCBX, n.Name), func(body []byte) error {
						err := parseDCB(body, &d)
						n.DCB = facts.Some(d)
						return err
					})
				}
			})
		}
		b.run()
		mode.run()
	},
	Again: func(r *Reader) {
		b := r.batch()
		for i := range r.Snap.Netdevs {
			n := &r.Snap.Netdevs[i]
			if d, ok := n.DCB.Get(); ok && d.PFC.Known() {
				b.netlink(dcbOp("ieee-get", dcbIEEEGet, n.Name), func(body []byte) error { return againPFC(body, n) }, nil)
			}
		}
		b.run()
	},
})

// Numbers of include/uapi/linux/dcbnl.h.
const (
	dcbIEEEGet = 21 // DCB_CMD_IEEE_GET
	dcbGDCBX   = 22 // DCB_CMD_GDCBX

	dcbAttrIfname = 1
	dcbAttrIEEE   = 13
	dcbAttrDCBX   = 14

	dcbIEEEETS      = 1
	dcbIEEEPFC      = 2
	dcbIEEEAppTable = 3
	dcbIEEEMaxRate  = 7
	dcbIEEEBuffer   = 10 // DCB_ATTR_DCB_BUFFER
	dcbIEEETrust    = 11 // DCB_ATTR_DCB_APP_TRUST_TABLE

	sizeofDCBMsg  = 4 // struct dcbmsg: family, command, padding
	sizeofETS     = 59
	sizeofPFC     = 136
	sizeofBuffer  = 44
	sizeofDCBApp  = 4
	sizeofMaxRate = 64 // struct ieee_maxrate
	offPFCDelay   = 4
	offPFCCounter = 8
)

// trustNames are the selectors as dcb-apptrust(8) prints them.
var trustNames = map[uint8]string{
	1: "ethertype", 2: "stream-port", 3: "dgram-port", 4: "port", facts.SelectorDSCP: "dscp", 255: "pcp",
}

func dcbOp(what string, command byte, netdev string) hostio.Op {
	header := []byte{unix.AF_UNSPEC, command, 0, 0}
	return netlinkOp("route/dcb-"+what+"."+netdev, unix.RTM_GETDCB, 0, header, func(ae *netlink.AttributeEncoder) {
		ae.String(dcbAttrIfname, netdev)
	})
}

// parseDCB reads one answer to RTM_GETDCB. What is absent in it stays unread.
func parseDCB(body []byte, d *facts.DCB) error {
	return attributes(body, sizeofDCBMsg, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case dcbAttrDCBX:
			d.DCBX = facts.Some(int(ad.Uint8()))
		case dcbAttrIEEE:
			nested(ad, func(in *netlink.AttributeDecoder) { parseIEEE(in, d) })
		}
	})
}

func parseIEEE(in *netlink.AttributeDecoder, d *facts.DCB) {
	b := in.Bytes()
	switch {
	case in.Type() == dcbIEEEETS && len(b) >= sizeofETS:
		d.ETS = facts.Some(parseETS(b))
	case in.Type() == dcbIEEEPFC && len(b) >= sizeofPFC:
		d.PFC = facts.Some(parsePFC(b))
	case in.Type() == dcbIEEEBuffer && len(b) >= sizeofBuffer:
		d.Buffer = facts.Some(parseBuffer(b))
	case in.Type() == dcbIEEEMaxRate && len(b) >= sizeofMaxRate:
		d.MaxRate = facts.Some(parseMaxRate(b))
	case in.Type() == dcbIEEEAppTable:
		nested(in, func(app *netlink.AttributeDecoder) {
			if a := app.Bytes(); len(a) >= sizeofDCBApp {
				d.Apps = append(d.Apps, parseApp(a))
			}
		})
		slices.SortFunc(d.Apps, compareApps)
	case in.Type() == dcbIEEETrust:
		nested(in, func(t *netlink.AttributeDecoder) {
			if name := trustNames[t.Uint8()]; name != "" {
				d.Trust = append(d.Trust, name)
			}
		})
	}
}
