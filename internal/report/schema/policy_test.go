package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/policy"
)

// What the program reads as a policy is one by the schema, and a misspelt key
// is not.
func TestPoliciesAreValid(t *testing.T) {
	s, _ := compile(t, policy.Policy{})
	text, err := os.ReadFile("../../policy/testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(t, s, p); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{`{}`, `{"version": 2}`, `{"version": 1, "devcies": {}}`, `{"version": 1, "ports": [{"mtu": 9000}]}`,
		`{"version": 1, "ports": [{"match": ["a"], "transport": "roce"}]}`, `{"version": 1, "ports": [{"match": ["a"], "rate": "400"}]}`,
		`{"version": 1, "limits": {"memlock": "lots"}}`} {
		if validate(t, s, json.RawMessage(bad)) == nil {
			t.Errorf("%s is valid", bad)
		}
	}
	if err := validate(t, s, json.RawMessage(`{"version": 1, "limits": {"memlock": 8388608}}`)); err != nil {
		t.Errorf("memlock as a number: %v", err)
	}
}
