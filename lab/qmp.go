package lab

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"sync"
)

// monitor is QEMU's control connection (QMP). The lab listens to one event,
// and tests pause a guest through it.
type monitor struct {
	conn net.Conn

	mu sync.Mutex
}

// qmpEvent is an event that QEMU sends by itself.
type qmpEvent struct {
	Event string `json:"event"`
	Data  struct {
		ID   string `json:"id"`
		Open bool   `json:"open"`
	} `json:"data"`
}

// newMonitor takes the connection into command mode and calls event for each
// event until the connection ends.
func newMonitor(conn net.Conn, event func(qmpEvent)) (*monitor, error) {
	m := &monitor{conn: conn}
	if err := m.execute("qmp_capabilities"); err != nil {
		return nil, err
	}
	go func() {
		in := bufio.NewScanner(conn)
		for in.Scan() {
			var e qmpEvent
			if json.Unmarshal(in.Bytes(), &e) == nil && e.Event != "" {
				event(e)
			}
		}
	}()
	return m, nil
}

// execute sends a command without arguments and does not wait for its answer.
func (m *monitor) execute(command string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := fmt.Fprintf(m.conn, "{\"execute\": %q}\n", command); err != nil {
		return fmt.Errorf("qmp %s: %w", command, err)
	}
	return nil
}
