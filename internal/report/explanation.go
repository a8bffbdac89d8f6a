package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// Explanation is what explain --json writes.
type Explanation struct {
	SchemaVersion string            `json:"schema_version"`
	Found         bool              `json:"found"` // whether a page or a counter explains what was asked for
	Pages         []*knowledge.Page `json:"pages"` // the one asked for, all where nothing was, or the nearest
	// Counters are those that go by the name asked for.
	Counters []CounterMeaning `json:"counters,omitempty"`
}

// CounterMeaning is what is known of one counter.
type CounterMeaning struct {
	Name      string `json:"name"`
	Place     string `json:"place"` // "ports/N/counters", "hw_counters", "ethtool -S", ...
	Meaning   string `json:"meaning"`
	Cause     string `json:"cause,omitempty"` // what mostly makes it grow
	Class     string `json:"class"`           // what growth means: "physical", "loss", "traffic", ...
	Direction string `json:"direction,omitempty"`
	Unit      string `json:"unit"`
	WidthBits int    `json:"width_bits"`
	Saturates bool   `json:"saturates,omitempty"` // it stops at its maximum
	Threshold string `json:"threshold,omitempty"` // a number and who gives it
}

// JSON writes the explanation, indented, with a newline at its end.
func (e Explanation) JSON(w io.Writer) error {
	e.Pages = list(slices.Clone(e.Pages))
	for i, p := range e.Pages {
		whole := *p
		whole.Fix, whole.Verify = list(p.Fix), list(p.Verify)
		whole.Reproduce, whole.References = list(p.Reproduce), list(p.References)
		e.Pages[i] = &whole
	}
	enc := NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(e); err != nil {
		return fmt.Errorf("write explanation: %w", err)
	}
	return nil
}
