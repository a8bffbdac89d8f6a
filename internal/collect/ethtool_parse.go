package collect

import (
	"strconv"
	"strings"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// parseLinkModes reads ETHTOOL_MSG_LINKMODES_GET_REPLY. In the bit set of the
// own modes the mask is what the port supports and the value what it
// advertises; the partner's set has no mask.
func parseLinkModes(body []byte) (facts.LinkModes, error) {
	var m facts.LinkModes
	err := attributes(body, sizeofGenlMsg, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case unix.ETHTOOL_A_LINKMODES_AUTONEG:
			m.Autoneg = facts.Some(ad.Uint8() != 0)
		case unix.ETHTOOL_A_LINKMODES_LANES:
			if lanes := ad.Uint32(); lanes > 0 && lanes <= 64 {
				m.Lanes = facts.Some(int(lanes))
			}
		case unix.ETHTOOL_A_LINKMODES_OURS:
			m.Supported, m.Advertised = speedModes(ad)
		case unix.ETHTOOL_A_LINKMODES_PEER:
			m.Partner, _ = speedModes(ad)
		}
	})
	m.MaxSupported, m.MaxAdvertised, m.MaxPartner = fastest(m.Supported), fastest(m.Advertised), fastest(m.Partner)
	return m, err
}

// speedModes reads a bit set with names (ETHTOOL_A_BITSET_BITS): the bits in
// it that are link modes, and those of them that are set. Ports, pause and FEC
// are in the same set and are left out.
func speedModes(ad *netlink.AttributeDecoder) (all, set []string) {
	nested(ad, func(in *netlink.AttributeDecoder) {
		if in.Type() != unix.ETHTOOL_A_BITSET_BITS {
			return
		}
		nested(in, func(bit *netlink.AttributeDecoder) {
			if bit.Type() != unix.ETHTOOL_A_BITSET_BITS_BIT {
				return
			}
			var name string
			var value bool
			nested(bit, func(v *netlink.AttributeDecoder) {
				switch v.Type() {
				case unix.ETHTOOL_A_BITSET_BIT_NAME:
					name = text(v.String())
				case unix.ETHTOOL_A_BITSET_BIT_VALUE:
					value = true
				}
			})
			if modeSpeed(name) == 0 {
				return
			}
			all = append(all, name)
			if value {
				set = append(set, name)
			}
		})
	})
	return all, set
}

// modeSpeed is the rate in the name of a link mode, megabits per second before
// "base": "100000baseCR4/Full". It is 0 where the name is none.
func modeSpeed(name string) facts.BitsPerSecond {
	digits, _, ok := strings.Cut(name, "base")
	n, err := strconv.ParseUint(digits, 10, 32)
	if !ok || err != nil {
		return 0
	}
	return facts.BitsPerSecond(n) * 1e6
}

func fastest(modes []string) facts.BitsPerSecond {
	var best facts.BitsPerSecond
	for _, m := range modes {
		best = max(best, modeSpeed(m))
	}
	return best
}

// extStates are the reasons as ethtool(8) prints them, by enum
// ethtool_link_ext_state (ethtool.h).
var extStates = []string{
	"Autoneg", "Link training failure", "Logical mismatch", "Bad signal integrity", "No cable", "Cable issue",
	"EEPROM issue", "Calibration failure", "Power budget exceeded", "Overheat", "Module",
}

// autonegStates are the substates of "Autoneg" as ethtool(8) prints them, by enum
// ethtool_link_ext_substate_autoneg (ethtool.h), which begins with 1. Of the other
// states the state says enough.
var autonegStates = []string{
	"", "No partner detected", "Ack not received", "Next page exchange failed", "No partner detected during force mode",
	"FEC mismatch during override", "No HCD",
}

// parseLinkState reads ETHTOOL_MSG_LINKSTATE_GET_REPLY. The reason is there only
// while the link is down and the driver knows it.
func parseLinkState(body []byte, reason *facts.Opt[string]) error {
	state, sub := -1, 0
	err := attributes(body, sizeofGenlMsg, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case unix.ETHTOOL_A_LINKSTATE_EXT_STATE:
			state = int(ad.Uint8())
		case unix.ETHTOOL_A_LINKSTATE_EXT_SUBSTATE:
			sub = int(ad.Uint8())
		}
	})
	switch {
	case err != nil || state < 0:
		return err
	case state >= len(extStates):
		*reason = facts.Some("state " + strconv.Itoa(state))
	case state == unix.ETHTOOL_LINK_EXT_STATE_AUTONEG && sub > 0 && sub < len(autonegStates):
		*reason = facts.Some(extStates[state] + ", " + autonegStates[sub])
	default:
		*reason = facts.Some(extStates[state])
	}
	return nil
}

// fecNames are forward error corrections as ethtool(8) prints them, by link
// mode bit (ETHTOOL_LINK_MODE_FEC_*_BIT).
var fecNames = map[uint32]string{49: "Off", 50: "RS", 51: "BaseR", 74: "LLRS"}
