package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// finding turns a known message into a finding of at most severity worst. A
// line of the day weighs, an older one is history.
func (h logHit) finding(p *Pass, worst Severity) Finding {
	f := Finding{
		Code: h.code, Severity: worst, Subject: hostSubject, Confidence: Proved,
		Where:    Where{PCI: h.pci, Netdev: h.netdev},
		Message:  h.meaning,
		Evidence: []Evidence{logEvidence(h.LogRecord)},
		Params:   params("pci", h.pci, "netdev", h.netdev, "count", strconv.Itoa(h.count), "detail", h.detail),
	}
	if h.detail != "" {
		f.Message += " (" + h.detail + ")"
	}
	if h.count > 1 {
		f.Message += fmt.Sprintf(", %d times", h.count)
	}
	if h.pci != "" {
		f.Subject = h.pci
	}
	if h.device != nil {
		f.Subject, f.Where.Device, f.Params["device"] = h.device.Name, h.device.Name, h.device.Name
		if want, _ := p.WantedDevice(h.device); !want {
			f.Severity = Info
		}
	}
	if h.old {
		f.Severity = Info
		f.Message += ", more than a day ago or before the driver was last loaded"
	}
	return f
}

// logEvidence shows a record with its time, as dmesg(1) does.
func logEvidence(rec facts.LogRecord) Evidence {
	return Evidence{fmt.Sprintf("kernel log [%12.6f]", rec.SinceBoot.Seconds()), rec.Text}
}

// logParams are the parameters of findings from the log.
const logParams = "pci? device? netdev? count detail?"
