package tui

import (
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// impactWord is what a diagnosis means for work, in the words of a headline.
func impactWord(d *knowledge.Diagnosis) string {
	switch {
	case d.Severity == checks.Info:
		return "NOTE"
	case d.Impact == knowledge.Down:
		return "DOWN"
	case d.Impact == knowledge.Degraded:
		return "DEGRADED"
	case d.Impact == knowledge.AtRisk:
		return "AT RISK"
	case d.Severity == checks.Fail:
		return "FAIL"
	}
	return "WARNING"
}

// adviceWords is what to do with the node.
func adviceWords(a report.Advice) string {
	switch a {
	case report.Drain:
		return "drain this node"
	case report.Keep:
		return "keep this node"
	case report.NotRDMA:
		return "not RDMA: look elsewhere"
	case report.NoIdea:
		return "nothing could be judged"
	}
	return string(a)
}

// doing is what a run is at, as one says it.
func doing(p *report.Progress) string {
	said := map[string]string{"collect": "Collecting facts: ", "wait": "Waiting ", "sample": "Reading the counters again: ",
		"judge": "Judging: "}[p.Step]
	if said == "" {
		said = p.Step + " "
	}
	return said + p.Text
}

// placeName is where a step is carried out, as one says it.
func placeName(p knowledge.Place) string {
	switch p {
	case "host", "":
		return "this host"
	case "sm":
		return "the subnet manager"
	case "bios":
		return "the BIOS"
	case "cloud":
		return "the cloud provider"
	}
	return "the " + string(p)
}

// disrupted is what a step interrupts, as one says it.
func disrupted(d knowledge.Disrupts) string {
	switch d {
	case "nothing", "":
		return "nothing"
	case "process":
		return "the process"
	}
	return "the " + string(d)
}

// stepNotes is what one should know before carrying a step out.
func stepNotes(t *theme, s knowledge.Step) row {
	notes := row{t.text(dim, "on "+placeName(s.Where)+t.dot)}
	tn := dim
	if disruptive(s) {
		tn = warning
	}
	notes = append(notes, t.text(tn, "disrupts "+disrupted(s.Disrupts)))
	if s.Command == "" && !s.Persistent {
		return notes
	}
	return append(notes, t.text(dim, t.dot+pick(s.Persistent, "survives a reboot", "gone after a reboot")))
}

// subjects names what a diagnosis is about, with the netdev of a port, since
// commands take one or the other.
func (e *exam) subjects(d *knowledge.Diagnosis) string {
	s := d.Subject
	for _, p := range e.ports() {
		if s == p.link && p.netdev != notApplicable {
			s += " " + p.netdev
			break
		}
	}
	if n := len(d.Subjects) - 1; n > 0 {
		s += " +" + strconv.Itoa(n) + " more"
	}
	return s
}

// stepText is a step's command, or what to do where no command can.
func stepText(s knowledge.Step) (string, tone) {
	if s.Command != "" {
		return s.Command, command
	}
	return s.Text, normal
}

// firstCommand is the first step that can be copied.
func firstCommand(steps []knowledge.Step) (knowledge.Step, bool) {
	for _, s := range steps {
		if s.Command != "" {
			return s, true
		}
	}
	return knowledge.Step{}, false
}
