package tui

import "fmt"

// side is what stands beside the ladder: the ports, or why there are none.
func (s *home) side(w, h int) []row {
	t, e := s.m.theme, s.m.exam
	ps := e.ports()
	switch {
	case len(ps) > 0:
		return s.ports(ps, w, h)
	case e.noRDMA():
		return s.m.noRDMA(w, h)
	}
	return t.lines(dim, e.noPorts(), w)
}

// noPorts says why there is no port to show.
func (e *exam) noPorts() string {
	switch {
	case e.snap != nil && len(e.snap.Devices) > 0:
		return "The RDMA devices have no ports."
	case e.snap != nil:
		return "The RDMA devices could not be read."
	case e.state() == done:
		return "This report holds no snapshot of the host, so its ports cannot be shown."
	case e.ended():
		return "The run ended before the facts were collected."
	}
	return "The ports are shown once the facts are collected..."
}

func (s *home) ports(ps []port, w, h int) []row {
	t := s.m.theme
	tb := newTable(t, ps, w)
	rows := []row{tb.head()}
	fit := h - 1
	if len(ps) > fit {
		ps = sickFirst(ps)
		fit--
	}
	for i := range min(fit, len(ps)) {
		rows = append(rows, tb.row(ps[i]))
	}
	if n := len(ps) - fit; n > 0 {
		rows = append(rows, append(row{space(t.signs), t.text(dim, fmt.Sprintf("%d more ", n))}, t.inline(s.m.keys.ports)...))
	}
	return rows
}

// noRDMA helps on a host that has no RDMA device: what that means and what to
// look at next.
func (m *Model) noRDMA(w, h int) []row {
	t := m.theme
	code := "no-rdma-device"
	if d := m.exam.diagnoses; len(d) > 0 && d[0].Code == "kernel-without-rdma" {
		code = d[0].Code
	}
	var rows []row
	say := func(s string) {
		if len(rows) > 0 {
			rows = append(rows, nil)
		}
		rows = append(rows, t.lines(normal, s, w-1)...)
	}
	say("The kernel lists no RDMA device, so there was nothing to examine. Programs that ask for RDMA fail or fall back to TCP.")
	say("Is there a NIC? Its driver may not be loaded, RDMA may be switched off in it, or this container may not have been given it.")
	rows = append(rows, nil)
	for _, c := range []struct{ cmd, what string }{
		{"rdmadoctor explain " + code, "what it means, what to do"},
		{"lspci -d ::0200; lspci -d ::0207", "the NICs that the bus shows"},
		{"rdma link", "the links that the kernel has"},
	} {
		rows = append(rows, row{t.text(command, c.cmd)})
		if w > 66 {
			last := rows[len(rows)-1]
			rows[len(rows)-1] = append(t.fit(last, 36), t.text(dim, c.what))
		}
	}
	return rows[:min(h, len(rows))]
}

// preview shows, where the screen is tall, what opening the line under the
// cursor would show first.
func (s *home) preview(c card, w, h int) []row {
	t, m := s.m.theme, s.m
	var title string
	var rows []row
	switch {
	case s.chosen != 0:
		title = s.chosen.String() + " checks"
		rows = newCheckList(m, s.chosen).peek(w, h-1)
	case c.diag != nil:
		title = "why"
		p := &page{t: t, w: w}
		p.more("cause", p.prose(c.diag.Cause)...)
		m.background(p, c.diag)
		rows = p.rows
	default:
		title = "checks"
		rows = newCheckList(m, 0).peek(w, h-1)
	}
	out := []row{t.rule(w, t.row(dim, title))}
	if len(rows) > h-1 {
		more := row{space(1), t.text(dim, plural(len(rows)-h+2, "more line")+" ")}
		rows = append(rows[:h-2:h-2], append(more, t.inline(s.m.keys.open)...))
	}
	return append(out, rows...)
}
