package kmod

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
)

// quoted matches a string literal of C without escapes.
var quoted = regexp.MustCompile(`"([^"\\\n]*)"`)

// literals returns the string literals of C source, comments left out, in
// order. It is no C parser: it serves tables of names.
func literals(source []byte) []string {
	var names []string
	for _, m := range quoted.FindAllSubmatch(uncommented(source), -1) {
		names = append(names, string(m[1]))
	}
	return names
}

var comment = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)

func uncommented(source []byte) []byte {
	return comment.ReplaceAll(source, nil)
}

// declared matches the names that mlx5e takes from its structures' fields.
var declared = regexp.MustCompile(`MLX5E_DECLARE_STAT\(struct \w+, (\w+)\)`)

// between returns the part of source from one text to the next after it.
func between(t *testing.T, source []byte, from, to string) []byte {
	t.Helper()
	_, rest, ok := bytes.Cut(source, []byte(from))
	part, _, ok2 := bytes.Cut(rest, []byte(to))
	if !ok || !ok2 {
		t.Fatalf("source has no part from %q to %q", from, to)
	}
	return part
}

// repositoryFile reads a file of this repository.
func repositoryFile(t *testing.T, name string) []byte {
	t.Helper()
	top, err := kernels.Repository()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(top, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLiterals(t *testing.T) {
	got := fmt.Sprintf("%q", literals([]byte("[A] = \"a_%d\", /* \"no\" */\n"+
		"// \"no\"\n{ \"b\", X(\"c\") }, \"cut")))
	if want := `["a_%d" "b" "c"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLabnicCounterNames proves that labnic's names are mlx5e's: every string
// of labnic's tables is a string or a declared name in mlx5e's en_stats.c of
// the same kernel.
func TestLabnicCounterNames(t *testing.T) {
	own := repositoryFile(t, "lab/labnic/counters.c")
	names := literals(between(t, own, "plain_names[LN_PLAIN] = {",
		"struct ethtool_fec_stats"))
	names = append(names, literals(between(t, own, "prio_names[LN_PRIO] = {",
		"void labnic_count_name"))...)
	if len(names) < 70 {
		t.Fatalf("found only %d names in labnic's tables: %q", len(names), names)
	}
	eachKernel(t, func(t *testing.T, cache string, k kernels.Kernel) {
		theirs := kernelFile(t, cache, k,
			"drivers/net/ethernet/mellanox/mlx5/core/en_stats.c")
		known := make(map[string]bool)
		for _, name := range literals(theirs) {
			known[name] = true
		}
		for _, m := range declared.FindAllSubmatch(theirs, -1) {
			known[string(m[1])] = true
		}
		for _, name := range names {
			if !known[name] {
				t.Errorf("mlx5e of %s has no counter %q", k.Release, name)
			}
		}
		// Nothing that surely is none may count as known.
		for _, name := range []string{"tx_%s_pause_transition", "rx_prio3_pause"} {
			if known[name] {
				t.Errorf("%q counts as a name of mlx5e", name)
			}
		}
	})
}

// imitated matches the names of functions in comments such as "Imitates
// mlx5e_dcbnl_ieee_getpfc".
var imitated = regexp.MustCompile(`\b(?:mlx5e?|sparx5|efa|irdma|bnxt_re)_[a-z0-9_]+\b`)

// notFunctions are names of drivers, and functions of a driver whose source is
// not unpacked.
var notFunctions = regexp.MustCompile(`^(mlx5_core|mlx5_ib|sparx5_.*)$`)

// TestLabnicImitatesRealFunctions proves that the functions of mlx5 which
// labnic's comments name exist there.
func TestLabnicImitatesRealFunctions(t *testing.T) {
	checkImitated(t, "lab/labnic/*.c", 25,
		[]string{"drivers/net/ethernet/mellanox/mlx5/core"})
}

// checkImitated checks that the functions named in the comments of the files,
// at least least of them, are in those folders of each kernel's source.
func checkImitated(t *testing.T, files string, least int, folders []string) {
	t.Helper()
	top, err := kernels.Repository()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(top, files))
	if err != nil {
		t.Fatal(err)
	}
	named := make(map[string]string)
	for _, file := range found {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range comment.FindAll(b, -1) {
			for _, name := range imitated.FindAllString(string(text), -1) {
				if !notFunctions.MatchString(name) {
					named[name] = filepath.Base(file)
				}
			}
		}
	}
	if len(named) < least {
		t.Fatalf("found only %d functions in the comments of %s", len(named), files)
	}
	eachKernel(t, func(t *testing.T, cache string, k kernels.Kernel) {
		var source strings.Builder
		for _, folder := range folders {
			source.WriteString(driverText(t, cache, k, folder))
		}
		for name, file := range named {
			if !mentions(source.String(), name) {
				t.Errorf("%s names %s, which is not in %s of %s", file, name, folders,
					k.Release)
			}
		}
	})
}

// mentions reports whether source has the word, or the word that mlx5e's
// macros make of it: mlx5e_stats_grp_x is MLX5E_DECLARE_STATS_GRP_OP_...(x).
func mentions(source, word string) bool {
	for rest := source; ; {
		before, after, ok := strings.Cut(rest, word)
		if !ok {
			break
		}
		if !endsInWord(before) && !startsWithWord(after) {
			return true
		}
		rest = after
	}
	group, ok := strings.CutPrefix(word, "mlx5e_stats_grp_")
	return ok && strings.Contains(source, "MLX5E_STATS_GRP("+group+")")
}

func endsInWord(s string) bool {
	return s != "" && wordByte(s[len(s)-1])
}

func startsWithWord(s string) bool {
	return s != "" && wordByte(s[0])
}

// wordByte reports whether a byte may be part of a name in C.
func wordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' ||
		'A' <= b && b <= 'Z'
}

func TestMentions(t *testing.T) {
	const source = "int mlx5_ab(void); mlx5_a_c xmlx5_a MLX5E_STATS_GRP(qcnt)"
	for word, want := range map[string]bool{"mlx5_ab": true, "mlx5_a": false,
		"mlx5e_stats_grp_qcnt": true, "mlx5e_stats_grp_q": false} {
		if got := mentions(source, word); got != want {
			t.Errorf("mentions %q: got %v, want %v", word, got, want)
		}
	}
	if !mentions("a", "a") {
		t.Error("a word that is the whole source is not found")
	}
}

// driverText returns all C of one folder of the kernel's source.
func driverText(t *testing.T, cache string, k kernels.Kernel, folder string) string {
	t.Helper()
	top, err := kernels.Source(context.Background(), cache, k)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, pattern := range []string{"*.c", "*.h", "*/*.c", "*/*.h"} {
		files, err := filepath.Glob(filepath.Join(top, folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(b)
		}
	}
	return all.String()
}
