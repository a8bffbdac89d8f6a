package anonymise

import (
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/collect"

	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

// removed stands for a line of the log that says nothing of RDMA, its hardware
// or a host in trouble. Its time and level stay.
const removed = "(text removed)"

// processForms are where the kernel log names a process, in the first group.
var processForms = []*pattern.Pattern{
	pattern.Of(`(?i)\bcomm: ?"?([^\s",)]+)`),
	pattern.Of(`\b[Pp]rocess:? [0-9]+ ?\(([^)]+)\)`),
	pattern.Of(`\btask:? ?([^\s:,]+):[0-9]+`),
	pattern.Of(`\btask=([^\s,]+)`),
	pattern.Of(`^([^\s:]+) invoked oom-killer`),
	pattern.Of(`^([^\s\[:]+)\[[0-9]+\]: `),
	pattern.Of(`\bname:([^\s,]+)`),
	pattern.Of(`\bprocess ([^\s']+) `),
}

// kernelLog replaces the text of each record; what the kernel says of its device
// stays if it says nothing else.
func (a *Anonymiser) kernelLog(data string) string {
	records := strings.SplitAfter(data, "\x00")
	for i, rec := range records {
		head, rest, ok := strings.Cut(rec, ";")
		if !ok {
			if strings.Trim(rec, "\x00") != "" {
				records[i] = removed + "\x00"
			}
			continue
		}
		rest, ended := strings.CutSuffix(rest, "\x00")
		line, dictionary, _ := strings.Cut(rest, "\n")
		out := head + ";" + a.logLine(line) + "\n"
		for l := range strings.Lines(dictionary) {
			if strings.HasPrefix(l, " DEVICE=") || strings.HasPrefix(l, " SUBSYSTEM=") {
				out += a.text(strings.TrimSuffix(l, "\n")) + "\n"
			}
		}
		if ended {
			out += "\x00"
		}
		records[i] = out
	}
	return strings.Join(records, "")
}

func (a *Anonymiser) logLine(line string) string {
	if !collect.SpeaksOfRDMA(line) {
		return removed
	}
	for _, form := range processForms {
		line = inGroup(form, line, a.process)
	}
	return a.without(line, a.words, a.programs)
}

// cgroupRoot is where control groups are.
const cgroupRoot = "/sys/fs/cgroup/"

// inControlGroup reports whether an answer names control groups.
func inControlGroup(name string) bool {
	return strings.HasPrefix(name, cgroupRoot) || strings.HasPrefix(name, "/proc/") && strings.HasSuffix(name, "/cgroup")
}

// controlGroup replaces the names in a path of control groups, of which many
// are made of a program's.
func (a *Anonymiser) controlGroup(s string) string { return a.without(s, a.words, a.programs) }

// learnLog learns the processes that the log names.
func (a *Anonymiser) learnLog(data string) {
	for rec := range strings.SplitSeq(data, "\x00") {
		_, line, _ := strings.Cut(rec, ";")
		line, _, _ = strings.Cut(line, "\n")
		a.learnLogLine(line)
	}
}

func (a *Anonymiser) learnLogLine(line string) {
	if !collect.SpeaksOfRDMA(line) {
		return
	}
	a.learnText(line)
	for _, form := range processForms {
		for _, m := range form.FindAllStringSubmatch(line, -1) {
			a.learnProcess(m[1])
		}
	}
}

// inGroup replaces what the first group of form matches.
func inGroup(form *pattern.Pattern, s string, with func(string) string) string {
	var b strings.Builder
	from := 0
	for _, m := range form.FindAllStringSubmatchIndex(s, -1) {
		if m[2] < from {
			continue
		}
		b.WriteString(s[from:m[2]] + with(s[m[2]:m[3]]))
		from = m[3]
	}
	return b.String() + s[from:]
}
