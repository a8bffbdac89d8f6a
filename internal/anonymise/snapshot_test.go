package anonymise

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/flight"
)

// A snapshot without its names says what a recording without them says, and
// none of the names.
func TestSnapshot(t *testing.T) {
	for name, samples := range hosts(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := flight.Snapshot(t.Context(), samples...)
			a := New("one")
			if err := a.LearnSnapshot(s); err != nil {
				t.Fatal(err)
			}
			if err := a.Ready(); err != nil {
				t.Fatal(err)
			}
			got, err := a.Snapshot(s)
			if err != nil {
				t.Fatal(err)
			}
			rename := func(s string) string { return sortedWords(said(a, s)) }
			want, lines := judged(s, rename), judged(got, sortedWords)
			if !slices.Equal(lines, want) {
				for i := range min(len(lines), len(want)) {
					if lines[i] != want[i] {
						t.Errorf("%q, want %q", lines[i], want[i])
					}
				}
			}
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			for w := range a.dictionary {
				if strings.Contains(string(text), `"`+w+`"`) {
					t.Errorf("%q is left", w)
				}
			}
			for id := range a.known {
				for _, form := range forms([]byte(id)) {
					if len(id) > 4 && strings.Contains(string(text), form) {
						t.Errorf("%q is left", form)
					}
				}
			}
		})
	}
}

// What a snapshot says of people is replaced where it stands.
func TestSnapshotNames(t *testing.T) {
	s := &facts.Snapshot{
		Host:      facts.Host{Hostname: "gpu-017.acme.example", Kernel: facts.Some("6.1.0.4")},
		Devices:   []facts.Device{{Name: "mlx5_0", NodeDesc: facts.Some("gpu-017 HCA-1"), FirmwareVersion: facts.Some("16.35.200.1")}},
		Processes: []facts.Process{{PID: 7, Comm: "payroll", User: "alice", Cgroup: "/user.slice/user-1000.slice/acme_solver.scope", Env: map[string]string{"NCCL_IB_HCA": "mlx5_0", "UCX_LOG_FILE": "/home/alice/x"}}, {PID: 8, Comm: "acme_solver"}},
		Limits:    []facts.LimitRule{{File: "/etc/security/limits.conf", Domain: "@crew", Type: "soft", Item: "memlock", Value: "unlimited"}},
		Log:       []facts.LogRecord{{Text: "mlx5_core 0000:3b:00.0: acme_solver: firmware"}, {Text: "usb 1-1: Acme"}},
	}
	a := New("one")
	if err := a.LearnSnapshot(s); err != nil {
		t.Fatal(err)
	}
	if err := a.Ready(); err != nil {
		t.Fatal(err)
	}
	got, err := a.Snapshot(s)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"gpu-017", "acme", "Acme", "payroll", "alice", "crew"} {
		if strings.Contains(string(text), gone) {
			t.Errorf("%q is left in %s", gone, text)
		}
	}
	for _, stays := range []string{"mlx5_0", "0000:3b:00.0", "6.1.0.4", "16.35.200.1", "memlock", "unlimited", "HCA-1", "/etc/security/limits.conf"} {
		if !strings.Contains(string(text), stays) {
			t.Errorf("%q is gone from %s", stays, text)
		}
	}
}
