package tui

import (
	"cmp"
	"slices"
	"strings"
)

// column is one column of the port table.
type column struct {
	head string
	rank int // the lower, the longer it stays when there is no room
	most int // cells at most
	cell func(port) string
}

// portColumns are all columns in the order they stand in.
func portColumns() []column {
	return []column{
		{"device", 0, 16, func(p port) string { return p.device }},
		{"netdev", 1, 15, func(p port) string { return p.netdev }},
		{"pci", 5, 12, func(p port) string { return shortPCI(p.pci) }},
		{"numa", 6, 4, func(p port) string { return p.numa }},
		{"rate", 2, 6, func(p port) string { return p.rate }},
		{"mtu", 4, 5, func(p port) string { return p.mtu }},
		{"gid", 3, 8, func(p port) string { return p.gid }},
		{"state", 7, 14, func(p port) string { return p.state }},
		{"address", 8, 39, func(p port) string { return p.ip }},
		{"driver", 9, 10, func(p port) string { return p.dev.Driver.Or(notRead) }},
		{"firmware", 10, 14, func(p port) string { return p.dev.FirmwareVersion.Or(notRead) }},
	}
}

// table is the port table laid out for one width.
type table struct {
	theme  *theme
	cols   []column
	widths []int
	gap    int
}

// newTable chooses the columns that fit into w cells beside the mark, and gives
// each the width of its longest cell.
func newTable(t *theme, ps []port, w int) table {
	all := portColumns()
	width := make([]int, len(all))
	for i, c := range all {
		width[i] = len(c.head)
		for _, p := range ps {
			width[i] = max(width[i], min(cells(clean(c.cell(p), t.ascii)), c.most))
		}
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(all[a].rank, all[b].rank) })
	used, kept := t.signs, map[int]bool{}
	for _, i := range order {
		if used+width[i]+1 > w {
			break
		}
		used += width[i] + 1
		kept[i] = true
	}
	tb := table{theme: t, gap: 1}
	for i, c := range all {
		if kept[i] {
			tb.cols, tb.widths = append(tb.cols, c), append(tb.widths, width[i])
		}
	}
	if used+len(kept) <= w {
		tb.gap = 2
	}
	return tb
}

// head names the columns.
func (tb table) head() row {
	r := row{space(tb.theme.signs)}
	for i, c := range tb.cols {
		r = append(r, tb.theme.text(dim, pad(c.head, tb.widths[i]+tb.gap)))
	}
	return r
}

// row draws one port.
func (tb table) row(p port) row {
	mark := p.mark(tb.theme)
	r := tb.theme.fit(row{mark}, tb.theme.signs)
	for i, c := range tb.cols {
		tn := normal
		text := c.cell(p)
		switch {
		case c.head == "gid" && (strings.HasPrefix(text, "ll") || text == "none"):
			tn = warning
		case text == notRead || text == notApplicable:
			tn = dim
		case c.head == "device" && (mark.tone == bad || mark.tone == warning):
			tn = mark.tone
		}
		r = append(r, tb.theme.fit(row{tb.theme.text(tn, text)}, tb.widths[i])...)
		r = append(r, space(tb.gap))
	}
	return r
}

func pad(s string, w int) string {
	return s + strings.Repeat(" ", max(w-cells(s), 0))
}

// byName orders names as people count: mlx5_2 before mlx5_10.
func byName(a, b string) int {
	for a != "" && b != "" {
		na, nb := digits(a), digits(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// sickFirst orders ports by their worst finding, for where not all are seen.
func sickFirst(ps []port) []port {
	out := slices.Clone(ps)
	slices.SortStableFunc(out, func(a, b port) int {
		return cmp.Compare(max(severityRank[b.worst], 1), max(severityRank[a.worst], 1))
	})
	return out
}
