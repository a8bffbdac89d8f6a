package netswitch

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Fabric is the network of a topology: leaves with hosts, and a spine that
// joins them if there is more than one.
type Fabric struct {
	dir      string
	switches []*Switch

	mu    sync.Mutex
	ports map[string]*Port
	conns []net.Conn
	lis   []net.Listener
	wait  sync.WaitGroup
}

// NewFabric makes a network whose leaves have those hosts. Its sockets are in
// a folder of its own, removed by Close.
func NewFabric(leaves [][]string) (*Fabric, error) {
	dir, err := os.MkdirTemp("", "rdmadoctor-net-")
	if err != nil {
		return nil, fmt.Errorf("make network: %w", err)
	}
	f := &Fabric{dir: dir, ports: make(map[string]*Port)}
	var spine *Switch
	if len(leaves) > 1 {
		spine = New("spine")
		f.switches = append(f.switches, spine)
	}
	for i, hosts := range leaves {
		leaf := New(fmt.Sprintf("leaf%d", i+1))
		f.switches = append(f.switches, leaf)
		if spine != nil {
			up, down := Join(leaf, spine)
			f.ports[up.name], f.ports[down.name] = up, down
		}
		for _, host := range hosts {
			if err := f.listen(leaf, host); err != nil {
				f.Close()
				return nil, err
			}
		}
	}
	return f, nil
}

// Socket is where the host's network card connects to.
func (f *Fabric) Socket(host string) string {
	return filepath.Join(f.dir, host+".sock")
}

// listen waits for the host at its socket. It may come again: a guest that is
// booted anew has the port of the one before.
func (f *Fabric) listen(leaf *Switch, host string) error {
	l, err := net.Listen("unix", f.Socket(host))
	if err != nil {
		return fmt.Errorf("make network: %w", err)
	}
	f.lis = append(f.lis, l)
	f.wait.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p, done := leaf.Attach(host, conn)
			f.mu.Lock()
			f.ports[host] = p
			f.conns = append(f.conns, conn)
			f.mu.Unlock()
			<-done
		}
	})
	return nil
}

// Port returns a port by its name: a host's, or an uplink's ("leaf1-spine").
func (f *Fabric) Port(name string) (*Port, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.ports[name]; p != nil {
		return p, nil
	}
	names := make([]string, 0, len(f.ports))
	for name := range f.ports {
		names = append(names, name)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("network port %q: there are %s", name,
		strings.Join(names, ", "))
}

// Reset ends all impairments and forgets learned addresses.
func (f *Fabric) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.ports {
		p.Impair(In, Impairment{})
		p.Impair(Out, Impairment{})
	}
	for _, s := range f.switches {
		s.mu.Lock()
		clear(s.table)
		s.mu.Unlock()
	}
}

// Close ends the network.
func (f *Fabric) Close() error {
	for _, l := range f.lis {
		l.Close()
	}
	f.mu.Lock()
	for _, c := range f.conns {
		c.Close()
	}
	f.mu.Unlock()
	f.wait.Wait()
	for _, s := range f.switches {
		s.Close()
	}
	return os.RemoveAll(f.dir)
}
