package checks

import "strings"

// adapters is a list of devices as libraries take it: NCCL_IB_HCA has an
// optional ^ (all but these) and = (whole names, else prefixes) before names
// with commas between, each with an optional port after a colon;
// UCX_NET_DEVICES is a list of DEVICE:PORT, or "all".
type adapters struct {
	except bool
	whole  bool
	list   []string
}

func parseAdapters(s string) adapters {
	var a adapters
	s, a.except = strings.CutPrefix(strings.TrimSpace(s), "^")
	s, a.whole = strings.CutPrefix(s, "=")
	if s == "" || s == "all" {
		return adapters{}
	}
	for name := range strings.SplitSeq(s, ",") {
		if name = strings.TrimSpace(name); name != "" {
			a.list = append(a.list, name)
		}
	}
	return a
}

// use reports whether a library with this list uses port.
func (a adapters) use(port PortRef) bool {
	return len(a.list) == 0 || a.has(port) != a.except
}

// names reports whether the list asks for port.
func (a adapters) names(port PortRef) bool { return !a.except && a.has(port) }

func (a adapters) has(port PortRef) bool {
	for _, want := range a.list {
		name, number, _ := strings.Cut(want, ":")
		match := port.Device.Name == name || !a.whole && strings.HasPrefix(port.Device.Name, name)
		if match && (number == "" || number == portNumber(port)) {
			return true
		}
	}
	return false
}

func portNumber(port PortRef) string {
	_, number, _ := strings.Cut(port.String(), "/")
	return number
}
