// Package checks judges a snapshot. A check is a pure function of facts: it
// does no I/O, keeps no state and knows no pitfall.
package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// A Check is a logically constant description of one question asked of a host.
type Check struct {
	ID       string         // the state wanted, lower-kebab-case, permanent
	Title    string         // what holds when it passes; no capital, no period
	Doc      string         // why it matters, one paragraph
	Layer    Layer          // where it stands in the run order
	Needs    []facts.Source // without one of these the check is unknown
	Uses     []facts.Source // looked at where they were read; it can do without
	Requires []*Check       // when one of these does not pass, this is skipped
	Codes    []string       // every finding code that Run can report
	Params   Params         // what the findings of each code carry
	Run      func(*Pass)
}

// Params tells by code which parameters a finding carries, as words. A word
// that ends in a question mark is there only where it is known.
type Params map[string]string

// Layer orders checks bottom up, as a fabric is built.
type Layer int

// The layers, in the order of the examination.
const (
	Driver Layer = iota + 1
	PCIe
	Link
	MTU
	Lossless
	Addressing
	Limits
	Verbs
	Counters
	Performance
	Application
	Group
)

var layerNames = [...]string{"", "driver", "pcie", "link", "mtu", "lossless", "addressing",
	"limits", "verbs", "counters", "performance", "application", "group"}

// String is the layer's name, as --only and JSON spell it.
func (l Layer) String() string {
	if l < Driver || l > Group {
		return fmt.Sprintf("layer-%d", int(l))
	}
	return layerNames[l]
}

// Layers lists the layers in order.
func Layers() []Layer {
	ls := make([]Layer, 0, int(Group))
	for l := Driver; l <= Group; l++ {
		ls = append(ls, l)
	}
	return ls
}

// MarshalText makes JSON spell the name.
func (l Layer) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the name.
func (l *Layer) UnmarshalText(b []byte) error {
	i := slices.Index(layerNames[1:], string(b))
	if i < 0 {
		return fmt.Errorf("layer %q: want one of %v", b, layerNames[1:])
	}
	*l = Layer(i + 1)
	return nil
}

// Status is how a check ended.
type Status string

// The statuses.
const (
	Passed  Status = "pass"
	Warned  Status = "warn"
	Failed  Status = "fail"
	Skipped Status = "skip"    // nothing here to examine, or blocked by a named check
	Unknown Status = "unknown" // wanted to look and could not
)

// Severity is how bad a finding is.
type Severity string

// The severities.
const (
	Info Severity = "info"
	Warn Severity = "warn"
	Fail Severity = "fail"
)

// Confidence is how sure a finding's meaning is.
type Confidence string

// The confidences.
const (
	Proved   Confidence = "proved"
	Likely   Confidence = "likely"
	Possible Confidence = "possible"
)

// A Finding is one thing seen on one subject.
type Finding struct {
	Code       string     `json:"code"` // permanent; the key into knowledge
	Severity   Severity   `json:"severity"`
	Subject    string     `json:"subject"` // "mlx5_0/1", "ens1f0np0", "0000:3b:00.0", "pid 4711"
	Message    string     `json:"message"` // the value seen and the value wanted, one sentence
	Evidence   []Evidence `json:"evidence"`
	Confidence Confidence `json:"confidence,omitempty"` // empty: the page's
	// Where relates the finding to others: two findings with one cause share a
	// place. Params fill the placeholders of the page's commands.
	Where  Where             `json:"where,omitzero"`
	Params map[string]string `json:"params,omitempty"`
}

// Where places a finding. Empty fields are not applicable.
type Where struct {
	Host   string `json:"host,omitempty"` // set in comparisons and sweeps
	Device string `json:"device,omitempty"`
	Port   int    `json:"port,omitempty"`
	Netdev string `json:"netdev,omitempty"`
	PCI    string `json:"pci,omitempty"`
	PID    int    `json:"pid,omitempty"`
}

// Evidence is where a fact came from, so that a reader can look for himself.
type Evidence struct {
	Source string `json:"source"` // file, netlink attribute, command, log line with time
	Value  string `json:"value"`  // the text it held
}

// A Result is what became of one check.
type Result struct {
	ID       string    `json:"id"`
	Layer    Layer     `json:"layer"`
	Title    string    `json:"title"`
	Status   Status    `json:"status"`
	Reason   string    `json:"reason"`           // why it was skipped or is unknown
	Examined int       `json:"examined"`         // subjects judged; 0 without a finding is never a pass
	Unread   []string  `json:"unread,omitempty"` // subjects and facts it wanted and did not get
	Findings []Finding `json:"findings"`
}

var registry []*Check

// register is called from package-level variables only, so a Requires cycle
// does not compile.
func register(c *Check) *Check {
	registry = append(registry, c)
	return c
}

// All returns every check in run order: by layer, a required check before
// those that require it, then by ID.
func All() []*Check {
	depth := map[*Check]int{}
	var level func(*Check) int
	level = func(c *Check) int {
		if d, ok := depth[c]; ok {
			return d
		}
		d := 0
		for _, r := range c.Requires {
			if r.Layer == c.Layer {
				d = max(d, level(r)+1)
			}
		}
		depth[c] = d
		return d
	}
	return slices.SortedFunc(slices.Values(registry), func(a, b *Check) int {
		return cmp.Or(cmp.Compare(a.Layer, b.Layer), cmp.Compare(level(a), level(b)), cmp.Compare(a.ID, b.ID))
	})
}

// Retired are finding codes that are never used again.
var Retired = []string{"udp-4791-filtered", "bad-link"}

// Reporting names the checks that can report a code, in run order. It is empty
// for codes of comparisons, and for those that are only explained.
func Reporting(code string) []string {
	var ids []string
	for _, c := range All() {
		if slices.Contains(c.Codes, code) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// ParamsOf tells which parameters a finding with code has always, and which
// only sometimes. It is false for a code that no check reports.
func ParamsOf(code string) (always, sometimes []string, ok bool) {
	for _, c := range registry { // Checks that share a code list the same words.
		words, has := c.Params[code]
		if !has || ok {
			continue
		}
		ok = true
		for w := range strings.FieldsSeq(words) {
			if name, maybe := strings.CutSuffix(w, "?"); maybe {
				sometimes = append(sometimes, name)
			} else {
				always = append(always, name)
			}
		}
	}
	return always, sometimes, ok
}
