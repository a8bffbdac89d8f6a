package policy

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/goodhost"
)

func TestJudge(t *testing.T) {
	port := "version: 1\nports:\n  - match: mlx5_0\n    "
	for _, tc := range []struct {
		name   string
		policy string
		change func(*facts.Snapshot)
		status checks.Status
		want   []string
	}{
		{"nothing demanded", "version: 1", nil, checks.Skipped, nil},
		{"count", "version: 1\ndevices: {count: 2}", nil, checks.Passed, nil},
		{"fewer", "version: 1\ndevices: {count: 3}", nil, checks.Failed, []string{"fail device-missing host"}},
		{"present", "version: 1\ndevices: {present: [mlx5_0, 0000:5e:00.0]}", nil, checks.Passed, nil},
		{"one gone", "version: 1\ndevices: {count: 3, present: [mlx5_0, mlx5_9, 0000:99:00.0]}", nil, checks.Failed,
			[]string{"fail device-missing 0000:99:00.0", "fail device-missing mlx5_9"}},
		{"transport", port + "transport: InfiniBand", nil, checks.Failed, []string{"fail policy-mismatch mlx5_0/1"}},
		{"rate", port + "rate: 400 Gb/s", nil, checks.Passed, nil},
		{"slower", port + "rate: 800Gb/s", nil, checks.Failed, []string{"fail link-speed-degraded mlx5_0/1"}},
		{"faster", port + "rate: 200 Gb/s", nil, checks.Passed, []string{"info policy-mismatch mlx5_0/1"}},
		{"rate of a dark port", port + "rate: 800 Gb/s", func(s *facts.Snapshot) { s.Devices[0].Ports[0].State = facts.Some(facts.StateDown) },
			checks.Passed, nil},
		{"MTU", port + "mtu: 9000", nil, checks.Passed, nil},
		{"MTU low", port + "mtu: 9000", func(s *facts.Snapshot) { s.Netdevs[0].MTU = facts.Some(1500) }, checks.Failed, []string{"fail roce-mtu-low mlx5_0/1"}},
		{"MTU other", port + "mtu: 4200", nil, checks.Warned, []string{"warn policy-mismatch mlx5_0/1"}},
		{"MTU not read", port + "mtu: 9000", func(s *facts.Snapshot) { s.Netdevs[0].MTU = facts.Opt[int]{} }, checks.Unknown, nil},
		{"netdev not read", port + "mtu: 9000", func(s *facts.Snapshot) { s.Netdevs = nil }, checks.Unknown, nil},
		{"PFC", port + "pfc: 3", nil, checks.Passed, nil},
		{"PFC off", port + "pfc: [3]\n    dscp: {26: 3}", func(s *facts.Snapshot) { goodhost.SetPFC(s, 0) }, checks.Failed, []string{"fail pfc-off mlx5_0/1"}},
		{"PFC other", port + "pfc: [4]", nil, checks.Failed, []string{"fail pfc-mismatch mlx5_0/1"}},
		{"PFC unwanted", port + "pfc: []", nil, checks.Failed, []string{"fail pfc-mismatch mlx5_0/1"}},
		{"PFC not read", port + "pfc: [3]", func(s *facts.Snapshot) { s.Netdevs[0].DCB = facts.Opt[facts.DCB]{} }, checks.Unknown, nil},
		{"DSCP", port + "dscp: {26: 3}", nil, checks.Passed, nil},
		{"DSCP other", port + "dscp: {26: 4}", nil, checks.Failed, []string{"fail dscp-map-mismatch mlx5_0/1"}},
		{"DSCP without entry", port + "dscp: {48: 6}", nil, checks.Failed, []string{"fail dscp-map-mismatch mlx5_0/1"}},
		{"trust", port + "trust: pcp", nil, checks.Failed, []string{"fail policy-mismatch mlx5_0/1"}},
		{"trust not read", port + "trust: pcp", func(s *facts.Snapshot) { goodhost.SetDCB(s, func(d *facts.DCB) { d.Trust = nil }) }, checks.Unknown, nil},
		{"ECN", port + "pfc: [3]\n    ecn: on", nil, checks.Passed, nil},
		{"ECN off", port + "ecn: on", func(s *facts.Snapshot) { s.Netdevs[0].ECN["roce_rp/enable/3"] = 0 }, checks.Warned, []string{"warn ecn-off mlx5_0/1"}},
		{"ECN unwanted", port + "ecn: off", nil, checks.Warned, []string{"warn policy-mismatch mlx5_0/1", "warn policy-mismatch mlx5_0/1"}},
		{"ECN not read", port + "ecn: on", func(s *facts.Snapshot) { s.Netdevs[0].ECN = nil }, checks.Unknown, nil},
		{"first entry counts", port + "mtu: 9000\n  - match: \"*\"\n    mtu: 1500", nil, checks.Warned, []string{"warn policy-mismatch mlx5_1/1"}},
		{"by netdev and place", "version: 1\nports:\n  - match: [eth2, 0000:5e:00.0]\n    mtu: 4200", nil, checks.Warned,
			[]string{"warn policy-mismatch mlx5_0/1", "warn policy-mismatch mlx5_1/1"}},
		{"no such port", "version: 1\nports:\n  - match: hfi1_0\n    mtu: 4200", nil, checks.Unknown, nil},
		{"firmware", "version: 1\nfirmware: {MT_0000000838: [28.41.1000]}", nil, checks.Passed, nil},
		{"firmware other", "version: 1\nfirmware: {MT_0000000838: [28.42.1000]}", nil, checks.Warned,
			[]string{"warn policy-mismatch mlx5_0", "warn policy-mismatch mlx5_1"}},
		{"firmware of another board", "version: 1\nfirmware: {MT_1: [1]}", nil, checks.Skipped, nil},
		{"module parameter", "version: 1\nmodule_parameters: {mlx5_core: {prof_sel: 2}}", nil, checks.Passed, nil},
		{"module parameter other", "version: 1\nmodule_parameters: {mlx5_core: {prof_sel: 3}}", nil, checks.Warned, []string{"warn policy-mismatch host"}},
		{"module parameter not there", "version: 1\nmodule_parameters: {mlx5_core: {num_vfs: 8}}", nil, checks.Unknown, nil},
		{"module not loaded", "version: 1\nmodule_parameters: {mlx4_core: {num_vfs: 8}}", nil, checks.Unknown, nil},
		{"modules not read", "version: 1\nmodule_parameters: {mlx5_core: {prof_sel: 2}}", func(s *facts.Snapshot) { *s = facts.Snapshot{} }, checks.Unknown, nil},
		{"memlock of the shell", "version: 1\nlimits: {memlock: unlimited}", nil, checks.Warned, []string{"warn policy-mismatch host"}},
		{"memlock enough", "version: 1\nlimits: {memlock: 8388608}", nil, checks.Passed, nil},
		{"memlock lifted", "version: 1\nlimits: {memlock: unlimited}", func(s *facts.Snapshot) { s.Self.CapEff = facts.Some(uint64(1) << facts.CapIPCLock) },
			checks.Passed, nil},
		{"limits of a daemon", "version: 1\nlimits: {memlock: unlimited, nofile: 65536}", func(s *facts.Snapshot) {
			s.Processes = []facts.Process{{PID: 7, Comm: "slurmd", Services: []string{"slurm"}, CapEff: facts.Some(^uint64(0)),
				Limits: map[string]facts.Limit{"memlock": {Soft: 65536}, "nofile": {Soft: 1024}}}}
		}, checks.Warned, []string{"warn policy-mismatch pid 7", "warn policy-mismatch pid 7"}},
		{"maps", "version: 1\nlimits: {max_map_count: 262144}", nil, checks.Warned, []string{"warn policy-mismatch host"}},
		{"nothing read", port + "mtu: 9000", func(s *facts.Snapshot) { *s = facts.Snapshot{} }, checks.Unknown, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := Parse([]byte(tc.policy))
			if err != nil {
				t.Fatal(err)
			}
			s := goodhost.RoCE(t)
			if tc.change != nil {
				tc.change(s)
			}
			r := Judge(p, s)
			var got []string
			for _, f := range r.Findings {
				got = append(got, fmt.Sprintf("%s %s %s", f.Severity, f.Code, f.Subject))
				complete(t, f)
			}
			if r.Status != tc.status || !slices.Equal(got, tc.want) {
				t.Errorf("%s %q (%q, unread %q), want %s %q", r.Status, got, r.Reason, r.Unread, tc.status, tc.want)
			}
		})
	}
}

// complete wants a finding to carry what the checks give with its code.
func complete(t *testing.T, f checks.Finding) {
	t.Helper()
	if !slices.Contains(Codes, f.Code) || len(f.Evidence) != 2 || strings.Contains(f.Message, "  ") {
		t.Errorf("finding %+v", f)
	}
	always, sometimes, ok := checks.ParamsOf(f.Code)
	for _, name := range always {
		if f.Params[name] == "" {
			t.Errorf("%s lacks the parameter %s", f.Code, name)
		}
	}
	for name := range f.Params {
		if ok && !slices.Contains(always, name) && !slices.Contains(sometimes, name) {
			t.Errorf("%s has the parameter %s, which its check does not give", f.Code, name)
		}
	}
}

func TestWanted(t *testing.T) {
	p, err := Parse([]byte("version: 1\nports:\n  - match: [mlx5_*]\ndark: [mlx5_1]"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Wanted(goodhost.RoCE(t)), []string{"mlx5_0/1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	p = &Policy{Devices: &Devices{Count: 2}}
	if got := p.Wanted(&facts.Snapshot{}); len(got) != 1 {
		t.Errorf("%q of a host without a device, want a name", got)
	}
}

// A host fulfils the policy that was made from it, whatever it is like, and the
// file can be read.
func TestHostFulfilsItsOwnPolicy(t *testing.T) {
	snaps := map[string]*facts.Snapshot{"roce": goodhost.RoCE(t)}
	files, err := filepath.Glob("../../checks/testdata/*.txtar")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d scenario files (%v)", len(files), err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			s := new(facts.Snapshot)
			if f.Name != "want" && json.Unmarshal(f.Data, s) == nil {
				snaps[filepath.Base(file)+" "+f.Name] = s
			}
		}
	}
	for name, s := range snaps {
		text := From(s).YAML(name)
		p, err := Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v in\n%s", name, err, text)
			continue
		}
		for _, f := range Judge(p, s).Findings {
			t.Errorf("%s: %s %s: %s", name, f.Severity, f.Code, f.Message)
		}
	}
	want := `# What an RDMA host here should look like, made from gpu-017.
# Leave out what is not demanded. Keys: docs/schema/policy.schema.json
version: 1

devices:
  count: 2
  present: [mlx5_0, mlx5_1]

# The first entry that matches a port is the port's.
ports:
  - match: [mlx5_0/1]
    transport: RoCE
    rate: 400 Gb/s
    mtu: 9000
    pfc: [3]
    dscp: {26: 3}
    trust: dscp
    ecn: true
  - match: [mlx5_1/1]
    transport: RoCE
    rate: 400 Gb/s
    mtu: 9000

# By board id, the versions that are allowed.
firmware:
  MT_0000000838: ["28.41.1000"]

# The least that RDMA programs and what starts them must have.
limits:
  memlock: 8388608
  max_map_count: 65530
`
	if got := From(goodhost.RoCE(t)).YAML("gpu-017"); got != want {
		t.Errorf("policy of the constructed host:\n%s\nwant:\n%s", got, want)
	}
}
