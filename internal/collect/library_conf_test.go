package collect

import (
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

func TestLibraryConf(t *testing.T) {
	h := fixture.Host(fixture.Parse(`
-- /etc/nccl.conf --
# copied from a recipe
NCCL_IB_GID_INDEX=3
 NCCL_DEBUG = WARN
HOME=/root
-- /etc/ucx/ucx.conf --
errno: EACCES
`))
	s := collected(t, h, facts.LibraryConf)
	want(t, "settings", s.Settings, []facts.Setting{
		{File: "/etc/nccl.conf", Line: 2, Name: "NCCL_IB_GID_INDEX", Value: "3"},
		{File: "/etc/nccl.conf", Line: 3, Name: "NCCL_DEBUG", Value: "WARN"},
	})
	want(t, "gap", gap(t, s, "/etc/ucx/ucx.conf").Kind, facts.Denied)
	none := collected(t, fixture.Host(fixture.Parse("-- /etc/hosts --\n")), facts.LibraryConf)
	want(t, "neither file", gap(t, none, "/etc/nccl.conf, /etc/ucx/ucx.conf").Kind, facts.Unsupported)
	want(t, "nothing read", none.Sources, []facts.Source{})
}

func TestParseSettings(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []facts.Setting
	}{
		{"empty", "", nil},
		{"comments and sections", "#NCCL_IB_TC=1\n[UCX]\n\nUCX_TLS=rc\n", []facts.Setting{{File: "f", Line: 4, Name: "UCX_TLS", Value: "rc"}}},
		{"no value", "NCCL_IB_TC\n", []facts.Setting{{File: "f", Line: 1, Name: "NCCL_IB_TC"}}},
		{"NULs", "NCCL_IB_TC=1\x00NCCL_IB_SL=2\n", nil},
		{"no end", "UCX_TLS=rc", []facts.Setting{{File: "f", Line: 1, Name: "UCX_TLS", Value: "rc"}}},
	} {
		want(t, tt.name, parseSettings("f", tt.text), tt.want)
	}
	want(t, "bounded", len(parseSettings("f", strings.Repeat("UCX_TLS=rc\n", 5000))), mostSettings)
}

func TestVariablesOfProcesses(t *testing.T) {
	h := constructed(t, "limits-slurm")
	h.Put("/proc/811/environ", "PATH=/bin\nNCCL_IB_GID_INDEX=3\n")
	h.Put("/proc/self/environ", "UCX_IB_GID_INDEX=1\nTOKEN=x\n")
	h.Put("/proc/self/ns/net", "-> net:[1]")
	h.Put("/proc/811/ns/net", "-> net:[2]")
	s := collected(t, h, facts.ProcLimits, facts.ProcessList)
	want(t, "variables", s.Processes[1].Env, map[string]string{"NCCL_IB_GID_INDEX": "3"})
	want(t, "namespace", s.Processes[1].OwnNetns, facts.Some(false))
	want(t, "own variables", s.Self.Env, map[string]string{"UCX_IB_GID_INDEX": "1"})
	want(t, "a launcher", s.Processes[0].Env == nil, true)
	h.Put("/proc/811/environ", "errno: EACCES")
	s = collected(t, h, facts.ProcLimits, facts.ProcessList)
	want(t, "another user's", gap(t, s, "/proc/811/environ").Kind, facts.Denied)
}

func FuzzParseSettings(f *testing.F) {
	f.Add("NCCL_IB_GID_INDEX=3\n# x\nUCX_TLS = rc,sm\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range parseSettings("f", text) {
			if s.Line < 1 || !strings.Contains(text, s.Name) {
				t.Errorf("%q gives %+v", text, s)
			}
		}
	})
}
