package checks

import (
	"math"
	"strconv"
	"strings"
)

// systemdSize reads the soft value of a LimitMEMLOCK= setting: bytes, with a
// suffix to the base 1024, "infinity", or "SOFT:HARD" (systemd.exec(5)).
func systemdSize(text string) (soft uint64, unlimited, ok bool) {
	text, _, _ = strings.Cut(strings.TrimSpace(text), ":")
	if text == "infinity" {
		return 0, true, true
	}
	shift := 0
	if text != "" {
		if i := strings.IndexByte("KMGTPE", text[len(text)-1]); i >= 0 {
			shift, text = 10*(i+1), text[:len(text)-1]
		}
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > math.MaxUint64>>shift {
		return 0, false, false
	}
	return n << shift, false, true
}
