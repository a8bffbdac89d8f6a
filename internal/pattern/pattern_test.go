package pattern

import (
	"slices"
	"testing"
)

func TestPattern(t *testing.T) {
	p := Of(`port ([0-9]+) (?:lost|down)`, "lost", "down")
	if got, want := p.FindStringSubmatch("mlx5: port 7 down"), []string{"port 7 down", "7"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if got := p.FindStringSubmatch("mlx5: port 7 up"); got != nil {
		t.Errorf("found %q in a line without the literals", got)
	}
	if p.MatchString("went down") || !p.MatchString("port 1 lost") || p.FindString("port 1 lost") != "port 1 lost" {
		t.Error("literals alone decide")
	}
	fold := Of(`(?i)out of memory: killed|oom-kill:`, "out of memory", "oom-")
	for line, want := range map[string]bool{"Out of Memory: killed process 7": true, "OOM-KILL:constraint": true, "room-kill": false, "": false} {
		if fold.MatchString(line) != want {
			t.Errorf("%q matches: %v, want %v", line, !want, want)
		}
	}
	if Of(`^a+$`).MatchString("b") || !Of(`^a+$`).MatchString("aa") || Of("b").FindString("a") != "" {
		t.Error("a pattern without literals does not match as regexp does")
	}
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		text     string
		literals []string
		ok       bool
	}{
		{`a(`, nil, false},
		{`a[0-9]`, nil, true},
		{`link (?:is )?down`, []string{"down"}, true},
		{`link (?:is )?down`, []string{"is "}, false},
		{`link up|port down`, []string{"link"}, false},
		{`link up|port down`, []string{"link", "port"}, true},
		{`(?:timeout)*x`, []string{"timeout"}, false},
		{`(timeout)+x`, []string{"timeout"}, true},
		{`(?:timeout){2}x`, []string{"timeout"}, true},
		{`x(?i:down)`, []string{"down"}, false},
		{`(?i)DOWN`, []string{"down"}, true},
	} {
		kept := all
		all = nil
		Of(tc.text, tc.literals...)
		if err := Check(); (err == nil) != tc.ok {
			t.Errorf("%q with %q: %v, want ok %v", tc.text, tc.literals, err, tc.ok)
		}
		all = kept
	}
}
