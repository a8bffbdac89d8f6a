package fakeverbs

import (
	"debug/elf"
	"slices"
	"testing"
)

// The library offers its symbols under the versions of the real one, and each
// test has a file of its own.
func TestBuild(t *testing.T) {
	a, b := Build(t, ""), Build(t, "link infiniband")
	if a == b {
		t.Errorf("two libraries are one file: %s", a)
	}
	f, err := elf.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for name, version := range map[string]string{"ibv_open_device": "IBVERBS_1.1", "ibv_create_comp_channel": "IBVERBS_1.0",
		"ibv_reg_mr_iova2": "IBVERBS_1.8", "_ibv_query_gid_table": "IBVERBS_1.11"} {
		if !slices.ContainsFunc(syms, func(s elf.Symbol) bool { return s.Name == name && s.Version == version }) {
			t.Errorf("no %s@%s", name, version)
		}
	}
}
