package kernels

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/lab/tool"
)

// sourceFolders are the parts of the kernel's source that the lab reads: two
// drivers that Debian does not build, and the drivers whose names and numbers
// the lab's own devices must share.
var sourceFolders = []string{
	"drivers/infiniband/core",
	"drivers/infiniband/sw/siw",
	"drivers/infiniband/hw",
	"drivers/net/netdevsim",
	"drivers/net/ethernet/mellanox/mlx5/core",
}

// Source returns the folder with sourceFolders of Debian's source of exactly
// this kernel's version. The package is 140 MB and takes a minute to read, so
// it is fetched only when first asked for.
func Source(ctx context.Context, cache string, k Kernel) (string, error) {
	cache, err := filepath.Abs(cache)
	if err != nil {
		return "", fmt.Errorf("cache folder: %w", err)
	}
	dir := filepath.Join(cache, "kernels", k.Series)
	unlock, err := Lock(ctx, dir)
	if err != nil {
		return "", err
	}
	defer unlock()
	source := filepath.Join(dir, "source")
	stamp := filepath.Join(source, ".complete")
	want := k.Version + "\n" + strings.Join(sourceFolders, "\n") + "\n"
	if b, err := os.ReadFile(stamp); err == nil && string(b) == want {
		return source, nil
	}
	if err := tool.Need("apt-get", "apt-cache", "dpkg-deb", "tar",
		"xz"); err != nil {
		return "", err
	}
	a, err := newApt(ctx, cache)
	if err != nil {
		return "", err
	}
	deb, err := a.download(ctx, "linux-source-"+k.Series, k.Version)
	if err != nil {
		return "", fmt.Errorf("source of %s: %w (if Debian serves only newer "+
			"ones, remove %q to get a newer kernel too)", k.Release, err, dir)
	}
	err = replaceDir(source, func(tmp string) error {
		if err := unpackSource(ctx, deb, tmp); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(tmp, ".complete"), []byte(want), 0o644)
	})
	if err != nil {
		return "", fmt.Errorf("source of %s: %w", k.Release, err)
	}
	return source, nil
}

// unpackSource unpacks sourceFolders of the archive inside the package, with
// the leading folder of the archive removed.
func unpackSource(ctx context.Context, deb, dir string) error {
	outer := filepath.Join(dir, ".deb")
	defer os.RemoveAll(outer)
	if _, err := tool.Run(ctx, "", "dpkg-deb", "-x", deb, outer); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(outer, "usr/src/linux-source-*.tar.xz"))
	if err != nil || len(found) != 1 {
		return errors.New("package holds no usr/src/linux-source-*.tar.xz")
	}
	top := strings.TrimSuffix(filepath.Base(found[0]), ".tar.xz")
	args := []string{"--use-compress-program=xz -T0", "-xf", found[0], "-C", dir,
		"--strip-components=1"}
	for _, folder := range sourceFolders {
		args = append(args, top+"/"+folder)
	}
	_, err = tool.Run(ctx, "", "tar", args...)
	return err
}
