package compare

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// A trait is one fact that the ports of a slot must agree on.
type trait struct {
	what     string // as a reader calls it: "PFC"
	code     string // "" is odd-one-out
	severity checks.Severity
	// value is the member's, and whether it was read. Of a slot in which nobody
	// has it nothing is said.
	value func(member) (string, bool)
	// source is where the value can be looked up.
	source func(member) string
	// better decides between two values that equally many hosts have.
	better func(a, b string) bool
	// params are those that the code's page needs besides the port's own.
	params func(m member, is, want string) []string
	// ofDevice says that the page knows of no port.
	ofDevice bool
	// pick chooses another code for some differences, "" for none.
	pick func(is, want string) string
}

// oddOneOut is the code of a difference that has no code of its own.
const oddOneOut = "odd-one-out"

// judge compares the ports of a slot and adds to r.
func (t trait) judge(s slot, r *checks.Result) {
	var known []member
	var values, unread []string
	for _, m := range s.ports {
		if v, ok := t.value(m); ok {
			known, values = append(known, m), append(values, v)
		} else {
			unread = append(unread, m.host+" "+m.link()+" "+t.what)
		}
	}
	if len(known) > 0 {
		r.Unread = append(r.Unread, unread...)
	}
	if len(known) < 2 {
		return
	}
	r.Examined++
	want, others, odds := odd(values, t.better)
	good := known[slices.Index(values, want)]
	for _, i := range odds {
		r.Findings = append(r.Findings, t.finding(known[i], good, values[i], want, others))
	}
}

func (t trait) finding(m, good member, is, want string, others int) checks.Finding {
	message := fmt.Sprintf("%s of %s on %s is %s, and %s on %s has %s; wanted the same on both",
		t.what, m.link(), m.host, is, good.link(), good.host, want)
	if others > 1 {
		message = fmt.Sprintf("%s of %s on %s is %s, and %d others have %s; wanted the same on all",
			t.what, m.link(), m.host, is, others, want)
	}
	code := t.code
	if t.pick != nil {
		code = t.pick(is, want)
	}
	if code == "" {
		code = oddOneOut
	}
	f := checks.Finding{
		Code: code, Severity: t.severity, Confidence: checks.Proved, Message: message, Where: m.where(),
		Subject: fmt.Sprintf("%s %s -> %s %s", m.host, m.link(), good.host, good.link()),
		Evidence: []checks.Evidence{{Source: m.host + " " + t.source(m), Value: is},
			{Source: good.host + " " + t.source(good), Value: want}},
		Params: m.params("what", t.what+" of "+m.link()),
	}
	if t.params != nil && code != oddOneOut {
		delete(f.Params, "what")
		if t.ofDevice {
			delete(f.Params, "port")
			delete(f.Params, "netdev")
		}
		more := t.params(m, is, want)
		for i := 0; i+1 < len(more); i += 2 {
			f.Params[more[i]] = more[i+1]
		}
	}
	return f
}

// agree judges traits over all slots.
func agree(id string, layer checks.Layer, title string, ss []slot, traits []trait) checks.Result {
	r := checks.Result{ID: id, Layer: layer, Title: title, Findings: []checks.Finding{}}
	compareAll(&r, ss, traits)
	finish(&r, "no two hosts have a port of which this is known")
	return r
}

// compareAll judges every trait of every slot.
func compareAll(r *checks.Result, ss []slot, traits []trait) {
	for _, s := range ss {
		for _, t := range traits {
			t.judge(s, r)
		}
	}
}

// finish gives a result its status. None says why nothing was examined.
func finish(r *checks.Result, none string) {
	has := func(sev checks.Severity) bool {
		return slices.ContainsFunc(r.Findings, func(f checks.Finding) bool { return f.Severity == sev })
	}
	switch {
	case has(checks.Fail):
		r.Status = checks.Failed
	case has(checks.Warn):
		r.Status = checks.Warned
	case r.Examined > 0:
		r.Status = checks.Passed
	case len(r.Unread) > 0:
		r.Status, r.Reason = checks.Unknown, "not read: "+r.Unread[0]
	default:
		r.Status, r.Reason = checks.Skipped, none
	}
}

// larger keeps the larger of two figures.
func larger(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && x > y
}

// number is the figure that s holds, 0 where it is none.
func number(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return f
}

func itoa(n int) string { return strconv.Itoa(n) }

// known turns an Opt into what a trait's value returns.
func known[T any](o interface{ Get() (T, bool) }) (string, bool) {
	v, ok := o.Get()
	if !ok {
		return "", false
	}
	return fmt.Sprint(v), true
}
