package hostio

import (
	"os"
	"testing"
)

func TestParseStat(t *testing.T) {
	const line = "4711 (a) R (b) D 1 2 3 4 5 6 7 8 9 10 30 12 0 0 20 0 1 0 99\n"
	for s, want := range map[string]struct {
		state byte
		ticks uint64
		ok    bool
	}{
		line:                                   {'D', 42, true},
		line[:40]:                              {0, 0, false},
		"":                                     {0, 0, false},
		"1 (x) SS 1 2 3 4 5 6 7":               {0, 0, false},
		"1 (x) S 1 2 3 4 5 6 7 8 9 10 -1 12 0": {'S', 0, false},
	} {
		state, ticks, ok := parseStat(s)
		if ok != want.ok || ok && (state != want.state || ticks != want.ticks) {
			t.Errorf("%q: %c, %d, %v, want %c, %d, %v", s, state, ticks, ok, want.state, want.ticks, want.ok)
		}
	}
}

func TestWatch(t *testing.T) {
	if a := watch(os.Getpid()); !a.known || !a.runs {
		t.Errorf("this process: %+v, want one that runs", a)
	}
	if a := watch(1 << 30); a.known {
		t.Errorf("no process: %+v", a)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("1 (sh) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20")
	f.Add(") ) )")
	f.Fuzz(func(t *testing.T, s string) { parseStat(s) })
}
