package knowledge

import (
	"sync"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// Codes lists every finding code that is not retired, by the layer it belongs
// to. Codes are permanent: one that is no longer reported moves to
// checks.Retired and is never used again. Every code has a page.
var Codes = map[checks.Layer][]string{
	checks.Driver: {
		"no-rdma-device", "rnic-without-driver", "kernel-without-rdma",
		"uverbs-missing", "rdma-ucm-missing", "device-node-missing",
		"device-node-denied", "device-node-cgroup-denied", "provider-missing",
		"provider-abi-mismatch", "provider-warning-noise", "netns-exclusive",
		"netns-no-netdev", "rdma-cgroup-limit", "firmware-command-timeout",
		"firmware-health", "firmware-mixed", "module-ofed-mixed",
		"kernel-log-rdma-error", "device-missing", "roce-disabled", "gpu-fault",
	},
	checks.PCIe: {
		"pcie-width-degraded", "pcie-speed-degraded", "pcie-below-port-rate",
		"pcie-aer-errors", "pcie-acs-redirect", "pcie-mrrs-small",
		"pcie-relaxed-ordering", "iommu-translated", "device-lost",
	},
	checks.Link: {
		"port-polling", "port-admin-down", "port-no-carrier",
		"port-no-subnet-manager", "port-armed", "port-wrong-cabled",
		"port-down-unused", "link-flapping", "link-speed-degraded",
		"link-width-degraded", "link-symbol-errors", "link-errors-upstream",
		"link-fec-mismatch", "module-fault", "counters-saturated",
		"lag-not-offloaded", "link-ber-high", "port-not-admitted",
		"vf-link-down-by-pf", "vf-guid-unset", "vf-rate-limited",
	},
	checks.MTU: {
		"roce-mtu-low", "mtu-mismatch", "path-mtu-blackhole",
	},
	checks.Lossless: {
		"pfc-off", "pfc-mismatch", "roce-in-priority-zero", "dscp-map-mismatch",
		"dcbx-not-host-owned", "global-pause-active", "pfc-storm", "pause-sent",
		"pause-received", "discards-on-roce-priority", "ecn-off", "cnp-not-sent",
		"cnp-not-handled", "congestion", "cnp-priority-wrong",
		"buffer-not-lossless", "traffic-class-unset", "ib-backpressure",
	},
	checks.Addressing: {
		"gid-none", "gid-only-link-local", "gid-v1-only", "gid-index-empty",
		"gid-index-not-usable-here", "gid-index-wrong-type", "gid-index-differs",
		"gid-index-pinned", "gid-vlan-mismatch", "gid-table-full",
		"node-guid-zero", "no-route-to-peer", "no-neighbour",
		"route-uses-other-netdev", "same-subnet-nics", "rail-unreachable",
		"roce-filtered", "control-port-filtered", "pkey-limited", "pkey-mismatch",
		"transport-mismatch", "lid-on-ethernet", "sa-timeout", "ipoib-down",
		"guid-duplicate", "address-duplicate",
	},
	checks.Limits: {
		"memlock-low", "memlock-zero", "memlock-service", "cap-ipc-lock-missing",
		"nofile-low", "max-map-count-low", "qp-limit", "pinned-memory-high",
		"host-memory-low",
	},
	checks.Verbs: {
		"reg-mr-invalid", "reg-mr-fault", "qp-inline-too-large",
		"qp-transition-failed", "qp-error-state", "grh-required",
		"atomics-unsupported", "odp-unsupported", "rkey-denied",
		"rkey-not-enforced", "retry-exceeded", "rnr-exceeded", "rnr-stall",
		"remote-invalid-request", "remote-operation-error",
		"local-protection-error", "flush-only", "status-misread", "cm-rejected",
		"cm-unreachable", "cm-address-error", "local-length-error",
		"local-qp-operation-error", "memory-window-error", "bad-response",
		"remote-aborted", "device-fatal", "cq-overrun", "response-timeout",
		"general-error", "verbs-call-failed", "refusal-misreported",
		"provider-crash", "probe-hung", "peer-lost",
	},
	checks.Counters: {
		"loss-retransmit", "ack-timeout", "receive-not-ready", "receiver-drops",
		"corruption", "access-errors", "reordering", "past-errors",
	},
	checks.Performance: {
		"bandwidth-low", "bandwidth-one-direction", "read-slow",
		"send-slower-than-write", "latency-high", "latency-jitter",
		"message-rate-low", "single-qp-limit", "bond-one-member", "numa-remote",
		"cpu-power-saving", "out-of-order-visibility", "cpu-busy",
	},
	checks.Application: {
		"tcp-fallback", "nccl-config", "gpudirect-off", "gpudirect-platform",
		"efa-security-group", "tool-noise", "tool-version-mismatch",
	},
	checks.Group: {
		"odd-one-out", "bad-host", "bad-nic", "bad-access-link", "bad-uplink",
		"bad-leaf", "rail-map-differs", "changed-since-baseline", "policy-mismatch",
	},
}

var layerByCode = sync.OnceValue(func() map[string]checks.Layer {
	m := map[string]checks.Layer{}
	for layer, codes := range Codes {
		for _, c := range codes {
			m[c] = layer
		}
	}
	return m
})

// LayerOf is the layer that a code belongs to, and whether the code exists.
func LayerOf(code string) (checks.Layer, bool) {
	l, ok := layerByCode()[code]
	return l, ok
}
