package knowledge

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

func TestFillCommand(t *testing.T) {
	v := values{
		params: map[string]string{
			"mtu": "4200", "odd": "a b", "quote": `it's "$x" \`, "sub": "$(reboot)", "dash": "-rf", "line": "a\nb",
			"bell": "a\ab", "broken": "a\xff", "empty": "", "netdev": "from-params",
		},
		where: checks.Where{Device: "mlx5_0", Port: 1, Netdev: "from-where", PCI: "0000:3b:00.0", PID: 4711, Host: "h"},
	}
	for _, tt := range []struct{ name, template, want string }{
		{"plain", "ip link set dev {netdev} mtu {mtu}", "ip link set dev from-params mtu 4200"},
		{"where", "{device} {port} {pci} {pid} {host}", "mlx5_0 1 0000:3b:00.0 4711 h"},
		{"no value", "ip link set dev {nothing} up", "ip link set dev <nothing> up"},
		{"empty value", "x {empty}", "x <empty>"},
		{"quoted when needed", "echo {odd}", "echo 'a b'"},
		{"in the middle of a word", "cat /sys/{odd}/x", "cat /sys/'a b'/x"},
		{"bare quote", "echo {quote}", `echo 'it'\''s "$x" \'`},
		{"in single quotes", "echo '{quote}'", `echo 'it'\''s "$x" \'`},
		{"in double quotes", `echo "{quote}"`, `echo "it's \"\$x\" \\"`},
		{"after an escaped quote", `echo \'{odd}`, `echo \''a b'`},
		{"substitution", "echo {sub} '{sub}'", "echo '$(reboot)' '$(reboot)'"},
		{"option at the start of a word", "rm {dash}", "rm <dash>"},
		{"option in quotes", "rm '{dash}'", "rm '<dash>'"},
		{"dash inside a word", "rm x{dash}", "rm x-rf"},
		{"line break", "echo {line}", "echo <line>"},
		{"control character", "echo {bell}", "echo <bell>"},
		{"not UTF-8", "echo {broken}", "echo <broken>"},
		{"only plain values into files", "echo {odd} > /etc/x", "echo <odd> > /etc/x"},
		{"plain value into a file", "echo {mtu} > /etc/x", "echo 4200 > /etc/x"},
		{"braces", "ATTR{{mtu}}={mtu}", "ATTR{mtu}=4200"},
		{"no placeholder", "{X} {} { x }", "{X} {} { x }"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := fillCommand(tt.template, v); got != tt.want {
				t.Errorf("fill %q\n got %q\nwant %q", tt.template, got, tt.want)
			}
		})
	}
	if got := fillText("{line} and {nothing} on {netdev}", v); got != "ab and <nothing> on from-params" {
		t.Errorf("text: %q", got)
	}
}

func TestCheckCommand(t *testing.T) {
	for _, tt := range []struct {
		template string
		ok       bool
	}{
		{"ip link set dev {netdev} up", true},
		{"echo '{a}'", true},
		{`printf '%s' {a} "$(command -v dcb)" > /etc/x`, true},
		{`echo \{a}`, false},
		{`sh -c 'echo {a}'`, false},
		{`echo "$(cat {a})"`, false},
		{"echo \"`cat {a}`\"", false},
		{"echo 'open", false},
		{"echo ${a}", false},
		{"echo a\\", false},
		{"echo a\necho b", false},
	} {
		if err := checkCommand(tt.template); (err == nil) != tt.ok {
			t.Errorf("%q: %v", tt.template, err)
		}
	}
}

func TestCondition(t *testing.T) {
	v := values{params: map[string]string{"a": "x", "e": ""}, where: checks.Where{Netdev: "n"}}
	for c, want := range map[Condition]bool{
		"": true, "a": true, "a=x": true, "a=y": false, "!a": false, "b": false, "!b": true, "e": false, "!e": true,
		"netdev": true, "a, !b": true, "a, b": false, "b=x": false,
		"a!=x": false, "a!=y": true, "b!=x": true,
	} {
		if err := c.check(); err != nil {
			t.Error(err)
		}
		if got := c.Holds(v); got != want {
			t.Errorf("%q: %v, want %v", c, got, want)
		}
	}
	for _, c := range []Condition{"!a=x", "A", "a==", "!a!=x", "a!", "a b", ",", "!"} {
		if c.check() == nil {
			t.Errorf("%q is accepted", c)
		}
	}
}

// FuzzFill lets a shell say what it makes of a filled command: exactly one
// argument with exactly the value, in every kind of quoting.
func FuzzFill(f *testing.F) {
	for _, s := range []string{"eth0", "a b", "it's", `"`, "`id`", "$(id)", "${IFS}", "\\", "a\nb", "-n", "*", "~", "#", "", "\xff", "!x", "é"} {
		f.Add(s)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		f.Skip("no sh to ask")
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := values{params: map[string]string{"v": s}}
		for _, template := range []string{"printf %s {v}", "printf %s '{v}'", `printf %s "{v}"`} {
			cmd := fillCommand(template, v)
			if strings.ContainsAny(cmd, "\n\x00") {
				t.Fatalf("%q: more than one line: %q", s, cmd)
			}
			if strings.HasSuffix(strings.Trim(cmd, `'"`), "<v>") && s != "<v>" {
				if commandSafe(s) && !strings.HasPrefix(s, "-") {
					t.Fatalf("%q is left to the reader", s)
				}
				continue
			}
			out, err := exec.Command(sh, "-c", cmd).Output()
			if err != nil || string(out) != s {
				t.Fatalf("%q: %s gives %q, %v", s, cmd, out, err)
			}
		}
		fillText("{v} {w}", v)
	})
}
