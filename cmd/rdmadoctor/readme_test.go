package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// The transcript in the README is cut, never made up: each of its lines
// stands in the text of the lab's report, in that order.
func TestREADMETranscript(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("testdata/readme.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var fold report.Fold
	if err := report.Replay(f, &fold); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := report.Text(&text, fold.Document(), report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(readme), "$ rdmadoctor check\n")
	block, _, closed := strings.Cut(block, "```")
	if !ok || !closed {
		t.Fatal("README.md has no transcript of rdmadoctor check")
	}
	rest, n := text.String(), 0
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		i := strings.Index(rest, line)
		if i < 0 {
			t.Fatalf("the report does not go on with %q", line)
		}
		rest, n = rest[i+len(line):], n+1
	}
	if n < 10 {
		t.Errorf("%d lines in the transcript, want a whole finding", n)
	}
}
