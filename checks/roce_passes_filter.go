package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var rocePassesFilter = register(&Check{
	ID:    "roce-passes-filter",
	Title: "the packet filter lets software RoCE pass",
	Doc: "Software RoCE sends and receives UDP port 4791 through the kernel, and nftables rules apply to it. What they drop " +
		"is lost without a word to the program. RoCE in hardware passes no packet filter of the host.",
	Layer: Addressing,
	Needs: []facts.Source{facts.SysfsRDMA},
	Uses:  []facts.Source{facts.FilterSource, facts.RDMANetlink, facts.ModuleList, facts.Links, facts.ProcessList},
	Codes: []string{"roce-filtered"},
	Params: Params{
		"roce-filtered": filterParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.FilterSource, facts.ModuleList)
		for port := range p.Ports(RoCE) {
			if !port.Device.Software() {
				p.NotApplicable("%s is hardware, whose packets pass no filter of the kernel", port.Device.Name)
				continue
			}
			families := filterFamilies(port)
			if families == nil {
				p.NotApplicable("%s has no routable GID", port)
				continue
			}
			if !s.Has(facts.FilterSource) {
				p.missing(facts.FilterSource, port.String(), "packet filter")
				continue
			}
			judgeFilter(p, s, port, families)
		}
	},
})

func judgeFilter(p *Pass, s *facts.Snapshot, port PortRef, families []string) {
	unsure := ""
	for i := range s.Filter {
		c := &s.Filter[i]
		if !slices.Contains(families, c.Family) {
			continue
		}
		fate, why := filterFate(c)
		switch fate {
		case filterUnsure:
			unsure = filterPlace(c)
		case filterDrops:
			severity := Fail
			if ok, _ := p.Wanted(port); !ok {
				severity = Info
			}
			p.Report(Finding{
				Code: "roce-filtered", Severity: severity, Subject: port.String(), Confidence: Proved, Where: port.Where(),
				Message:  fmt.Sprintf("the packet filter drops RoCE (UDP port %d) at the %s hook: %s", roceUDPPort, c.Hook, why),
				Evidence: []Evidence{{"nft -a list chain " + filterPlace(c), why}},
				Params:   port.Params("family", c.Family, "table", c.Table, "chain", c.Name, "hook", c.Hook),
			})
			return
		}
	}
	if old := legacyFilter(s); old != "" && unsure == "" {
		unsure = "legacy iptables (" + old + ")"
	}
	if unsure != "" {
		p.NotApplicable("what %s does with RoCE depends on conditions that are not read", unsure)
	}
}

// A filterOutcome is what a chain does with a packet.
type filterOutcome int

const (
	filterPasses filterOutcome = iota
	filterDrops
	filterUnsure
)

// filterFate follows a RoCE packet through a base chain, and tells what decides
// on it. Conditions that were not understood leave it open.
func filterFate(c *facts.FilterChain) (filterOutcome, string) {
	unsure := false
	for _, r := range c.Rules {
		if proto, ok := r.Protocol.Get(); ok && proto != protocolUDP {
			continue
		}
		if port, ok := r.DstPort.Get(); ok && port != roceUDPPort {
			continue
		}
		switch {
		case r.Other || r.Verdict == "other":
			unsure = true
		case unsure:
			return filterUnsure, ""
		case r.Verdict == "accept":
			return filterPasses, ""
		default:
			return filterDrops, ruleText(r)
		}
	}
	switch {
	case unsure:
		return filterUnsure, ""
	case c.Policy == "drop":
		return filterDrops, "policy drop, and no rule accepts it"
	}
	return filterPasses, ""
}

const protocolUDP = 17 // IPPROTO_UDP

// ruleText shows a rule as nft(8) does.
func ruleText(r facts.FilterRule) string {
	text := r.Verdict
	if port, ok := r.DstPort.Get(); ok {
		text = fmt.Sprintf("udp dport %d %s", port, text)
	} else if r.Protocol.Known() {
		text = "meta l4proto udp " + text
	}
	return fmt.Sprintf("%s # handle %d", text, r.Handle)
}

// filterPlace names a chain as nft(8) takes it.
func filterPlace(c *facts.FilterChain) string {
	return strings.Join([]string{c.Family, c.Table, c.Name}, " ")
}

// filterFamilies are the families of chains that packets of the port's
// addresses pass.
func filterFamilies(port PortRef) []string {
	var families []string
	for _, g := range port.GIDs {
		if g.LinkLocal() {
			continue
		}
		family := "ip6"
		if strings.HasPrefix(g.Value, "0000:0000:0000:0000:0000:ffff:") {
			family = "ip"
		}
		if !slices.Contains(families, family) {
			families = append(families, family)
		}
	}
	if families != nil {
		families = append(families, "inet")
	}
	return families
}

// legacyFilter finds the module of an older filter, whose rules are not read:
// asking for them would load more of it.
func legacyFilter(s *facts.Snapshot) string {
	for _, name := range []string{"iptable_filter", "iptable_raw", "iptable_mangle", "ip6table_filter"} {
		if s.Module(name) != nil {
			return name
		}
	}
	return ""
}
