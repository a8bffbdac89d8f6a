package tui

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

var update = flag.Bool("update", false, "write the golden files and the constructed streams anew")

// streams are the constructed runs that frames are tested with, by the name of
// their file in testdata.
var streams = map[string]func() []report.Message{
	"healthy":     func() []report.Message { return stream(8, nil) },
	"spotless":    spotlessStream,
	"sick":        func() []report.Message { return stream(8, sickness()) },
	"running":     func() []report.Message { return stream(8, sickness())[:14] },
	"waiting":     func() []report.Message { return stream(8, nil)[:2] },
	"interrupted": interruptedStream,
	"failed":      failedStream,
	"nordma":      noRDMAStream,
	"timeout":     timeoutStream,
	"many":        func() []report.Message { return stream(64, sickness()) },
	"infiniband":  infinibandStream,
	"hostile":     func() []report.Message { return infest(stream(4, sickness())) },
}

// load reads a constructed stream the way the program reads a report: line by
// line from its file. With -update the file is written first.
func load(t testing.TB, name string) []report.Message {
	t.Helper()
	path := filepath.Join("testdata", name+".jsonl")
	var buf bytes.Buffer
	for _, m := range streams[name]() {
		line, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		buf.Write(append(line, '\n'))
	}
	if *update {
		if err := os.WriteFile(path, buf.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, buf.Bytes()) {
		t.Fatalf("%s is not what its constructor makes; run go test -update ./tui", path)
	}
	var ms []report.Message
	for dec := json.NewDecoder(bytes.NewReader(have)); dec.More(); {
		var m report.Message
		if err := dec.Decode(&m); err != nil {
			t.Fatal(err)
		}
		ms = append(ms, m)
	}
	return ms
}

// feed gives messages to a model as one batch. An ended run is closed.
func feed(m *Model, ms []report.Message) {
	b := batch{}
	for _, msg := range ms {
		b.items = append(b.items, item{msg: msg})
	}
	if n := len(ms); n > 0 && (ms[n-1].Summary != nil || ms[n-1].Error != nil) {
		b.items = append(b.items, item{end: true})
	}
	m.Update(b)
}

func header(n int) []report.Message {
	return []report.Message{
		{Run: &report.Run{SchemaVersion: report.SchemaVersion, Tool: report.Tool{Name: "rdmadoctor", Version: "test"},
			Host: "gpu-017", Origin: "live", Started: time.Date(2026, 11, 29, 3, 4, 0, 0, time.UTC), Args: []string{"check"}}},
		{Progress: &report.Progress{Step: "collect", Text: "sysfs-rdma"}},
		{Gap: &facts.Gap{Source: facts.KernelLog, What: "/dev/kmsg", Kind: facts.Denied, Detail: "EPERM"}},
		{Progress: &report.Progress{Step: "wait", Text: "for the second sample, 1s"}},
		{Snapshot: snapshot(n)},
		{Progress: &report.Progress{Step: "judge", Text: "15 checks"}},
	}
}

func snapshot(n int) *facts.Snapshot {
	s := &facts.Snapshot{Schema: facts.SchemaVersion, Origin: facts.Live, Interval: time.Second,
		Sources: []facts.Source{facts.SysfsRDMA, facts.Links},
		Gaps: []facts.Gap{{Source: facts.KernelLog, What: "/dev/kmsg", Kind: facts.Denied, Detail: "EPERM"},
			{Source: facts.ConfigFS, What: "/sys/kernel/config/rdma_cm", Kind: facts.Absent, Detail: "ENOENT"}}}
	for i := range n {
		netdev := fmt.Sprintf("ens%df0np0", i+1)
		gid := fmt.Sprintf("0000:0000:0000:0000:0000:ffff:0a%02x:%02x11", i, i)
		s.Devices = append(s.Devices, facts.Device{
			Name: fmt.Sprintf("mlx5_%d", i), Protocol: facts.Some("roce"), Driver: facts.Some("mlx5_core"),
			Provider: facts.Some("mlx5"), FirmwareVersion: facts.Some("28.39.1002"), HCAType: facts.Some("MT4129"),
			PCI: facts.Some(fmt.Sprintf("0000:%02x:00.0", 0x1b+i*3)), NUMANode: facts.Some(i * 2 / n),
			Uverbs: facts.Some(fmt.Sprintf("uverbs%d", i)),
			Ports: []facts.Port{{Number: 1, GIDTableLen: facts.Some(256), State: facts.Some(facts.StateActive), PhysState: facts.Some("LinkUp"),
				LinkLayer: facts.Some(facts.Ethernet), Rate: facts.Some(facts.BitsPerSecond(400e9)), Width: facts.Some(4),
				Speed: facts.Some("NDR"), Netdev: facts.Some(netdev),
				GIDs: []facts.GID{
					{Index: 0, Value: fmt.Sprintf("fe80:0000:0000:0000:9c9c:b3ff:fe68:97%02x", i), Type: facts.Some(facts.GIDTypeRoCEv1)},
					{Index: 1, Value: fmt.Sprintf("fe80:0000:0000:0000:9c9c:b3ff:fe68:97%02x", i), Type: facts.Some(facts.GIDTypeRoCEv2)},
					{Index: 2, Value: gid, Type: facts.Some(facts.GIDTypeRoCEv1)},
					{Index: 3, Value: gid, Type: facts.Some(facts.GIDTypeRoCEv2)}},
				Counters: map[string]facts.Counter{"port_xmit_packets": {First: facts.Some(uint64(1000)), Last: facts.Some(uint64(91000))},
					"port_rcv_errors": {First: facts.Some(uint64(0)), Last: facts.Some(uint64(0))}}}}})
		s.Netdevs = append(s.Netdevs, facts.Netdev{Name: netdev, Index: i + 2, MTU: facts.Some(4200)})
	}
	return s
}

// asked are the checks that the constructed runs carry out on healthy ground.
var asked = []struct {
	id, title string
	layer     checks.Layer
	status    checks.Status
	reason    string
}{
	{"rdma-device", "the host has an RDMA device", checks.Driver, checks.Passed, ""},
	{"user-space-provider", "every device has its user-space provider", checks.Driver, checks.Passed, ""},
	{"firmware-equal", "devices of one board run one firmware", checks.Driver, checks.Passed, ""},
	{"kernel-log-quiet", "the kernel log has no RDMA error", checks.Driver, checks.Unknown, "kernel-log was not read: /dev/kmsg: denied (EPERM)"},
	{"pcie-width", "PCIe links have the width both ends can do", checks.PCIe, checks.Passed, ""},
	{"pcie-speed", "PCIe links have the speed both ends can do", checks.PCIe, checks.Passed, ""},
	{"ethernet-port-up", "every wanted Ethernet port has carrier", checks.Link, checks.Passed, ""},
	{"subnet-manager", "a subnet manager brings the ports up", checks.Link, checks.Skipped, "nothing to examine"},
	{"roce-mtu", "netdev MTU lets RoCE use path MTU 4096", checks.MTU, checks.Passed, ""},
	{"pfc-priority", "PFC protects the priority that RoCE rides", checks.Lossless, checks.Passed, ""},
	{"pause-quiet", "pause frames are rare", checks.Lossless, checks.Skipped, "idle: mlx5_0/1 moved too few packets between the samples"},
	{"roce-gid", "every port has a routable RoCE v2 GID", checks.Addressing, checks.Passed, ""},
	{"memlock", "services that start RDMA work may lock memory", checks.Limits, checks.Passed, ""},
	{"loss-retransmit", "no packet is sent again", checks.Counters, checks.Passed, ""},
	{"discards", "no packet of the RoCE priority is dropped", checks.Counters, checks.Passed, ""},
}

// sickness is what a sick host differs in: findings by check.
func sickness() map[string][]checks.Finding {
	return map[string][]checks.Finding{
		"pfc-priority": {{Code: "roce-in-priority-zero", Severity: checks.Fail, Subject: "mlx5_2/1",
			Message:  "RoCE rides priority 0, which PFC does not protect; want it on priority 3, where PFC is enabled",
			Evidence: []checks.Evidence{{Source: "RTM_GETDCB ens3f0np0 DCB_ATTR_IEEE_APP_TABLE", Value: "no entry of selector 5 (DSCP)"}, {Source: "RTM_GETDCB ens3f0np0 ieee_pfc.pfc_en", Value: "0x08"}},
			Where:    checks.Where{Device: "mlx5_2", Port: 1, Netdev: "ens3f0np0"}}},
		"discards": {{Code: "discards-on-roce-priority", Severity: checks.Warn, Subject: "ens3f0np0",
			Message:  "rx_prio0_discards grew by 41,212 in 1 s, want 0",
			Evidence: []checks.Evidence{{Source: "ethtool -S ens3f0np0", Value: "rx_prio0_discards 1881204 then 1922416"}},
			Where:    checks.Where{Netdev: "ens3f0np0"}}},
		"memlock": {{Code: "memlock-service", Severity: checks.Warn, Subject: "slurmd.service",
			Message:  "slurmd.service gives its children 8 MiB of locked memory, want no limit",
			Evidence: []checks.Evidence{{Source: "/proc/2114/limits", Value: "Max locked memory  8388608  8388608  bytes"}}}},
	}
}

// stream is a whole run over n devices with the findings given.
func stream(n int, sick map[string][]checks.Finding) []report.Message {
	ms := header(n)
	sum := report.Summary{Status: "pass", Advice: report.Keep, AdviceReason: "no warning, no failure", DurationSeconds: 1.21}
	for _, a := range asked {
		r := checks.Result{ID: a.id, Layer: a.layer, Title: a.title, Status: a.status, Reason: a.reason, Findings: []checks.Finding{}}
		if a.status == checks.Passed {
			r.Examined = n
		}
		for _, f := range sick[a.id] {
			r.Findings = append(r.Findings, f)
			r.Status = map[checks.Severity]checks.Status{checks.Warn: checks.Warned, checks.Fail: checks.Failed}[f.Severity]
		}
		switch r.Status {
		case checks.Passed:
			sum.Pass++
		case checks.Warned:
			sum.Warn++
		case checks.Failed:
			sum.Fail++
		case checks.Skipped:
			sum.Skip++
		case checks.Unknown:
			sum.Unknown++
		}
		ms = append(ms, report.Message{Result: &r})
	}
	if len(sick) > 0 {
		sum.Status, sum.ExitCode, sum.Advice = "fail", 2, report.Drain
		sum.AdviceReason = "RDMA is degraded on mlx5_2/1"
		for _, d := range diagnoses() {
			ms = append(ms, report.Message{Diagnosis: &d})
		}
	}
	return append(ms, report.Message{Summary: &sum})
}

// spotlessStream is a healthy host seen by root: nothing was kept from view.
func spotlessStream() []report.Message {
	var out []report.Message
	for _, m := range stream(8, nil) {
		switch {
		case m.Gap != nil:
			continue
		case m.Snapshot != nil:
			m.Snapshot.Gaps = nil
		case m.Result != nil && m.Result.Status == checks.Unknown:
			m.Result.Status, m.Result.Reason, m.Result.Examined = checks.Passed, "", 8
		case m.Summary != nil:
			m.Summary.Pass, m.Summary.Unknown = m.Summary.Pass+1, 0
		}
		out = append(out, m)
	}
	return out
}

func diagnoses() []knowledge.Diagnosis {
	return []knowledge.Diagnosis{{
		Code: "roce-in-priority-zero", Severity: checks.Fail, Confidence: checks.Proved, Impact: knowledge.Degraded,
		Layer: checks.Lossless, Subject: "mlx5_2/1", Subjects: []string{"mlx5_2/1"},
		Title:   "RoCE rides priority 0, PFC protects priority 3",
		Message: "RoCE rides priority 0, which PFC does not protect; want it on priority 3, where PFC is enabled",
		Symptom: "Collectives slow down or time out under load while small messages and ping look well.",
		Cause:   "DSCP 26 has no entry in the priority map of ens3f0np0, so its packets land in priority 0 and are dropped when a buffer fills.",
		Findings: []knowledge.FindingRef{{Code: "roce-in-priority-zero", Subject: "mlx5_2/1"},
			{Code: "discards-on-roce-priority", Subject: "ens3f0np0"}},
		Evidence: []checks.Evidence{{Source: "RTM_GETDCB ens3f0np0 DCB_ATTR_IEEE_APP_TABLE", Value: "no entry of selector 5 (DSCP)"},
			{Source: "RTM_GETDCB ens3f0np0 ieee_pfc.pfc_en", Value: "0x08"}},
		Fix: []knowledge.Step{
			{Command: "dcb app add dev ens3f0np0 dscp-prio 26:3", Where: "host", Disrupts: "nothing", Changes: "DSCP 26 is mapped to priority 3."},
			{Command: "ip link set ens3f0np0 down && ip link set ens3f0np0 up", Where: "host", Disrupts: "port", Changes: "The buffers are laid out anew; traffic on the port stops for seconds."},
			{Text: "Put the same line into the network configuration of this host.", Where: "host", Disrupts: "nothing", Changes: "The map survives a reboot.", Persistent: true}},
		Verify:     []string{"dcb app show dev ens3f0np0 dscp-prio", "rdmadoctor check --only lossless"},
		Reproduce:  []string{"dcb -s app show dev ens3f0np0", "ethtool -S ens3f0np0 | grep prio0_discards"},
		References: []string{"https://docs.kernel.org/networking/dcb.html", "man 8 dcb-app"},
	}, {
		Code: "memlock-service", Severity: checks.Warn, Confidence: checks.Likely, Impact: knowledge.AtRisk,
		Layer: checks.Limits, Subject: "slurmd.service", Subjects: []string{"slurmd.service"},
		Title:    "Jobs of slurmd may lock 8 MiB only",
		Message:  "slurmd.service gives its children 8 MiB of locked memory, want no limit",
		Symptom:  "ibv_reg_mr fails with ENOMEM in jobs, not in a login shell.",
		Cause:    "The unit sets no LimitMEMLOCK, so the default of systemd holds for every job.",
		Findings: []knowledge.FindingRef{{Code: "memlock-service", Subject: "slurmd.service"}},
		Evidence: []checks.Evidence{{Source: "/proc/2114/limits", Value: "Max locked memory  8388608  8388608  bytes"}},
		Fix:      []knowledge.Step{{Command: "systemctl edit slurmd.service", Where: "host", Disrupts: "process", Changes: "LimitMEMLOCK=infinity in [Service].", Persistent: true}},
		Verify:   []string{"systemctl show slurmd.service -p LimitMEMLOCK"}, References: []string{"man 5 systemd.exec"},
	}}
}

func interruptedStream() []report.Message {
	ms := stream(8, nil)[:10]
	return append(ms, report.Message{Error: &report.Error{Kind: report.InterruptedError, Message: "interrupted while judging", Hint: "run it again"}},
		report.Message{Summary: &report.Summary{Status: "interrupted", ExitCode: report.ExitInterrupted, Advice: report.NoIdea, Pass: 3, Unknown: 1, DurationSeconds: 0.4}})
}

func failedStream() []report.Message {
	return append(header(1)[:3], report.Message{Error: &report.Error{Kind: report.InternalError,
		Message: "collect sysfs-rdma: index out of range [4] with length 4", Hint: "please report this with the output of rdmadoctor record"}},
		report.Message{Summary: &report.Summary{Status: "error", ExitCode: report.ExitInternal, Advice: report.NoIdea, DurationSeconds: 0.1}})
}

// timeoutStream is a run whose time was over before anything was read.
func timeoutStream() []report.Message {
	ms := header(0)
	ms[4].Snapshot.Sources = nil
	for _, a := range asked[:4] {
		ms = append(ms, report.Message{Result: &checks.Result{ID: a.id, Layer: a.layer, Title: a.title, Status: checks.Unknown,
			Reason: "sysfs-rdma was not read: sysfs-rdma: timeout (the time of the run was over)", Findings: []checks.Finding{}}})
	}
	return append(ms, report.Message{Error: &report.Error{Kind: report.TimeoutError, Message: "the examination did not end within 1s",
		Hint: "what was read until then is in the report; give --timeout more"}},
		report.Message{Summary: &report.Summary{Status: "unknown", ExitCode: report.ExitUnknown, Advice: report.NoIdea, Unknown: 4, DurationSeconds: 1}})
}

func noRDMAStream() []report.Message {
	ms := header(0)
	return append(ms,
		report.Message{Result: &checks.Result{ID: "rdma-device", Layer: checks.Driver, Title: "the host has an RDMA device", Status: checks.Passed, Examined: 1,
			Findings: []checks.Finding{{Code: "no-rdma-device", Severity: checks.Info, Subject: "host", Message: "/sys/class/infiniband is empty, want a device", Evidence: []checks.Evidence{{Source: "/sys/class/infiniband", Value: ""}}}}}},
		report.Message{Diagnosis: &knowledge.Diagnosis{Code: "no-rdma-device", Severity: checks.Info, Confidence: checks.Proved, Impact: knowledge.None, Layer: checks.Driver,
			Subject: "host", Subjects: []string{"host"}, Title: "No RDMA device is on this host", Message: "/sys/class/infiniband is empty, want a device",
			Cause:    "No RDMA NIC is fitted, or none was passed into this machine.",
			Findings: []knowledge.FindingRef{{Code: "no-rdma-device", Subject: "host"}},
			Fix:      []knowledge.Step{{Command: "rdma link add rxe0 type rxe netdev eth0", Where: "host", Disrupts: "nothing", Changes: "Software RoCE on eth0, to try programs with."}}}},
		report.Message{Summary: &report.Summary{Status: "unknown", ExitCode: report.ExitUnknown, Advice: report.NoIdea, AdviceReason: "there is no RDMA device to judge", Info: 1, DurationSeconds: 0.1}})
}

func infinibandStream() []report.Message {
	ms := stream(2, nil)
	for _, m := range ms {
		if m.Snapshot == nil {
			continue
		}
		for i := range m.Snapshot.Devices {
			d := &m.Snapshot.Devices[i]
			d.Protocol = facts.Some("ib")
			p := &d.Ports[0]
			p.LinkLayer, p.LID, p.ActiveMTU = facts.Some(facts.InfiniBand), facts.Some(uint32(12+i)), facts.Some(4096)
			p.Netdev, p.GIDs = facts.Opt[string]{}, p.GIDs[:1]
		}
		m.Snapshot.Devices[1].Ports[0].State = facts.Some(facts.StateInit)
	}
	return ms
}

// poison is what no terminal may ever get from a host: it would clear the
// screen, set the title, write the clipboard, move the cursor, blink, turn text
// around and stack marks.
const poison = "\x1b[2J\x1b]0;pwned\x07\x1b]52;c;cm0gLXJm\x1b\\\x9b5m\x1b[5mx\r\n\x00\x7f\u202eabc\u2066\u200b\ufeffZ\u0301\u0301\u0301\u0301漢字🧑‍🤝‍🧑e\u0301\xff"

// infest puts poison into every text of the messages but their keywords.
func infest(ms []report.Message) []report.Message {
	var out []report.Message
	for _, m := range ms {
		text, err := json.Marshal(m)
		if err != nil {
			panic(err)
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			panic(err)
		}
		text, err = json.Marshal(spoil(v, ""))
		if err != nil {
			panic(err)
		}
		var bad report.Message
		if err := json.Unmarshal(text, &bad); err != nil {
			panic(err)
		}
		out = append(out, bad)
	}
	return out
}

// kept are the fields that the program compares, not shows as they are.
const kept = " schema_version started layer severity status taken origin kind "

func spoil(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = spoil(v[k], k)
		}
	case []any:
		for i := range v {
			v[i] = spoil(v[i], name)
		}
	case string:
		if !strings.Contains(kept, " "+name+" ") {
			return v + poison
		}
	}
	return v
}
