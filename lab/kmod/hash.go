package kmod

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
)

// hash identifies what a module is built from: the names and contents of its
// sources, the kernel, and the recipe.
func hash(source string, k kernels.Kernel, m Module) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q\n", k.Release, k.Version, recipe, m.config)
	root := os.DirFS(source)
	// WalkDir goes in lexical order, so that equal trees have equal hashes.
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %d\n", name, info.Size())
		_, err = io.Copy(h, f)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("hash sources: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
