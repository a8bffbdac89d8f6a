package collect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// kernelLog reads /dev/kmsg (Documentation/ABI/testing/dev-kmsg). It keeps the
// newest records that speak of RDMA, its hardware or a host in trouble; the
// rest is nobody's business.
var _ = register(Collector{
	Source: facts.KernelLog,
	After:  30, // Names of devices make more records relevant.
	Read: func(r *Reader) {
		res := r.Do(hostio.Op{Kind: hostio.KernelLog})[0]
		if err := res.Err(); err != nil && !res.Truncated {
			r.Gap("/dev/kmsg", err)
			return
		}
		r.Have()
		records, bad := parseKernelLog(string(res.Data))
		if bad > 0 {
			r.gap("/dev/kmsg", facts.Malformed, fmt.Sprintf("%d records, want PRIORITY,SEQUENCE,MICROSECONDS,FLAGS;TEXT", bad))
		}
		r.Snap.Log = relevant(records, deviceNames(r.Snap))
	},
})

// mostRecords bounds the log in a snapshot.
const mostRecords = 4000

// parseKernelLog splits the records, each ended by a NUL. Bad counts those in
// another form.
func parseKernelLog(s string) (records []facts.LogRecord, bad int) {
	for s != "" {
		var record string
		record, s, _ = strings.Cut(s, "\x00")
		if rec, ok := parseRecord(record); ok {
			records = append(records, rec)
		} else {
			bad++
		}
	}
	return records, bad
}

// parseRecord reads "6,1234,5678901,-;text" and the lines after it, of which
// " DEVICE=+pci:0000:3b:00.0" is kept. Later kernels may add fields before the
// semicolon.
func parseRecord(s string) (facts.LogRecord, bool) {
	head, rest, ok := strings.Cut(strings.ToValidUTF8(s, "�"), ";")
	f := strings.Split(head, ",")
	if !ok || len(f) < 3 {
		return facts.LogRecord{}, false
	}
	priority, err1 := parseUint(f[0])
	micros, err2 := parseUint(f[2])
	if err1 != nil || err2 != nil || micros > 1<<53 {
		return facts.LogRecord{}, false
	}
	text, dictionary, _ := strings.Cut(rest, "\n")
	rec := facts.LogRecord{
		SinceBoot: time.Duration(micros) * time.Microsecond,
		Level:     int(priority & 7), // The facility is above.
		Text:      strings.TrimRight(text, " \r"),
	}
	for line := range strings.Lines(dictionary) {
		if device, ok := strings.CutPrefix(line, " DEVICE="); ok {
			rec.Device = strings.TrimSpace(device)
		}
	}
	return rec, true
}

// relevantWords are parts of records worth keeping, in lower case: RDMA and
// its drivers, PCIe, the IOMMU, links, memory and a host that stands still.
// Plain parts, since a log has up to 100,000 records and a regular expression
// of this size takes seconds for them.
// A leading blank stands for the begin of a word; the text gets one in front.
var relevantWords = strings.Split(strings.Join([]string{
	"infiniband|rdma| roce|_roce|iwarp| ib_| ib0| ib1|ipoib| iser|srpt: |ib_srp",
	"mlx4|mlx5|mlxfw|bnxt|bng_re| ice | ice: |i40e|idpf| ionic|hns3|hclge|erdma| efa | efa: | mana | mana: | qed|cxgb4",
	" hfi1| rxe|rdma_rxe| siw|usnic|ocrdma",
	"pcie|aer: | dpc: |dmar|amd-vi|iommu|smmu| mce: | edac |hardware error|machine check",
	"link is|link up|link down|link becomes|carrier|netdev watchdog|transmit queue| bond0| bond1| bonding",
	"out of memory| oom|page allocation failure|pin memory|pinned|memlock|mlock",
	"hung_task|blocked for more|lockup|rcu_sched|rcu_preempt|call trace| bug: |warning: cpu| panic - ",
	"disagrees about|module verification|tainting|unknown symbol|peermem|peer_mem|gdrdrv|nvidia|nvrm| xid|amdgpu",
	"firmware|temperature|overheat",
}, "|"), "|")

// deviceNames are the names and PCI addresses whose records are relevant.
func deviceNames(s *facts.Snapshot) []string {
	var names []string
	for name := range rdmaNetdevs(s) {
		names = append(names, name)
	}
	for _, d := range s.Devices {
		names = append(names, d.Name)
	}
	for _, f := range s.PCI {
		names = append(names, f.Address)
	}
	return names
}

// relevant keeps records that match, errors and worse, and of those the newest.
func relevant(records []facts.LogRecord, names []string) []facts.LogRecord {
	kept := make([]facts.LogRecord, 0, min(len(records), mostRecords))
	for _, rec := range records {
		if rec.Level <= 3 || mentionsWord(rec.Text) || mentions(rec, names) {
			kept = append(kept, rec)
		}
	}
	return kept[max(0, len(kept)-mostRecords):]
}

// SpeaksOfRDMA reports whether a line of the kernel log is about RDMA, its
// hardware, or a host in trouble.
func SpeaksOfRDMA(line string) bool { return mentionsWord(line) }

func mentionsWord(text string) bool {
	text = " " + strings.ToLower(text)
	return slices.ContainsFunc(relevantWords, func(word string) bool { return strings.Contains(text, word) })
}

func mentions(rec facts.LogRecord, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return hasName(rec.Text, name) || hasName(rec.Device, name)
	})
}

// hasName reports whether text has name as a word of its own: v0 is not in
// "(v00 BOCHS)".
func hasName(text, name string) bool {
	for name != "" {
		before, after, found := strings.Cut(text, name)
		if !found {
			return false
		}
		if !endsInWord(before) && !beginsInWord(after) {
			return true
		}
		text = after
	}
	return false
}

func endsInWord(s string) bool   { return s != "" && isWord(s[len(s)-1]) }
func beginsInWord(s string) bool { return s != "" && isWord(s[0]) }

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
