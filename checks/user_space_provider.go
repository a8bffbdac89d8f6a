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
	Uses:  []facts.Source{facts.Links, facts.ProcessList},
	Codes: []string{"provider-missing"},
	Params: Params{
		"provider-missing": "device? provider? driver_file? library? pci?",
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
			name, ok := d.Provider.Get()
			if !ok {
				p.Unread(d.Name, "provider")
				continue
			}
			library := providerLibrary(lib, name)
			named := slices.ContainsFunc(lib.DriverFiles, func(f facts.DriverFile) bool {
				return path.Base(f.Driver) == name
			})
			if library != "" && named {
				continue
			}
			severity := Fail
			if want, _ := p.WantedDevice(d); !want {
				severity = Info
			}
			f := Finding{
				Code: "provider-missing", Severity: severity, Subject: d.Name, Confidence: Proved,
				Where:  Where{Device: d.Name, PCI: d.PCI.Or("")},
				Params: params("device", d.Name, "pci", d.PCI.Or(""), "provider", name),
			}
			kernel := Evidence{"/sys/class/infiniband/" + d.Name, "present"}
			dir := lib.ConfigDir
			if dir == "" {
				dir = "/etc/libibverbs.d" // rdma-core's default, CONFIG_DIR in its CMakeLists.
			}
			if library == "" {
				f.Message = "the kernel has the device and no provider library lib" + name + "-rdmav*.so is installed"
				f.Evidence = []Evidence{kernel, {"lib" + name + "-rdmav*.so", "not found"}}
			} else {
				file := dir + "/" + name + ".driver"
				f.Message = library + " is installed, and no file in " + dir + " names the driver " + name + ", so libibverbs does not load it"
				f.Evidence = []Evidence{kernel, {library, "present"}, {file, "absent"}}
				f.Params["driver_file"], f.Params["library"] = file, library
			}
			p.Report(f)
		}
	},
})

// providerLibrary is the installed library of a provider, or "".
func providerLibrary(lib facts.Userland, name string) string {
	for _, file := range lib.Providers {
		if strings.HasPrefix(path.Base(file), "lib"+name+"-rdmav") {
			return file
		}
	}
	return ""
}
