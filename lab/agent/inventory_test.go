package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rdmadoctor/rdmadoctor/lab/wire"
)

func TestDifferences(t *testing.T) {
	base := wire.Inventory{"modules": {"a", "b"}, "links": {"lo", "lo"}}
	tests := []struct {
		name string
		got  wire.Inventory
		want []string
	}{
		{"same in another order", wire.Inventory{"modules": {"b", "a"},
			"links": {"lo", "lo"}}, nil},
		{"one more", wire.Inventory{"modules": {"a", "b", "c"},
			"links": {"lo", "lo"}}, []string{"modules: left: c"}},
		{"one less", wire.Inventory{"modules": {"a"}, "links": {"lo", "lo"}},
			[]string{"modules: gone: b"}},
		{"once instead of twice", wire.Inventory{"modules": {"a", "b"},
			"links": {"lo"}}, []string{"links: gone: lo"}},
		{"section absent", wire.Inventory{"modules": {"a", "b"}},
			[]string{"links: gone: lo", "links: gone: lo"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := differences(base, tt.got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseStat(t *testing.T) {
	const rest = " 1 4711 4711 0 -1 4194304 120 0 0 0 0 0 0 0 20 0 1 0 90"
	tests := []struct {
		name, line string
		want       process
		kernel, ok bool
	}{
		{"user", "4711 (sh) S" + rest, process{4711, "sh"}, false, true},
		{"kernel", "2 (kthreadd) S 0 0 0 0 -1 2129984 0", process{2, "kthreadd"},
			true, true},
		{"hostile name", "9 (a) R 1 (b c)) S" + rest, process{9, "a) R 1 (b c)"},
			false, true},
		{"empty", "", process{}, false, false},
		{"cut in the name", "4711 (s", process{}, false, false},
		{"cut after the name", "4711 (sh) S 1 2", process{}, false, false},
		{"number absent", " (sh) S" + rest, process{}, false, false},
		{"number huge", "99999999999999999999 (sh) S" + rest, process{}, false, false},
		{"flags no number", "1 (sh) S 0 0 0 0 -1 x 0", process{}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, kernel, err := parseStat(tt.line)
			if (err == nil) != tt.ok {
				t.Fatalf("%q: got error %v", tt.line, err)
			}
			if tt.ok && (got != tt.want || kernel != tt.kernel) {
				t.Errorf("%q: got %v, %t, want %v, %t", tt.line, got, kernel,
					tt.want, tt.kernel)
			}
		})
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("4711 (sh) S 1 4711 4711 0 -1 4194304 120 0")
	f.Add("9 (a) R 1 (b)) S 0 0 0 0 -1 2129984 0")
	f.Add("4711 (s")
	f.Fuzz(func(t *testing.T, line string) {
		p, _, err := parseStat(line)
		if err == nil && (p.pid <= 0 || !strings.Contains(line, "("+p.name+")")) {
			t.Errorf("%q: got %v", line, p)
		}
	})
}
