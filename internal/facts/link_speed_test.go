package facts

import "testing"

func TestDataRate(t *testing.T) {
	for _, tc := range []struct {
		speed string
		width int
		want  string
		ok    bool
	}{
		{"SDR", 4, "8 Gb/s", true},
		{"DDR", 4, "16 Gb/s", true},
		{"QDR", 4, "32 Gb/s", true},
		{"FDR10", 4, "40 Gb/s", true},
		{"FDR", 4, "54.5 Gb/s", true},
		{"EDR", 4, "100 Gb/s", true},
		{"HDR", 2, "100 Gb/s", true},
		{"NDR", 4, "400 Gb/s", true},
		{"XDR", 4, "800 Gb/s", true},
		{"GDR", 4, "0 b/s", false},
		{"", 4, "0 b/s", false},
		{"EDR", 0, "0 b/s", false},
		{"EDR", -1, "0 b/s", false},
	} {
		if got, ok := DataRate(tc.speed, tc.width); got.String() != tc.want || ok != tc.ok {
			t.Errorf("%s %dX: %s, %v, want %s", tc.speed, tc.width, got, ok, tc.want)
		}
	}
}
