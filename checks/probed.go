package checks

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// Ladders yields the ladders of the probes, in the order in which they ran,
// and counts none of them.
func (p *Pass) Ladders() iter.Seq[*facts.Ladder] {
	s := p.Read(facts.Probes, facts.SysfsRDMA)
	p.Otherwise("no ladder was run")
	return func(yield func(*facts.Ladder) bool) {
		for i := range s.Ladders {
			if !yield(&s.Ladders[i]) {
				return
			}
		}
	}
}

// Measurements yields the measurements of the kinds, and counts none of them.
func (p *Pass) Measurements(kinds ...string) iter.Seq[*facts.Measurement] {
	s := p.Read(facts.Probes, facts.SysfsRDMA)
	p.Otherwise("nothing of the kind was measured")
	return func(yield func(*facts.Measurement) bool) {
		for i := range s.Measured {
			if len(kinds) > 0 && !slices.Contains(kinds, s.Measured[i].Probe) {
				continue
			}
			if !yield(&s.Measured[i]) {
				return
			}
		}
	}
}

// An end is this host's end of a probe.
type end struct {
	Subject string // "mlx5_0/1" or "mlx5_0/1 -> hostB mlx5_2/1"
	Peer    string // name of the far host; "" where both ends are here
	Where   Where
	Port    *PortRef // nil: not in this snapshot
	Device  string
	params  []string
}

// endOf finds the port that a probe ran on, and names both ends.
func endOf(s *facts.Snapshot, local, remote string, path *facts.Path) end {
	device, number, _ := strings.Cut(local, "/")
	port, _ := strconv.Atoi(number)
	e := end{Subject: local, Device: device, Where: Where{Device: device, Port: port}}
	e.params = []string{"device", device, "port", number}
	for _, ref := range ports(s) {
		if ref.String() == local {
			e.Port, e.Where = &ref, ref.Where()
			e.params = append(e.params, "netdev", ref.Netdev.Or(""), "pci", ref.Device.PCI.Or(""))
		}
	}
	if remote != "" && remote != local {
		e.Subject = local + " -> " + remote
		if host, _, ok := strings.Cut(remote, " "); ok {
			e.Peer = host
		}
	}
	if path != nil {
		if i, ok := path.SGIDIndex.Get(); ok {
			e.params = append(e.params, "gid_index", strconv.Itoa(i))
		}
	}
	return e
}

// endOfLadder is this host's end of a ladder.
func endOfLadder(s *facts.Snapshot, l *facts.Ladder) end {
	return endOf(s, l.Local, l.Remote, &l.Path)
}

// endOfMeasurement is this host's end of a measurement.
func endOfMeasurement(s *facts.Snapshot, m *facts.Measurement) end {
	return endOf(s, m.Local, m.Remote, m.Path)
}

// Params are the parameters of every finding about the end.
func (e end) Params(pairs ...string) map[string]string {
	peer := e.Peer
	if peer == "" {
		peer = "localhost"
	}
	return params(slices.Concat(e.params, []string{"peer", peer}, pairs)...)
}

// software reports whether the end is an emulation.
func (e end) software() bool { return e.Port != nil && e.Port.Device.Software() }

// iWARP reports whether the ladder's path is iWARP, where a transfer that was
// sent has succeeded, whatever the peer thinks of it.
func iWARP(path *facts.Path) bool { return path != nil && path.Transport == "iWARP" }

// ladderParams are those of findings about a ladder.
const ladderParams = "device port netdev? pci? peer? gid_index? step? errno? attribute? from? to? op? size? status? tool?"

// stepTitles are the steps in words.
var stepTitles = map[string]string{
	"open": "opening the device", "query-device": "asking the device for its limits", "query-port": "asking for the port's attributes",
	"alloc-pd": "making a protection domain", "create-comp-channel": "making a completion channel",
	"create-cq": "making a completion queue", "reg-mr": "registering memory", "reg-mr-unaligned": "registering memory off a page boundary",
	"create-qp": "making a queue pair", "init": "moving the QP to INIT", "rtr": "moving the QP to RTR", "rts": "moving the QP to RTS",
	"dereg-mr": "deregistering memory", "destroy-qp": "destroying the queue pair", "resolve-addr": "resolving the address",
	"resolve-route": "resolving the route", "listen": "listening", "connect": "connecting", "accept": "accepting",
	"established": "establishing the connection", "disconnect": "disconnecting",
}

// stepTitle is a step in words.
func stepTitle(name string) string {
	if t, ok := stepTitles[name]; ok {
		return t
	}
	return name
}

// tools are the standard tools that do what a step does.
var tools = map[string]string{
	"write": "ib_write_bw", "read": "ib_read_bw", "send": "ib_send_bw", "recv": "ib_send_bw",
	"fetch-add": "ib_atomic_bw", "cmp-swap": "ib_atomic_bw",
	"resolve-addr": "rping", "resolve-route": "rping", "listen": "rping", "connect": "rping", "accept": "rping", "established": "rping",
}

// stepEvidence shows how a step failed, as the call told it.
func stepEvidence(l *facts.Ladder, st *facts.ProbeStep) Evidence {
	err := st.Error
	source := fmt.Sprintf("probe %s, step %s: %s", l.Probe, st.Name, err.Call)
	if st.Role == "responder" {
		source = fmt.Sprintf("probe %s, step %s at the responder: %s", l.Probe, st.Name, err.Call)
	}
	return Evidence{source, errorText(err)}
}

// errorText is a step's error with its numbers.
func errorText(err *facts.StepError) string {
	var parts []string
	if err.Errno != 0 {
		parts = append(parts, fmt.Sprintf("errno %d %s", err.Errno, err.Name))
	}
	if st, ok := err.WCStatus.Get(); ok {
		parts = append(parts, fmt.Sprintf("status %d", st))
		if err.VendorErr != 0 {
			parts = append(parts, fmt.Sprintf("vendor_err %#x", err.VendorErr))
		}
	}
	if err.Event != "" {
		parts = append(parts, err.Event)
	}
	if r, ok := err.Reason.Get(); ok {
		parts = append(parts, fmt.Sprintf("reason %d", r))
	}
	if err.QPState != "" {
		parts = append(parts, "QP then in "+err.QPState)
	}
	if err.TimedOut {
		parts = append(parts, "no answer within the probe's time")
	}
	if err.Text != "" {
		parts = append(parts, err.Text)
	}
	if len(parts) == 0 {
		return "it failed and told nothing"
	}
	return strings.Join(parts, "; ")
}

// failedStep is the first step of a ladder, of those named, that failed.
func failedStep(l *facts.Ladder, names ...string) *facts.ProbeStep {
	for i := range l.Steps {
		if l.Steps[i].Error != nil && slices.Contains(names, l.Steps[i].Name) {
			return &l.Steps[i]
		}
	}
	return nil
}

// made reports whether a ladder came to one of the steps named.
func made(l *facts.Ladder, names ...string) bool {
	return slices.ContainsFunc(l.Steps, func(st facts.ProbeStep) bool { return slices.Contains(names, st.Name) })
}

// notReached settles a ladder that did not come to what a check asks about.
func (p *Pass) notReached(l *facts.Ladder, what string) {
	p.Examine(1)
	switch l.End.Outcome {
	case facts.Completed, "":
		p.NotApplicable("%s did not come to %s", l.Local, what)
	case facts.NotRun, facts.Stopped:
		p.NotApplicable("the probe of %s was not run to its end: %s", l.Local, endDetail(l.End))
	default:
		p.Unread(l.Local, fmt.Sprintf("%s (%s)", what, endDetail(l.End)))
	}
}

// endDetail is how a probe ended, in words.
func endDetail(e facts.ProbeEnd) string {
	if e.Detail != "" {
		return string(e.Outcome) + ": " + e.Detail
	}
	return string(e.Outcome)
}

// worked is the variation of a failed step that passed.
func worked(l *facts.Ladder, step string, attributes ...string) *facts.Variation {
	for i := range l.Varied {
		v := &l.Varied[i]
		if v.Step == step && v.Error == nil && (len(attributes) == 0 || slices.Contains(attributes, v.Attribute)) {
			return v
		}
	}
	return nil
}

// variedEvidence shows the attribute that makes a step pass.
func variedEvidence(l *facts.Ladder, v *facts.Variation) Evidence {
	return Evidence{fmt.Sprintf("probe %s, step %s again with another %s", l.Probe, v.Step, v.Attribute),
		fmt.Sprintf("%s %s fails, %s %s works", v.Attribute, v.From, v.Attribute, v.To)}
}
