package report

import (
	"fmt"
	"io"
)

// PolicyCheck is what policy check --json writes.
type PolicyCheck struct {
	SchemaVersion string `json:"schema_version"`
	File          string `json:"file"`
	Valid         bool   `json:"valid"`             // whether check --policy takes the file
	PolicyVersion int    `json:"policy_version"`    // 0 where the file is not valid
	Demands       string `json:"demands,omitempty"` // what it demands, in words
	// Mistakes are in the order of their lines.
	Mistakes []PolicyMistake `json:"mistakes"`
	Error    *Error          `json:"error" jsonschema:"nullable"` // why the file was not read
}

// PolicyMistake is one mistake of a policy file.
type PolicyMistake struct {
	Line    int    `json:"line"`    // from 1
	Message string `json:"message"` // the key, what was found and what is wanted
}

// JSON writes the result, indented, with a newline at its end.
func (c PolicyCheck) JSON(w io.Writer) error {
	c.Mistakes = list(c.Mistakes)
	enc := NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(c); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}
