package policy

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func full(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestParse(t *testing.T) {
	got, err := Parse([]byte(full(t)))
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	want := &Policy{Version: 1,
		Devices: &Devices{2, []string{"mlx5_0", "0000:5e:00.0"}},
		Ports: []Ports{
			{Match: []string{"mlx5_[0-1]"}, Transport: "RoCE", Rate: "400 Gb/s", MTU: 9000, PFC: &[]int{3},
				DSCP: map[string]int{"26": 3}, Trust: "dscp", ECN: &yes},
			{Match: []string{"ib*", "0000:18:00.0"}, Transport: "InfiniBand"}},
		Dark:     []string{"mlx5_1/1"},
		Firmware: map[string][]string{"MT_0000000838": {"28.41.1000", "28.42.1000"}},
		Modules:  map[string]map[string]string{"mlx5_core": {"prof_sel": "2"}, "ib_core": {"netns_mode": "Y"}},
		Limits:   &Limits{"unlimited", 65536, 65530},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Ports{})); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if got.Ports[0].rate != 400e9 || got.Ports[1].line != 15 {
		t.Errorf("rate %v, second entry in line %d", got.Ports[0].rate, got.Ports[1].line)
	}
	again, err := Parse([]byte(got.YAML("a host")))
	if err != nil {
		t.Fatalf("%v in\n%s", err, got.YAML("a host"))
	}
	if d := cmp.Diff(got, again, cmpopts.IgnoreUnexported(Ports{})); d != "" {
		t.Errorf("written and read again (-want +got):\n%s", d)
	}
}

func TestMistakes(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"", []string{"line 1: the file is empty: want version: 1 and what is demanded"}},
		{"# nothing", []string{"line 1: the file is empty: want version: 1 and what is demanded"}},
		{"- a", []string{"line 1: the policy: want a mapping of keys, found a list"}},
		{"devices:\n  count: 8", []string{"line 1: version is missing: want version: 1"}},
		{"version: 2", []string{`line 1: version: want 1, found "2"`}},
		{"version: 1\ndevcies: {}", []string{`line 2: the policy: unknown key "devcies": want perhaps devices`}},
		{"version: 1\nzzz: {}", []string{`line 2: the policy: unknown key "zzz": want one of dark, devices, firmware, limits, module_parameters, ports, version`}},
		{"version: 1\ndevices:\n  count: eight\n  count: 8", []string{`line 3: count: want a number from 1 to 1024, found "eight"`,
			`line 4: devices: key "count" is given twice`}},
		{"version: 1\ndevices:\n  present:\n", []string{"line 3: present: want a list, found nothing"}},
		{"version: 1\ndevices:\n  present: [mlx5_0, \"mlx5_*\"]", []string{`line 3: present: want a name, found the pattern "mlx5_*"`}},
		{"version: 1\nports:\n  - match: [a, b]\n  - match: [b, c]\n  - match: [c, a]", []string{
			`line 5: ports: "c" has an entry in line 4, and the first that matches a port is the port's`}},
		{"version: 1\ndevices: 8", []string{`line 2: devices: want a mapping of keys, found "8"`}},
		{"version: 1\nports:\n  - mtu: 9000", []string{"line 3: ports: match is missing: want the names of the ports that this is for"}},
		{"version: 1\nports:\n  - match: [a, [b]]", []string{"line 3: match: want a value, found a list"}},
		{"version: 1\nports:\n  - match: \"mlx5_[0\"", []string{`line 3: match: "mlx5_[0" is no pattern: a [ has no ]`}},
		{"version: 1\nports:\n  - match: a\n    mtu: 9k\n    pfc: [3, 8]\n    rate: 400\n    transport: roce\n    trust: vlan\n    ecn: maybe",
			[]string{`line 4: mtu: want a number from 68 to 65535, found "9k"`, `line 5: pfc: want a number from 0 to 7, found "8"`,
				`line 6: rate: want a speed as 400 Gb/s, found "400"`, `line 7: transport: want RoCE or InfiniBand or iWARP, found "roce"`,
				`line 8: trust: want dscp or pcp, found "vlan"`, `line 9: ecn: want on or off, found "maybe"`}},
		{"version: 1\nports:\n  - match: a\n    dscp: {64: 3, 26: x, 26: 3}", []string{`line 4: dscp: want a number from 0 to 63, found "64"`,
			`line 4: priority of DSCP 26: want a number from 0 to 7, found "x"`, `line 4: dscp: "26" is given twice`}},
		{"version: 1\nports:\n  - match: a\n    dscp: [26]", []string{"line 4: dscp: want a mapping from a DSCP, found a list"}},
		{"version: 1\nmodule_parameters: [a]", []string{"line 2: module_parameters: want a mapping from a module, found a list"}},
		{"version: 1\nmodule_parameters:\n  mlx5_core: 2\n  ib_core: {x: [1], y: }", []string{`line 3: parameters of mlx5_core: want a mapping from a parameter, found "2"`,
			"line 4: parameters of ib_core: x: want a value, found a list", "line 4: parameters of ib_core: y: want a value, found nothing"}},
		{"version: 1\nlimits:\n  memlock: lots\n  nofile: 0", []string{`line 3: memlock: want a number of bytes or unlimited, found "lots"`,
			`line 4: nofile: want a number from 1 to 1073741824, found "0"`}},
		{"version: 1\nfirmware:\n  MT_1: {a: b}", []string{"line 3: firmware of MT_1: want a list, found a mapping"}},
		{"version: 1\ndark: &a [x]\nfirmware: *a", []string{"line 3: firmware: write the value out, aliases are not read"}},
		{strings.Repeat("#", MaxSize+1), []string{"line 1: the file is longer than 1024 KiB"}},
	} {
		_, err := Parse([]byte(tc.text))
		var es Errors
		if !errors.As(err, &es) {
			t.Errorf("%.60q: error %v, want Errors", tc.text, err)
			continue
		}
		if got := strings.Split(es.Error(), "\n"); !slices.Equal(got, tc.want) {
			t.Errorf("%.60q: %q, want %q", tc.text, got, tc.want)
		}
	}
	for _, broken := range []string{"version: 1\n\tdevices: x", "version: [1", "version: 1\n  a: b: c", "\x00", "version: !!binary x"} {
		_, err := Parse([]byte(broken))
		var es Errors
		if !errors.As(err, &es) || es[0].Line < 1 {
			t.Errorf("%q: %v, want a mistake with its line", broken, err)
		}
	}
}

// Every prefix of a policy is read or refused with lines, and never breaks.
func TestTruncated(t *testing.T) {
	text := full(t)
	refused := 0
	for n := range len(text) {
		if _, err := Parse([]byte(text[:n])); err != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no prefix was refused")
	}
}

// What is read can be written, and is the same when it is read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(full(f)))
	for _, seed := range []string{"", "version: 1", "version: 1\nports: [{match: a, pfc: []}]", "a: &a [*a]", "version: 1\ndark: [\"\\x00\"]",
		"version: 1\nfirmware: {\"\": [a], ? [b] : c}", "version: 1\nports:\n- match: [\"a\\n# b\"]\n  dscp: {0: 0, 63: 7}\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse(text)
		var es Errors
		if err != nil {
			if !errors.As(err, &es) || len(es) == 0 || es[0].Line < 1 {
				t.Fatalf("error %v", err)
			}
			return
		}
		again, err := Parse([]byte(p.YAML("x\ny")))
		if err != nil {
			t.Fatalf("%v in what was written:\n%s", err, p.YAML(""))
		}
		if d := cmp.Diff(p, again, cmpopts.IgnoreUnexported(Ports{}), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("read again (-first +second):\n%s", d)
		}
	})
}
