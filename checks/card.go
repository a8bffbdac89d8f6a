package checks

import (
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// sameCard reports whether two devices sit on one card: by the GUID of the
// image, or by the PCI slot without its function. Drivers such as bnxt_re and
// irdma make that GUID of each port's MAC, so that different ones say nothing.
func sameCard(a, b *facts.Device) bool {
	if a == b {
		return true
	}
	ga, ok1 := a.SysImageGUID.Get()
	gb, ok2 := b.SysImageGUID.Get()
	if ok1 && ok2 && strings.Trim(ga, "0:") != "" && ga == gb {
		return true
	}
	return slot(a) != "" && slot(a) == slot(b)
}

// slot is the PCI address without the function, "" for a software device.
func slot(d *facts.Device) string {
	s, _, ok := strings.Cut(d.PCI.Or(""), ".")
	if !ok {
		return ""
	}
	return s
}

// litUnwanted finds another port of the card of dark that has link and that
// nothing wants: the cable of a wanted dark port probably went there. Where
// something uses dark, a lit port that is only named, as by a baseline of when
// it had the address, is not wanted.
func (p *Pass) litUnwanted(dark PortRef, lit func(PortRef) bool) (PortRef, bool) {
	var found PortRef
	opt := p.opt
	if used, _ := wantedWithoutLink(p.snap, Options{}, dark); used {
		opt = Options{}
	}
	for i := range p.snap.Devices {
		d := &p.snap.Devices[i]
		if !sameCard(d, dark.Device) {
			continue
		}
		for j := range d.Ports {
			other := PortRef{&d.Ports[j], d}
			if other.Port == dark.Port || !lit(other) {
				continue
			}
			if want, _ := wantedWithoutLink(p.snap, opt, other); want {
				continue
			}
			if found.Port == nil || other.String() < found.String() {
				found = other
			}
		}
	}
	return found, found.Port != nil
}
