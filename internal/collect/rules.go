package collect

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

const (
	sizeofRuleHdr = 12 // struct fib_rule_hdr
	ruleToTable   = 1  // FR_ACT_TO_TBL
	ruleInvert    = 2  // FIB_RULE_INVERT, of the flags
)

func ruleDump() hostio.Op {
	return netlinkOp("route/rule-dump", unix.RTM_GETRULE, nlDump, make([]byte, sizeofRuleHdr), nil)
}

// parseRule reads one RTM_NEWRULE: struct fib_rule_hdr (family, lengths of
// destination and source, TOS, table, two reserved, action, flags) and
// attributes. Table is 0 for rules that do not look one up.
func parseRule(body []byte) (facts.Rule, error) {
	if len(body) < sizeofRuleHdr {
		return facts.Rule{}, errCut
	}
	rule := facts.Rule{Family: familyName(body[0]), Table: int(body[4])}
	action, bits := body[7], int(body[2])
	rule.Narrower = body[1] != 0 || body[3] != 0 || binary.NativeEndian.Uint32(body[8:])&ruleInvert != 0
	var src netip.Addr
	err := attributes(body, sizeofRuleHdr, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case unix.FRA_SRC:
			src, _ = netip.AddrFromSlice(ad.Bytes())
		case unix.FRA_IIFNAME:
			rule.IIF = text(ad.String())
		case unix.FRA_OIFNAME:
			rule.OIF = text(ad.String())
		case unix.FRA_PRIORITY:
			rule.Priority = int(ad.Uint32())
		case unix.FRA_TABLE:
			rule.Table = int(ad.Uint32())
		case unix.FRA_FWMARK, unix.FRA_TUN_ID, unix.FRA_L3MDEV, unix.FRA_UID_RANGE, unix.FRA_IP_PROTO,
			unix.FRA_SPORT_RANGE, unix.FRA_DPORT_RANGE:
			rule.Narrower = true
		}
	})
	if err != nil {
		return rule, err
	}
	if src.IsValid() {
		p := netip.PrefixFrom(src, bits)
		if !p.IsValid() {
			return rule, form("a source as long as its prefix")
		}
		rule.Src = p.String()
	}
	if action != ruleToTable {
		rule.Table = 0
	}
	return rule, nil
}

// sortRules keeps the IP rules, by priority, in the kernel's order where equal.
func sortRules(rules []facts.Rule) []facts.Rule {
	rules = slices.DeleteFunc(rules, func(r facts.Rule) bool { return r.Family == "" })
	slices.SortStableFunc(rules, func(a, b facts.Rule) int {
		return cmp.Or(cmp.Compare(a.Family, b.Family), cmp.Compare(a.Priority, b.Priority))
	})
	return rules
}
