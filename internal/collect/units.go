package collect

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// unitFiles reads the systemd unit files of services that launch RDMA
// programs, their drop-ins and the manager's defaults, for the limits they
// give. It reads files, since asking systemd needs its socket.
var _ = register(Collector{
	Source: facts.UnitFiles,
	After:  21, // Processes say which further units matter.
	Read:   func(r *Reader) { r.Snap.Units = collectUnits(r) },
})

// unitDirs are systemd's search path, first match first (systemd.unit(5)).
var unitDirs = []string{
	"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
	"/usr/lib/systemd/system", "/lib/systemd/system",
}

// launcherUnits are the services whose limits a started program inherits, and
// what they launch for.
var launcherUnits = map[string]string{
	"slurmd.service":     "slurm",
	"containerd.service": "containerd",
	"docker.service":     "docker",
	"kubelet.service":    "kubelet",
	"k3s.service":        "kubelet",
	"k3s-agent.service":  "kubelet",
	"rke2-agent.service": "kubelet",
	"crio.service":       "crio",
	"ssh.service":        "ssh",
	"sshd.service":       "ssh",
	"pbs.service":        "pbs",
	"sge_execd.service":  "gridengine",
	"condor.service":     "htcondor",
	"lsfd.service":       "lsf",
}

// unitLimits are the settings that are kept.
var unitLimits = []string{"LimitMEMLOCK", "LimitNOFILE", "DefaultLimitMEMLOCK", "DefaultLimitNOFILE"}

// A unitPlan is where one unit's settings may be.
type unitPlan struct {
	unit    facts.Unit
	section string
	mains   []string // candidates, the first that exists counts
	dropins []string // directories, the first that has a name counts for it
}

// planUnits says where to look for the launchers' units, those of processes
// that use RDMA, and the manager's own configuration.
func planUnits(s *facts.Snapshot) []unitPlan {
	managers := maps.Clone(launcherUnits)
	for _, p := range s.Processes {
		if strings.HasSuffix(p.Unit, ".service") && managers[p.Unit] == "" && len(p.Uverbs) > 0 {
			managers[p.Unit] = "other"
		}
	}
	plans := []unitPlan{{
		unit:    facts.Unit{Name: "system.conf", Manager: "systemd"},
		section: "Manager",
		mains:   []string{"/etc/systemd/system.conf", "/run/systemd/system.conf", "/usr/local/lib/systemd/system.conf", "/usr/lib/systemd/system.conf"},
		dropins: []string{"/etc/systemd/system.conf.d", "/run/systemd/system.conf.d", "/usr/local/lib/systemd/system.conf.d", "/usr/lib/systemd/system.conf.d"},
	}}
	for _, name := range slices.Sorted(maps.Keys(managers)) {
		plan := unitPlan{unit: facts.Unit{Name: name, Manager: managers[name]}, section: "Service"}
		for _, dir := range unitDirs {
			plan.mains = append(plan.mains, dir+"/"+name)
			plan.dropins = append(plan.dropins, dir+"/"+name+".d")
		}
		// Drop-ins for all services; a unit's own of the same name come first.
		for _, dir := range unitDirs {
			plan.dropins = append(plan.dropins, dir+"/service.d")
		}
		plans = append(plans, plan)
	}
	slices.SortFunc(plans, func(a, b unitPlan) int { return strings.Compare(a.unit.Name, b.unit.Name) })
	return plans
}

// collectUnits reads what planUnits names. Units without a file are left out.
func collectUnits(r *Reader) []facts.Unit {
	plans := planUnits(r.Snap)
	lists, reads := r.batch(), r.batch()
	names := map[string][]string{} // by drop-in directory
	texts := map[string]facts.Opt[string]{}
	for _, plan := range plans {
		for _, dir := range plan.dropins {
			if _, asked := names[dir]; !asked {
				names[dir] = nil
				lists.dirIf(dir, func(found []string) { names[dir] = found })
			}
		}
	}
	for _, dir := range unitDirs {
		lists.dirIf(dir, func([]string) { r.Have() })
	}
	lists.run()
	if !r.Snap.Has(facts.UnitFiles) {
		r.nothing(unitDirs[0])
	}
	for _, plan := range plans {
		for _, file := range append(slices.Clone(plan.mains), plan.dropinFiles(names)...) {
			if _, asked := texts[file]; !asked {
				texts[file] = facts.Opt[string]{}
				readUnitFile(reads, file, texts)
			}
		}
	}
	reads.run()
	var units []facts.Unit
	for _, plan := range plans {
		if u, ok := plan.apply(names, texts); ok {
			r.Have()
			units = append(units, u)
		}
	}
	return units
}

// readUnitFile asks for a unit file. A link to /dev/null masks the unit: that
// is a file without settings.
func readUnitFile(b *batch, file string, texts map[string]facts.Opt[string]) {
	masked := false
	b.linkIf(file, func(target string) { masked = target == "/dev/null" })
	b.add(hostio.Op{Kind: hostio.ReadFile, Name: file}, func(res hostio.Result) {
		switch err := res.Err(); {
		case masked:
			texts[file] = facts.Some("")
		case err == nil:
			texts[file] = facts.Some(res.Text())
		case !b.r.missing(err):
			b.r.Gap(file, err)
		}
	})
}

// dropinFiles are the drop-ins in the order they apply: by name, whatever the
// directory.
func (p *unitPlan) dropinFiles(names map[string][]string) []string {
	byName := map[string]string{}
	for _, dir := range p.dropins {
		for _, name := range names[dir] {
			if path.Ext(name) == ".conf" && byName[name] == "" {
				byName[name] = dir + "/" + name
			}
		}
	}
	var files []string
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		files = append(files, byName[name])
	}
	return files
}

// apply reads the settings of the files that exist, later ones winning. It is
// false where the unit has no file of its own.
func (p *unitPlan) apply(names map[string][]string, texts map[string]facts.Opt[string]) (facts.Unit, bool) {
	u := p.unit
	settings := map[string]string{}
	add := func(file string) bool {
		text, ok := texts[file].Get()
		if ok {
			u.Files = append(u.Files, file)
			parseUnit(text, p.section, settings)
		}
		return ok
	}
	if !slices.ContainsFunc(p.mains, add) && u.Manager != "systemd" {
		return u, false
	}
	for _, file := range p.dropinFiles(names) {
		add(file)
	}
	if len(settings) > 0 {
		u.Limits = settings
	}
	return u, len(u.Files) > 0
}

// parseUnit adds the limits of one file's section to settings. As systemd
// reads them (systemd.syntax(7)): an empty value resets, a backslash continues
// a line, the last assignment wins.
func parseUnit(text, section string, settings map[string]string) {
	in := false
	var held string
	for line := range strings.Lines(strings.ToValidUTF8(text, "�")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		if part, more := strings.CutSuffix(line, `\`); more {
			held += part + " "
			continue
		}
		line, held = strings.TrimSpace(held+line), ""
		if strings.HasPrefix(line, "[") {
			in = line == "["+section+"]"
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case !ok || !in || !slices.Contains(unitLimits, key):
		case value == "":
			delete(settings, key)
		default:
			settings[key] = value
		}
	}
}
