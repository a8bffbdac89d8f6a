package checks

// The parameters of findings about dark ports of either link layer.
const (
	portParams        = "device port netdev? pci?"
	wrongCabledParams = "device port netdev? pci? lit"
	moduleParams      = "device? port? netdev? pci? count? detail?"
)

// darkReasons are the reasons drivers give for a dark port that have a code of
// their own (ETHTOOL_A_LINKSTATE_EXT_STATE, as ethtool(8) prints them). A
// logical mismatch is mostly FEC that differs: the light is there and the
// blocks do not align.
var darkReasons = map[string]string{
	"Autoneg, FEC mismatch during override": "link-fec-mismatch",

	"Logical mismatch":      "link-fec-mismatch",
	"Cable issue":           "module-fault",
	"EEPROM issue":          "module-fault",
	"Power budget exceeded": "module-fault",
	"Overheat":              "module-fault",
	"Module":                "module-fault",
}

// unused turns a finding about a dark port into one about a port that nothing
// uses.
func unused(f *Finding) {
	f.Code, f.Severity = "port-down-unused", Info
	f.Message += "; nothing uses it"
	delete(f.Params, "ext_state")
}

// wrongCabled turns a finding about a dark port into one about a cable in the
// card's other port.
func wrongCabled(f *Finding, other PortRef) {
	f.Code, f.Confidence = "port-wrong-cabled", Likely
	f.Message += ", while " + other.String() + " of the same card has link and nothing uses it"
	f.Evidence = append(f.Evidence, Evidence{other.Path("state"), other.State.String()})
	delete(f.Params, "ext_state")
	f.Params["lit"] = other.String()
}
