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
	Found         bool              `json:"found"` // whether a page explains what was asked for
	Pages         []*knowledge.Page `json:"pages"` // the one asked for, all where nothing was, or the nearest
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
