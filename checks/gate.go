package checks

import (
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// OnWantedPort tells whether a finding concerns a wanted port, and which: the
// port itself, or one of the device, netdev or PCI function that the finding
// is placed at.
func OnWantedPort(s *facts.Snapshot, opt Options, f Finding) (port string, ok bool) {
	for i := range s.Devices {
		d := &s.Devices[i]
		for j := range d.Ports {
			ref := PortRef{&d.Ports[j], d}
			if !concerns(s, f.Where, ref) {
				continue
			}
			if want, _ := wanted(s, opt, ref); want {
				return ref.String(), true
			}
		}
	}
	return "", false
}

// concerns reports whether a place is at the port or carries it.
func concerns(s *facts.Snapshot, at Where, port PortRef) bool {
	switch {
	case at.Device != "":
		return at.Device == port.Device.Name && (at.Port == 0 || at.Port == port.Number)
	case at.Netdev != "":
		n := s.Netdev(port.Netdev.Or(""))
		return n != nil && slices.Contains([]string{n.Name, s.Beneath(n).Name, n.Master.Or("")}, at.Netdev)
	case at.PCI != "":
		return at.PCI == port.Device.PCI.Or("")
	}
	return false
}
