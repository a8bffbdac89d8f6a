package scenario

import (
	"bytes"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schema is the JSON schema of the doctor's report.
type schema struct{ s *jsonschema.Schema }

func newSchema(b []byte) (*schema, error) {
	const name = "report.schema.json"
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	s, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	return &schema{s}, nil
}

// valid says in what a report does not follow the schema.
func (s *Suite) valid(report []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(report))
	if err != nil {
		return fmt.Errorf("no JSON: %w", err)
	}
	return s.schema.s.Validate(v)
}
