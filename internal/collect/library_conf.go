package collect

import (
	"encoding/json"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// libraryConf reads the files in which RDMA libraries look for the settings
// that the environment does not give.
var _ = register(Collector{
	Source: facts.LibraryConf,
	Read: func(r *Reader) {
		b := r.batch()
		failed := false
		for _, file := range libraryFiles {
			b.add(hostio.Op{Kind: hostio.ReadFile, Name: file}, func(res hostio.Result) {
				switch err := res.Err(); {
				case err == nil:
					r.Have()
					r.Snap.Settings = append(r.Snap.Settings, parseSettings(file, res.Text())...)
				case r.missing(err): // The library has its defaults then.
				default:
					failed = true
					r.Gap(file, err)
				}
			})
		}
		b.run()
		if !failed && !r.Snap.Has(r.src) {
			r.nothing(strings.Join(libraryFiles, ", "))
		}
	},
})

// libraryFiles are NCCL's (its user guide, "Environment variables") and UCX's
// as distributions build it (ucx.conf of UCX 1.14 and later).
var libraryFiles = []string{"/etc/nccl.conf", "/etc/ucx/ucx.conf"}

// mostSettings bounds one file.
const mostSettings = 1000

// parseSettings reads lines NAME=VALUE. A # begins a comment; lines that steer
// nothing of RDMA, such as the sections of ucx.conf, are left out.
func parseSettings(file, text string) []facts.Setting {
	var found []facts.Setting
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || strings.ContainsRune(line, 0) || len(found) == mostSettings {
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		for k, v := range hostio.RDMAVariables(name + "=" + value) {
			found = append(found, facts.Setting{File: file, Line: n, Name: k, Value: v})
		}
	}
	return found
}

// askVariables asks for the RDMA variables in a process's environment. Those of
// other users' processes are root's to read.
func askVariables(b *batch, p *facts.Process, path string) {
	b.add(hostio.Op{Kind: hostio.Environ, Name: path}, func(res hostio.Result) {
		var vars map[string]string
		if err := res.Err(); err != nil && !res.Truncated {
			if !b.r.missing(err) {
				b.r.Gap(path, err)
			}
			return
		}
		if err := json.Unmarshal(res.Data, &vars); err != nil {
			b.r.Malformed(path, res.Text(), "names and values")
			return
		}
		if len(vars) > 0 {
			p.Env = vars
		}
	})
}
