package report

import (
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// sick is a constructed stream in which every kind of message and of ending
// occurs, with hostile text in the places that hosts fill.
func sick() []Message {
	pfcOff := checks.Finding{Code: "dscp-map-mismatch", Severity: checks.Fail, Subject: "mlx5_2/1",
		Message: "DSCP 26 maps to priority 0, PFC protects priority 3.",
		Evidence: []checks.Evidence{
			{Source: "RTM_GETDCB ens6f0np0 DCB_ATTR_IEEE_APP_TABLE", Value: "no entry for DSCP 26"},
			{Source: "RTM_GETDCB ens6f0np0 DCB_ATTR_IEEE_PFC", Value: "enabled 3"}},
		Where: checks.Where{Device: "mlx5_2", Port: 1, Netdev: "ens6f0np0"}}
	discards := checks.Finding{Code: "discards-on-roce-priority", Severity: checks.Warn, Subject: "mlx5_2/1",
		Message: "rx_prio0_discards grew by 4,112 in 1 s, wanted 0."}
	memlock := checks.Finding{Code: "memlock-low", Severity: checks.Warn, Subject: "slurmd.service",
		Message: "LimitMEMLOCK is 65536, wanted infinity.", Evidence: []checks.Evidence{
			{Source: "/etc/systemd/system/slurmd.service", Value: "LimitMEMLOCK=65536\x1b[31m\x00\u202eevil"}}}
	dark := checks.Finding{Code: "port-down-unused", Severity: checks.Info, Subject: "mlx5_1/1",
		Message: "mlx5_1/1 is DOWN and nothing uses it.", Evidence: []checks.Evidence{}}
	results := []checks.Result{
		{ID: "rdma-device-present", Layer: checks.Driver, Title: "the host has an RDMA device", Status: checks.Passed, Examined: 2},
		{ID: "port-active", Layer: checks.Link, Title: "every wanted port is ACTIVE", Status: checks.Passed, Examined: 2,
			Findings: []checks.Finding{dark}},
		{ID: "dscp-map", Layer: checks.Lossless, Title: "RoCE's DSCP maps to a lossless priority", Status: checks.Failed,
			Examined: 1, Findings: []checks.Finding{pfcOff}},
		{ID: "roce-discards", Layer: checks.Lossless, Title: "no packet of the RoCE priority is dropped", Status: checks.Warned,
			Examined: 1, Findings: []checks.Finding{discards}},
		{ID: "ecn-on", Layer: checks.Lossless, Title: "ECN is on for the RoCE priority", Status: checks.Unknown,
			Reason: "not read: ens6f0np0 ecn", Unread: []string{"ens6f0np0 ecn"}},
		{ID: "memlock", Layer: checks.Limits, Title: "RDMA programs can lock memory", Status: checks.Warned, Examined: 3,
			Findings: []checks.Finding{memlock}},
		{ID: "counters-moving", Layer: checks.Counters, Title: "no error counter grows", Status: checks.Skipped,
			Reason: "idle: mlx5_2/1 moved too few packets between the samples"},
	}
	diagnoses := []knowledge.Diagnosis{
		{Code: "dscp-map-mismatch", Severity: checks.Fail, Confidence: checks.Proved, Impact: knowledge.Degraded,
			Layer: checks.Lossless, Subject: "mlx5_2/1", Subjects: []string{"mlx5_2/1"},
			Title:   "RoCE rides priority 0, PFC protects priority 3",
			Message: pfcOff.Message,
			Symptom: "Bandwidth collapses as soon as several senders share a link.",
			Cause:   "DSCP 26 has no entry in the priority map of ens6f0np0, so the NIC puts RDMA into priority 0, where a full switch buffer drops it.",
			Findings: []knowledge.FindingRef{{Code: "dscp-map-mismatch", Subject: "mlx5_2/1"},
				{Code: "discards-on-roce-priority", Subject: "mlx5_2/1"}},
			Evidence: pfcOff.Evidence,
			Fix: []knowledge.Step{
				{Command: "dcb app add dev ens6f0np0 dscp-prio 26:3", Where: "host", Disrupts: "nothing",
					Changes: "DSCP 26 rides priority 3", Persistent: false},
				{Text: "Put the same line into the boot configuration of the host.", Where: "host", Disrupts: "nothing",
					Changes: "the map outlives a reboot", Persistent: true}},
			Verify:     []string{"dcb app show dev ens6f0np0"},
			Reproduce:  []string{"dcb app show dev ens6f0np0", "ethtool -S ens6f0np0 | grep prio0_discards"},
			References: []string{"man 8 dcb-app"}},
		{Code: "memlock-low", Severity: checks.Warn, Confidence: checks.Likely, Impact: knowledge.AtRisk,
			Layer: checks.Limits, Subject: "slurmd.service", Title: "slurmd starts jobs with 64 KiB of lockable memory",
			Message: memlock.Message, Findings: []knowledge.FindingRef{{Code: "memlock-low", Subject: "slurmd.service"}},
			Evidence: memlock.Evidence,
			Fix: []knowledge.Step{{Command: "systemctl edit slurmd", Where: "host", Disrupts: "process",
				Changes: "jobs may lock memory", Persistent: true}}},
	}
	ms := []Message{
		{Run: &Run{SchemaVersion: SchemaVersion, Tool: Tool{ToolName, "0.0.0-test"}, Host: "gpu-017", Origin: "live",
			Started: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}},
		{Progress: &Progress{Step: "collect", Text: "sysfs-rdma"}},
		{Gap: &facts.Gap{Source: facts.Ethtool, What: "ens6f0np0 ecn", Kind: facts.Denied, Detail: "EPERM"}},
		{Gap: &facts.Gap{Source: facts.KernelLog, What: "/dev/kmsg", Kind: facts.Denied, Detail: "EPERM"}},
		{Measurement: &facts.Measurement{Probe: "latency", Local: "mlx5_2/1", Remote: "gpu-018 mlx5_2/1", SizeBytes: 2}},
		{Ladder: &facts.Ladder{Probe: "self", Local: "mlx5_2/1", Path: facts.Path{Transport: "RoCE v2", Service: "RC", SGIDIndex: facts.Some(3)},
			Steps: []facts.ProbeStep{{Name: "open", Time: 2 * time.Millisecond}, {Name: "init", Error: &facts.StepError{Call: "ibv_modify_qp", Errno: 22, Name: "EINVAL", Text: "refused"}}},
			End:   facts.ProbeEnd{Outcome: facts.Completed}}},
		{Host: &HostRow{Host: "gpu-017", Origin: "live", Summary: "1 failure"}},
	}
	for i := range results {
		ms = append(ms, Message{Result: &results[i]})
	}
	for i := range diagnoses {
		ms = append(ms, Message{Diagnosis: &diagnoses[i]})
	}
	sum := Summarize(results, diagnoses, nil, checks.Warn)
	sum.DurationSeconds = 1.07
	return append(ms, Message{Summary: &sum})
}

// period is a constructed stream of a time that was looked back at or watched.
func period() []Message {
	ms := sick()
	at := func(minute int) time.Time { return time.Date(2026, 11, 29, 23, 58+minute, 0, 0, time.UTC) }
	bits := 1.5e9
	events := []Message{
		{Rates: &Rates{Time: at(1), IntervalSeconds: 60, Ports: []PortRate{{Port: "mlx5_2/1", Netdev: "ens6f0np0", State: "ACTIVE",
			TXBitsPerSecond: &bits, Counters: []CounterRate{{Name: "rx_prio0_discards", Place: "ethtool", Class: "congestion-rx",
				Delta: 60, PerSecond: 1}}}, {Port: "mlx5_1/1"}}}},
		{Event: &Event{Time: at(0), Until: at(1), Kind: LinkEvent, Subject: "mlx5_2/1", Text: "state ACTIVE -> DOWN"}},
		{Event: &Event{Time: at(0), Kind: LogEvent, Subject: "kernel", Text: "mlx5_core 0000:3b:00.0 ens6f0np0: Link down\x1b[31m"}},
		{Event: &Event{Time: at(1), Until: at(3), Kind: FindingEvent, Subject: "mlx5_2/1", Code: "dscp-map-mismatch",
			Severity: checks.Fail, Text: "DSCP 26 maps to priority 0, PFC protects priority 3."}},
		{Event: &Event{Time: at(3), Until: at(8), Kind: CounterEvent, Subject: "mlx5_2/1", Text: "rx_prio0_discards +4112"}},
	}
	return append(ms[:3:3], append(events, ms[3:]...)...)
}

func folded(ms []Message) *Document {
	var f Fold
	if err := send(ms, &f); err != nil {
		panic(err)
	}
	return f.Document()
}
