package collect

import (
	"encoding/binary"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// filterFamilies are the families that IP packets pass, as nft(8) spells them.
var filterFamilies = map[uint8]string{unix.NFPROTO_INET: "inet", unix.NFPROTO_IPV4: "ip", unix.NFPROTO_IPV6: "ip6"}

// filterHooks are those that a packet from or to this host passes, by number
// (NF_INET_*). Forwarding and ingress are left out.
var filterHooks = map[uint32]string{
	unix.NF_INET_PRE_ROUTING: "prerouting", unix.NF_INET_LOCAL_IN: "input",
	unix.NF_INET_LOCAL_OUT: "output", unix.NF_INET_POST_ROUTING: "postrouting",
}

// Attributes and constants of nf_tables.h that x/sys has no names for.
const (
	nftRegVerdict = 0 // NFT_REG_VERDICT
	nfDrop        = 0 // NF_DROP
	nfAccept      = 1 // NF_ACCEPT
)

// number is an attribute of nf_tables: big endian, of any size.
func number(b []byte) (n uint64) {
	for _, c := range b[:min(len(b), 8)] {
		n = n<<8 | uint64(c)
	}
	return n
}

// parseFilterChain reads one NFT_MSG_NEWCHAIN. Hook is "" for chains that
// packets do not enter from a hook.
func parseFilterChain(body []byte) (facts.FilterChain, error) {
	var c facts.FilterChain
	err := attributes(body, sizeofNfgenmsg, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case unix.NFTA_CHAIN_TABLE:
			c.Table = text(ad.String())
		case unix.NFTA_CHAIN_NAME:
			c.Name = text(ad.String())
		case unix.NFTA_CHAIN_POLICY:
			c.Policy = "accept"
			if number(ad.Bytes()) == nfDrop {
				c.Policy = "drop"
			}
		case unix.NFTA_CHAIN_HOOK:
			nested(ad, func(in *netlink.AttributeDecoder) {
				switch in.Type() {
				case unix.NFTA_HOOK_HOOKNUM:
					c.Hook = filterHooks[uint32(number(in.Bytes()))]
				case unix.NFTA_HOOK_PRIORITY:
					c.Priority = int(int32(uint32(number(in.Bytes()))))
				}
			})
		}
	})
	if err == nil {
		c.Family = filterFamilies[body[0]]
	}
	return c, err
}

// parseFilterRule reads one NFT_MSG_NEWRULE. Its expressions run one after
// the other and pass values in registers; the few that ask for a protocol and
// a port are followed, all others are conditions that are not understood.
func parseFilterRule(body []byte) (chainKey, facts.FilterRule, error) {
	var k chainKey
	run := ruleReader{holds: map[uint64]string{}}
	err := attributes(body, sizeofNfgenmsg, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case unix.NFTA_RULE_TABLE:
			k.table = text(ad.String())
		case unix.NFTA_RULE_CHAIN:
			k.name = text(ad.String())
		case unix.NFTA_RULE_HANDLE:
			run.rule.Handle = number(ad.Bytes())
		case unix.NFTA_RULE_EXPRESSIONS:
			nested(ad, func(in *netlink.AttributeDecoder) { nested(in, run.expression()) })
		}
	})
	if err == nil {
		k.family = filterFamilies[body[0]]
	}
	return k, run.rule, err
}

// A ruleReader follows the expressions of one rule.
type ruleReader struct {
	rule  facts.FilterRule
	holds map[uint64]string // what a register holds: "protocol", "port", else unknown
}

// expression reads one: its name, then its data.
func (rr *ruleReader) expression() func(*netlink.AttributeDecoder) {
	name := ""
	return func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case unix.NFTA_EXPR_NAME:
			name = ad.String()
			switch name {
			case "meta", "payload", "cmp", "immediate", "counter", "log":
			case "reject":
				rr.rule.Verdict = "reject"
			case "queue", "target", "nat", "masq", "redir", "tproxy", "synproxy", "dup", "fwd":
				rr.rule.Verdict = "other"
			default:
				rr.rule.Other = true
			}
		case unix.NFTA_EXPR_DATA:
			data := map[uint16][]byte{}
			nested(ad, func(in *netlink.AttributeDecoder) { data[in.Type()] = in.Bytes() })
			rr.step(name, data)
		}
	}
}

func (rr *ruleReader) step(name string, data map[uint16][]byte) {
	value := func(attr uint16) uint64 { return number(data[attr]) }
	switch name {
	case "meta":
		if value(unix.NFTA_META_KEY) == unix.NFT_META_L4PROTO {
			rr.holds[value(unix.NFTA_META_DREG)] = "protocol"
			return
		}
		delete(rr.holds, value(unix.NFTA_META_DREG))
	case "payload":
		base, offset, length := value(unix.NFTA_PAYLOAD_BASE), value(unix.NFTA_PAYLOAD_OFFSET), value(unix.NFTA_PAYLOAD_LEN)
		reg := value(unix.NFTA_PAYLOAD_DREG)
		switch {
		case base == unix.NFT_PAYLOAD_TRANSPORT_HEADER && offset == 2 && length == 2:
			rr.holds[reg] = "port"
		case base == unix.NFT_PAYLOAD_NETWORK_HEADER && offset == 9 && length == 1: // struct iphdr, protocol
			rr.holds[reg] = "protocol"
		default:
			delete(rr.holds, reg)
		}
	case "cmp":
		rr.compare(rr.holds[value(unix.NFTA_CMP_SREG)], value(unix.NFTA_CMP_OP), inner(data[unix.NFTA_CMP_DATA], unix.NFTA_DATA_VALUE))
	case "lookup":
		if _, mapped := data[unix.NFTA_LOOKUP_DREG]; mapped {
			rr.rule.Verdict = "other" // A verdict map.
		}
	case "immediate":
		if value(unix.NFTA_IMMEDIATE_DREG) != nftRegVerdict {
			return
		}
		code := inner(inner(data[unix.NFTA_IMMEDIATE_DATA], unix.NFTA_DATA_VERDICT), unix.NFTA_VERDICT_CODE)
		switch n := number(code); {
		case len(code) == 4 && n == nfDrop:
			rr.rule.Verdict = "drop"
		case len(code) == 4 && n == nfAccept:
			rr.rule.Verdict = "accept"
		default: // A jump, return or queue.
			rr.rule.Verdict = "other"
		}
	}
}

// compare notes a condition on what a register holds.
func (rr *ruleReader) compare(what string, op uint64, want []byte) {
	switch {
	case op == unix.NFT_CMP_EQ && what == "protocol" && len(want) == 1:
		rr.rule.Protocol = facts.Some(int(want[0]))
	case op == unix.NFT_CMP_EQ && what == "port" && len(want) == 2:
		rr.rule.DstPort = facts.Some(int(binary.BigEndian.Uint16(want)))
	default:
		rr.rule.Other = true
	}
}

// inner is the value of one attribute among those nested in b, or nil.
func inner(b []byte, attr uint16) (value []byte) {
	ad, err := netlink.NewAttributeDecoder(b)
	if err != nil {
		return nil
	}
	for ad.Next() {
		if ad.Type() == attr {
			value = ad.Bytes()
		}
	}
	return value
}
