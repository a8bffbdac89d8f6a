package policy

import (
	"os"
	"strings"
	"testing"
)

// The policy that the README shows can be used.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```yaml\nversion: 1\n")
	example, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("the README shows no policy")
	}
	p, err := Parse([]byte("version: 1\n" + example))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Ports) != 1 || p.Ports[0].MTU != 9000 || p.Limits.Memlock != unlimited {
		t.Errorf("%+v", p)
	}
}
