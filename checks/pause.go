package checks

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// The shares of an interval that pause time is judged by, from judgement
// section 3: below 5 percent is the normal work of flow control, from 50
// percent on the link stands more than it moves.
const (
	pauseWarn  = 0.05
	pauseStorm = 0.50
)

// A paused is how long one direction of one priority stood still.
type paused struct {
	Sent     bool // this host paused the network; else it was paused
	Priority int  // -1: global pause
	Share    float64
	Evidence Evidence
}

// direction is "sent" or "received".
func (p paused) direction() string {
	if p.Sent {
		return "sent"
	}
	return "received"
}

// what names the pause in a sentence.
func (p paused) what() string {
	if p.Priority < 0 {
		return "global pause was " + p.direction()
	}
	return fmt.Sprintf("pause of priority %d was %s", p.Priority, p.direction())
}

// pauseTimes are the pause durations of n that moved, by priority, with
// whether any duration is there and was read at both samples. Drivers count
// microseconds.
func pauseTimes(n *facts.Netdev, interval time.Duration, global bool) (times []paused, there, read bool) {
	for name, v := range n.Ethtool {
		c, index, ok := counters.Lookup(counters.Ethtool, name)
		if !ok || c.Unit != "microseconds" || (index < 0) != global {
			continue
		}
		there = true
		d, ok := c.Delta(v)
		if !ok {
			continue
		}
		read = true
		if d == 0 || interval <= 0 {
			continue
		}
		times = append(times, paused{
			Sent: c.Direction == counters.TX, Priority: index,
			Share:    float64(d) / float64(interval.Microseconds()),
			Evidence: moved("ethtool -S "+n.Name+" "+name, v, d, interval),
		})
	}
	return times, there, read
}

// pauseSeverity is how bad a share is.
func pauseSeverity(share float64) Severity {
	switch {
	case share >= pauseStorm:
		return Fail
	case share >= pauseWarn:
		return Warn
	}
	return Info
}

// percent shows a share, small ones with two digits.
func percent(share float64) string {
	s := strconv.FormatFloat(share*100, 'f', 1, 64)
	if share < 0.001 {
		s = strconv.FormatFloat(share*100, 'f', 4, 64)
	}
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s + " %"
}
