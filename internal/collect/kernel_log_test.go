package collect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

func TestKernelLog(t *testing.T) {
	h := constructed(t, "kernel-log-mlx5")
	s := collected(t, h, facts.KernelLog)
	want(t, "log", s.Log, []facts.LogRecord{
		{SinceBoot: 6000001 * time.Microsecond, Level: 3, Device: "+pci:0000:3b:00.0",
			Text: "mlx5_core 0000:3b:00.0: mlx5_health_recover: Health issue observed, firmware internal error, severity(2) CRITICAL:"},
		{SinceBoot: 8 * time.Second, Level: 4, Text: "pcieport 0000:3a:00.0: AER: Corrected error received: 0000:3b:00.0"},
		{SinceBoot: 9 * time.Second, Level: 3, Text: "an error of a driver nobody knows"},
	})
	want(t, "one bad record", gap(t, s, "/dev/kmsg").Kind, facts.Malformed)
	named := &facts.Snapshot{Devices: []facts.Device{{Name: "x0", Ports: []facts.Port{{Number: 1, Netdev: facts.Some("eno9")}}}}}
	readWith(t, named, h, facts.KernelLog)
	want(t, "a netdev's name makes it relevant", len(named.Log), 4)
}

func TestKernelLogBounds(t *testing.T) {
	var b strings.Builder
	for i := range mostRecords + 10 {
		fmt.Fprintf(&b, "6,%d,%d,-;mlx5_core: %d\n", i, i, i)
	}
	h := fixture.Host(fixture.Parse(""))
	h.Put("kmsg:", b.String())
	s := collected(t, h, facts.KernelLog)
	want(t, "records", len(s.Log), mostRecords)
	want(t, "the newest are kept", s.Log[0].Text, "mlx5_core: 10")
	for text, kind := range map[string]facts.GapKind{"errno: EPERM": facts.Denied, "timed out": facts.Timeout} {
		h.Put("kmsg:", text)
		s := collected(t, h, facts.KernelLog)
		want(t, text, gap(t, s, "/dev/kmsg").Kind, kind)
		want(t, "not read", s.Has(facts.KernelLog), false)
	}
}

func TestHasName(t *testing.T) {
	tests := []struct {
		text, name string
		want       bool
	}{
		{"v0: link up", "v0", true}, {"on v0", "v0", true}, {"+pci:0000:3b:00.0", "0000:3b:00.0", true},
		{"(v00 BOCHS)", "v0", false}, {"xv0", "v0", false}, {"v00 and v0.", "v0", true}, {"", "v0", false}, {"x", "", false},
	}
	for _, tt := range tests {
		if got := hasName(tt.text, tt.name); got != tt.want {
			t.Errorf("hasName(%q, %q) = %v", tt.text, tt.name, got)
		}
	}
}

func TestParseRecord(t *testing.T) {
	tests := []struct {
		text string
		want facts.LogRecord
		ok   bool
	}{
		{"6,1,2,-;x\n", facts.LogRecord{SinceBoot: 2000, Level: 6, Text: "x"}, true},
		{"30,1,2,-,caller=T1;a;b", facts.LogRecord{SinceBoot: 2000, Level: 6, Text: "a;b"}, true},
		{"6,1,2,-;\n DEVICE=n4\n", facts.LogRecord{SinceBoot: 2000, Level: 6, Device: "n4"}, true},
		{"6,1,2;x", facts.LogRecord{SinceBoot: 2000, Level: 6, Text: "x"}, true},
		{"6,1;x", facts.LogRecord{}, false},
		{"x,1,2,-;x", facts.LogRecord{}, false},
		{"6,1,-2,-;x", facts.LogRecord{}, false},
		{"6,1,18446744073709551615,-;x", facts.LogRecord{}, false},
		{"6,1,2,-", facts.LogRecord{}, false},
		{"", facts.LogRecord{}, false},
	}
	for _, tt := range tests {
		got, ok := parseRecord(tt.text)
		if ok != tt.ok {
			t.Errorf("parseRecord(%q) = %v, want %v", tt.text, ok, tt.ok)
		} else if ok {
			want(t, tt.text, got, tt.want)
		}
	}
}

func FuzzKernelLog(f *testing.F) {
	f.Add("6,1,2,-;x\n DEVICE=n4\n\x003,2,3,-;y\n\x00")
	f.Fuzz(func(t *testing.T, s string) {
		records, bad := parseKernelLog(s)
		if n := strings.Count(s, "\x00") + 1; len(records)+bad > n {
			t.Errorf("parseKernelLog(%q) has %d records and %d bad of %d", s, len(records), bad, n)
		}
		for _, r := range records {
			if r.Level < 0 || r.Level > 7 || r.SinceBoot < 0 {
				t.Errorf("parseKernelLog(%q) holds %+v", s, r)
			}
		}
	})
}
