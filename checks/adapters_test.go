package checks

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

func TestAdapters(t *testing.T) {
	port := PortRef{&facts.Port{Number: 1}, &facts.Device{Name: "mlx5_1"}}
	for _, tc := range []struct {
		list       string
		use, named bool
	}{
		{"", true, false},
		{"all", true, false},
		{"mlx5_1", true, true},
		{"mlx5_1:1", true, true},
		{"mlx5_1:2", false, false},
		{"mlx5", true, true},
		{"=mlx5", false, false},
		{"=mlx5_1", true, true},
		{"^mlx5_1", false, false},
		{"^mlx5_0,mlx5_2", true, false},
		{"^=mlx5_1:1", false, false},
		{"mlx5_10", false, false},
		{"mlx5_0:1, mlx5_1:1", true, true},
		{"eth0", false, false},
		{"^", true, false},
		{",", true, false},
	} {
		a := parseAdapters(tc.list)
		if a.use(port) != tc.use || a.names(port) != tc.named {
			t.Errorf("%q: used %v, named %v, want %v, %v", tc.list, a.use(port), a.names(port), tc.use, tc.named)
		}
	}
}

func FuzzParseAdapters(f *testing.F) {
	f.Add("^=mlx5_0:1,mlx5_1")
	f.Add("^,:")
	port := PortRef{&facts.Port{Number: 1}, &facts.Device{Name: "mlx5_1"}}
	f.Fuzz(func(t *testing.T, s string) {
		if a := parseAdapters(s); a.names(port) && !a.use(port) {
			t.Errorf("%q asks for the port and does not use it", s)
		}
	})
}
