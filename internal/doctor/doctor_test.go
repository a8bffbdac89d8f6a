package doctor

import (
	"errors"
	"slices"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

func TestSelect(t *testing.T) {
	all := checks.All()
	if len(all) == 0 {
		t.Fatal("no checks")
	}
	c := all[len(all)-1]
	for _, tc := range []struct {
		name       string
		only, skip []string
		want       bool // c is selected
	}{
		{"everything", nil, nil, true},
		{"by id", []string{c.ID}, nil, true},
		{"by layer", []string{c.Layer.String()}, nil, true},
		{"by code", []string{c.Codes[0]}, nil, true},
		{"id skipped", nil, []string{c.ID}, false},
		{"layer skipped", nil, []string{c.Layer.String()}, false},
		{"a skipped code keeps its check", nil, []string{c.Codes[0]}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cs, err := Select(tc.only, tc.skip)
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Contains(cs, c); got != tc.want {
				t.Errorf("%s selected: %v, want %v", c.ID, got, tc.want)
			}
			for _, s := range cs {
				for _, r := range s.Requires {
					if !slices.Contains(cs, r) && !slices.Contains(tc.skip, r.ID) {
						t.Errorf("%s is selected without %s, which it requires", s.ID, r.ID)
					}
				}
			}
		})
	}
	var ne *NameError
	if _, err := Select([]string{"no-such-name"}, nil); !errors.As(err, &ne) || ne.Name != "no-such-name" {
		t.Errorf("error %v, want a NameError for no-such-name", err)
	}
}

func TestNamesAreOneNamespace(t *testing.T) {
	owner := map[string]string{}
	put := func(n, who string) {
		if o, ok := owner[n]; ok && o != who {
			t.Errorf("%q is both %s and %s", n, o, who)
		}
		owner[n] = who
	}
	for _, l := range checks.Layers() {
		put(l.String(), "a layer")
	}
	for _, c := range checks.All() {
		put(c.ID, "check "+c.ID)
	}
	for _, c := range checks.All() {
		for _, code := range c.Codes {
			if o := owner[code]; o != "" {
				t.Errorf("code %q of %s is also %s", code, c.ID, o)
			}
		}
	}
}

func TestMissing(t *testing.T) {
	s := &facts.Snapshot{Devices: []facts.Device{{Name: "mlx5_0", Ports: []facts.Port{{Number: 1}}}}}
	for _, tc := range []struct {
		snap   *facts.Snapshot
		device string
		port   int
		want   string // the message, "" for none
	}{
		{s, "", 0, ""},
		{s, "mlx5_0", 0, ""},
		{s, "mlx5_0", 1, ""},
		{s, "mlx5_0", 2, `no port "mlx5_0/2" here`},
		{s, "mlx5_9", 0, `no RDMA device "mlx5_9" here`},
		{s, "mlx5_9", 1, `no RDMA device "mlx5_9" here`},
		{&facts.Snapshot{}, "mlx5_9", 0, ""},
	} {
		got := ""
		if e := missing(tc.snap, Options{Device: tc.device, Port: tc.port}); e != nil {
			got = e.Message
		}
		if got != tc.want {
			t.Errorf("device %q port %d: %q, want %q", tc.device, tc.port, got, tc.want)
		}
	}
}

func TestNarrow(t *testing.T) {
	s := &facts.Snapshot{Devices: []facts.Device{
		{Name: "mlx5_0", Ports: []facts.Port{{Number: 1}, {Number: 2}}},
		{Name: "mlx5_1", Ports: []facts.Port{{Number: 1}}},
	}}
	n := narrow(s, "mlx5_0", 2)
	if len(n.Devices) != 1 || len(n.Devices[0].Ports) != 1 || n.Devices[0].Ports[0].Number != 2 {
		t.Errorf("narrowed to %+v", n.Devices)
	}
	if len(s.Devices[0].Ports) != 2 {
		t.Error("narrow changed the snapshot it was given")
	}
}
