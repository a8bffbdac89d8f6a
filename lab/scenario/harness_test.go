package scenario

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rdmadoctor/rdmadoctor/lab"
)

// constructedSchema is enough of a schema to see that one is applied.
const constructedSchema = `{"type": "object", "required": ["summary", "checks"]}`

// trial is a scenario whose outcome is known, since the doctor is made to err.
type trial struct {
	id, yaml string
	// want is a part of one problem, "" for a pass.
	want   string
	broken bool
	cured  bool
}

const (
	// sick and well are the rest of usual scenarios.
	sick = "fault: [touch /run/lab-sick]\nwant: [lab-sick]\nmin_pass: 3\n"
	well = "min_pass: 3\n"
)

// in makes the constructed doctor err in a way.
func in(mode string) string { return "setup: [echo " + mode + " > /run/lab-mode]\n" }

// quad gives four hosts addresses and goes from leaf to leaf.
const quad = `topology: quad
setup:
  - ip addr add 192.0.2.1/24 dev eth0; ip link set eth0 up
  - {on: b, run: ip addr add 192.0.2.2/24 dev eth0; ip link set eth0 up}
  - {on: c, run: ip addr add 192.0.2.3/24 dev eth0; ip link set eth0 up}
  - {on: d, run: ip addr add 192.0.2.4/24 dev eth0; ip link set eth0 up}
  - test "$(cat /sys/class/net/eth0/mtu)" = 4200
  - until ping -c 1 -W 5 -M do -s 4172 192.0.2.4; do :; done
  - ping -c 1 -W 20 192.0.2.2
`

var trials = []trial{
	{id: "sick", yaml: sick, cured: true},
	{id: "healthy", yaml: well},
	{id: "nothing-judged", yaml: in("nothing") + well, want: "0 checks passed, want at least 3"},
	{id: "unnoticed", yaml: in("unnoticed") + sick, want: "lab-sick not found"},
	{id: "wrong-code", yaml: in("wrong-code") + sick, want: "top diagnosis is lab-other"},
	{id: "wrong-severity", yaml: in("wrong-severity") + sick + "want_severity: warn\n",
		want: "of severity fail, want warn", cured: true},
	{id: "wrong-subject", yaml: sick + "want_subject: eth0\n",
		want: `of "host", want "eth0"`, cured: true},
	{id: "false-alarm", yaml: in("false-alarm") + well, want: "false alarm: warn lab-sick"},
	{id: "forbidden", yaml: sick + "forbid: [lab-sick]\n", want: "lab-sick found, which is forbidden",
		cured: true},
	{id: "exit-wrong", yaml: sick + "exit: 2\n", want: "exit code 1, want 2", cured: true},
	{id: "exit-lies", yaml: in("exit-lies") + well, want: "exit code 0, and the summary says 3"},
	{id: "summary-lies", yaml: in("summary-lies") + well, want: "summary says 9 pass, and there are 3"},
	{id: "loads-module", yaml: in("loads-module") + well, want: "check loaded module dummy"},
	{id: "record-absent", yaml: in("record-absent") + well, want: "No such file"},
	{id: "replay-differs", yaml: in("replay-differs") + sick, want: "recording is diagnosed as []",
		cured: true},
	{id: "file-in-args", yaml: "setup: [echo file > /root/lab-file, echo needs-file > /run/lab-mode]\n" +
		well + "args: [--policy, /root/lab-file]\n"},
	{id: "fix-fails", yaml: in("fix-fails") + sick, want: "exit code 9: no such cure"},
	{id: "fix-useless", yaml: in("fix-useless") + sick, want: "after the cure still: warn lab-sick"},
	{id: "fix-incomplete", yaml: in("fix-incomplete") + sick, want: "no fix that can be run on the host"},
	{id: "blind-when-well", yaml: in("blind-when-well") + sick,
		want: "after the cure: 0 checks passed", cured: true},
	{id: "own-cure", yaml: in("fix-fails") + sick + "cure: [rm /run/lab-sick]\nwhy: a test\n", cured: true},
	{id: "undo", yaml: in("harmless") + sick + "want_severity: info\nundo: [rm /run/lab-sick]\n", cured: true},
	{id: "undo-useless", yaml: in("harmless") + sick + "want_severity: info\nundo: ['true']\n",
		want: "after the cure still: info lab-sick"},
	{id: "by-hand", yaml: in("by-hand") + sick + "want_severity: warn\nundo: [rm /run/lab-sick]\nwhy: a test\n", cured: true},
	{id: "not-by-hand", yaml: sick + "want_severity: warn\nundo: [rm /run/lab-sick]\nwhy: a test\n",
		want: "has a fix that can be run", cured: true},
	{id: "command", yaml: sick + "command: [check, --json]\n", cured: true},
	{id: "within", yaml: sick + "within: touch /run/lab-within; exec nice\ncure: ['rm /run/lab-sick /run/lab-within']\nwhy: a test\n",
		cured: true},
	{id: "info-without-undo", yaml: in("info") + sick + "want_severity: info\n", cured: true},
	{id: "info-elsewhere", yaml: in("harmless") + sick + "want_severity: info\n"},
	{id: "status", yaml: well + "want_status: {c1: skip}\n", want: "check c1: got pass, want skip"},
	{id: "hangs", yaml: in("hangs") + well + "timeout: 2s\n", want: "did not end in 2s"},
	{id: "not-json", yaml: in("not-json") + well, want: "not valid: no JSON"},
	{id: "invalid", yaml: in("invalid") + well, want: "missing properties"},
	{id: "killed", yaml: in("killed") + well, want: "exit code 137"},
	{id: "user", yaml: "user: nobody\nsetup: [echo user > /run/lab-mode, " +
		"'echo nobody - memlock 77 > /etc/security/limits.d/lab.conf']\n" + sick, cured: true},
	{id: "during", yaml: "during: ['sleep 0.3; touch /run/lab-sick; exec sleep 1000']\n" +
		"ready: test -e /run/lab-sick\nwant: [lab-sick]\nmin_pass: 3\n",
		// It makes the host sick again for the check after the cure.
		want: "after the cure still"},
	{id: "during-fails", yaml: "during: [exit 3]\nready: sleep 1\n" + sick, broken: true,
		want: "exit code 3"},
	{id: "never-ready", yaml: "ready: test -e /run/lab-never\n" + well, broken: true,
		want: "does not hold after 5s"},
	{id: "setup-fails", yaml: "setup: ['echo cannot >&2; false']\n" + sick, broken: true,
		want: "exit code 1: cannot"},
	{id: "module-absent", yaml: "modules: [no_such_module]\n" + well, broken: true,
		want: "no_such_module not found"},
	{id: "module-of-the-lab", yaml: "modules: [labnic pairs=2, sch_netem]\n" +
		"setup: [ip link show labnic3]\n" + well},
	{id: "leaves-dirt", yaml: "setup: [sysctl kernel.kexec_load_disabled=1]\n" + well},
	{id: "after-dirt", yaml: "setup: ['test $(cat /proc/sys/kernel/kexec_load_disabled) = 0']\n" + well},
	// The last of its topology: what comes next boots guests anyway.
	{id: "guest-dies", yaml: "setup: [echo c > /proc/sysrq-trigger]\n" + well, broken: true,
		want: "guest died"},
	// Last, since scenarios are run by the size of their topology.
	{id: "quad", yaml: quad + well},
	{id: "quad-silent", yaml: quad + "fault: [{on: net, run: leaf2-spine out silent}, ping -c 1 -W 2 192.0.2.4]\n" +
		sick[strings.Index(sick, "want"):], broken: true, want: "100% packet loss"},
}

// TestHarness runs a doctor that errs on purpose, and wants to be told.
func TestHarness(t *testing.T) {
	if testing.Short() {
		t.Skip("boots guests, left out with -short")
	}
	if _, err := lab.Ready(t.Context(), "6.1"); err != nil {
		if lab.Required() {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := make(fstest.MapFS)
	for i, tr := range trials {
		// Numbered, since they run in the order of their files.
		id := fmt.Sprintf("%02d-%s", i, tr.id)
		dir[id+".yaml"] = &fstest.MapFile{Data: []byte("id: " + id +
			"\nabout: a trial\nkernels: [\"6.1\"]\n" + tr.yaml)}
	}
	doctor, err := filepath.Abs("testdata/rdmadoctor")
	if err != nil {
		t.Fatal(err)
	}
	suite, err := New(t.Context(), Options{Dir: dir, Kernels: []string{"6.1"},
		Doctor: doctor, Schema: []byte(constructedSchema), Log: t.Output(),
		ReadyLimit: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	results, err := suite.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(results.Outcomes) != len(trials) {
		t.Fatalf("got %d outcomes, want %d", len(results.Outcomes), len(trials))
	}
	for i, tr := range trials {
		o := results.Outcomes[i]
		problems := strings.Join(o.Problems, "\n")
		if tr.want == "" && !o.OK() || tr.want != "" && !strings.Contains(problems, tr.want) {
			t.Errorf("%s: got problems %q, want one with %q", tr.id, o.Problems, tr.want)
		}
		if o.Broken != tr.broken || o.Cured != tr.cured {
			t.Errorf("%s: got broken %t, cured %t, want %t, %t", tr.id, o.Broken,
				o.Cured, tr.broken, tr.cured)
		}
	}
	// One in place of the dirty guest, one since the guest that dies is tried
	// once more.
	if results.Reboots != 2 || results.Boots != 7 {
		t.Errorf("got %d boots, %d of them in place of another guest, want 7, 2",
			results.Boots, results.Reboots)
	}
	broken := 0
	for _, tr := range trials {
		if tr.broken {
			broken++
		}
	}
	if results.Repeated != broken || broken == 0 {
		t.Errorf("%d runs repeated, want the %d that gave no verdict", results.Repeated, broken)
	}
	var table strings.Builder
	results.Table(&table)
	want := fmt.Sprintf("2 of %d scenarios bring their own cure; 7 guests booted, 2",
		len(trials))
	if !strings.Contains(table.String(), want) {
		t.Errorf("table does not say how many cures and boots:\n%s", table.String())
	}
}
