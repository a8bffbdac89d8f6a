package checks

import (
	"fmt"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var bitErrorRate = register(&Check{
	ID:    "bit-error-rate",
	Title: "bit error rates are what forward error correction carries",
	Doc: "Every fast link has bit errors, and forward error correction mends them up to a rate that the standard gives. " +
		"Over the time since link-up a rate near it, or errors left after correction, tell of a cable or module that " +
		"will fail, long before packets are lost in numbers.",
	Layer: Link,
	Needs: []facts.Source{facts.SysfsRDMA},
	Uses:  []facts.Source{facts.Links, facts.Ethtool, facts.PCISysfs, facts.Namespaces},
	Codes: []string{"link-ber-high"},
	Params: Params{
		"link-ber-high": "device port netdev? pci? counter",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Links, facts.Ethtool, facts.PCISysfs, facts.Namespaces)
		for port := range p.Ports(IB) {
			if !p.withoutLinkOfItsOwn(port) {
				judgeSymbolRate(p, s, port)
			}
		}
		for port, n := range p.PortNetdev(OnEthernet) {
			if !p.withoutLinkOfItsOwn(port) {
				judgeBitErrors(p, port, n)
			}
		}
	},
})

// withoutLinkOfItsOwn leaves out a port that has no physical link, or none of
// this host, and says why.
func (p *Pass) withoutLinkOfItsOwn(port PortRef) bool {
	switch {
	case p.virtualFunction(port.Device):
		p.NotApplicable("owned by the host: %s is a virtual function", port.Device.Name)
	case port.Device.Software():
		p.NotApplicable("%s is no hardware", port.Device.Name)
	case port.State.Or("") == facts.StateDown:
		p.NotApplicable("%s has no link", port)
	default:
		return false
	}
	return true
}

// Limits, each with who gives it.
const (
	// effectiveLimit is for errors that are left after correction: the default of
	// ibdiagnet --ber_test and of OCI's health test of H100 hosts.
	effectiveLimit     = 1e-12
	effectiveAuthority = "ibdiagnet's default"
	// rawUsual is what OCI's health test of H100 hosts accepts before correction.
	rawUsual     = 1e-5
	rawAuthority = "the limit of OCI's host test"
	// Below these a rate says more of chance, or of how the link came up, than of
	// the link.
	rawBits       = 1e12
	effectiveBits = 1e15
	symbolTime    = 24 * time.Hour
)

// correctable is the bit error rate that RS-FEC carries, by the rate of a lane:
// IEEE 802.3bj gives 5e-5 for RS(528,514), 802.3cd 2.4e-4 for RS(544,514).
func correctable(lane facts.BitsPerSecond) (limit float64, authority string) {
	if lane >= 40e9 {
		return 2.4e-4, "IEEE 802.3cd"
	}
	return 5e-5, "IEEE 802.3bj"
}

// judgeBitErrors holds the netdev's counters of bits and errors, all of them
// since link-up, against each other. mlx5 and bnxt have them.
func judgeBitErrors(p *Pass, port PortRef, n *facts.Netdev) {
	if n.Ethtool == nil {
		p.missing(facts.Ethtool, n.Name, "counters")
		return
	}
	suffix := "_phy"
	if _, ok := n.Ethtool["rx_bits"]; ok {
		suffix = ""
	}
	value := func(name string) (float64, bool) {
		v, ok := n.Ethtool[name+suffix].Value()
		return float64(v), ok
	}
	bits, ok := value("rx_bits")
	corrected, hasRaw := value("rx_corrected_bits")
	left, hasLeft := value("rx_pcs_symbol_err")
	switch {
	case !ok || !hasRaw && !hasLeft:
		p.NotApplicable("%s does not count bit errors", n.Name)
		return
	case bits < rawBits:
		p.NotApplicable("idle: %s has received too few bits since link-up", n.Name)
		return
	}
	if hasLeft && bits >= effectiveBits && left/bits > effectiveLimit {
		passed, _ := n.Ethtool["rx_bits"+suffix].Delta()
		if severity, still := goesOn(n.Ethtool["rx_pcs_symbol_err"+suffix], left/bits*float64(passed)); still {
			reportBitErrors(p, port, n, "rx_pcs_symbol_err"+suffix, "rx_bits"+suffix, severity, fmt.Sprintf(
				"%.1e of the bits since link-up were wrong after correction, above %.0e (%s)", left/bits, effectiveLimit, effectiveAuthority))
			return
		}
	}
	lane, known := ethernetLane(n)
	if !hasRaw || !known || !strings.HasPrefix(n.FEC.Or(""), "RS") {
		return
	}
	limit, authority := correctable(lane)
	switch rate := corrected / bits; {
	case rate > limit/2:
		reportBitErrors(p, port, n, "rx_corrected_bits"+suffix, "rx_bits"+suffix, Warn, fmt.Sprintf(
			"%.1e of the bits since link-up needed correction, more than half of the %.1e that RS-FEC carries (%s)", rate, limit, authority))
	case rate > rawUsual:
		reportBitErrors(p, port, n, "rx_corrected_bits"+suffix, "rx_bits"+suffix, Info, fmt.Sprintf(
			"%.1e of the bits since link-up needed correction, above %.0e (%s)", rate, rawUsual, rawAuthority))
	}
}

// ethernetLane is what one lane of the netdev's link carries.
func ethernetLane(n *facts.Netdev) (facts.BitsPerSecond, bool) {
	modes, _ := n.LinkModes.Get()
	lanes, ok := modes.Lanes.Get()
	speed, known := n.Speed.Get()
	if !ok || !known || lanes <= 0 {
		return 0, false
	}
	return speed / facts.BitsPerSecond(lanes), true
}

func reportBitErrors(p *Pass, port PortRef, n *facts.Netdev, errors, bits string, severity Severity, message string) {
	dir := "ethtool -S " + n.Name + " "
	p.Report(Finding{
		Code: "link-ber-high", Severity: severity, Subject: port.String(), Confidence: Likely, Where: port.Where(), Message: message,
		Evidence: []Evidence{{dir + errors, lastOf(n.Ethtool[errors])}, {dir + bits, lastOf(n.Ethtool[bits])}},
		Params:   port.Params("netdev", n.Name, "counter", errors),
	})
}

func lastOf(c facts.Counter) string {
	v, _ := c.Value()
	return fmt.Sprint(v)
}

// goesOn tells whether errors that make a high rate over a long time are still
// made: those of one bad hour show a rate that is not there now. Where the
// interval is too short to tell they are information.
func goesOn(errors facts.Counter, expected float64) (Severity, bool) {
	switch d, ok := errors.Delta(); {
	case ok && d > 0:
		return Warn, true
	case ok && expected >= 20:
		return Info, false
	}
	return Info, true
}

// judgeSymbolRate spreads the symbol errors of an InfiniBand port over the time
// since boot. The link may have come up later, which only makes the true rate
// higher.
func judgeSymbolRate(p *Pass, s *facts.Snapshot, port PortRef) {
	errors, ok := port.Counters["symbol_error"]
	total, read := errors.Value()
	up, known := s.Host.Uptime.Get()
	rate := dataRate(port)
	c, _, _ := counters.Lookup(counters.Port, "symbol_error")
	switch {
	case !ok && len(port.Counters) == 0:
		p.NotApplicable("%s has no port counters", port)
		return
	case !read:
		p.Unread(port.String(), "symbol_error")
		return
	case !known || rate == 0:
		p.Unread(port.String(), "time since boot and rate")
		return
	case c.Saturated(errors):
		p.NotApplicable("symbol_error of %s stands at its maximum", port)
		return
	case up < symbolTime:
		p.NotApplicable("%s is up for less than a day", port)
		return
	}
	if downs, _ := port.Counters["link_downed"].Value(); downs > bootLosses {
		return // Each training adds errors, and flapping has its own check.
	}
	ber := float64(total) / (float64(rate) * up.Seconds())
	if ber <= effectiveLimit {
		return
	}
	severity, still := goesOn(errors, float64(total)*s.Between(facts.SysfsRDMA).Seconds()/up.Seconds())
	if !still {
		return
	}
	p.Report(Finding{
		Code: "link-ber-high", Severity: severity, Subject: port.String(), Confidence: Likely, Where: port.Where(),
		Message: fmt.Sprintf("%.1e of the bits since boot were wrong, above %.0e (%s)", ber, effectiveLimit, effectiveAuthority),
		Evidence: []Evidence{{port.Path("counters/symbol_error"), fmt.Sprint(total)},
			{"/proc/uptime", up.Round(time.Minute).String()}, {port.Path("rate"), rateText(port)}},
		Params: port.Params("counter", "symbol_error"),
	})
}
