package kernels

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/lab/tool"
)

// unpackImage unpacks the image package into k.Root and makes the module
// indexes, which the package's own installation script would make.
func unpackImage(ctx context.Context, deb string, k Kernel) error {
	return replaceDir(k.Root, func(tmp string) error {
		if _, err := tool.Run(ctx, "", "dpkg-deb", "-x", deb, tmp); err != nil {
			return err
		}
		_, err := tool.Run(ctx, "", "depmod", "-b", tmp, k.Release)
		return err
	})
}

// unpackHeaders unpacks the header packages into one tree and makes the tree
// work where it lies: its Makefile names /usr/src, where it is not installed.
// Links between the packages are relative and need no change.
func unpackHeaders(ctx context.Context, debs []string, k Kernel) error {
	top := filepath.Dir(filepath.Dir(filepath.Dir(k.Headers)))
	return replaceDir(top, func(tmp string) error {
		for _, deb := range debs {
			if _, err := tool.Run(ctx, "", "dpkg-deb", "-x", deb, tmp); err != nil {
				return err
			}
		}
		name := filepath.Join(tmp, "usr/src", filepath.Base(k.Headers), "Makefile")
		b, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("headers: %w", err)
		}
		makefile := relocate(string(b), top)
		return os.WriteFile(name, []byte(makefile), 0o644)
	})
}

// relocate makes a headers Makefile that names /usr/src/linux-headers-* name
// the same folder below top.
func relocate(makefile, top string) string {
	const installed = "/usr/src/linux-headers-"
	return strings.ReplaceAll(makefile, installed, top+installed)
}

// replaceDir fills a new folder and puts it in dir's place, so that dir is
// either whole or not there.
func replaceDir(dir string, fill func(tmp string) error) error {
	tmp := dir + ".tmp"
	if err := os.RemoveAll(tmp); err != nil {
		return fmt.Errorf("clear folder: %w", err)
	}
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	defer os.RemoveAll(tmp)
	if err := fill(tmp); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("clear folder: %w", err)
	}
	return os.Rename(tmp, dir)
}
