package collect

import (
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

// rate is what ports/N/rate says.
type rate struct {
	rate  facts.BitsPerSecond
	width int    // lanes
	speed string // "" where the text names none
}

var rateForm = pattern.Of(`^(\d{1,5})(\.5)? Gb/sec \((\d{1,2})X(?: ([A-Z0-9]{1,8}))?\)$`)

// parseRate reads ports/N/rate, which ib_core's rate_show prints as
// "100 Gb/sec (4X EDR)". Older kernels print no word for SDR. MLNX_OFED prints
// "0 GB/sec" where the driver does not know the rate.
func parseRate(s string) (rate, error) {
	if s == "0 GB/sec" || s == "0 Gb/sec" {
		return rate{}, errNoValue
	}
	m := rateForm.FindStringSubmatch(s)
	if m == nil {
		return rate{}, form(`"N Gb/sec (NX SPEED)"`)
	}
	gigabits, err1 := strconv.ParseUint(m[1], 10, 32)
	width, err2 := strconv.Atoi(m[3])
	if err1 != nil || err2 != nil || width == 0 {
		return rate{}, form(`"N Gb/sec (NX SPEED)"`)
	}
	r := rate{rate: facts.BitsPerSecond(gigabits) * 1e9, width: width, speed: m[4]}
	if m[2] != "" {
		r.rate += 5e8
	}
	if r.speed == "" && r.rate == facts.BitsPerSecond(width)*25e8 {
		r.speed = "SDR"
	}
	return r, nil
}
