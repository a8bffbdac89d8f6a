package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

// others gives a host's devices, netdevs and addresses other names, in another
// order.
type others struct {
	words map[string]string
	re    *regexp.Regexp
}

func othersOf(a *fixture.Archive) others {
	var devices, netdevs []string
	for _, f := range a.Files {
		if rest, ok := strings.CutPrefix(f.Name, "/sys/class/infiniband/"); ok && !strings.Contains(rest, "/") {
			devices = append(devices, rest)
		}
		rest, ok := strings.CutPrefix(f.Name, "/sys/class/net/")
		if name, _, _ := strings.Cut(rest, "/"); ok && name != "lo" && !slices.Contains(netdevs, name) {
			netdevs = append(netdevs, name)
		}
	}
	o := others{words: map[string]string{}}
	var all []string
	for kind, names := range map[string][]string{"rdmap%02ds0": devices, "net%02d": netdevs} {
		slices.Sort(names)
		for i, name := range names {
			o.words[name] = fmt.Sprintf(kind, len(names)-i)
			all = append(all, regexp.QuoteMeta(name))
		}
	}
	slices.Sort(all)
	slices.Reverse(all) // Of names that begin alike the longer one first.
	o.re = regexp.MustCompile(`\b(?:` + strings.Join(all, "|") + `)\b`)
	return o
}

var (
	pciText = regexp.MustCompile(`\b([0-9a-f]{4}):([0-9a-f]{2}):([0-9a-f]{2}\.[0-7])\b`)
	domains = regexp.MustCompile(`\bpci([0-9a-f]{4}):([0-9a-f]{2})\b`)
	subnets = regexp.MustCompile(`\b10\.1\.(\d+)\.(\d+)\b`)
	makers  = regexp.MustCompile(`\bb8:3f:d2:00:`)
	guids   = regexp.MustCompile(`\bb83f:d203:`)
	// The GUID in the hardware address of IPoIB.
	ipoibs = regexp.MustCompile(`\bb8:3f:d2:03:`)
)

// otherBus turns the order of buses around.
func otherBus(bus string) string {
	n, _ := strconv.ParseUint(bus, 16, 8)
	return fmt.Sprintf("%02x", 255-n)
}

func (o others) edit(text string) string {
	if len(o.words) > 0 {
		text = o.re.ReplaceAllStringFunc(text, func(w string) string { return o.words[w] })
	}
	text = pciText.ReplaceAllStringFunc(text, func(s string) string {
		m := pciText.FindStringSubmatch(s)
		return m[1] + ":" + otherBus(m[2]) + ":" + m[3]
	})
	text = domains.ReplaceAllStringFunc(text, func(s string) string {
		m := domains.FindStringSubmatch(s)
		return "pci" + m[1] + ":" + otherBus(m[2])
	})
	text = subnets.ReplaceAllStringFunc(text, func(s string) string {
		m := subnets.FindStringSubmatch(s)
		third, _ := strconv.Atoi(m[1])
		return fmt.Sprintf("172.20.%d.%s", 200-third, m[2])
	})
	text = makers.ReplaceAllString(text, "94:6d:ae:11:")
	text = ipoibs.ReplaceAllString(text, "94:6d:ae:03:")
	return guids.ReplaceAllString(text, "946d:ae03:")
}
