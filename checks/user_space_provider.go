package checks

import (
	"path"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var userSpaceProvider = register(&Check{
	ID:    "user-space-provider",
	Title: "libibverbs has a provider for every RDMA device",
	Doc: "libibverbs drives a device through a provider library, and loads only those that a .driver file of its " +
		"folder names. A device of the kernel without a provider does not appear in ibv_devinfo.",
	Layer: Driver,
	Needs: []facts.Source{facts.SysfsRDMA, facts.LibraryFiles},
	Uses:  []facts.Source{facts.Links, facts.ProcessList, facts.RDMANetlink},
	Codes: []string{"provider-missing", "provider-abi-mismatch", "provider-warning-noise"},
	Params: Params{
		"provider-missing":       "device? provider? driver_file? library? pci?",
		"provider-abi-mismatch":  "device provider library abi expected pci?",
		"provider-warning-noise": "provider driver_file",
	},
	Run: func(p *Pass) {
		lib := p.Read(facts.LibraryFiles).Userland
		if len(lib.Libibverbs) == 0 {
			for range p.Devices(nil) {
				p.NotApplicable("libibverbs.so.1 is not installed here")
			}
			if len(p.snap.Devices) == 0 {
				return
			}
			// Programs in images and modules of their own bring their library along.
			p.Report(Finding{
				Code: "provider-missing", Severity: Info, Subject: hostSubject,
				Message:  "libibverbs.so.1 is in none of the library folders: programs of this host cannot use verbs",
				Evidence: []Evidence{{"libibverbs.so.1", "not found"}},
				Params:   params("library", "libibverbs.so.1"),
			})
			return
		}
		for d := range p.Devices(nil) {
			if name, ok := d.Provider.Get(); ok {
				judgeProvider(p, lib, d, name)
			} else {
				p.Unread(d.Name, "provider")
			}
		}
		reportNoise(p, lib)
	},
})

// reportNoise tells of driver files whose library is not installed, for
// hardware that is not here: libibverbs warns about them at every start.
func reportNoise(p *Pass, lib facts.Userland) {
	var names []string
	f := Finding{Code: "provider-warning-noise", Severity: Info, Subject: hostSubject, Confidence: Proved}
	for _, file := range lib.DriverFiles {
		name := file.Driver
		library, _ := providerLibrary(lib, name)
		here := slices.ContainsFunc(p.snap.Devices, func(d facts.Device) bool { return d.Provider.Or(name) == name })
		// One with a path, and all where no provider was found, are elsewhere.
		if library != "" || here || strings.Contains(name, "/") || len(lib.Providers) == 0 {
			continue
		}
		names = append(names, name)
		f.Evidence = append(f.Evidence, Evidence{file.Path, "driver " + name})
		if f.Params == nil {
			f.Params = params("provider", name, "driver_file", file.Path)
		}
	}
	if names == nil {
		return
	}
	f.Message = "libibverbs warns that it cannot load " + strings.Join(names, ", ") + ", drivers of hardware that is not here"
	p.Report(f)
}

func judgeProvider(p *Pass, lib facts.Userland, d *facts.Device, name string) {
	library, abi := providerLibrary(lib, name)
	if needs := lib.Private[library]; needs != "" && otherBuild(p, lib, d, name, library, needs) {
		return
	}
	others := commonABI(lib, name)
	told := "the other providers"
	if needs := lib.Private[library]; needs != "" && definer(lib, needs) != "" {
		others, told = number(needs), "libibverbs" // It makes the file's name of its private version.
	}
	named := slices.ContainsFunc(lib.DriverFiles, func(f facts.DriverFile) bool { return path.Base(f.Driver) == name })
	mismatch := library != "" && others != "" && abi != others
	if library != "" && named && !mismatch {
		return
	}
	f := Finding{
		Code: "provider-missing", Severity: Fail, Subject: d.Name, Confidence: Proved,
		Where:    Where{Device: d.Name, PCI: d.PCI.Or("")},
		Evidence: []Evidence{{"/sys/class/infiniband/" + d.Name, "present"}},
		Params:   params("device", d.Name, "pci", d.PCI.Or(""), "provider", name),
	}
	if want, _ := p.WantedDevice(d); !want {
		f.Severity = Info
	}
	dir := lib.ConfigDir
	if dir == "" {
		dir = "/etc/libibverbs.d" // rdma-core's default, CONFIG_DIR in its CMakeLists.
	}
	switch {
	case library == "":
		f.Message = "the kernel has the device and no provider library lib" + name + "-rdmav*.so is installed"
		f.Evidence = append(f.Evidence, Evidence{"lib" + name + "-rdmav*.so", "not found"})
	case !named:
		file := dir + "/" + name + ".driver"
		f.Message = library + " is installed, and no file in " + dir + " names the driver " + name + ", so libibverbs does not load it"
		f.Evidence = append(f.Evidence, Evidence{library, "present"}, Evidence{file, "absent"})
		f.Params["driver_file"], f.Params["library"] = file, library
	default:
		f.Code, f.Confidence = "provider-abi-mismatch", Likely
		f.Message = library + " is of provider ABI " + abi + ", " + told + " of ABI " + others + ": libibverbs loads one only"
		f.Evidence = append(f.Evidence, Evidence{library, "rdmav" + abi}, Evidence{strings.TrimPrefix(told, "the "), "rdmav" + others})
		f.Params["library"], f.Params["abi"], f.Params["expected"] = library, abi, others
	}
	p.Report(f)
}

// otherBuild reports a provider that needs private symbols which no libibverbs
// here has. It is false where one has them, or where none was read.
func otherBuild(p *Pass, lib facts.Userland, d *facts.Device, name, library, needs string) bool {
	var files []string
	for _, file := range lib.Libibverbs {
		if lib.Private[file] != "" {
			files = append(files, file)
		}
	}
	if len(files) == 0 || definer(lib, needs) != "" {
		return false
	}
	f := Finding{
		Code: "provider-abi-mismatch", Severity: Fail, Subject: d.Name, Confidence: Proved,
		Where: Where{Device: d.Name, PCI: d.PCI.Or("")},
		Message: library + " needs " + needs + " of libibverbs, and " + files[0] + " has " + lib.Private[files[0]] +
			": they come from different builds, and the loader refuses the provider",
		Evidence: []Evidence{{"/sys/class/infiniband/" + d.Name, "present"}, {"readelf -V " + library, "needs " + needs}},
		Params: params("device", d.Name, "pci", d.PCI.Or(""), "provider", name, "library", library,
			"abi", number(needs), "expected", number(lib.Private[files[0]])),
	}
	for _, file := range files {
		f.Evidence = append(f.Evidence, Evidence{"readelf -V " + file, "defines " + lib.Private[file]})
	}
	if want, _ := p.WantedDevice(d); !want {
		f.Severity = Info
	}
	p.Report(f)
	return true
}

// definer is the libibverbs that has a private version, "" where none has.
func definer(lib facts.Userland, version string) string {
	for _, file := range lib.Libibverbs {
		if lib.Private[file] == version {
			return file
		}
	}
	return ""
}

// number is that of a private version, "34" of "IBVERBS_PRIVATE_34".
func number(version string) string {
	return version[strings.LastIndexByte(version, '_')+1:]
}

// providerLibrary is the installed library of a provider and the private ABI
// in its name, the newest of several.
func providerLibrary(lib facts.Userland, name string) (file, abi string) {
	for _, f := range lib.Providers {
		if n, a, ok := providerName(f); ok && n == name && (file == "" || newer(a, abi)) {
			file, abi = f, a
		}
	}
	return file, abi
}

// providerName splits "libmlx5-rdmav34.so".
func providerName(file string) (name, abi string, ok bool) {
	base, ok1 := strings.CutPrefix(path.Base(file), "lib")
	base, ok2 := strings.CutSuffix(base, ".so")
	name, abi, ok3 := strings.Cut(base, "-rdmav")
	return name, abi, ok1 && ok2 && ok3 && name != "" && abi != ""
}

// newer compares ABI numbers.
func newer(a, b string) bool {
	return len(a) > len(b) || len(a) == len(b) && a > b
}

// commonABI is the ABI that most of the other providers have, "" where there
// is no other or no clear majority.
func commonABI(lib facts.Userland, name string) string {
	count, best, all := map[string]int{}, "", 0
	for _, f := range lib.Providers {
		if n, abi, ok := providerName(f); ok && n != name {
			all++
			if count[abi]++; count[abi] > count[best] {
				best = abi
			}
		}
	}
	if count[best]*2 <= all {
		return ""
	}
	return best
}
