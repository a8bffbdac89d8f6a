package facts

// FilterChain is one base chain of the kernel's packet filter (nftables, and
// iptables where it uses it): one that packets enter from a hook.
type FilterChain struct {
	Family   string       `json:"family"` // as nft(8) spells it: "ip", "ip6", "inet"
	Table    string       `json:"table"`
	Name     string       `json:"name"`
	Hook     string       `json:"hook"`     // "prerouting", "input", "output", "postrouting"
	Priority int          `json:"priority"` // chains of a hook are passed lowest first
	Policy   string       `json:"policy"`   // "accept", "drop": what becomes of packets that no rule decides on
	Rules    []FilterRule `json:"rules,omitempty"`
}

// FilterRule is one rule of a base chain, as far as it is understood.
type FilterRule struct {
	Handle   uint64   `json:"handle"`
	Protocol Opt[int] `json:"protocol,omitzero"` // the IP protocol it is for: 17 is UDP
	DstPort  Opt[int] `json:"dst_port,omitzero"` // the port it is for
	// Other says that it has conditions besides, or instead.
	Other bool `json:"other,omitempty"`
	// Verdict is "accept", "drop", "reject", or "other" for a jump and for what
	// decides in another way. A rule without one, such as a counter, has "".
	Verdict string `json:"verdict,omitempty"`
}
