package netswitch

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Command does what a scenario's step on the network says, one line each:
//
//	PORT in|out [loss=1%] [reorder=1%] [corrupt=1%] [delay=5ms]
//	    [rate=100mbit] [max_frame=1600] [silent]
//
// A line replaces what was set for that direction; one without words ends it.
func (f *Fabric) Command(script string) error {
	for line := range strings.Lines(script) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		port, d, i, err := parseLine(words)
		if err != nil {
			return fmt.Errorf("network %q: %w", strings.TrimSpace(line), err)
		}
		p, err := f.Port(port)
		if err != nil {
			return err
		}
		p.Impair(d, i)
	}
	return nil
}

// parseLine reads one line of a command.
func parseLine(words []string) (port string, d Direction, i Impairment, err error) {
	if len(words) < 2 || words[1] != string(In) && words[1] != string(Out) {
		return "", "", i, fmt.Errorf("want PORT in|out [WORD=VALUE...]")
	}
	port, d = words[0], Direction(words[1])
	for _, word := range words[2:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "loss":
			i.Loss, err = parsePercent(value)
		case "reorder":
			i.Reorder, err = parsePercent(value)
		case "corrupt":
			i.Corrupt, err = parsePercent(value)
		case "delay":
			i.Delay, err = time.ParseDuration(value)
			if err == nil && (i.Delay < 0 || i.Delay > time.Minute) {
				err = fmt.Errorf("want 0 to 1m")
			}
		case "rate":
			i.Rate, err = parseRate(value)
		case "max_frame":
			i.MaxFrame, err = strconv.Atoi(value)
			if err == nil && i.MaxFrame < headerSize {
				err = fmt.Errorf("want %d at least", headerSize)
			}
		case "silent":
			if value != "" {
				err = fmt.Errorf("takes no value")
			}
			i.Silent = true
		default:
			err = fmt.Errorf("unknown word")
		}
		if err != nil {
			return "", "", Impairment{}, fmt.Errorf("%q: %w", word, err)
		}
	}
	if i.Reorder > 0 && i.Delay == 0 {
		return "", "", Impairment{}, fmt.Errorf("reorder needs a delay")
	}
	return port, d, i, nil
}

// parsePercent reads "1%" or "0.5%" as a probability.
func parsePercent(s string) (float64, error) {
	number, ok := strings.CutSuffix(s, "%")
	p, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(p >= 0 && p <= 100) {
		return 0, fmt.Errorf("want 0%% to 100%%")
	}
	return p / 100, nil
}

// parseRate reads "100mbit" as bits per second, in tc(8)'s words.
func parseRate(s string) (int64, error) {
	for unit, factor := range map[string]int64{"kbit": 1e3, "mbit": 1e6, "gbit": 1e9} {
		if number, ok := strings.CutSuffix(s, unit); ok {
			n, err := strconv.ParseInt(number, 10, 32)
			if err != nil || n < 1 {
				break
			}
			return n * factor, nil
		}
	}
	return 0, fmt.Errorf("want a number and kbit, mbit or gbit")
}
