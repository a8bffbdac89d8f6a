package policy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// From makes the policy that a good host fulfils. What was not read is not
// demanded; ports without link may stay dark.
func From(s *facts.Snapshot) *Policy {
	p := &Policy{Version: Version}
	if len(s.Devices) > 0 {
		p.Devices = &Devices{}
	}
	for i := range s.Devices {
		d := &s.Devices[i]
		p.Devices.Present = append(p.Devices.Present, d.Name)
		if !d.Software() && p.Devices.Count < mostDevices {
			p.Devices.Count++
		}
		if board, ok := d.BoardID.Get(); ok && !d.Software() && d.FirmwareVersion.Known() {
			p.allow(board, d.FirmwareVersion.Or(""))
		}
		for k := range d.Ports {
			p.learn(s, d, &d.Ports[k])
		}
	}
	p.Limits = limitsOf(s)
	return p
}

func (p *Policy) allow(board, version string) {
	if p.Firmware == nil {
		p.Firmware = map[string][]string{}
	}
	if !slices.Contains(p.Firmware[board], version) {
		p.Firmware[board] = append(p.Firmware[board], version)
		slices.Sort(p.Firmware[board])
	}
}

// learn adds a port to the entry of those that are like it.
func (p *Policy) learn(s *facts.Snapshot, d *facts.Device, port *facts.Port) {
	name := literal(facts.LinkName(d.Name, port.Number))
	if port.State.Or("") != facts.StateActive {
		p.Dark = append(p.Dark, name)
		return
	}
	e := Ports{Match: []string{name}}
	if t := checks.Transport(d, port); slices.Contains([]string{"RoCE", "InfiniBand", "iWARP"}, t) {
		e.Transport = t
	}
	rate := port.Rate
	if n := s.Netdev(port.Netdev.Or("")); n != nil {
		under := s.Beneath(n)
		rate = under.Speed
		if mtu := n.MTU.Or(0); mtu >= leastMTU && mtu <= mostMTU {
			e.MTU = mtu
		}
		e.quality(under)
	}
	if r, ok := parseRate(rate.Or(0).String()); ok && !d.Software() {
		e.Rate, e.rate = r.String(), r
	}
	for i := range p.Ports {
		if alike(&p.Ports[i], &e) {
			p.Ports[i].Match = append(p.Ports[i].Match, name)
			return
		}
	}
	p.Ports = append(p.Ports, e)
}

// literal is the pattern that matches a name and nothing else.
func literal(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// quality learns PFC, map, trust and congestion control.
func (p *Ports) quality(n *facts.Netdev) {
	dcb, ok := n.DCB.Get()
	if !ok {
		return
	}
	if pfc, ok := dcb.PFC.Get(); ok {
		on := []int{}
		for prio := range 8 {
			if pfc.On(prio) {
				on = append(on, prio)
			}
		}
		p.PFC = &on
	}
	for _, a := range dcb.Apps {
		if a.Selector == facts.SelectorDSCP && a.Protocol >= 0 && a.Protocol < 64 && a.Priority >= 0 && a.Priority < 8 {
			if p.DSCP == nil {
				p.DSCP = map[string]int{}
			}
			p.DSCP[strconv.Itoa(a.Protocol)] = a.Priority
		}
	}
	if len(dcb.Trust) > 0 && (dcb.Trust[0] == "dscp" || dcb.Trust[0] == "pcp") {
		p.Trust = dcb.Trust[0]
	}
	prios := []int{3}
	if p.PFC != nil && len(*p.PFC) > 0 {
		prios = *p.PFC
	}
	var states []int
	for _, prio := range prios {
		for _, role := range []string{"roce_np", "roce_rp"} {
			v, ok := n.ECN[role+"/enable/"+strconv.Itoa(prio)]
			if !ok {
				return
			}
			states = append(states, v)
		}
	}
	if on := states[0] != 0; !slices.ContainsFunc(states, func(v int) bool { return (v != 0) != on }) {
		p.ECN = &on
	}
}

// alike reports whether two entries demand the same.
func alike(a, b *Ports) bool {
	x, y := *a, *b
	x.Match, y.Match = nil, nil
	return strings.Join(x.lines(), "\n") == strings.Join(y.lines(), "\n")
}

// limitsOf are the least limits of what runs RDMA programs, or of a shell.
func limitsOf(s *facts.Snapshot) *Limits {
	l := &Limits{}
	var least facts.Limit
	found := false
	for i := range s.Processes {
		p := &s.Processes[i]
		have, ok := p.Limits["memlock"]
		if !ok || !launches(p) && len(p.Uverbs) == 0 {
			continue
		}
		if !found || !have.SoftUnlimited && (least.SoftUnlimited || have.Soft < least.Soft) {
			least, found = have, true
		}
	}
	if !found {
		least, found = s.Self.Limits["memlock"], s.Self.Limits["memlock"] != facts.Limit{}
	}
	switch {
	case found && least.SoftUnlimited:
		l.Memlock = unlimited
	case found:
		l.Memlock = Bytes(strconv.FormatUint(least.Soft, 10))
	}
	l.MaxMapCount = min(max(s.Memory.MaxMapCount.Or(0), 0), mostMapCount)
	if *l == (Limits{}) {
		return nil
	}
	return l
}

// YAML writes the policy as a file. From says of what host it was made.
func (p *Policy) YAML(from string) string {
	var b strings.Builder
	b.WriteString("# What an RDMA host here should look like")
	if from != "" {
		b.WriteString(", made from " + oneLine(from))
	}
	b.WriteString(".\n# Leave out what is not demanded. Keys: docs/schema/policy.schema.json\n")
	fmt.Fprintf(&b, "version: %d\n", p.Version)
	if d := p.Devices; d != nil {
		b.WriteString("\ndevices:\n")
		if d.Count > 0 {
			fmt.Fprintf(&b, "  count: %d\n", d.Count)
		}
		if len(d.Present) > 0 {
			fmt.Fprintf(&b, "  present: %s\n", flow(d.Present))
		}
	}
	if len(p.Ports) > 0 {
		b.WriteString("\n# The first entry that matches a port is the port's.\nports:\n")
		for i := range p.Ports {
			for k, line := range p.Ports[i].lines() {
				lead := "    "
				if k == 0 {
					lead = "  - "
				}
				b.WriteString(lead + line + "\n")
			}
		}
	}
	if len(p.Dark) > 0 {
		fmt.Fprintf(&b, "\n# Ports that may be without link.\ndark: %s\n", flow(p.Dark))
	}
	if len(p.Firmware) > 0 {
		b.WriteString("\n# By board id, the versions that are allowed.\nfirmware:\n")
		for _, board := range slices.Sorted(maps.Keys(p.Firmware)) {
			fmt.Fprintf(&b, "  %s: %s\n", quoted(board), flow(p.Firmware[board]))
		}
	}
	if len(p.Modules) > 0 {
		b.WriteString("\n# By kernel module, what its parameters must be.\nmodule_parameters:\n")
		for _, name := range slices.Sorted(maps.Keys(p.Modules)) {
			var parts []string
			for _, key := range slices.Sorted(maps.Keys(p.Modules[name])) {
				parts = append(parts, quoted(key)+": "+quoted(p.Modules[name][key]))
			}
			fmt.Fprintf(&b, "  %s: {%s}\n", quoted(name), strings.Join(parts, ", "))
		}
	}
	if l := p.Limits; l != nil {
		b.WriteString("\n# The least that RDMA programs and what starts them must have.\nlimits:\n")
		if l.Memlock != "" {
			fmt.Fprintf(&b, "  memlock: %s\n", l.Memlock)
		}
		if l.Nofile > 0 {
			fmt.Fprintf(&b, "  nofile: %d\n", l.Nofile)
		}
		if l.MaxMapCount > 0 {
			fmt.Fprintf(&b, "  max_map_count: %d\n", l.MaxMapCount)
		}
	}
	return b.String()
}

// lines are the keys of an entry, one a line.
func (p *Ports) lines() []string {
	out := []string{"match: " + flow(p.Match)}
	add := func(ok bool, format string, args ...any) {
		if ok {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(p.Transport != "", "transport: %s", p.Transport)
	add(p.Rate != "", "rate: %s", p.Rate)
	add(p.MTU > 0, "mtu: %d", p.MTU)
	if p.PFC != nil {
		add(true, "pfc: [%s]", strings.TrimPrefix(strings.ReplaceAll(strings.TrimPrefix(list(*p.PFC), "priority "), ",", ", "), "no priority"))
	}
	if len(p.DSCP) > 0 {
		var parts []string
		for _, d := range slices.SortedFunc(maps.Keys(p.DSCP), func(a, b string) int { return atoi(a) - atoi(b) }) {
			parts = append(parts, fmt.Sprintf("%s: %d", d, p.DSCP[d]))
		}
		add(true, "dscp: {%s}", strings.Join(parts, ", "))
	}
	add(p.Trust != "", "trust: %s", p.Trust)
	if p.ECN != nil {
		add(true, "ecn: %t", *p.ECN)
	}
	return out
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s) // Keys of DSCP are numbers.
	return n
}

// flow is a list on one line.
func flow(words []string) string {
	var parts []string
	for _, w := range words {
		parts = append(parts, quoted(w))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// quoted is a word as YAML reads it back: bare where that is sure.
func quoted(w string) string {
	bare := w != "" && (w[0] >= 'a' && w[0] <= 'z' || w[0] >= 'A' && w[0] <= 'Z')
	for _, r := range w {
		bare = bare && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./-", r))
	}
	switch strings.ToLower(w) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		bare = false
	}
	if bare {
		return w
	}
	return strconv.Quote(w)
}

// oneLine keeps a name from ending the comment that it stands in.
func oneLine(s string) string { return strings.Trim(strconv.Quote(s), `"`) }
