package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// ID names the result of Judge among those of the checks.
const ID = "like-policy"

// MismatchCode is the code of a demand that has none of its own.
const MismatchCode = "policy-mismatch"

// Codes are the codes of the findings.
var Codes = []string{MismatchCode, "device-missing", "link-speed-degraded", "roce-mtu-low", "pfc-off", "pfc-mismatch",
	"dscp-map-mismatch", "ecn-off"}

// Judge compares a host with the policy. What the policy demands is a finding
// where it is not so, whatever it would be elsewhere.
func Judge(p *Policy, s *facts.Snapshot) checks.Result {
	j := &judge{Policy: p, snap: s, result: checks.Result{ID: ID, Layer: checks.Group,
		Title: "the host is what the policy says", Findings: []checks.Finding{}}}
	if s.Has(facts.SysfsRDMA) {
		j.devices()
		j.firmware()
		for i := range s.Devices {
			d := &s.Devices[i]
			for k := range d.Ports {
				if e := p.entry(d, &d.Ports[k]); e != nil {
					j.result.Examined++
					j.port(portOf{s, d, &d.Ports[k], e})
				}
			}
		}
		j.unmatched()
	} else {
		j.result.Unread = append(j.result.Unread, string(facts.SysfsRDMA))
	}
	j.modules()
	j.limits()
	r := j.result
	slices.SortStableFunc(r.Findings, func(a, b checks.Finding) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	r.Status, r.Reason = status(&r)
	return r
}

func status(r *checks.Result) (checks.Status, string) {
	has := func(sev checks.Severity) bool {
		return slices.ContainsFunc(r.Findings, func(f checks.Finding) bool { return f.Severity == sev })
	}
	switch {
	case has(checks.Fail):
		return checks.Failed, ""
	case has(checks.Warn):
		return checks.Warned, ""
	case len(r.Unread) > 0:
		return checks.Unknown, "not read: " + r.Unread[0]
	case r.Examined > 0:
		return checks.Passed, ""
	}
	return checks.Skipped, "the policy demands nothing that is here"
}

type judge struct {
	*Policy
	snap   *facts.Snapshot
	result checks.Result
}

func (j *judge) report(f checks.Finding) {
	f.Confidence = checks.Proved
	j.result.Findings = append(j.result.Findings, f)
}

func (j *judge) unread(what string) { j.result.Unread = append(j.result.Unread, what) }

// mismatch is a finding without a code of its own.
func (j *judge) mismatch(subject string, where checks.Where, sev checks.Severity, what, is, want, source string) {
	j.report(checks.Finding{
		Code: MismatchCode, Severity: sev, Subject: subject, Where: where,
		Message:  fmt.Sprintf("%s is %s, and the policy wants %s", what, is, want),
		Evidence: []checks.Evidence{{Source: source, Value: is}, {Source: "policy", Value: want}},
		Params:   map[string]string{"what": what, "is": is, "want": want},
	})
}

// devices judges how many devices there are, and which.
func (j *judge) devices() {
	if j.Devices == nil {
		return
	}
	j.result.Examined++
	var names, placed []string
	for i := range j.snap.Devices {
		d := &j.snap.Devices[i]
		names = append(names, d.Name)
		if !d.Software() {
			placed = append(placed, d.Name)
		}
	}
	missing := func(subject string, where checks.Where, message string) {
		seen := strings.Join(names, " ")
		if seen == "" {
			seen = "no entries"
		}
		j.report(checks.Finding{Code: "device-missing", Severity: checks.Fail, Subject: subject, Message: message, Where: where,
			Evidence: []checks.Evidence{{Source: "/sys/class/infiniband", Value: seen}, {Source: "policy", Value: subject}},
			Params: map[string]string{"expected": strconv.Itoa(max(j.Devices.Count, len(j.Devices.Present))),
				"have": strconv.Itoa(len(placed))}})
	}
	gone := 0
	for _, want := range j.Devices.Present {
		if has(j.snap, want) {
			continue
		}
		gone++
		where := checks.Where{Device: want}
		if strings.Count(want, ":") == 2 {
			where = checks.Where{PCI: want}
		}
		missing(want, where, fmt.Sprintf("%s is not here, and the policy wants it", want))
	}
	if gone == 0 && len(placed) < j.Devices.Count {
		missing("host", checks.Where{}, fmt.Sprintf("%d RDMA devices are here, and the policy wants %d", len(placed), j.Devices.Count))
	}
}

// unmatched notes entries that are for ports which are not here: their names
// may be wrong, and nothing was judged by them.
func (j *judge) unmatched() {
	for i := range j.Ports {
		e := &j.Ports[i]
		used := slices.ContainsFunc(j.snap.Devices, func(d facts.Device) bool {
			return slices.ContainsFunc(d.Ports, func(p facts.Port) bool { return matches(e.Match, &d, &p) })
		})
		if !used {
			j.unread("the ports of the policy's entry " + strings.Join(e.Match, " ") + ": none is here")
		}
	}
}

// firmware judges the versions of the boards that the policy lists.
func (j *judge) firmware() {
	for i := range j.snap.Devices {
		d := &j.snap.Devices[i]
		allowed, listed := j.Firmware[d.BoardID.Or("")]
		if !listed {
			continue
		}
		j.result.Examined++
		version, ok := d.FirmwareVersion.Get()
		switch {
		case !ok:
			j.unread(d.Name + " fw_ver")
		case !slices.Contains(allowed, version):
			j.mismatch(d.Name, checks.Where{Device: d.Name, PCI: d.PCI.Or("")}, checks.Warn, "firmware of "+d.Name, version,
				strings.Join(allowed, " or "), "/sys/class/infiniband/"+d.Name+"/fw_ver")
		}
	}
}
