package knowledge

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"pfc-of", "pfc-off"},
		{"PFC_OFF", "pfc-off"},
		{"memlock low", "memlock-low"},
		{"gid none", "gid-none"},
		{"port-admin-dwn", "port-admin-down"},
		{"transport retry counter exceeded", "retry-exceeded"},
		{"Cannot allocate memory when registering", "memlock-low"},
		{"memory lock", "memlock-low"},
		{"Xid", "gpu-fault"},
		{"ib_write_bw very slow because of pause frames storm", "pfc-storm"},
	} {
		ps := Nearest(tt.text)
		if !slices.ContainsFunc(ps, func(p *Page) bool { return p.Code == tt.want }) || len(ps) > nearestMax {
			var codes []string
			for _, p := range ps {
				codes = append(codes, p.Code)
			}
			t.Errorf("%q: got %v, want %s among them", tt.text, codes, tt.want)
		}
	}
	for text, want := range map[string]string{
		"No IB devices found":              "no-rdma-device",
		"memlock":                          "memlock-low",
		"transport retry counter exceeded": "retry-exceeded",
	} {
		if ps := Nearest(text); len(ps) == 0 || ps[0].Code != want {
			var codes []string
			for _, p := range ps {
				codes = append(codes, p.Code)
			}
			t.Errorf("%q: got %v, want %s first", text, codes, want)
		}
	}
	for _, text := range []string{"", "   ", "qqqqqqqqqqqqqqqqqqqq", "the and for"} {
		if ps := Nearest(text); len(ps) != 0 {
			t.Errorf("%q: got %s", text, ps[0].Code)
		}
	}
}

func FuzzNearest(f *testing.F) {
	for _, s := range []string{"pfc-off", "", "\xff\xfe", "a b c", "memlock\x00low", "ééé"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if ps := Nearest(s); len(ps) > nearestMax {
			t.Fatalf("%d pages", len(ps))
		}
	})
}
