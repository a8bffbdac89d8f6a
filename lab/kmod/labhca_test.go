package kmod

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
)

// families says where a driver's names are, for each of labhca's tables. The
// names are literals, or in the one column of what match finds.
var families = []struct {
	table, source string
	match         *regexp.Regexp
}{
	{"mlx5_port", "mlx5/counters.c",
		regexp.MustCompile(`INIT_(?:Q|CONG|EXT_PPCNT)_COUNTER\((\w+)\)`)},
	{"bnxt_re_port", "bnxt_re/hw_counters.c", quoted},
	{"irdma_port", "irdma/verbs.c", quoted},
	{"efa_port", "efa/efa_verbs.c", quoted},
	{"efa_device", "efa/efa_verbs.c", quoted},
}

// TestLabhcaCounterNames proves that labhca's names of hw_counters are the
// drivers' own, in each kernel.
func TestLabhcaCounterNames(t *testing.T) {
	own := repositoryFile(t, "lab/labhca/families.c")
	eachKernel(t, func(t *testing.T, cache string, k kernels.Kernel) {
		for _, f := range families {
			names := literals(between(t, own, f.table+"[] = {", "};"))
			if len(names) < 12 {
				t.Errorf("%s: found only %q", f.table, names)
			}
			known := make(map[string]bool)
			theirs := kernelFile(t, cache, k, "drivers/infiniband/hw/"+f.source)
			for _, m := range f.match.FindAllSubmatch(uncommented(theirs), -1) {
				known[string(m[1])] = true
			}
			for _, name := range names {
				if !known[name] {
					t.Errorf("%s: %s of %s has no counter %q", f.table, f.source,
						k.Release, name)
				}
			}
			if known["out_of_sequences"] {
				t.Errorf("%s: a name that is none counts as known", f.source)
			}
		}
	})
}

// pmaField matches a field of PortCounters in labhca's table, and
// theirField in the kernel's own.
var (
	pmaField   = regexp.MustCompile(`\{ "(\w+)", (\d+), (\d+) \}`)
	theirField = regexp.MustCompile(
		`PORT_PMA_ATTR\((\w+)\s*,\s*\d+\s*,\s*(\d+)\s*,\s*(\d+)\)`)
	theirExtField = regexp.MustCompile(
		`PORT_PMA_ATTR_EXT\((\w+)\s*,\s*64\s*,\s*(\d+)\)`)
)

// TestLabhcaPMAFields proves that labhca puts each counter where the kernel's
// sysfs looks for it, in the width that it reads.
func TestLabhcaPMAFields(t *testing.T) {
	source := repositoryFile(t, "lab/labhca/pma.c")
	own := make(map[string]string)
	for _, m := range pmaField.FindAllSubmatch(source, -1) {
		own[string(m[1])] = fmt.Sprintf("%s bits at %s", m[2], m[3])
	}
	table := between(t, source, "fields[LABHCA_PMA] = {", "};")
	names := literals(table)
	eachKernel(t, func(t *testing.T, cache string, k kernels.Kernel) {
		theirs := uncommented(kernelFile(t, cache, k,
			"drivers/infiniband/core/sysfs.c"))
		want := make(map[string]string)
		for _, m := range theirField.FindAllSubmatch(theirs, -1) {
			want[string(m[1])] = fmt.Sprintf("%s bits at %s", m[2], m[3])
		}
		if !maps.Equal(own, want) {
			t.Errorf("fields are %v, want %v", own, want)
		}
		// The extended ones lie in the order of ext_fields.
		var order []string
		for _, m := range regexp.MustCompile(`\d+`).FindAll(between(t, source,
			"ext_fields[] = {", "};"), -1) {
			var i int
			fmt.Sscan(string(m), &i)
			order = append(order, names[i])
		}
		var ext []string
		for i, m := range theirExtField.FindAllSubmatch(theirs, -1) {
			ext = append(ext, string(m[1]))
			if at := fmt.Sprint(64 * (i + 1)); string(m[2]) != at {
				t.Errorf("extended %s is at %s, want %s", m[1], m[2], at)
			}
		}
		if !slices.Equal(order, ext) {
			t.Errorf("extended fields are %q, want %q", order, ext)
		}
	})
}

// TestLabhcaImitatesRealFunctions proves that the functions which labhca's
// comments name are in the drivers.
func TestLabhcaImitatesRealFunctions(t *testing.T) {
	var folders []string
	for _, driver := range []string{"mlx5", "bnxt_re", "irdma", "efa"} {
		folders = append(folders, "drivers/infiniband/hw/"+driver)
	}
	checkImitated(t, "lab/labhca/*.c", 12, folders)
}
