package probes

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// counts are a port's counters by file name: counters and hw_counters of the
// port and hw_counters of the device (sysfs-class-infiniband).
type counts map[string]uint64

func readCounts(device string, port int) counts {
	root := filepath.Join("/sys/class/infiniband", filepath.Base(device))
	c := counts{}
	for _, dir := range []string{"hw_counters", "ports/" + strconv.Itoa(port) + "/hw_counters", "ports/" + strconv.Itoa(port) + "/counters"} {
		names, _ := os.ReadDir(filepath.Join(root, dir))
		for _, n := range names {
			text, err := os.ReadFile(filepath.Join(root, dir, n.Name()))
			if err != nil || n.Name() == "lifespan" {
				continue
			}
			if v, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
				c[n.Name()] = v
			}
		}
	}
	return c
}

// moved notes the counters that grew since the port was asked for.
func (l *ladder) moved() {
	if l.before == nil {
		return
	}
	after := readCounts(l.par.Device, l.par.Port)
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if was, ok := l.before[name]; ok && after[name] > was {
			l.out.Moved = append(l.out.Moved, facts.CounterMove{Subject: l.out.Local, Name: name, Delta: after[name] - was})
		}
	}
}
