package scenario

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Results are the outcomes of a run.
type Results struct {
	// Outcomes has one item for each scenario and kernel.
	Outcomes []Outcome `json:"outcomes"`
	// Boots counts guests that were booted.
	Boots int `json:"boots"`
	// Reboots counts those that replaced a guest which could not be brought
	// back to its state at boot, or which had failed.
	Reboots int `json:"reboots"`
	// Repeated counts scenarios that were run once more, because their own
	// steps had failed before the doctor was judged.
	Repeated int `json:"repeated"`
}

func (r *Results) add(o Results) {
	r.Outcomes = append(r.Outcomes, o.Outcomes...)
	r.Boots += o.Boots
	r.Reboots += o.Reboots
	r.Repeated += o.Repeated
}

// Failed lists the outcomes that did not pass.
func (r Results) Failed() []Outcome {
	return slices.DeleteFunc(slices.Clone(r.Outcomes), Outcome.OK)
}

// row is an outcome as the columns of the table.
func (o Outcome) row() []string {
	got, wanted := o.Got, o.Wanted
	if wanted == "" {
		wanted = "healthy"
		if got == "" && o.OK() {
			got = "healthy"
		}
	}
	if got == "" {
		got = "-"
	}
	cured := "-"
	switch {
	case o.Cured && o.Undone:
		cured = "gone"
	case o.Cured && o.ByHand:
		cured = "hands"
	case o.Cured && o.OwnCure:
		cured = "own"
	case o.Cured:
		cured = "yes"
	case o.Wanted != "":
		cured = "no"
	}
	verdict := "ok"
	switch {
	case o.Broken:
		verdict = "BROKEN"
	case !o.OK():
		verdict = "FAIL"
	}
	return []string{o.Kernel, verdict, o.Scenario, wanted, got, cured,
		fmt.Sprintf("%.1f", o.Seconds)}
}

// String is the outcome's line in a log, and its problems below it.
func (o Outcome) String() string {
	c := o.row()
	s := fmt.Sprintf("%-5s %-6s %-28s wanted %-24s got %-24s cured %-4s %5s s",
		c[0], c[1], c[2], c[3], c[4], c[5], c[6])
	for _, p := range o.Problems {
		s += "\n      " + strings.ReplaceAll(p, "\n", "\n        ")
	}
	return s
}

// Table writes the results, and how many scenarios bring their own cure.
func (r Results) Table(w io.Writer) {
	rows := [][]string{{"kernel", "", "scenario", "wanted", "got", "cured",
		"seconds"}}
	outcomes := slices.Clone(r.Outcomes)
	slices.SortStableFunc(outcomes, func(a, b Outcome) int {
		return cmp.Or(cmp.Compare(a.Scenario, b.Scenario),
			cmp.Compare(len(a.Kernel), len(b.Kernel)), cmp.Compare(a.Kernel, b.Kernel))
	})
	own := make(map[string]bool)
	for _, o := range outcomes {
		rows = append(rows, o.row())
		own[o.Scenario] = o.OwnCure
	}
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			fmt.Fprintf(&line, "%-*s  ", width[i], cell)
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
	cures := 0
	for _, is := range own {
		if is {
			cures++
		}
	}
	fmt.Fprintf(w, "%d runs, %d failed; %d of %d scenarios bring their own cure; "+
		"%d guests booted, %d of them in place of one that could not be reset; "+
		"%d runs repeated because the doctor was not judged\n",
		len(r.Outcomes), len(r.Failed()), cures, len(own), r.Boots, r.Reboots, r.Repeated)
}
