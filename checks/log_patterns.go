package checks

import (
	"slices"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

// A logPattern is one kernel message worth telling, with what it means.
type logPattern struct {
	code    string
	re      *pattern.Pattern // the first group, if any, is the part worth repeating
	meaning string
}

func logged(code, re, meaning string, literals ...string) logPattern {
	return logPattern{code, pattern.Of(re, literals...), meaning}
}

// logPatterns are tried in order, the first match counts. The messages are
// those of the drivers named; each was read in the kernel's source.
var logPatterns = []logPattern{
	// mlx5 cmd.c, bnxt_re qplib_rcfw.c.
	logged("firmware-command-timeout", `([A-Z][A-Z0-9_]+)\(0x[0-9a-f]+\) timeout\. Will cause a leak of a command resource`, "the firmware did not complete a command", "Will cause a leak"),
	logged("firmware-command-timeout", `([A-Z][A-Z0-9_]+)\(0x[0-9a-f]+\) No done completion`, "the firmware did not complete a command", "No done completion"),
	logged("firmware-command-timeout", `([A-Z][A-Z0-9_]+)\(0x[0-9a-f]+\) canceled on out of queue timeout`, "the firmware's command queue is stuck", "canceled on out of queue"),
	logged("firmware-command-timeout", `timed out while waiting for a slot`, "the firmware's command queue is stuck", "timed out while"),
	logged("firmware-command-timeout", `cmdq\[0x[0-9a-f]+\]=0x[0-9a-f]+ timedout`, "the firmware did not complete a command; RoCE of the function is dead until a reset", "timedout"),
	logged("firmware-command-timeout", `bnxt_re.* (?:cmd|opcode) .*timed ?out`, "the firmware did not complete a command", "bnxt_re"),
	logged("kernel-log-rdma-error", `([A-Z][A-Z0-9_]+)\(0x[0-9a-f]+\) recovered after timeout`, "a command's completion interrupt was lost", "recovered after timeout"),
	// mlx5 health.c.
	logged("firmware-health", `Health issue observed, ([^,]+), severity`, "the firmware asserted", "Health issue"),
	logged("firmware-health", `device's health compromised - reached miss count`, "the firmware's heartbeat stopped", "health compromised"),
	logged("firmware-health", `Fatal error ([0-9]+) detected`, "the driver found the device in a fatal state", "Fatal error"),
	logged("firmware-health", `PCI slot is unavailable`, "the device no longer answers on PCIe", "PCI slot is"),
	logged("firmware-health", `health recovery (flow|failed|succeeded)`, "the driver recovered the device; its QPs are gone", "health recovery"),
	// mlx5 events.c.
	logged("firmware-health", `High temperature on sensors with bit set`, "the NIC is too hot", "High temperature"),
	logged("module-fault", `[Pp]ort module event\[error\]: module [0-9]+, (?:Cable error, )?(.+)`, "the port's module or cable was refused", "ort module event"),
	logged("kernel-log-rdma-error", `Detected insufficient power on the PCIe slot`, "the slot gives the NIC too little power", "insufficient power"),
	// mlx5 en_main.c, en/health.c.
	logged("kernel-log-rdma-error", `TX timeout (?:detected|on queue)`, "the Ethernet side of the NIC stood still", "TX timeout"),
	logged("kernel-log-rdma-error", `ERR CQE on (?:SQ|RQ|ICOSQ)`, "the Ethernet side of the NIC failed a request", "ERR CQE"),
	logged("kernel-log-rdma-error", `EQ 0x[0-9a-f]+: ?Recovered|Recovered [0-9]+ eqes on EQ`, "an interrupt was lost", "Recovered"),
	// mlx5_ib cq.c.
	logged("kernel-log-rdma-error", `dump error cqe|dump_cqe`, "a QP of a kernel user failed", "cqe"),
	// irdma hw.c, core, rxe, cma.
	logged("kernel-log-rdma-error", `abnormal ae_id = (0x[0-9a-f]+)`, "the NIC reported an asynchronous fault of a QP", "abnormal ae_id"),
	logged("kernel-log-rdma-error", `no mlock permission`, "memory registration was refused by RLIMIT_MEMLOCK of zero", "no mlock"),
	logged("kernel-log-rdma-error", `rxe_mr_init_user: Unable to pin memory region`, "memory registration was refused, mostly by RLIMIT_MEMLOCK", "rxe_mr_init_user"),
	logged("kernel-log-rdma-error", `unable to add gid .*error=(-?[0-9]+)`, "a GID found no slot in the table", "unable to add gid"),
	logged("kernel-log-rdma-error", `changed security contexts after opening file descriptor`, "a program opened a device as one user and used it as another", "changed security"),
	logged("kernel-log-rdma-error", `got different BTH P_Key`, "a peer is in another partition than its path record says", "got different BTH"),
	logged("kernel-log-rdma-error", `(?:infiniband|ib_core|ib_[a-z]+|rdma|mlx[45]).*failed to map scatterlist`, "the IOMMU refused a buffer", "failed to map scatterlist"),
	// ipoib_multicast.c: the subnet administrator gave no answer (ETIMEDOUT).
	logged("sa-timeout", `multicast join failed for ([0-9a-f:]+), status -110`, "the subnet administrator did not answer IPoIB", "multicast join failed"),
	// DMA faults: intel-iommu, amd-iommu.
	logged("kernel-log-rdma-error", `DMAR: .*\[DMA (?:Read|Write).*fault addr`, "the IOMMU blocked a DMA access", "DMAR: "),
	logged("kernel-log-rdma-error", `AMD-Vi: .*IO_PAGE_FAULT`, "the IOMMU blocked a DMA access", "AMD-Vi: "),
	logged("kernel-log-rdma-error", `AER: .*Uncorrected(?: \(|.*severity=)(?:Non-)?Fatal`, "PCIe reported an uncorrected error", "AER: "),
	logged("gpu-fault", `NVRM: Xid \(PCI:[0-9a-f:.]+\): ([0-9]+)`, "a GPU fault, which is no RDMA fault", "NVRM: Xid"),
}

// noise are messages that look like the above and mean nothing: monitoring of
// ports that the firmware owns (leptonai/gpud, node_exporter issue 3434), and
// what a slot merely does not tell.
var noise = pattern.Of(`ACCESS_REG\(0x805\)|PCIe slot power capability was not advertised|PCIe slot advertised sufficient power`,
	"ACCESS_REG", "PCIe slot ")

// driverLoad are the first lines of a driver that takes a device: what was
// logged before them is of another life.
var driverLoad = pattern.Of(`mlx[45]_core .*firmware version:|bnxt_en .*found at mem|ice .*The DDP package|hns3 .*The firmware version is`,
	"firmware version", "found at mem", "DDP package")

// recent is how far back a log line is still news (judgement section 3).
const recent = 24 * time.Hour

// A logHit is a message that matched, with the device it speaks of.
type logHit struct {
	logPattern
	facts.LogRecord
	detail string        // the pattern's group
	pci    string        // "" where none is named
	device *facts.Device // nil where none of this snapshot is named
	netdev string
	count  int
	old    bool // more than a day, or before the driver was last loaded
}

// logHits finds the known messages, the newest of each code and device.
func logHits(s *facts.Snapshot) []logHit {
	now := logNow(s)
	loaded := map[string]time.Duration{} // by PCI address
	for _, rec := range s.Log {
		if driverLoad.MatchString(rec.Text) {
			loaded[pciIn(rec)] = rec.SinceBoot
		}
	}
	var hits []logHit
	for _, rec := range s.Log {
		if noise.MatchString(rec.Text) {
			continue
		}
		for _, pt := range logPatterns {
			m := pt.re.FindStringSubmatch(rec.Text)
			if m == nil {
				continue
			}
			h := logHit{logPattern: pt, LogRecord: rec, count: 1, pci: pciIn(rec)}
			if len(m) > 1 {
				h.detail = m[1]
			}
			h.device, h.netdev = deviceIn(s, rec, h.pci)
			if h.device != nil && h.pci == "" {
				h.pci = h.device.PCI.Or("")
			}
			h.old = now-rec.SinceBoot > recent || h.pci != "" && rec.SinceBoot < loaded[h.pci]
			hits = keepNewest(hits, h)
			break
		}
	}
	return hits
}

func keepNewest(hits []logHit, h logHit) []logHit {
	i := slices.IndexFunc(hits, func(o logHit) bool { return o.code == h.code && o.pci == h.pci && o.device == h.device })
	if i < 0 {
		return append(hits, h)
	}
	h.count = hits[i].count + 1
	hits[i] = h
	return hits
}

// logNow is the time that records are held against: the uptime, or the newest
// record where that was not read.
func logNow(s *facts.Snapshot) time.Duration {
	now := s.Host.Uptime.Or(0)
	if n := len(s.Log); n > 0 {
		now = max(now, s.Log[n-1].SinceBoot)
	}
	return now
}

var pciAddress = pattern.Of(`\b[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b`)

// pciIn is the PCI address that a record names.
func pciIn(rec facts.LogRecord) string {
	if a, ok := strings.CutPrefix(rec.Device, "+pci:"); ok {
		return a
	}
	return pciAddress.FindString(rec.Text)
}

// deviceIn finds the RDMA device that a record names, by PCI address, by its
// name or by its netdev's.
func deviceIn(s *facts.Snapshot, rec facts.LogRecord, pci string) (*facts.Device, string) {
	for i := range s.Devices {
		d := &s.Devices[i]
		if pci != "" && d.PCI.Or("") == pci || hasWord(rec.Text, d.Name) {
			return d, ""
		}
		for _, port := range d.Ports {
			if name, ok := port.Netdev.Get(); ok && hasWord(rec.Text, name) {
				return d, name
			}
		}
	}
	return nil, ""
}
