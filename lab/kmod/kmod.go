// Package kmod builds the kernel modules that the lab loads into its guests:
//
//   - labnic, labhca, labpci and labcpu, the project's own, from lab/labnic and so on;
//   - siw and netdevsim, which Debian's kernels leave out, from the folder of
//     Debian's own source of exactly that kernel.
//
// A module is built out of tree against the headers in the lab's cache, as
// <cache>/modules/<release>/<name>.ko, and again only when its sources, the
// kernel or the recipe change. Nothing is installed, and root is not needed.
package kmod

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
	"github.com/rdmadoctor/rdmadoctor/lab/tool"
)

// recipe is how modules are built. It is part of each module's hash: when the
// recipe changes, all are built again.
//
// The headers of 6.12 come with a vmlinux, so kbuild wants to add BTF with
// pahole, which is not there, and deletes the module when it fails: no BTF is
// asked for. KBUILD_BUILD_* keep the builder's name out of the module.
var recipe = []string{
	"CONFIG_DEBUG_INFO_BTF_MODULES=",
	"KBUILD_BUILD_USER=lab",
	"KBUILD_BUILD_HOST=lab",
}

// Module is a kernel module that this package builds.
type Module struct {
	// Name is the module's name, and <name>.ko its file's.
	Name string
	// own is the source folder in the repository, "" for the kernel's own.
	own string
	// kernel is the folder in the kernel's source.
	kernel string
	// config is the variable that makes kernel's Makefile build it.
	config string
	// file is the module's file, below the source folder.
	file string
}

// Modules lists all modules, the project's own first.
func Modules() []Module {
	return []Module{
		{Name: "labnic", own: "lab/labnic", file: "labnic.ko"},
		{Name: "labhca", own: "lab/labhca", file: "labhca.ko"},
		{Name: "labpci", own: "lab/labpci", file: "labpci.ko"},
		{Name: "labcpu", own: "lab/labcpu", file: "labcpu.ko"},
		{Name: "siw", kernel: "drivers/infiniband/sw/siw",
			config: "CONFIG_RDMA_SIW=m", file: "siw.ko"},
		{Name: "netdevsim", kernel: "drivers/net/netdevsim",
			config: "CONFIG_NETDEVSIM=m", file: "netdevsim.ko"},
	}
}

// Path returns the file that Ensure builds a module as.
func Path(cache string, k kernels.Kernel, name string) string {
	return filepath.Join(cache, "modules", k.Release, name+".ko")
}

// Ensure builds those of the named modules that are missing or old, all if
// none is named, and returns their files by name. Several processes may call
// it at once. A missing tool is a *tool.MissingError.
func Ensure(ctx context.Context, cache string, k kernels.Kernel,
	names ...string) (map[string]string, error) {
	cache, err := filepath.Abs(cache)
	if err != nil {
		return nil, fmt.Errorf("cache folder: %w", err)
	}
	modules, err := choose(names)
	if err != nil {
		return nil, err
	}
	files := make(map[string]string, len(modules))
	for _, m := range modules {
		if err := ensure(ctx, cache, k, m); err != nil {
			return nil, fmt.Errorf("module %s for %s: %w", m.Name, k.Release, err)
		}
		files[m.Name] = Path(cache, k, m.Name)
	}
	return files, nil
}

// choose returns the modules of these names, in that order.
func choose(names []string) ([]Module, error) {
	if len(names) == 0 {
		return Modules(), nil
	}
	var chosen []Module
next:
	for _, name := range names {
		for _, m := range Modules() {
			if m.Name == name {
				chosen = append(chosen, m)
				continue next
			}
		}
		return nil, fmt.Errorf("module %q: not one of the lab's", name)
	}
	return chosen, nil
}

// ensure builds one module if it is missing or its sources have changed.
func ensure(ctx context.Context, cache string, k kernels.Kernel, m Module) error {
	// One lock for each module: two are built side by side.
	lock := filepath.Join(cache, "modules", k.Release, "."+m.Name)
	unlock, err := kernels.Lock(ctx, lock)
	if err != nil {
		return err
	}
	defer unlock()
	source, err := m.source(ctx, cache, k)
	if err != nil {
		return err
	}
	want, err := hash(source, k, m)
	if err != nil {
		return err
	}
	ko := Path(cache, k, m.Name)
	stamp := filepath.Join(lock, "hash")
	if b, err := os.ReadFile(stamp); err == nil && string(b) == want {
		if _, err := os.Stat(ko); err == nil {
			return nil
		}
	}
	if err := os.Remove(stamp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	work := filepath.Join(cache, "build", k.Release, m.Name)
	if err := build(ctx, source, work, ko, k, m); err != nil {
		return err
	}
	return os.WriteFile(stamp, []byte(want), 0o644)
}

// source returns the folder that a module's sources lie in.
func (m Module) source(ctx context.Context, cache string, k kernels.Kernel) (
	string, error) {
	if m.own != "" {
		top, err := kernels.Repository()
		return filepath.Join(top, m.own), err
	}
	top, err := kernels.Source(ctx, cache, k)
	return filepath.Join(top, m.kernel), err
}

// build compiles the sources in a folder of its own and puts the module,
// without debugging information, at ko.
func build(ctx context.Context, source, work, ko string, k kernels.Kernel,
	m Module) error {
	if err := tool.Need("make", "gcc-12", "strip"); err != nil {
		return err
	}
	// make would take the parts of such a path for several goals.
	if strings.ContainsAny(work+k.Headers, " \t:#$%") {
		return fmt.Errorf("cache folder %q: make takes no path with spaces or "+
			"any of :#$%%", work)
	}
	if err := os.RemoveAll(work); err != nil {
		return fmt.Errorf("clear folder: %w", err)
	}
	if err := os.CopyFS(work, os.DirFS(source)); err != nil {
		return fmt.Errorf("copy sources: %w", err)
	}
	args := append([]string{"-C", k.Headers, "M=" + work}, recipe...)
	if m.config != "" {
		args = append(args, m.config)
	}
	if _, err := tool.Run(ctx, work, "make", append(args, "-j2", "modules")...); err != nil {
		return err
	}
	tmp := ko + ".tmp"
	if _, err := tool.Run(ctx, work, "strip", "--strip-debug", "-o", tmp,
		filepath.Join(work, m.file)); err != nil {
		return err
	}
	if err := os.Rename(tmp, ko); err != nil {
		return err
	}
	return os.RemoveAll(work)
}
