package compare

import (
	"fmt"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// partitionsAgree wants each InfiniBand port to share a partition with another
// host's, of which at least one of the two is a full member.
func partitionsAgree(ss []slot) checks.Result {
	r := checks.Result{ID: "partitions-agree", Layer: checks.Addressing, Title: "InfiniBand ports share a partition with those of the other hosts", Findings: []checks.Finding{}}
	for _, s := range ss {
		var ms []member
		for _, m := range s.ports {
			switch {
			case transport(m) != "InfiniBand":
			case len(m.port.PKeys) == 0:
				r.Unread = append(r.Unread, m.host+" "+m.link()+" pkeys")
			default:
				ms = append(ms, m)
			}
		}
		if len(ms) < 2 {
			continue
		}
		r.Examined++
		for i, m := range ms {
			reach, limited := false, -1
			for j, o := range ms {
				if i == j {
					continue
				}
				both, works := partition(m.port, o.port)
				reach = reach || works
				if both && !works {
					limited = j
				}
			}
			if !reach && (i > 0 || len(ms) > 2 && othersTalk(ms, i)) {
				r.Findings = append(r.Findings, noPartition(m, ms, i, limited))
			}
		}
	}
	finish(&r, "no two hosts have an InfiniBand port")
	return r
}

// othersTalk reports whether any two ports besides ms[skip] share a partition,
// so that ms[skip] is the odd one out.
func othersTalk(ms []member, skip int) bool {
	for i := range ms {
		for j := range i {
			if _, works := partition(ms[i].port, ms[j].port); works && i != skip && j != skip {
				return true
			}
		}
	}
	return false
}

// partition reports whether two ports are in one partition, and whether they
// can talk there.
func partition(a, b *facts.Port) (both, works bool) {
	for _, x := range a.PKeys {
		for _, y := range b.PKeys {
			if x.Value&0x7fff == y.Value&0x7fff && x.Value&0x7fff != 0 {
				both = true
				works = works || x.Full() || y.Full()
			}
		}
	}
	return both, works
}

func noPartition(m member, ms []member, i, limited int) checks.Finding {
	other := ms[0]
	if i == 0 {
		other = ms[1]
	}
	f := checks.Finding{
		Code: "pkey-mismatch", Severity: checks.Fail, Confidence: checks.Proved, Where: m.where(),
		Message: fmt.Sprintf("%s on %s has the partitions %s, and %s on %s has %s; wanted one in common",
			m.link(), m.host, keys(m.port), other.link(), other.host, keys(other.port)),
		Params: m.params(),
	}
	if limited >= 0 {
		other = ms[limited]
		f.Code = "pkey-limited"
		f.Message = fmt.Sprintf("%s on %s and %s on %s are both limited members of the partition they share (%s, %s); wanted one full member",
			m.link(), m.host, other.link(), other.host, keys(m.port), keys(other.port))
		f.Params["pkey"] = fmt.Sprintf("%#04x", m.port.PKeys[0].Value)
	}
	f.Subject = m.host + " " + m.link() + " -> " + other.host + " " + other.link()
	f.Evidence = []checks.Evidence{{Source: m.host + " " + file("pkeys")(m), Value: keys(m.port)},
		{Source: other.host + " " + file("pkeys")(other), Value: keys(other.port)}}
	return f
}

func keys(p *facts.Port) string {
	var parts []string
	for _, k := range p.PKeys {
		parts = append(parts, fmt.Sprintf("%#04x", k.Value))
	}
	return strings.Join(parts, " ")
}
