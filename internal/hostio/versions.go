package hostio

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// VerbsVersions is the answer to SymbolVersions: the versions of libibverbs'
// symbols that a library defines and those that it needs, sorted.
type VerbsVersions struct {
	Defines []string `json:"defines"`
	Needs   []string `json:"needs"`
}

// verbsLibrary are the libraries whose symbols are looked at: libibverbs and
// its providers, where libraries are installed.
var verbsLibrary = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(/usr)?(/local)?/lib[a-z0-9]*(/[A-Za-z0-9_.+-]+)*/lib(ibverbs\.so\.1[0-9.]*|[A-Za-z0-9_]+-rdmav[0-9]+\.so)$`)
})

// largestLibrary bounds what is taken for a library, in bytes.
const largestLibrary = 64 << 20

// symbolVersions answers SymbolVersions.
func symbolVersions(name string) (res Result) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return failed(err)
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() > largestLibrary {
		return Result{NotInForm: true}
	}
	v, err := versionsOf(f)
	var pe *fs.PathError
	switch {
	case errors.As(err, &pe):
		return failed(err)
	case err != nil:
		return failed(unix.ENOEXEC) // As for any file that is no program.
	}
	return asJSON(v)
}

// versionsOf reads the version definitions and needs of an ELF file.
func versionsOf(f io.ReaderAt) (v VerbsVersions, err error) {
	defer func() { // The file may be anything.
		if p := recover(); p != nil {
			err = fmt.Errorf("read ELF: %v", p)
		}
	}()
	e, err := elf.NewFile(f)
	if err != nil {
		return v, fmt.Errorf("read ELF: %w", err)
	}
	v = VerbsVersions{Defines: []string{}, Needs: []string{}}
	add := func(list *[]string, version string) {
		if strings.HasPrefix(version, "IBVERBS_") && !slices.Contains(*list, version) {
			*list = append(*list, version)
		}
	}
	defs, err := e.DynamicVersions()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return v, fmt.Errorf("read ELF versions: %w", err)
	}
	for _, d := range defs {
		add(&v.Defines, d.Name)
	}
	needs, err := e.DynamicVersionNeeds()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return v, fmt.Errorf("read ELF versions: %w", err)
	}
	for _, lib := range needs {
		for _, need := range lib.Needs {
			add(&v.Needs, need.Dep)
		}
	}
	slices.Sort(v.Defines)
	slices.Sort(v.Needs)
	return v, nil
}
