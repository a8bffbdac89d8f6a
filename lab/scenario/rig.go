package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/rdmadoctor/rdmadoctor/lab"
	"github.com/rdmadoctor/rdmadoctor/lab/netswitch"
)

// rig is the guests of one kernel. It boots them when a scenario needs them
// and keeps them for the next.
type rig struct {
	suite    *Suite
	series   string
	topology string
	guests   map[string]*lab.Guest
	fabric   *netswitch.Fabric // nil for a single host
	unlock   func()            // gives suite.wide back, nil if it is not held
	last     string            // the scenario that had the guests last

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

// boot boots the guests of a topology, and their network.
func (r *rig) boot(ctx context.Context, s Scenario) error {
	r.topology = s.Topology
	if len(s.Hosts()) > 2 {
		// Four guests on each of two kernels would be more than two cores
		// can keep awake.
		r.suite.wide.Lock()
		r.unlock = r.suite.wide.Unlock
	}
	if len(s.Hosts()) > 1 {
		var err error
		if r.fabric, err = netswitch.NewFabric(topologies[s.Topology]); err != nil {
			return err
		}
	}
	r.guests = make(map[string]*lab.Guest)
	var mu sync.Mutex
	var wait sync.WaitGroup
	var errs []error
	for i, host := range s.Hosts() {
		wait.Go(func() {
			o := lab.Options{Kernel: r.suite.kernels[r.series], Name: "lab-" + host,
				Tools: []string{r.suite.opts.Doctor}}
			if r.fabric != nil {
				o.Networks = []lab.Network{{Socket: r.fabric.Socket(host),
					MAC: fmt.Sprintf("02:00:00:00:00:%02x", i+1)}}
			}
			g, err := lab.Boot(ctx, o)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
				return
			}
			r.boots++
			r.guests[host] = g
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// reset resets all guests and the network.
func (r *rig) reset(ctx context.Context) error {
	if r.fabric != nil {
		r.fabric.Reset()
	}
	errs := make(chan error, len(r.guests))
	for _, g := range r.guests {
		go func() { errs <- g.Reset(ctx) }()
	}
	var all []error
	for range r.guests {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

func (r *rig) close() {
	for _, g := range r.guests {
		g.Close()
	}
	if r.fabric != nil {
		r.fabric.Close()
	}
	if r.unlock != nil {
		r.unlock()
	}
	r.guests, r.fabric, r.unlock, r.topology = nil, nil, nil, ""
}
