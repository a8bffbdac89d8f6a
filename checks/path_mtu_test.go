package checks

import "testing"

func TestPathMTU(t *testing.T) {
	tests := []struct {
		provider     string
		netdev, want int
	}{
		{"mlx5", 1500, 1024}, {"mlx5", 2143, 1024}, {"mlx5", 2144, 2048}, {"mlx5", 4191, 2048},
		{"mlx5", 4192, 4096}, {"mlx5", 9000, 4096}, {"mlx5", 1119, 512}, {"mlx5", 351, 0},
		{"rxe", 1500, 1024}, {"rxe", 4175, 2048}, {"rxe", 4176, 4096}, {"rxe", 4200, 4096}, {"rxe", 2200, 2048},
		{"irdma", 1500, 1024}, {"irdma", 4096, 4096}, {"irdma", 1023, 512},
	}
	for _, tt := range tests {
		rule := mtuRules[tt.provider]
		if got := rule.pathMTU(tt.netdev); got != tt.want {
			t.Errorf("%s at netdev MTU %d: path MTU %d, want %d", tt.provider, tt.netdev, got, tt.want)
		}
	}
	for provider, rule := range mtuRules {
		for _, m := range pathMTUs {
			if got := rule.pathMTU(rule.netdevMTU(m)); got != m {
				t.Errorf("%s: netdevMTU(%d) gives path MTU %d", provider, m, got)
			}
			if got := rule.pathMTU(rule.netdevMTU(m) - 1); got >= m {
				t.Errorf("%s: one byte below netdevMTU(%d) still gives %d", provider, m, got)
			}
		}
	}
}
