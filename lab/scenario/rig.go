package scenario

import (
	"context"
	"fmt"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/lab"
)

// rig is the guests of one kernel. It boots them when a scenario needs them
// and keeps them for the next.
type rig struct {
	suite    *Suite
	series   string
	topology string
	guests   map[string]*lab.Guest
	last     string // the scenario that had the guests last

	boots   int // of all guests
	reboots int // of those, in place of guests that could not be used again
}

// ready returns guests in the state of their boot.
func (r *rig) ready(ctx context.Context, s Scenario) (map[string]*lab.Guest, error) {
	if r.topology != s.Topology {
		r.close()
	}
	last := r.last
	r.last = s.ID
	if r.guests != nil {
		err := r.reset(ctx)
		if err == nil {
			return r.guests, nil
		}
		why, _, _ := strings.Cut(err.Error(), "\n")
		r.suite.say("%-5s reboot after %s: %s", r.series, last, why)
		r.close()
		r.reboots += len(s.Hosts())
	}
	if err := r.boot(ctx, s); err != nil {
		r.close()
		return nil, err
	}
	// A reset overwrites the kernel's log, among others: the first scenario
	// finds what all later ones do.
	if err := r.reset(ctx); err != nil {
		return nil, fmt.Errorf("reset after boot: %w", err)
	}
	return r.guests, nil
}

// boot boots the guests of a topology.
func (r *rig) boot(ctx context.Context, s Scenario) error {
	r.topology = s.Topology
	r.guests = make(map[string]*lab.Guest)
	for _, host := range s.Hosts() {
		g, err := lab.Boot(ctx, lab.Options{
			Kernel: r.suite.kernels[r.series],
			Name:   "lab-" + host,
			Tools:  []string{r.suite.opts.Doctor},
		})
		if err != nil {
			return err
		}
		r.boots++
		r.guests[host] = g
	}
	return nil
}

// reset resets all guests.
func (r *rig) reset(ctx context.Context) error {
	for _, g := range r.guests {
		if err := g.Reset(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *rig) close() {
	for _, g := range r.guests {
		g.Close()
	}
	r.guests, r.topology = nil, ""
}
