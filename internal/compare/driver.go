package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// driversAgree compares drivers and firmware.
func driversAgree(hosts []Host, ss []slot) checks.Result {
	r := checks.Result{ID: "drivers-agree", Layer: checks.Driver, Title: "hosts agree on driver and firmware of alike devices", Findings: []checks.Finding{}}
	compareAll(&r, ss, []trait{
		{what: "driver", severity: checks.Warn, source: func(m member) string { return "rdma -d dev show " + m.device.Name },
			value: func(m member) (string, bool) { return known(m.device.Driver) }},
		{what: "driver version", severity: checks.Warn, source: func(m member) string {
			return "/sys/module/" + m.device.Driver.Or("") + "/version"
		}, value: driverVersion},
	})
	firmware(hosts, &r)
	parameters(hosts, &r)
	finish(&r, "no two hosts have devices that are alike")
	return r
}

// driverVersion is that of the module, "inbox" for one that has none: then it
// came with the kernel.
func driverVersion(m member) (string, bool) {
	name, ok := m.device.Driver.Get()
	if !ok || !m.snap.Has(facts.ModuleList) {
		return "", false
	}
	mod := m.snap.Module(name)
	switch {
	case mod == nil:
		return "", false
	case strings.Contains(mod.Taints, "O"):
		return "out of tree " + mod.Version.Or("without a version"), true
	}
	return "inbox " + mod.Version.Or(""), true
}

// firmware compares devices of one board over all hosts.
func firmware(hosts []Host, r *checks.Result) {
	type card struct {
		host, device, version, pci string
	}
	boards := map[string][]card{}
	for _, h := range hosts {
		for i := range h.Snapshot.Devices {
			d := &h.Snapshot.Devices[i]
			board, ok := d.BoardID.Get()
			version, read := d.FirmwareVersion.Get()
			if ok && read && !d.Software() {
				boards[board] = append(boards[board], card{h.Name, d.Name, version, d.PCI.Or("")})
			}
		}
	}
	for _, board := range slices.Sorted(maps.Keys(boards)) {
		cards := boards[board]
		var versions, names []string
		on := map[string]bool{}
		for _, c := range cards {
			versions = append(versions, c.version)
			on[c.host] = true
			if !slices.Contains(names, c.version) {
				names = append(names, c.version)
			}
		}
		if len(on) < 2 {
			continue // One host alone is for check to judge.
		}
		r.Examined++
		want, others, odds := odd(versions, newer)
		good := cards[slices.Index(versions, want)]
		slices.Sort(names)
		for _, i := range odds {
			c := cards[i]
			r.Findings = append(r.Findings, checks.Finding{
				Code: "firmware-mixed", Severity: checks.Warn, Confidence: checks.Proved,
				Subject: c.host + " " + c.device + " -> " + good.host + " " + good.device,
				Message: fmt.Sprintf("%s on %s runs firmware %s, and %d devices of the board %s run %s; wanted the same on all",
					c.device, c.host, c.version, others, board, want),
				Evidence: []checks.Evidence{{Source: c.host + " /sys/class/infiniband/" + c.device + "/fw_ver", Value: c.version},
					{Source: good.host + " /sys/class/infiniband/" + good.device + "/fw_ver", Value: want}},
				Where:  checks.Where{Host: c.host, Device: c.device, PCI: c.pci},
				Params: map[string]string{"board_id": board, "versions": strings.Join(names, ", ")},
			})
		}
	}
}

// newer compares versions part by part, "28.41.1000" above "28.9.2000".
func newer(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return number(x[i]) > number(y[i])
		}
	}
	return len(x) > len(y)
}
