package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// redirect sends the report to a file that is there whole or not at all: those
// who collect it (node_exporter, a ticket robot) never see half of it. They run
// as other users, so that it is as readable as the umask lets it be.
func (p *program) redirect(name string) error {
	if name == "" || name == "-" {
		return nil
	}
	out, err := p.newFile(name)
	if err != nil {
		return err
	}
	if err := out.temp.Chmod(0o666 &^ umask()); err != nil {
		out.discard()
		return fmt.Errorf("write report: %w", err)
	}
	p.file, p.out = out, out
	return nil
}

// umask is the process's, read the way that changes nothing.
func umask() os.FileMode {
	text, err := os.ReadFile("/proc/self/status")
	if err == nil {
		var mask uint32
		for line := range strings.Lines(string(text)) {
			if n, _ := fmt.Sscanf(line, "Umask: %o", &mask); n == 1 {
				return os.FileMode(mask) & 0o777
			}
		}
	}
	return 0o022
}

// keepReport puts a report that was written into its place. A run that wrote
// none leaves the file as it was.
func (p *program) keepReport(code int) int {
	if p.file == nil {
		return code
	}
	defer p.file.discard()
	if st, err := p.file.temp.Stat(); err == nil && st.Size() == 0 {
		return code
	}
	if err := p.file.keep(); err != nil {
		fmt.Fprintf(p.err, "rdmadoctor: write report: %v\n", err)
		return report.ExitInternal
	}
	return code
}
