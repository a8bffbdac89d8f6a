package collect

import (
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

// Values as kernel/params.c prints them: numbers, Y or N, strings and lists.
const parameters = `-- /proc/modules --
ib_core 458752 2 mlx5_ib,nvme_rdma, Live 0x0000000000000000
mlx4_core 458752 1 mlx4_ib, Live 0x0000000000000000
nvidia 458752 1 - Live 0x0000000000000000 (PO)
ext4 1 1 - Live 0x0000000000000000
-- /sys/module/ib_core/parameters/netns_mode --
Y
-- /sys/module/ib_core/parameters/force_mr --
N
-- /sys/module/mlx4_core/parameters/log_num_mtt --
20
-- /sys/module/mlx4_core/parameters/port_type_array --
2,2
-- /sys/module/mlx4_core/parameters/debug_level --
1
-- /sys/module/mlx4_core/parameters/internal_err_reset --
errno: EPERM
-- /sys/module/mlx4_core/parameters/num_vfs --
errno: EACCES
-- /sys/module/mlx4_core/parameters/empty --

-- /sys/module/nvidia/parameters/NVreg_X --
1
-- /sys/module/ext4/parameters/x --
1
`

func TestModuleParameters(t *testing.T) {
	s := collected(t, fixture.Host(fixture.Parse(parameters)), facts.ModuleList)
	want(t, "ib_core", s.Module("ib_core").Parameters, map[string]string{"netns_mode": "Y", "force_mr": "N"})
	want(t, "mlx4_core", s.Module("mlx4_core").Parameters, map[string]string{"log_num_mtt": "20", "port_type_array": "2,2", "empty": ""})
	for _, name := range []string{"nvidia", "ext4"} {
		if p := s.Module(name).Parameters; p != nil {
			t.Errorf("%s: %v, want none", name, p)
		}
	}
	want(t, "gap", gap(t, s, "/sys/module/mlx4_core/parameters").Kind, facts.Denied)
}

func TestModuleParametersHostile(t *testing.T) {
	h := fixture.Host(fixture.Parse(parameters))
	for i := range mostParameters + 1 {
		h.Put("/sys/module/ib_core/parameters/p"+strings.Repeat("x", i), "1")
	}
	h.Put("/sys/module/mlx4_core/parameters/log_num_mtt", strings.Repeat("9", 5000))
	s := collected(t, h, facts.ModuleList)
	if p := s.Module("ib_core").Parameters; len(p) > 0 {
		t.Errorf("%d parameters are kept", len(p))
	}
	want(t, "gap", gap(t, s, "/sys/module/ib_core/parameters").Kind, facts.Malformed)
	if v, ok := s.Module("mlx4_core").Parameters["log_num_mtt"]; ok {
		t.Errorf("%d bytes are kept", len(v))
	}
}
