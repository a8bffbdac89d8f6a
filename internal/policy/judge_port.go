package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// portOf is a port with the entry of the policy that is for it.
type portOf struct {
	snap   *facts.Snapshot
	device *facts.Device
	port   *facts.Port
	*Ports
}

func (p portOf) link() string { return facts.LinkName(p.device.Name, p.port.Number) }

func (p portOf) where() checks.Where {
	return checks.Where{Device: p.device.Name, Port: p.port.Number, Netdev: p.port.Netdev.Or(""), PCI: p.device.PCI.Or("")}
}

// finding is one about the port, with further parameters as name, value pairs.
func (p portOf) finding(code string, sev checks.Severity, netdev string, e checks.Evidence, message, want string, more ...string) checks.Finding {
	params := map[string]string{}
	pairs := append([]string{"device", p.device.Name, "port", strconv.Itoa(p.port.Number), "netdev", netdev, "pci", p.device.PCI.Or("")}, more...)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			params[pairs[i]] = pairs[i+1]
		}
	}
	return checks.Finding{Code: code, Severity: sev, Subject: p.link(), Where: p.where(), Params: params,
		Message:  fmt.Sprintf("%s, and the policy wants %s", message, want),
		Evidence: []checks.Evidence{e, {Source: "policy", Value: want}}}
}

// port judges one port. What its netdev should be like is not known of a port
// whose netdev was not read.
func (j *judge) port(p portOf) {
	if p.Transport != "" {
		j.transport(p)
	}
	n := j.snap.Netdev(p.port.Netdev.Or(""))
	if p.rate > 0 {
		j.rate(p, n)
	}
	if p.MTU == 0 && p.PFC == nil && p.DSCP == nil && p.Trust == "" && p.ECN == nil {
		return
	}
	if n == nil {
		j.unread(p.link() + " netdev")
		return
	}
	if p.MTU > 0 {
		j.mtu(p, n)
	}
	j.quality(p, j.snap.Beneath(n))
}

func (j *judge) transport(p portOf) {
	is := checks.Transport(p.device, p.port)
	switch is {
	case "":
		j.unread(p.link() + " transport")
	case p.Transport:
	default:
		j.mismatch(p.link(), p.where(), checks.Fail, "transport of "+p.link(), is, p.Transport, "rdma link show "+p.link())
	}
}

// rate judges the speed of a port that has link.
func (j *judge) rate(p portOf, n *facts.Netdev) {
	if p.port.State.Or("") != facts.StateActive {
		return // Whether it must have link is for the checks to say.
	}
	speed, source := p.port.Rate, "/sys/class/infiniband/"+p.device.Name+"/ports/"+strconv.Itoa(p.port.Number)+"/rate"
	if n != nil {
		under := j.snap.Beneath(n)
		speed, source = under.Speed, "/sys/class/net/"+under.Name+"/speed"
	}
	is, ok := speed.Get()
	switch {
	case !ok:
		j.unread(p.link() + " rate")
	case is.String() == p.rate.String(): // As precise as it is written.
	case is < p.rate:
		j.report(p.finding("link-speed-degraded", checks.Fail, p.port.Netdev.Or(""), checks.Evidence{Source: source, Value: is.String()},
			fmt.Sprintf("%s runs at %s", p.link(), is), p.rate.String(), "speed", is.String(), "expected", p.rate.String()))
	case is > p.rate:
		j.mismatch(p.link(), p.where(), checks.Info, "rate of "+p.link(), is.String(), p.rate.String(), source)
	}
}

// mtu judges the MTU: a failure where the path MTU falls with it, since what
// the others send is longer than this port takes.
func (j *judge) mtu(p portOf, n *facts.Netdev) {
	is, ok := n.MTU.Get()
	if !ok {
		j.unread(n.Name + " MTU")
		return
	}
	if is == p.MTU {
		return
	}
	source := "/sys/class/net/" + n.Name + "/mtu"
	path, ok1 := checks.PathMTU(p.device, is)
	best, ok2 := checks.PathMTU(p.device, p.MTU)
	if facts.RoCE(p.device, p.port) && ok1 && ok2 && path < best {
		j.report(p.finding("roce-mtu-low", checks.Fail, n.Name, checks.Evidence{Source: source, Value: strconv.Itoa(is)},
			fmt.Sprintf("netdev %s has MTU %d, which leaves path MTU %d", n.Name, is, path), "MTU "+strconv.Itoa(p.MTU),
			"mtu", strconv.Itoa(p.MTU), "netdev_mtu", strconv.Itoa(is), "path_mtu", strconv.Itoa(path), "best_path_mtu", strconv.Itoa(best)))
		return
	}
	j.mismatch(p.link(), p.where(), checks.Warn, "MTU of "+n.Name, strconv.Itoa(is), strconv.Itoa(p.MTU), source)
}

// quality judges PFC, maps, trust and congestion control on the netdev that
// owns the queues.
func (j *judge) quality(p portOf, n *facts.Netdev) {
	dcb, ok := n.DCB.Get()
	if (p.PFC != nil || p.DSCP != nil || p.Trust != "") && !ok {
		j.unread(n.Name + " DCB")
	}
	if ok && p.PFC != nil {
		j.pfc(p, n, dcb)
	}
	if ok && p.DSCP != nil {
		j.dscp(p, n, dcb)
	}
	if ok && p.Trust != "" {
		if len(dcb.Trust) == 0 {
			j.unread(n.Name + " trust")
		} else if dcb.Trust[0] != p.Trust {
			j.mismatch(p.link(), p.where(), checks.Fail, "trust of "+n.Name, strings.Join(dcb.Trust, ","), p.Trust, "dcb apptrust show dev "+n.Name)
		}
	}
	if p.ECN != nil {
		j.ecn(p, n)
	}
}

func (j *judge) pfc(p portOf, n *facts.Netdev, dcb facts.DCB) {
	pfc, ok := dcb.PFC.Get()
	if !ok {
		j.unread(n.Name + " PFC")
		return
	}
	var on []int
	for prio := range 8 {
		if pfc.On(prio) {
			on = append(on, prio)
		}
	}
	want := slices.Sorted(slices.Values(*p.PFC))
	if slices.Equal(on, want) {
		return
	}
	e := checks.Evidence{Source: "dcb pfc show dev " + n.Name, Value: "on for " + list(on)}
	message, wanted := fmt.Sprintf("PFC of %s is on for %s", n.Name, list(on)), "it on for "+list(want)
	if len(on) == 0 {
		dscp := "26"
		for d, prio := range p.DSCP {
			if prio == want[0] && (dscp == "26" || d < dscp) {
				dscp = d
			}
		}
		if _, sites := p.DSCP["26"]; sites {
			dscp = "26"
		}
		j.report(p.finding("pfc-off", checks.Fail, n.Name, e, message, wanted, "priority", strconv.Itoa(want[0]), "dscp", dscp))
		return
	}
	var first []string
	if len(want) == 1 { // The fix sets one priority.
		first = []string{"priority", strconv.Itoa(want[0])}
	}
	j.report(p.finding("pfc-mismatch", checks.Fail, n.Name, e, message, wanted, first...))
}

// list shows priorities.
func list(prios []int) string {
	if len(prios) == 0 {
		return "no priority"
	}
	var parts []string
	for _, p := range prios {
		parts = append(parts, strconv.Itoa(p))
	}
	return "priority " + strings.Join(parts, ",")
}

func (j *judge) dscp(p portOf, n *facts.Netdev, dcb facts.DCB) {
	for _, dscp := range slices.Sorted(keysOf(p.DSCP)) {
		want, is := p.DSCP[dscp], -1
		for _, a := range dcb.Apps {
			if a.Selector == facts.SelectorDSCP && strconv.Itoa(a.Protocol) == dscp {
				is = a.Priority
			}
		}
		if is == want {
			continue
		}
		text, more := "no entry", []string{"dscp", dscp, "priority", strconv.Itoa(want)}
		if is >= 0 {
			text, more = strconv.Itoa(is), append(more, "mapped_priority", strconv.Itoa(is))
		}
		j.report(p.finding("dscp-map-mismatch", checks.Fail, n.Name,
			checks.Evidence{Source: "dcb -N app show dev " + n.Name + " dscp-prio", Value: text},
			fmt.Sprintf("DSCP %s of %s has priority %s", dscp, n.Name, text), strconv.Itoa(want), more...))
	}
}

func (j *judge) ecn(p portOf, n *facts.Netdev) {
	prios := []int{3}
	if p.PFC != nil && len(*p.PFC) > 0 {
		prios = *p.PFC
	}
	for _, prio := range prios {
		for _, role := range []string{"roce_np", "roce_rp"} {
			key := role + "/enable/" + strconv.Itoa(prio)
			path := "/sys/class/net/" + n.Name + "/ecn/" + key
			is, ok := n.ECN[key]
			switch {
			case !ok:
				j.unread(n.Name + " " + key)
			case *p.ECN && is == 0:
				j.report(p.finding("ecn-off", checks.Warn, n.Name, checks.Evidence{Source: path, Value: "0"},
					fmt.Sprintf("congestion control (%s) is off for priority %d on %s", role, prio, n.Name), "it on",
					"priority", strconv.Itoa(prio), "path", path))
			case !*p.ECN && is != 0:
				j.mismatch(p.link(), p.where(), checks.Warn, fmt.Sprintf("congestion control (%s) for priority %d on %s", role, prio, n.Name), "on", "off", path)
			}
		}
	}
}
