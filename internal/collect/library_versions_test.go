package collect

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

const versionsTree = `-- /sys/class/infiniband/mlx5_0/ports/1/state --
4: ACTIVE
-- /sys/class/infiniband/mlx5_0/device/driver --
-> ../../../../bus/pci/drivers/mlx5_core
-- /usr/lib64/libibverbs.so.1 --
-- /usr/lib64/libibverbs.so.1.14.57.0 --
-- /usr/lib64/libibverbs/libmlx5-rdmav57.so --
-- /usr/lib64/libibverbs/librxe-rdmav57.so --
-- symbol-versions:/usr/lib64/libibverbs.so.1 --
{"defines":["IBVERBS_1.0","IBVERBS_1.14","IBVERBS_PRIVATE_57"],"needs":[]}
-- symbol-versions:/usr/lib64/libibverbs/libmlx5-rdmav57.so --
{"defines":[],"needs":["IBVERBS_1.1","IBVERBS_PRIVATE_34"]}
`

func TestPrivateVersions(t *testing.T) {
	sources := []facts.Source{facts.SysfsRDMA, facts.LibraryFiles}
	s := collected(t, fixture.Host(fixture.Parse(versionsTree)), sources...)
	want(t, "versions", s.Userland.Private, map[string]string{"/usr/lib64/libibverbs.so.1": "IBVERBS_PRIVATE_57",
		"/usr/lib64/libibverbs/libmlx5-rdmav57.so": "IBVERBS_PRIVATE_34"})
	for answer, kind := range map[string]facts.GapKind{"errno: ENOEXEC": facts.Malformed, "errno: EACCES": facts.Denied, "timed out": facts.Timeout, "[": facts.Malformed} {
		h := fixture.Host(fixture.Parse(versionsTree))
		h.Put("symbol-versions:/usr/lib64/libibverbs.so.1", answer)
		s := collected(t, h, sources...)
		want(t, answer, gap(t, s, "/usr/lib64/libibverbs.so.1").Kind, kind)
		want(t, answer+": known", len(s.Userland.Private), 1)
	}
}
