package collect

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

func TestLibraryFiles(t *testing.T) {
	s := collected(t, constructed(t, "library-files-debian"), facts.LibraryFiles)
	const dir = "/usr/lib/x86_64-linux-gnu/"
	want(t, "userland", s.Userland, facts.Userland{
		Libibverbs:  []string{dir + "libibverbs.so.1", dir + "libibverbs.so.1.14.44.0"},
		Librdmacm:   []string{dir + "librdmacm.so.1.3.44.0"},
		DriverFiles: []facts.DriverFile{{Path: "/etc/libibverbs.d/mlx5.driver", Driver: "mlx5"}, {Path: "/etc/libibverbs.d/rxe.driver", Driver: "rxe"}},
		Providers:   []string{dir + "libibverbs/libmlx5-rdmav34.so", dir + "libibverbs/librxe-rdmav34.so", "/usr/local/lib/libibverbs/libfoo-rdmav19.so"},
		ConfigDir:   "/etc/libibverbs.d",
	})
	want(t, "bad driver file", gap(t, s, "/etc/libibverbs.d/bad.driver").Kind, facts.Malformed)
	if len(s.Gaps) != 1 {
		t.Errorf("gaps: %v", s.Gaps)
	}
	h := constructed(t, "library-files-debian")
	h.Put("/etc/libibverbs.d/", "errno: EACCES")
	h.Put("/usr/local/lib/libibverbs/", "errno: EACCES")
	s = collected(t, h, facts.LibraryFiles)
	gap(t, s, "/etc/libibverbs.d")
	gap(t, s, "/usr/local/lib/libibverbs")
	want(t, "providers that are left", len(s.Userland.Providers), 2)
	empty := collected(t, fixture.Host(fixture.Parse("")), facts.LibraryFiles)
	want(t, "sources", empty.Sources, []facts.Source{})
	want(t, "a recording without", gap(t, empty, "/usr/lib").Kind, facts.Unsupported)
	live := Run(t.Context(), fixture.Host(fixture.Parse("")), Options{Origin: facts.Live, Only: []facts.Source{facts.LibraryFiles}})
	want(t, "a host without", gap(t, live, "/usr/lib").Kind, facts.Absent)
}

func TestConfigFS(t *testing.T) {
	port := func(s *facts.Snapshot) { withPort(s, "eth2") }
	const dir = "/sys/kernel/config/rdma_cm/"
	tests := []struct {
		name, tree string
		mode       facts.Opt[string]
		tos        facts.Opt[int]
		read       bool
		gap        string
	}{
		{"set", "-- " + dir + "mlx5_0/ports/1/default_roce_mode --\nRoCE v2\n-- " + dir + "mlx5_0/ports/1/default_roce_tos --\n104\n", facts.Some("RoCE v2"), facts.Some(104), true, ""},
		{"another device's", "-- " + dir + "mlx5_9/ports/1/default_roce_tos --\n104\n", facts.Opt[string]{}, facts.Opt[int]{}, true, ""},
		{"nobody made one", "-- " + dir + " --\n", facts.Opt[string]{}, facts.Opt[int]{}, true, ""},
		{"not mounted", "-- /sys/kernel/config/ --\n", facts.Opt[string]{}, facts.Opt[int]{}, false, "/sys/kernel/config"},
		{"no sysfs", "", facts.Opt[string]{}, facts.Opt[int]{}, false, "/sys/kernel/config"},
		{"nonsense", "-- " + dir + "mlx5_0/ports/1/default_roce_tos --\n300\n", facts.Opt[string]{}, facts.Opt[int]{}, true, dir + "mlx5_0/ports/1/default_roce_tos"},
		{"denied", "-- " + dir + " --\nerrno: EACCES\n", facts.Opt[string]{}, facts.Opt[int]{}, true, "/sys/kernel/config/rdma_cm"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &facts.Snapshot{}
			port(s)
			readWith(t, s, fixture.Host(fixture.Parse(tt.tree)), facts.ConfigFS)
			p := s.Devices[0].Ports[0]
			want(t, "mode", p.CMRoCEMode, tt.mode)
			want(t, "tos", p.CMRoCETOS, tt.tos)
			want(t, "read", s.Has(facts.ConfigFS), tt.read)
			if tt.gap != "" {
				gap(t, s, tt.gap)
			} else {
				noGaps(t, s)
			}
		})
	}
}

func FuzzDriverFile(f *testing.F) {
	f.Add("driver mlx5\n# driver x\ndriver /opt/lib/libx\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, name := range parseDriverFile(s) {
			if name == "" {
				t.Errorf("parseDriverFile(%q) holds an empty name", s)
			}
		}
		parseTOS(s)
	})
}
