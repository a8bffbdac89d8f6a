package collect

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/mdlayher/netlink"
	rtnl "github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

const (
	sizeofTcMsg = nl.SizeofTcMsg
	// psched ticks are 64 ns on every kernel since 2.6.31 (PSCHED_SHIFT 6).
	pschedTick = 64 * time.Nanosecond
	// TCA_NETEM_LATENCY64, nanoseconds, since Linux 4.16 (pkt_sched.h).
	tcaNetemLatency64 = 10
	tcaStatsQueue     = 3 // TCA_STATS_QUEUE (gen_stats.h)
)

func qdiscDump() hostio.Op {
	return netlinkOp("route/qdisc-dump", unix.RTM_GETQDISC, nlDump, make([]byte, sizeofTcMsg), nil)
}

// A qdisc is one RTM_NEWQDISC message.
type qdisc struct {
	facts.Qdisc
	index int
	drops facts.Opt[uint64]
}

// parseQdisc reads one RTM_NEWQDISC: struct tcmsg and attributes. Of the
// disciplines' options only netem's loss and delay are decoded.
func parseQdisc(body []byte) (qdisc, error) {
	var q qdisc
	if len(body) < sizeofTcMsg {
		return q, errCut
	}
	q.index = int(int32(binary.NativeEndian.Uint32(body[4:])))
	q.Parent = rtnl.HandleStr(binary.NativeEndian.Uint32(body[12:]))
	var options []byte
	err := attributes(body, sizeofTcMsg, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case unix.TCA_KIND:
			q.Kind = text(ad.String())
		case unix.TCA_OPTIONS:
			options = ad.Bytes()
		case unix.TCA_STATS2:
			nested(ad, func(in *netlink.AttributeDecoder) {
				// struct gnet_stats_queue: qlen, backlog, drops, requeues, overlimits.
				if b := in.Bytes(); in.Type() == tcaStatsQueue && len(b) >= 12 {
					q.drops = facts.Some(uint64(binary.NativeEndian.Uint32(b[8:])))
				}
			})
		}
	})
	if err == nil && q.Kind == "" {
		err = errCut
	}
	if err == nil && q.Kind == "netem" {
		err = parseNetem(options, &q.Qdisc)
	}
	return q, err
}

// parseNetem reads struct tc_netem_qopt (latency in ticks, limit, loss as a
// share of 2^32-1, gap, duplicate, jitter) and the attributes behind it.
func parseNetem(options []byte, q *facts.Qdisc) error {
	if len(options) < nl.SizeofTcNetemQopt {
		return errCut
	}
	delay := time.Duration(binary.NativeEndian.Uint32(options)) * pschedTick
	q.Loss = facts.Some(float64(binary.NativeEndian.Uint32(options[8:])) / math.MaxUint32)
	err := attributes(options, nl.SizeofTcNetemQopt, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case tcaNetemLatency64:
			if v := ad.Int64(); v >= 0 {
				delay = time.Duration(v)
			}
		case nl.TCA_NETEM_LOSS:
			q.Loss = facts.Opt[float64]{} // A loss model with states has no single share.
		}
	})
	q.Delay = facts.Some(delay)
	return err
}

func setQdiscs(s *facts.Snapshot, qdiscs []qdisc) {
	for _, q := range qdiscs {
		if n := s.NetdevByIndex(q.index); n != nil {
			q.Drops.First = q.drops
			n.Qdiscs = append(n.Qdiscs, q.Qdisc)
		}
	}
}

// againQdiscs finds each discipline of the first sample by its place.
func againQdiscs(s *facts.Snapshot, qdiscs []qdisc) {
	for _, q := range qdiscs {
		n := s.NetdevByIndex(q.index)
		for i := 0; n != nil && i < len(n.Qdiscs); i++ {
			if n.Qdiscs[i].Kind == q.Kind && n.Qdiscs[i].Parent == q.Parent {
				n.Qdiscs[i].Drops.Last = q.drops
			}
		}
	}
}
