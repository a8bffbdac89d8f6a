package checks

import "github.com/rdmadoctor/rdmadoctor/internal/facts"

// Transport is what a port speaks, by protocol and driver and never by link
// layer alone: "InfiniBand", "RoCE", "iWARP", "EFA", "Omni-Path", "usNIC"; ""
// where it was not read.
func Transport(d *facts.Device, p *facts.Port) string {
	switch d.Protocol.Or("") {
	case "iw":
		return "iWARP"
	case "opa":
		return "Omni-Path"
	case "usnic":
		return "usNIC"
	}
	switch provider := d.Provider.Or(""); {
	case provider == "efa":
		return "EFA"
	case provider == "siw":
		return "iWARP"
	case p.LinkLayer.Or("") == facts.InfiniBand:
		return "InfiniBand"
	case facts.RoCE(d, p):
		return "RoCE"
	}
	return p.LinkLayer.Or("")
}
