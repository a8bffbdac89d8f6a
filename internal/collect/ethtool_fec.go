package collect

import (
	"encoding/binary"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// Attributes of ETHTOOL_MSG_FEC_GET_REPLY (ethtool_netlink.h).
const (
	ethFECModes  = 2
	ethFECAuto   = 3
	ethFECActive = 4
	ethFECStats  = 5
)

// fecStats are the attributes inside ETHTOOL_A_FEC_STATS. Each holds 64-bit
// numbers: the port's, then one for each lane where the driver knows.
var fecStats = map[uint16]string{2: "corrected_blocks", 3: "uncorrectable_blocks", 4: "corrected_bits"}

func askFEC(b *batch, n *facts.Netdev, set func(*facts.Counter, uint64)) {
	op := ethtoolFlags("fec-get", ethFECGet, n.Name, unix.ETHTOOL_FLAG_STATS)
	b.netlink(op, func(body []byte) error {
		fec, err := parseFEC(body)
		if err != nil {
			return err
		}
		fill(&n.FEC, fec.active)
		fill(&n.FECAuto, fec.auto)
		if n.FECModes == nil {
			n.FECModes = fec.modes
		}
		if len(fec.stats) > 0 {
			setCounters(&n.FECCounters, fec.stats, set)
		}
		return nil
	}, b.r.Have)
}

type fecReply struct {
	active facts.Opt[string]
	auto   facts.Opt[bool]
	modes  []string
	stats  map[string]uint64
}

// parseFEC reads ETHTOOL_MSG_FEC_GET_REPLY. The active one is there only while
// the link is up, statistics only where the driver has them.
func parseFEC(body []byte) (fecReply, error) {
	r := fecReply{stats: map[string]uint64{}}
	err := attributes(body, sizeofGenlMsg, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case ethFECActive:
			setText(&r.active, fecNames[ad.Uint32()])
		case ethFECAuto:
			r.auto = facts.Some(ad.Uint8() != 0)
		case ethFECModes:
			r.modes = bitNames(ad)
		case ethFECStats:
			nested(ad, func(in *netlink.AttributeDecoder) {
				name, b := fecStats[in.Type()], in.Bytes()
				if name != "" && len(b) >= 8 {
					r.stats[name] = binary.NativeEndian.Uint64(b)
				}
			})
		}
	})
	return r, err
}

// bitNames are the names in a bit set without a mask, which lists only what is
// set.
func bitNames(ad *netlink.AttributeDecoder) (names []string) {
	nested(ad, func(in *netlink.AttributeDecoder) {
		if in.Type() != unix.ETHTOOL_A_BITSET_BITS {
			return
		}
		nested(in, func(bit *netlink.AttributeDecoder) {
			nested(bit, func(v *netlink.AttributeDecoder) {
				if v.Type() == unix.ETHTOOL_A_BITSET_BIT_NAME && len(names) < 32 {
					if name := text(v.String()); name != "" {
						names = append(names, name)
					}
				}
			})
		})
	})
	return names
}
