package collect

import (
	"cmp"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// filter reads the base chains of nftables and their rules
// (linux/netfilter/nf_tables.h), which software RoCE passes. Where nf_tables is
// not loaded there are none, and nothing is asked.
var _ = register(Collector{
	Source: facts.FilterSource,
	Read: func(r *Reader) {
		var chains []facts.FilterChain
		rules := map[chainKey][]facts.FilterRule{}
		left, ours := mostFilterRules, filterDump("netfilter/rule-dump", unix.NFT_MSG_GETRULE)
		asked := 0
		answered := func() { asked++ }
		b := r.batch()
		r.filterDump(b, filterDump("netfilter/chain-dump", unix.NFT_MSG_GETCHAIN), func(body []byte) error {
			c, err := parseFilterChain(body)
			if err == nil && c.Hook != "" && c.Family != "" {
				chains = append(chains, c)
			}
			return err
		}, answered)
		r.filterDump(b, ours, func(body []byte) error {
			k, rule, err := parseFilterRule(body)
			if err != nil || k.family == "" || rule.Verdict == "" {
				return err
			}
			if left--; left < 0 {
				r.gap(ours.Name, facts.Malformed, "more than 20000 rules, the rest is left out")
				return nil
			}
			rules[k] = append(rules[k], rule)
			return nil
		}, answered)
		b.run()
		if asked < 2 {
			return // Chains without their rules would seem to let everything pass.
		}
		for i := range chains {
			c := &chains[i]
			c.Rules = rules[chainKey{c.Family, c.Table, c.Name}]
		}
		slices.SortStableFunc(chains, func(a, b facts.FilterChain) int {
			return cmp.Or(cmp.Compare(a.Family, b.Family), cmp.Compare(a.Hook, b.Hook),
				cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Table, b.Table))
		})
		r.Snap.Filter = chains
		r.Have()
	},
})

// mostFilterRules bounds what is kept: a node of a large cluster has a few
// thousand rules.
const mostFilterRules = 20000

// A chainKey names a chain.
type chainKey struct{ family, table, name string }

// filterDump lists all chains or rules of all families: struct nfgenmsg with
// family NFPROTO_UNSPEC.
func filterDump(name string, msg uint16) hostio.Op {
	return netlinkOp(name, unix.NFNL_SUBSYS_NFTABLES<<8|msg, nlDump, make([]byte, sizeofNfgenmsg), nil)
}

const sizeofNfgenmsg = 4 // family, version, resource id

// filterDump asks, and counts a kernel without nf_tables as an answer.
func (r *Reader) filterDump(b *batch, op hostio.Op, each func([]byte) error, answered func()) {
	b.add(op, func(res hostio.Result) {
		if err := res.Err(); err != nil {
			if kind, _ := classify(err); kind == facts.Unsupported && res.Errno != 0 {
				answered()
				return
			}
			r.netlinkGap(op, err)
			return
		}
		r.answer(op, res, each, answered)
	})
}
