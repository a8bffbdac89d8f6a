package main

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

// Patterns are compiled when they are used, which may be never in a test.
func TestPatternsAreInForm(t *testing.T) {
	if err := pattern.Check(); err != nil {
		t.Error(err)
	}
}
