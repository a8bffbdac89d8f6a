package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// Nagios writes the one line that a monitoring plugin prints: the state, the
// answer, and how many checks ended how as performance data.
func Nagios(w io.Writer, d *Document) error {
	s := d.Summary
	_, err := fmt.Fprintf(w, "RDMA %s: %s | time=%.3fs;;;0 pass=%d;;;0 warn=%d;;;0 fail=%d;;;0 skip=%d;;;0 unknown=%d;;;0 info=%d;;;0\n",
		nagiosWords[NagiosCode(s.ExitCode)], nagiosText(d), d.DurationSeconds, s.Pass, s.Warn, s.Fail, s.Skip, s.Unknown, s.Info)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

var nagiosWords = [...]string{"OK", "WARNING", "CRITICAL", "UNKNOWN"}

// NagiosCode is an exit code as the plugin convention has it. It knows 0 to 3,
// and monitoring takes any other for a broken plugin.
func NagiosCode(exit int) int {
	if exit < ExitHealthy || exit > ExitUnknown {
		return ExitUnknown
	}
	return exit
}

// nagiosMost bounds the text, in bytes: NRPE up to version 2 cuts an answer at
// 1024, and a cut line loses its performance data.
const nagiosMost = 500

func nagiosText(d *Document) string {
	text := d.Summary.AdviceReason
	mended := 0 // diagnoses besides the first that something must be done about
	for i, dg := range d.Diagnoses {
		if i > 0 && dg.Severity != checks.Info {
			mended++
		}
	}
	if d.Error != nil {
		text = d.Error.Message
		if d.Summary.Warn+d.Summary.Fail > 0 {
			text += "; " + d.Summary.AdviceReason
		}
	}
	if mended > 0 {
		text += fmt.Sprintf("; %d more", mended)
	}
	// The first bar begins the performance data.
	text = strings.ReplaceAll(Clean(text), "|", "/")
	if len(text) > nagiosMost {
		text = strings.ToValidUTF8(text[:nagiosMost], "") + "..."
	}
	return text
}
