// Package kernels gets Debian's stock kernels for the lab: it finds which
// packages carry a series, downloads them with apt-get, and unpacks them into
// the lab's cache. Nothing is installed, and root is not needed.
//
// It is the only place that knows package names. What a caller gets:
//
//	<cache>/debs/*.deb                       packages as downloaded
//	<cache>/kernels/<series>/root/           image: boot/, lib/modules/
//	<cache>/kernels/<series>/headers/        headers, kbuild: to build modules
//	<cache>/kernels/<series>/source/         chosen folders of linux-source
//	<cache>/kernels/<series>/kernel.json     written last: the rest is whole
//
// A series that is complete is used as it is, without asking the network, so
// every run on a machine meets the same kernel. Remove <cache>/kernels/<series>
// to get a newer one.
package kernels

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/lab/tool"
)

// Series lists the kernel series that the lab boots, oldest first.
func Series() []string { return []string{"6.1", "6.12"} }

// Kernel is a kernel unpacked in the cache. All paths are absolute.
type Kernel struct {
	// Series is the upstream series, "6.1".
	Series string `json:"series"`
	// Release is what uname -r prints in it, "6.1.0-57-amd64".
	Release string `json:"release"`
	// Version is the Debian version of the image package, "6.1.192-3".
	Version string `json:"version"`
	// Root is the unpacked image package.
	Root string `json:"root"`
	// Image is the bootable kernel, Root/boot/vmlinuz-Release.
	Image string `json:"image"`
	// Modules is Root/lib/modules/Release, with the indexes of depmod(8), so
	// that modprobe -d Root -S Release --show-depends works.
	Modules string `json:"modules"`
	// Headers is the folder to build modules with: make -C Headers M=...
	Headers string `json:"headers"`
}

// Ensure returns the kernel of a series, after it has downloaded and unpacked
// whatever is missing in the cache. Several processes may call it at once.
// A missing tool is a *tool.MissingError.
func Ensure(ctx context.Context, cache, series string) (Kernel, error) {
	if !slices.Contains(Series(), series) {
		return Kernel{}, fmt.Errorf("kernel series %q: want one of %q", series,
			Series())
	}
	cache, err := filepath.Abs(cache)
	if err != nil {
		return Kernel{}, fmt.Errorf("cache folder: %w", err)
	}
	dir := filepath.Join(cache, "kernels", series)
	unlock, err := Lock(ctx, dir)
	if err != nil {
		return Kernel{}, err
	}
	defer unlock()
	if k, ok := ready(dir); ok {
		return k, nil
	}
	k, err := fetch(ctx, cache, dir, series)
	if err != nil {
		return Kernel{}, fmt.Errorf("kernel %s: %w", series, err)
	}
	return k, nil
}

// ready reads the record of a complete kernel in dir. A cache that was moved
// is not complete: the headers' Makefile holds absolute paths.
func ready(dir string) (Kernel, bool) {
	b, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil {
		return Kernel{}, false
	}
	var k Kernel
	if json.Unmarshal(b, &k) != nil || k.Root != filepath.Join(dir, "root") {
		return Kernel{}, false
	}
	for _, path := range []string{k.Image, filepath.Join(k.Modules, "modules.dep"),
		filepath.Join(k.Headers, "Makefile")} {
		if _, err := os.Stat(path); err != nil {
			return Kernel{}, false
		}
	}
	return k, true
}

// fetch downloads and unpacks a kernel into dir and records it there.
func fetch(ctx context.Context, cache, dir, series string) (Kernel, error) {
	if err := tool.Need("apt-get", "apt-cache", "dpkg-deb", "depmod"); err != nil {
		return Kernel{}, err
	}
	a, err := newApt(ctx, cache)
	if err != nil {
		return Kernel{}, err
	}
	p, err := a.resolve(ctx, series)
	if err != nil {
		return Kernel{}, err
	}
	image, err := a.download(ctx, p.image, p.version)
	if err != nil {
		return Kernel{}, err
	}
	headers := make([]string, 0, len(p.headers))
	for _, name := range p.headers {
		deb, err := a.download(ctx, name, p.version)
		if err != nil {
			return Kernel{}, err
		}
		headers = append(headers, deb)
	}
	k := layout(dir, series, p)
	if err := unpackImage(ctx, image, k); err != nil {
		return Kernel{}, err
	}
	if err := unpackHeaders(ctx, headers, k); err != nil {
		return Kernel{}, err
	}
	b, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return Kernel{}, err
	}
	if err := writeFile(filepath.Join(dir, "kernel.json"), b); err != nil {
		return Kernel{}, err
	}
	if _, ok := ready(dir); !ok {
		return Kernel{}, errors.New("unpacked packages lack boot image, module " +
			"index or headers' Makefile")
	}
	return k, nil
}

// layout returns where the parts of a kernel lie.
func layout(dir, series string, p packages) Kernel {
	root := filepath.Join(dir, "root")
	return Kernel{
		Series:  series,
		Release: p.release,
		Version: p.version,
		Root:    root,
		Image:   filepath.Join(root, "boot", "vmlinuz-"+p.release),
		Modules: filepath.Join(root, "lib", "modules", p.release),
		Headers: filepath.Join(dir, "headers", "usr", "src",
			"linux-headers-"+p.release),
	}
}
