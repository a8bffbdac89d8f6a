// Package knowledge explains findings: what is wrong, why, how to mend it and
// how to see that it is mended. It holds the pitfall pages, the graph of what
// causes what, and the ranking that puts the answer first. It never looks at
// a host.
package knowledge

import "github.com/rdmadoctor/rdmadoctor/checks"

// Impact is what a diagnosis means for work on the host.
type Impact string

// The impacts, worst first.
const (
	Down     Impact = "down"     // RDMA does not work there
	Degraded Impact = "degraded" // works, slower or with loss
	AtRisk   Impact = "at-risk"  // works now
	None     Impact = "none"
)

// A Diagnosis is one cause with the findings that it explains.
type Diagnosis struct {
	Code       string            `json:"code"`
	Severity   checks.Severity   `json:"severity"` // the worst of the cause and what it explains
	Confidence checks.Confidence `json:"confidence"`
	Impact     Impact            `json:"impact"`
	Layer      checks.Layer      `json:"layer"`
	Subject    string            `json:"subject"`
	Subjects   []string          `json:"subjects"` // all subjects with this cause, the first is Subject
	Title      string            `json:"title"`
	Message    string            `json:"message"` // the finding's sentence: what was seen, what was wanted
	Symptom    string            `json:"symptom"`
	Cause      string            `json:"cause"`
	Findings   []FindingRef      `json:"findings"` // the cause's own first, then its consequences
	Evidence   []checks.Evidence `json:"evidence"`
	Fix        []Step            `json:"fix"`
	Verify     []string          `json:"verify"`
	Reproduce  []string          `json:"reproduce"` // the same seen with the standard tools
	References []string          `json:"references"`
}

// FindingRef names a finding of the report's checks.
type FindingRef struct {
	Code    string `json:"code"`
	Subject string `json:"subject"`
}

// A Step of a fix is one command, or one thing to do where no command can.
type Step struct {
	// Command can be pasted into a root shell where Where is host. A
	// "<placeholder>" in it is something that only the reader knows.
	Command    string   `json:"command,omitempty"`
	Text       string   `json:"text,omitempty"` // what to do, where it is no command
	Where      Place    `json:"where"`
	Disrupts   Disrupts `json:"disrupts"`
	Changes    string   `json:"changes"` // what is different afterwards
	Persistent bool     `json:"persistent"`
}

// Place is where a step is carried out.
type Place string

// Places lists the places.
var Places = []Place{"host", "container", "peer", "switch", "sm", "bios", "cloud", "application", "vendor"}

// Disrupts is what a step interrupts.
type Disrupts string

// Disruptions lists what a step can interrupt, least first.
var Disruptions = []Disrupts{"nothing", "process", "port", "host", "fabric"}

// Relations tell which places of a host belong together, so that a finding on
// a netdev or a PCI function can be told to concern a port.
type Relations []Relation

// A Relation is one port with the netdevs that carry it (the one of its GIDs
// and the one beneath it) and its PCI function.
type Relation struct {
	Host    string // of a comparison; empty for a single host
	Device  string
	Port    int
	Netdevs []string
	PCI     string
}
