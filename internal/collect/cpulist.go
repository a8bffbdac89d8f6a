package collect

import (
	"strconv"
	"strings"
)

// mostCPUs bounds the numbers in a list of processors (the kernel's NR_CPUS is
// 8192 at most).
const mostCPUs = 8192

// parseCPUList checks a list of processors or nodes as the kernel prints bit
// maps (%*pbl): "0-3,8,10-11". An empty one has no value.
func parseCPUList(s string) (string, error) {
	if s == "" {
		return "", errNoValue
	}
	last := -1
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, err1 := strconv.ParseUint(from, 10, 16)
		b, err2 := strconv.ParseUint(to, 10, 16)
		if err1 != nil || err2 != nil || int(a) <= last || a > b || b >= mostCPUs {
			return "", form(`ranges in order, as "0-3,8"`)
		}
		last = int(b)
	}
	return s, nil
}
