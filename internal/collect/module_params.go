package collect

import (
	"errors"
	"regexp"
	"slices"
	"syscall"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// otherModules are those of rdmaModules whose parameters are about other things
// than RDMA, by the dozen.
var otherModules = []string{"nvidia", "amdgpu", "cifs", "ksmbd", "iavf", "enic"}

// onlyTells are parameters that say how much is logged.
var onlyTells = regexp.MustCompile(`debug|trace|verbose|dump|msg_level|msglvl`)

// mostParameters bounds those of one module; hfi1 has some fifty.
const mostParameters = 256

// collectParameters reads the parameters of the modules that RDMA uses, loaded
// or built in (/sys/module/NAME/parameters, kernel/params.c).
func collectParameters(r *Reader) {
	lists, reads := r.batch(), r.batch()
	for i := range r.Snap.Modules {
		if m := &r.Snap.Modules[i]; rdmaModules[m.Name] && !slices.Contains(otherModules, m.Name) {
			dir := "/sys/module/" + m.Name + "/parameters"
			lists.dirIf(dir, func(names []string) { askParameters(reads, dir, names, &m.Parameters) })
		}
	}
	lists.run()
	reads.run()
}

func askParameters(b *batch, dir string, names []string, dst *map[string]string) {
	if len(names) > mostParameters {
		b.r.gap(dir, facts.Malformed, "more parameters than a module has")
		return
	}
	for _, name := range names {
		if onlyTells.MatchString(name) {
			continue
		}
		b.add(hostio.Op{Kind: hostio.ReadFile, Name: dir + "/" + name, Limit: 4096}, func(res hostio.Result) { // A page, as the kernel prints.
			switch err := res.Err(); {
			case err == nil:
				if *dst == nil {
					*dst = map[string]string{}
				}
				(*dst)[name] = text(res.Text())
			case errors.Is(err, syscall.EPERM), b.r.missing(err): // It can be set only.
			default:
				b.r.Gap(dir, err)
			}
		})
	}
}
