package probes

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// maxTries bounds how many values of one attribute are tried.
const maxTries = 8

// change is one other value of an attribute.
type change struct {
	attribute, from, to string
	way                 way
}

// changes are the single changes that may make a way work, the likely ones
// first.
func (l *ladder) changes(w way) []change {
	var cs []change
	add := func(attribute string, from, to any, n way) {
		cs = append(cs, change{attribute, fmt.Sprint(from), fmt.Sprint(to), n})
	}
	if w.global {
		for _, i := range l.otherGIDs(w.gid) {
			n := w
			n.gid = i
			add("sgid_index", w.gid, i, n)
		}
	}
	for mtu := w.mtu / 2; mtu >= 256; mtu /= 2 {
		n := w
		n.mtu = mtu
		add("path_mtu", w.mtu, mtu, n)
	}
	for _, i := range l.otherPkeys(w.pkey) {
		n := w
		n.pkey = i
		add("pkey_index", w.pkey, i, n)
	}
	n := w
	n.global = !w.global
	add("is_global", strconv.FormatBool(w.global), strconv.FormatBool(n.global), n)
	return cs
}

// otherGIDs are used slots of the table, routable RoCE v2 first where types
// are known.
func (l *ladder) otherGIDs(not int) []int {
	var first, later []int
	if table, err := l.dev.GIDTable(l.par.Port); err == nil {
		for _, e := range table {
			switch {
			case e.Index == not:
			case e.Type == verbs.GIDTypeRoCEv2 && !(e.GID[0] == 0xfe && e.GID[1]&0xc0 == 0x80): // Not link-local.
				first = append(first, e.Index)
			default:
				later = append(later, e.Index)
			}
		}
		all := append(first, later...)
		return all[:min(len(all), maxTries)]
	}
	for i := 0; i < min(l.port.GIDTblLen, 64) && len(first) < maxTries; i++ {
		if g, err := l.dev.QueryGID(l.par.Port, i); err == nil && i != not && g != (verbs.GID{}) {
			first = append(first, i)
		}
	}
	return first
}

// otherPkeys are used slots of the partition table.
func (l *ladder) otherPkeys(not int) []int {
	var is []int
	for i := 0; i < min(l.port.PKeyTblLen, 128) && len(is) < maxTries; i++ {
		if k, err := l.dev.QueryPKey(l.par.Port, i); err == nil && i != not && k != 0 {
			is = append(is, i)
		}
	}
	return is
}

// concerns are the attributes that a step looks at.
var concerns = map[string][]string{
	"init": {"pkey_index"},
	"rtr":  {"sgid_index", "path_mtu", "pkey_index", "is_global"},
	"rts":  {"sgid_index", "path_mtu"},
}

// vary looks for the one attribute that makes the failed step pass.
func (l *ladder) vary(w way, s settings) {
	step, err := l.lastFailure()
	if err == nil || l.ctx.Err() != nil {
		return
	}
	if step == "create-qp" {
		l.varyQP(s)
		return
	}
	l.tryEach(step, l.changes(w), func(c change) error {
		var failed string
		p, err := l.connect(c.way, s, silent(&failed))
		if err == nil {
			p.close()
			return nil
		}
		return fmt.Errorf("%s: %w", failed, err)
	})
}

// tryEach tries changes that concern the step. The first that works of an
// attribute ends the tries of that attribute.
func (l *ladder) tryEach(step string, cs []change, try func(change) error) {
	works := map[string]bool{}
	concern := concerns[step]
	if concern == nil {
		concern = concerns["rtr"]
	}
	for _, c := range cs {
		if works[c.attribute] || !contains(concern, c.attribute) || l.ctx.Err() != nil {
			continue
		}
		l.tell.Begin(step, 2*transferLimit)
		err := try(c)
		works[c.attribute] = err == nil
		l.out.Varied = append(l.out.Varied, facts.Variation{Step: step, Attribute: c.attribute, From: c.from, To: c.to,
			Error: stepError("", err)})
	}
	l.tell.Ladder(l.id, &l.out)
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

func (l *ladder) lastFailure() (string, *facts.StepError) {
	if len(l.out.Steps) == 0 {
		return "", nil
	}
	s := l.out.Steps[len(l.out.Steps)-1]
	return s.Name, s.Error
}

// varyQP tries queue pairs that ask for less.
func (l *ladder) varyQP(s settings) {
	for _, c := range []struct {
		attribute, from, to string
		init                verbs.QPInit
	}{
		{"max_send_wr", fmt.Sprint(queueDepth / 2), "1", verbs.QPInit{Type: s.service}},
		{"qp_type", s.service.String(), "UD", verbs.QPInit{Type: verbs.UD}},
	} {
		l.tell.Begin("create-qp", transferLimit)
		c.init.SendCQ, c.init.Caps = l.cq, verbs.QPCaps{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1}
		q, err := l.pd.CreateQP(c.init)
		if err == nil {
			_ = q.Close()
		}
		l.out.Varied = append(l.out.Varied, facts.Variation{Step: "create-qp", Attribute: c.attribute, From: c.from, To: c.to,
			Error: stepError("", err)})
	}
}

// varyTransfer looks for the one attribute that lets the data pass.
func (l *ladder) varyTransfer(w way, s settings, op operation) {
	_, err := l.lastFailure()
	if err == nil || l.ctx.Err() != nil || !err.WCStatus.Known() && !err.TimedOut {
		return // Nothing of the path: the data arrived otherwise than it was sent.
	}
	s.timeout, s.retry = 12, 3 // It is known that it fails: wait a tenth of the time.
	l.tryEach(op.name, l.changes(w), func(c change) error {
		var failed string
		p, err := l.connect(c.way, s, silent(&failed))
		if err != nil {
			return fmt.Errorf("%s: %w", failed, err)
		}
		defer l.drain()
		defer p.close()
		return op.run(l, p, &facts.ProbeStep{Name: op.name, Bytes: op.bytes})
	})
}

// varyRegistration tries what a registration may be refused for: its size and
// its rights.
func (l *ladder) varyRegistration() {
	if l.mem == nil || l.ctx.Err() != nil {
		return
	}
	for _, c := range []struct {
		attribute, from, to string
		bytes               int
		access              verbs.Access
	}{
		{"length", fmt.Sprint(2 * l.mem.page), fmt.Sprint(l.mem.page), l.mem.page, l.access()},
		{"access", l.access().String(), localWrite.String(), 2 * l.mem.page, localWrite},
	} {
		l.tell.Begin("reg-mr", transferLimit)
		mr, err := l.pd.RegMR(l.mem.mem, uint64(l.mem.page), uint64(c.bytes), c.access)
		if err == nil {
			_ = mr.Close()
		}
		l.out.Varied = append(l.out.Varied, facts.Variation{Step: "reg-mr", Attribute: c.attribute, From: c.from, To: c.to,
			Error: stepError("", err)})
	}
}
