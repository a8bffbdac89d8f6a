package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
	"github.com/rdmadoctor/rdmadoctor/lab/tool"
	"github.com/rdmadoctor/rdmadoctor/lab/wire"
)

// baseModules are what every guest has loaded: the channel, its root, its
// network cards. The crc32 ones are here because rdma_rxe and siw ask the
// kernel's crypto layer for them.
var baseModules = []string{
	"crc32c_generic", "crc32_generic", "virtio_pci", "virtio_console",
	"9pnet_virtio", "9p", "overlay", "configfs", "virtio_net",
}

// writeInitramfs writes the file that a guest boots into: init, mostly the
// agent, the base modules, and what the agent is to know.
func writeInitramfs(ctx context.Context, name string, init []byte,
	k kernels.Kernel, boot wire.Boot) error {
	var img bytes.Buffer
	a := newArchive(&img)
	for _, dir := range []string{"dev", "proc", "sys", "base", "modules"} {
		a.dir(dir)
	}
	a.console()
	a.file("init", 0o755, init)
	files, err := moduleClosure(ctx, k, baseModules)
	if err != nil {
		return fmt.Errorf("write initramfs: %w", err)
	}
	for _, file := range files {
		data, err := readModule(ctx, file)
		if err != nil {
			return fmt.Errorf("write initramfs: %w", err)
		}
		name := "modules/" + strings.TrimSuffix(filepath.Base(file), ".xz")
		a.file(name, 0o644, data)
		boot.Modules = append(boot.Modules, "/"+name)
	}
	b, err := json.Marshal(boot)
	if err != nil {
		return fmt.Errorf("write initramfs: %w", err)
	}
	a.file(path.Base(wire.BootFile), 0o644, b)
	a.close()
	if err := os.WriteFile(name, img.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write initramfs: %w", err)
	}
	return nil
}

// moduleClosure returns the files of modules and of all that they need, in
// the order to load them. What the kernel has built in has no file.
func moduleClosure(ctx context.Context, k kernels.Kernel, names []string) (
	[]string, error) {
	var files []string
	for _, name := range names {
		out, err := tool.Run(ctx, "", "modprobe", "-d", k.Root, "-S", k.Release,
			"--show-depends", name)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(out) {
			fields := strings.Fields(line)
			if len(fields) < 2 || fields[0] != "insmod" {
				continue
			}
			if !slices.Contains(files, fields[1]) {
				files = append(files, fields[1])
			}
		}
	}
	return files, nil
}

// readModule reads a module, uncompressed: the kernel's own loader needs
// CONFIG_MODULE_DECOMPRESS for the .ko.xz files of 6.12.
func readModule(ctx context.Context, name string) ([]byte, error) {
	if !strings.HasSuffix(name, ".xz") {
		return os.ReadFile(name)
	}
	out, err := tool.Run(ctx, "", "xz", "-dc", name)
	return []byte(out), err
}
