package main

import (
	"os"
	"testing"
)

func TestFullScreen(t *testing.T) {
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("open a terminal: %v", err)
	}
	defer tty.Close()
	pipe, _, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	for _, tc := range []struct {
		in, out *os.File
		term    string
		want    bool
	}{
		{tty, tty, "xterm", true},
		{tty, tty, "dumb", false},
		{tty, tty, "", false},
		{pipe, tty, "xterm", false},
		{tty, pipe, "xterm", false},
	} {
		p := &program{in: tc.in, out: tc.out, environ: []string{"TERM=" + tc.term}}
		if got := p.fullScreen(); got != tc.want {
			t.Errorf("in %s, out %s, TERM=%s: %v, want %v", tc.in.Name(), tc.out.Name(), tc.term, got, tc.want)
		}
	}
}

func TestLayoutWidth(t *testing.T) {
	for w, want := range map[int]int{0: 80, 1: 40, 40: 40, 50: 50, 80: 80, 100: 100, 211: 100} {
		if got := layoutWidth(w); got != want {
			t.Errorf("terminal of %d: %d, want %d", w, got, want)
		}
	}
}
