package kmod

import (
	"context"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/lab"
	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
	"github.com/rdmadoctor/rdmadoctor/lab/tool"
)

// needLab skips a test where the lab cannot be built: -short, or tools that
// are missing. RDMADOCTOR_REQUIRE=lab makes missing tools a failure, so that a
// run which promises the lab cannot pass without it.
func needLab(t *testing.T) (cache string) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds kernel modules: not with -short")
	}
	err := tool.Need("apt-get", "apt-cache", "dpkg-deb", "depmod", "tar", "xz",
		"make", "gcc-12", "strip")
	if err != nil && lab.Required() {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
	cache, err = kernels.Cache()
	if err != nil {
		t.Fatal(err)
	}
	return cache
}

// eachKernel runs a test once for each kernel of the lab.
func eachKernel(t *testing.T, f func(t *testing.T, cache string, k kernels.Kernel)) {
	t.Helper()
	cache := needLab(t)
	for _, series := range kernels.Series() {
		t.Run(series, func(t *testing.T) {
			k, err := kernels.Ensure(t.Context(), cache, series)
			if err != nil {
				t.Fatal(err)
			}
			f(t, cache, k)
		})
	}
}

// kernelFile reads a file of the kernel's source.
func kernelFile(t *testing.T, cache string, k kernels.Kernel, name string) []byte {
	t.Helper()
	top, err := kernels.Source(context.Background(), cache, k)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(top, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// modinfo returns the fields of a module's .modinfo section, by name.
func modinfo(t *testing.T, file string) map[string]string {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	section := f.Section(".modinfo")
	if section == nil {
		t.Fatalf("%s has no .modinfo", file)
	}
	b, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	fields := make(map[string]string)
	for _, field := range strings.Split(string(b), "\x00") {
		if key, value, ok := strings.Cut(field, "="); ok {
			fields[key] = value
		}
	}
	return fields
}

func TestModulesBuild(t *testing.T) {
	eachKernel(t, func(t *testing.T, cache string, k kernels.Kernel) {
		files, err := Ensure(t.Context(), cache, k)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) != len(Modules()) {
			t.Errorf("got %d modules, want %d", len(files), len(Modules()))
		}
		for _, m := range Modules() {
			file := files[m.Name]
			if want := Path(cache, k, m.Name); file != want {
				t.Errorf("%s is at %q, want %q", m.Name, file, want)
			}
			info := modinfo(t, file)
			if info["name"] != m.Name {
				t.Errorf("%s: name is %q, want %q", file, info["name"], m.Name)
			}
			// The kernel refuses a module whose first word differs.
			if got := strings.Fields(info["vermagic"])[0]; got != k.Release {
				t.Errorf("%s: built for %q, want %q", file, got, k.Release)
			}
			if l := info["license"]; !strings.Contains(l, "GPL") {
				t.Errorf("%s: licence is %q, want GPL", file, l)
			}
		}
	})
}

func TestModulesNotBuiltAgain(t *testing.T) {
	eachKernel(t, func(t *testing.T, cache string, k kernels.Kernel) {
		files, err := Ensure(t.Context(), cache, k, "labnic")
		if err != nil {
			t.Fatal(err)
		}
		before, err := os.Stat(files["labnic"])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Ensure(t.Context(), cache, k, "labnic"); err != nil {
			t.Fatal(err)
		}
		after, err := os.Stat(files["labnic"])
		if err != nil {
			t.Fatal(err)
		}
		if !os.SameFile(before, after) {
			t.Error("a module that was up to date has been built again")
		}
	})
}

func TestChoose(t *testing.T) {
	all, err := choose(nil)
	if err != nil || len(all) != len(Modules()) {
		t.Errorf("no name: got %d modules, %v", len(all), err)
	}
	two, err := choose([]string{"siw", "labnic"})
	if err != nil || len(two) != 2 || two[0].Name != "siw" || two[1].Name != "labnic" {
		t.Errorf("two names: got %v, %v", two, err)
	}
	if _, err := choose([]string{"labnic", "mlx5_core"}); err == nil ||
		!strings.Contains(err.Error(), `"mlx5_core"`) {
		t.Errorf("foreign name: got error %v", err)
	}
}

func TestHash(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	seen := make(map[string]string)
	fresh := func(what string, k kernels.Kernel, m Module) {
		t.Helper()
		h, err := hash(dir, k, m)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := hash(dir, k, m); again != h {
			t.Errorf("%s: two hashes of one thing", what)
		}
		if old, ok := seen[h]; ok {
			t.Errorf("%s hashes like %s", what, old)
		}
		seen[h] = what
	}
	k := kernels.Kernel{Release: "6.1.0-57-amd64", Version: "6.1.192-3"}
	write("a.c", "int a;")
	fresh("one file", k, Module{})
	write("a.c", "int b;")
	fresh("changed file", k, Module{})
	write("b.c", "")
	fresh("second file", k, Module{})
	fresh("other configuration", k, Module{config: "CONFIG_X=m"})
	k.Version = "6.1.192-4"
	fresh("other kernel version", k, Module{})
	k.Release = "6.1.0-58-amd64"
	fresh("other kernel release", k, Module{})
	if _, err := hash(filepath.Join(dir, "absent"), k, Module{}); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("absent folder: got %v", err)
	}
}

func TestBuildRefusesPathForMake(t *testing.T) {
	if err := tool.Need("make", "gcc-12", "strip"); err != nil {
		t.Skip(err)
	}
	err := build(t.Context(), t.TempDir(), "/a b/work", "/a b/x.ko", kernels.Kernel{},
		Module{})
	if err == nil || !strings.Contains(err.Error(), `"/a b/work"`) {
		t.Errorf("got %v, want an error that names the path", err)
	}
}
