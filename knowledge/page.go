package knowledge

import "github.com/rdmadoctor/rdmadoctor/checks"

// A Page is what is known about one code, before any host is looked at. Its
// file is pitfalls/CODE.md: YAML front matter, then the sections.
type Page struct {
	Code       string            `yaml:"code" json:"code"`
	Title      string            `yaml:"title" json:"title"` // one sentence, no period
	Confidence checks.Confidence `yaml:"confidence" json:"confidence"`
	Impact     Impact            `yaml:"impact" json:"impact"`
	Explains   Explains          `yaml:"explains" json:"explains"`
	Fix        []Remedy          `yaml:"fix" json:"fix"`
	Verify     []Line            `yaml:"verify" json:"verify"`
	Reproduce  []Line            `yaml:"reproduce" json:"reproduce"`
	References []string          `yaml:"references" json:"references"`

	Layer   checks.Layer `yaml:"-" json:"layer"`
	Symptom string       `yaml:"-" json:"symptom"` // "## Symptom"
	Cause   string       `yaml:"-" json:"cause"`   // "## Cause"
	Notes   string       `yaml:"-" json:"notes"`   // "## Notes", may be empty
}

// Explains lists the codes that are a consequence of the page's own, by how
// near they must be: a consequence elsewhere has its own cause.
type Explains struct {
	Port   []string `yaml:"port" json:"port,omitempty"`     // at the same port, or at its netdev
	Device []string `yaml:"device" json:"device,omitempty"` // at the same device or PCI function
	Card   []string `yaml:"card" json:"card,omitempty"`     // at any PCI function of the same card
	Netdev []string `yaml:"netdev" json:"netdev,omitempty"` // at the same netdev or one it is stacked with
	Host   []string `yaml:"host" json:"host,omitempty"`     // anywhere on the host
}

// Scope is how near two findings must be.
type Scope string

// The scopes, as the front matter spells them.
const (
	PortScope   Scope = "port"
	DeviceScope Scope = "device"
	CardScope   Scope = "card"
	NetdevScope Scope = "netdev"
	HostScope   Scope = "host"
)

// scopes yields the lists with their names, in a fixed order.
func (e Explains) scopes() []struct {
	Scope Scope
	Codes []string
} {
	return []struct {
		Scope Scope
		Codes []string
	}{{PortScope, e.Port}, {DeviceScope, e.Device}, {CardScope, e.Card}, {NetdevScope, e.Netdev}, {HostScope, e.Host}}
}

// Remedy is a step of a fix as the page has it: "{name}" is filled in from the
// finding.
type Remedy struct {
	Command    string    `yaml:"command" json:"command,omitempty"`
	Text       string    `yaml:"text" json:"text,omitempty"`
	Where      Place     `yaml:"where" json:"where"`
	Disrupts   Disrupts  `yaml:"disrupts" json:"disrupts"`
	Changes    string    `yaml:"changes" json:"changes"`
	Persistent bool      `yaml:"persistent" json:"persistent"`
	If         Condition `yaml:"if" json:"if,omitempty"`
}

// A Line is one command to run or thing to look at, with the condition under
// which it applies. In the front matter it is a string, or a map of command
// and if.
type Line struct {
	Command string    `yaml:"command" json:"command"`
	If      Condition `yaml:"if" json:"if,omitempty"`
}
