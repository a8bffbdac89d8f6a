package collect

import (
	"encoding/binary"
	"testing"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// expr is one expression of a constructed rule.
type expr struct {
	name string
	put  func(*netlink.AttributeEncoder)
}

func be(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// load makes an expression with numbers as attributes.
func load(name string, pairs ...uint32) expr {
	return expr{name, func(ae *netlink.AttributeEncoder) {
		for i := 0; i < len(pairs); i += 2 {
			ae.Bytes(uint16(pairs[i]), be(pairs[i+1]))
		}
	}}
}

func compared(op uint32, value ...byte) expr {
	return expr{"cmp", func(ae *netlink.AttributeEncoder) {
		ae.Bytes(unix.NFTA_CMP_SREG, be(1))
		ae.Bytes(unix.NFTA_CMP_OP, be(op))
		nest(ae, unix.NFTA_CMP_DATA, func(ae *netlink.AttributeEncoder) { ae.Bytes(unix.NFTA_DATA_VALUE, value) })
	}}
}

func verdict(code uint32) expr {
	return expr{"immediate", func(ae *netlink.AttributeEncoder) {
		ae.Bytes(unix.NFTA_IMMEDIATE_DREG, be(0))
		nest(ae, unix.NFTA_IMMEDIATE_DATA, func(ae *netlink.AttributeEncoder) {
			nest(ae, unix.NFTA_DATA_VERDICT, func(ae *netlink.AttributeEncoder) { ae.Bytes(unix.NFTA_VERDICT_CODE, be(code)) })
		})
	}}
}

var (
	isUDP    = []expr{load("meta", unix.NFTA_META_DREG, 1, unix.NFTA_META_KEY, unix.NFT_META_L4PROTO), compared(unix.NFT_CMP_EQ, 17)}
	dstPort  = load("payload", unix.NFTA_PAYLOAD_DREG, 1, unix.NFTA_PAYLOAD_BASE, 2, unix.NFTA_PAYLOAD_OFFSET, 2, unix.NFTA_PAYLOAD_LEN, 2)
	saddr    = load("payload", unix.NFTA_PAYLOAD_DREG, 1, unix.NFTA_PAYLOAD_BASE, 1, unix.NFTA_PAYLOAD_OFFSET, 12, unix.NFTA_PAYLOAD_LEN, 4)
	toRoCE   = []expr{dstPort, compared(unix.NFT_CMP_EQ, 0x12, 0xb7)}
	nfHeader = []byte{unix.NFPROTO_INET, 0, 0, 0}
)

func ruleBody(t testing.TB, chain string, exprs ...expr) []byte {
	return body(t, nfHeader, func(ae *netlink.AttributeEncoder) {
		ae.String(unix.NFTA_RULE_TABLE, "lab")
		ae.String(unix.NFTA_RULE_CHAIN, chain)
		ae.Bytes(unix.NFTA_RULE_HANDLE, append(be(0), be(7)...))
		nest(ae, unix.NFTA_RULE_EXPRESSIONS, func(ae *netlink.AttributeEncoder) {
			for _, e := range exprs {
				nest(ae, unix.NFTA_LIST_ELEM, func(ae *netlink.AttributeEncoder) {
					ae.String(unix.NFTA_EXPR_NAME, e.name)
					if e.put != nil {
						nest(ae, unix.NFTA_EXPR_DATA, e.put)
					}
				})
			}
		})
	})
}

func chainBody(t testing.TB, name string, hook, policy uint32) []byte {
	return body(t, nfHeader, func(ae *netlink.AttributeEncoder) {
		ae.String(unix.NFTA_CHAIN_TABLE, "lab")
		ae.String(unix.NFTA_CHAIN_NAME, name)
		if hook == 99 { // Not a base chain.
			return
		}
		nest(ae, unix.NFTA_CHAIN_HOOK, func(ae *netlink.AttributeEncoder) {
			ae.Bytes(unix.NFTA_HOOK_HOOKNUM, be(hook))
			ae.Bytes(unix.NFTA_HOOK_PRIORITY, be(0xffffff6a)) // -150
		})
		ae.Bytes(unix.NFTA_CHAIN_POLICY, be(policy))
	})
}

func TestParseFilterRule(t *testing.T) {
	join := func(parts ...[]expr) (all []expr) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	udp, port := facts.Some(17), facts.Some(4791)
	drop, accept := []expr{verdict(0)}, []expr{verdict(1)}
	for _, tt := range []struct {
		name  string
		exprs []expr
		want  facts.FilterRule
	}{
		{"udp dport 4791 drop", join(isUDP, toRoCE, drop), facts.FilterRule{Handle: 7, Protocol: udp, DstPort: port, Verdict: "drop"}},
		{"counted and accepted", join(isUDP, toRoCE, []expr{{name: "counter"}}, accept),
			facts.FilterRule{Handle: 7, Protocol: udp, DstPort: port, Verdict: "accept"}},
		{"reject", join(isUDP, toRoCE, []expr{{name: "reject"}}), facts.FilterRule{Handle: 7, Protocol: udp, DstPort: port, Verdict: "reject"}},
		{"no verdict", join(isUDP, []expr{{name: "counter"}}), facts.FilterRule{Handle: 7, Protocol: udp}},
		{"jump", []expr{verdict(0xfffffffd)}, facts.FilterRule{Handle: 7, Verdict: "other"}},
		{"from an address", join([]expr{saddr, compared(unix.NFT_CMP_EQ, 192, 0, 2, 1)}, drop),
			facts.FilterRule{Handle: 7, Other: true, Verdict: "drop"}},
		{"another port than", join(isUDP, []expr{dstPort, compared(unix.NFT_CMP_NEQ, 0x12, 0xb7)}, drop),
			facts.FilterRule{Handle: 7, Protocol: udp, Other: true, Verdict: "drop"}},
		{"a set of ports", join(isUDP, []expr{dstPort, load("lookup", unix.NFTA_LOOKUP_SREG, 1)}, drop),
			facts.FilterRule{Handle: 7, Protocol: udp, Other: true, Verdict: "drop"}},
		{"a verdict map", join(isUDP, []expr{dstPort, load("lookup", unix.NFTA_LOOKUP_SREG, 1, unix.NFTA_LOOKUP_DREG, 0)}),
			facts.FilterRule{Handle: 7, Protocol: udp, Other: true, Verdict: "other"}},
		{"a match of iptables", join([]expr{{name: "match"}}, []expr{{name: "target"}}), facts.FilterRule{Handle: 7, Other: true, Verdict: "other"}},
		{"a verdict without a code", []expr{load("immediate", unix.NFTA_IMMEDIATE_DREG, 0)}, facts.FilterRule{Handle: 7, Verdict: "other"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k, got, err := parseFilterRule(ruleBody(t, "input", tt.exprs...))
			if err != nil || k != (chainKey{"inet", "lab", "input"}) {
				t.Errorf("chain %v, error %v", k, err)
			}
			want(t, "rule", got, tt.want)
		})
	}
	if _, _, err := parseFilterRule([]byte{1, 0}); err == nil {
		t.Error("a rule of two bytes was accepted")
	}
}

func TestFilter(t *testing.T) {
	rules := reply(t, ruleBody(t, "input", append(toRoCE, verdict(0))...), ruleBody(t, "side", verdict(0)))
	s := collected(t, answers(map[string]string{
		"netlink:netfilter/chain-dump": reply(t, chainBody(t, "output", 3, 1), chainBody(t, "side", 99, 0),
			chainBody(t, "input", 1, 0), chainBody(t, "forward", 2, 0)),
		"netlink:netfilter/rule-dump": rules,
	}), facts.FilterSource)
	want(t, "chains", s.Filter, []facts.FilterChain{
		{Family: "inet", Table: "lab", Name: "input", Hook: "input", Priority: -150, Policy: "drop",
			Rules: []facts.FilterRule{{Handle: 7, DstPort: facts.Some(4791), Verdict: "drop"}}},
		{Family: "inet", Table: "lab", Name: "output", Hook: "output", Priority: -150, Policy: "accept"},
	})
	for _, tt := range []struct {
		name, chains, rules string
		have                bool
	}{
		{"not loaded", "errno: EPROTONOSUPPORT", "errno: EPROTONOSUPPORT", true},
		{"refused", "errno: EPERM", "errno: EPERM", false},
		{"chains without rules", reply(t, chainBody(t, "input", 1, 0)), "errno: EPERM", false},
	} {
		s := collected(t, answers(map[string]string{"netlink:netfilter/chain-dump": tt.chains,
			"netlink:netfilter/rule-dump": tt.rules}), facts.FilterSource)
		if s.Has(facts.FilterSource) != tt.have || len(s.Filter) > 0 || tt.have == (len(s.Gaps) > 0) {
			t.Errorf("%s: have %t, chains %v, gaps %v", tt.name, s.Has(facts.FilterSource), s.Filter, s.Gaps)
		}
	}
}
