package collect

import (
	"path"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// libraryFiles looks for libibverbs, librdmacm and the provider libraries, by
// name, where distributions install them, and reads libibverbs.d. A library
// elsewhere that only ld.so.conf or LD_LIBRARY_PATH leads to is not seen.
var _ = register(Collector{
	Source: facts.LibraryFiles,
	After:  6, // Devices say whose provider matters.
	Read: func(r *Reader) {
		u := &r.Snap.Userland
		b := r.batch()
		for _, dir := range libraryDirs {
			b.dirIf(dir, func(names []string) {
				r.Have()
				addLibraries(u, dir, names)
			})
		}
		var drivers []string
		const config = "/etc/libibverbs.d"
		b.dirIf(config, func(names []string) {
			u.ConfigDir = config
			for _, name := range names {
				if path.Ext(name) == ".driver" {
					drivers = append(drivers, config+"/"+name)
				}
			}
		})
		b.run()
		if !r.Snap.Has(facts.LibraryFiles) {
			r.nothing("/usr/lib")
		}
		for _, list := range []*[]string{&u.Libibverbs, &u.Librdmacm, &u.Providers} {
			slices.Sort(*list)
		}
		collectDriverFiles(r, drivers)
		collectPrivate(r)
	},
})

// libraryDirs are the library directories of the distributions and of builds
// from source, each with libibverbs' own directory for providers.
var libraryDirs = func() []string {
	var dirs []string
	for _, dir := range []string{
		"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib/powerpc64le-linux-gnu",
		"/usr/lib/s390x-linux-gnu", "/usr/lib/riscv64-linux-gnu",
		"/usr/lib64", "/usr/lib", "/usr/local/lib64", "/usr/local/lib",
	} {
		dirs = append(dirs, dir, dir+"/libibverbs")
	}
	return dirs
}()

// addLibraries sorts the names of one directory into what they are. Providers
// are called lib<name>-rdmav<abi>.so.
func addLibraries(u *facts.Userland, dir string, names []string) {
	for _, name := range names {
		file := dir + "/" + strings.ToValidUTF8(name, "�")
		switch {
		case strings.HasPrefix(name, "libibverbs.so.1"):
			u.Libibverbs = append(u.Libibverbs, file)
		case strings.HasPrefix(name, "librdmacm.so.1"):
			u.Librdmacm = append(u.Librdmacm, file)
		case strings.HasPrefix(name, "lib") && strings.Contains(name, "-rdmav") && strings.HasSuffix(name, ".so"):
			u.Providers = append(u.Providers, file)
		}
	}
}

func collectDriverFiles(r *Reader, files []string) {
	b := r.batch()
	for _, file := range files {
		b.file(file, func(text string) {
			names := parseDriverFile(text)
			if len(names) == 0 {
				r.Malformed(file, text, `"driver NAME"`)
			}
			for _, name := range names {
				r.Snap.Userland.DriverFiles = append(r.Snap.Userland.DriverFiles, facts.DriverFile{Path: file, Driver: name})
			}
		})
	}
	b.run()
}

// parseDriverFile reads libibverbs.d/*.driver as libibverbs does: "driver NAME",
// comments after #, NAME possibly a path.
func parseDriverFile(s string) []string {
	var names []string
	for line := range strings.Lines(strings.ToValidUTF8(s, "�")) {
		line, _, _ = strings.Cut(line, "#")
		if f := strings.Fields(line); len(f) == 2 && f[0] == "driver" {
			names = append(names, f[1])
		}
	}
	return names
}
