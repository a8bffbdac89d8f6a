//go:build cgo && linux && !noverbs

package probes

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs/fakeverbs"
)

// wired is a Reporter of one end of a pair in this process.
type wired struct {
	told
	out, in  chan []byte
	measured []facts.Measurement
}

func (w *wired) Measurement(m *facts.Measurement) { w.measured = append(w.measured, *m) }
func (w *wired) Send(b []byte) error {
	w.out <- b
	return nil
}
func (w *wired) Receive(ctx context.Context) ([]byte, error) {
	select {
	case b := <-w.in:
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func wire() (near, far *wired) {
	a, b := make(chan []byte, 64), make(chan []byte, 64)
	return &wired{out: a, in: b}, &wired{out: b, in: a}
}

// peers runs a pair of workers on the fake device and gives what the near one
// told.
func peers(t *testing.T, script string, p Peer) *wired {
	t.Helper()
	lib := fakeverbs.Build(t, script)
	return peersOn(t, lib, lib, p)
}

// peersOn is peers on two libraries. Data moves only within one.
func peersOn(t *testing.T, nearLib, farLib string, p Peer) *wired {
	t.Helper()
	if p.CM {
		p.Address, p.PeerAddress = "192.0.2.1", "192.0.2.1"
	}
	p.Device, p.Port, p.Local, p.Remote, p.Global, p.GIDIndex = "fake0", 1, "fake0/1", "far fake0/1", true, 1
	near, far := wire()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	task := func(w *wired, lib string, p Peer) error {
		params, err := json.Marshal(p)
		if err != nil {
			return err
		}
		libs := verbs.Options{Verbs: lib, RDMACM: "/none"}
		if p.CM {
			libs.RDMACM = lib
		}
		return Run(ctx, libs, PeerProbe, params, w)
	}
	ended := make(chan error, 1)
	go func() { ended <- task(far, farLib, p) }()
	asking := p
	asking.Near = true
	if err := task(near, nearLib, asking); err != nil {
		t.Errorf("near: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("far: %v", err)
	}
	return near
}

func TestPeerLadder(t *testing.T) {
	w := peers(t, "active-mtu 4096", Peer{Ladder: true})
	l := w.ladders[peerLadder]
	var names []string
	for _, s := range l.Steps {
		name := s.Name
		if s.Role == "responder" {
			name = "far " + name
		}
		names = append(names, name)
		if s.Error != nil {
			t.Errorf("%s: %v", name, s.Error)
		}
		if v, ok := s.Verified.Get(); s.Bytes > 0 && s.Role == "requester" && s.Name != "reg-mr" && (!ok || !v) {
			t.Errorf("%s of %d bytes is not verified", name, s.Bytes)
		}
	}
	want := strings.Fields("open query-device query-port alloc-pd create-cq reg-mr")
	for _, s := range slices.Clone(want) {
		want = append(want, "far_"+s)
	}
	want = append(want, strings.Fields("create-qp init far_create-qp far_init far_rtr far_rts rtr rts write write read far_recv send fetch-add cmp-swap")...)
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], "_", " ")
	}
	if !slices.Equal(names, want) {
		t.Errorf("steps\n%q, want\n%q", names, want)
	}
	if l.Path.PathMTU != 4096 || l.Path.SGIDIndex.Or(-1) != 1 || l.Path.DGID != "::ffff:192.0.2.1" || l.End.Outcome != facts.Completed {
		t.Errorf("path %+v, end %+v", l.Path, l.End)
	}
	if l.Remote != "far fake0/1" || l.Probe != "pair" {
		t.Errorf("it is a ladder %q to %q", l.Probe, l.Remote)
	}
}

// By rdma_cm the far end listens and the near one connects.
func TestPeerConnectsByCM(t *testing.T) {
	w := peers(t, "", Peer{Ladder: true, CM: true})
	l := w.ladders[peerLadder]
	var names []string
	for _, s := range l.Steps {
		if s.Error != nil {
			t.Errorf("%s: %v", s.Name, s.Error)
		}
		names = append(names, s.Role+" "+s.Name)
	}
	for _, want := range []string{"responder listen", "requester resolve-addr", "requester resolve-route", "requester connect", "responder connect-request",
		"responder accept", "requester write", "requester read", "responder recv", "requester send", "requester disconnect"} {
		if !slices.Contains(names, want) {
			t.Errorf("no step %q in %q", want, names)
		}
	}
	if !l.Path.ByCM || l.End.Outcome != facts.Completed || l.Path.SGIDIndex.Known() {
		t.Errorf("path %+v, end %+v", l.Path, l.End)
	}
}

func TestPeerByCMFails(t *testing.T) {
	for script, want := range map[string]string{
		"cm-event 0 1 -113":  "requester resolve-addr EHOSTUNREACH",
		"cm-event 2 3 -110":  "requester resolve-route ETIMEDOUT",
		"fail listen EACCES": "responder listen EACCES",
		"fail reg_mr ENOMEM": "requester reg-mr ENOMEM",
	} {
		w := peers(t, script, Peer{Ladder: true, CM: true})
		l := w.ladders[peerLadder]
		last := l.Steps[len(l.Steps)-1]
		got := last.Role + " " + last.Name
		if last.Error != nil {
			got += " " + last.Error.Name
		}
		if got != want || l.End.Outcome != facts.Completed {
			t.Errorf("%q ends in %q: %+v; %+v", script, got, last.Error, l.End)
		}
	}
}

// A step that fails ends the ladder with its error, and what was varied.
func TestPeerLadderFails(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		peer   Peer
		step   string
		want   string // errno or status
		varied []string
	}{
		"far device cannot be opened": {"far: fail open_device EACCES", Peer{}, "open", "EACCES", nil},
		"no memory at the far end":    {"far: fail reg_mr ENOMEM", Peer{}, "reg-mr", "ENOMEM", nil},
		"gid": {"refuse-gid 1\nrefuse-errno EINVAL\ngid 1 rocev2 ::ffff:192.0.2.1\ngid 3 rocev2 ::ffff:192.0.2.1", Peer{Others: []int{3}}, "rtr", "EINVAL",
			[]string{"sgid_index 1 to 3 works"}},
		"mtu":     {"refuse-mtu 1024\nactive-mtu 4096", Peer{}, "rtr", "EINVAL", []string{"path_mtu 4096 to 2048 fails", "path_mtu 4096 to 1024 works"}},
		"silence": {"lie status 12", Peer{Others: []int{0}}, "write", "12", []string{"sgid_index 1 to 0 fails"}},
		"refused": {"lie status 10", Peer{}, "write", "10", nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := test.peer
			p.Ladder = true
			lib := fakeverbs.Build(t, test.script)
			farLib := lib
			if script, ok := strings.CutPrefix(test.script, "far: "); ok {
				lib, farLib = fakeverbs.Build(t, ""), fakeverbs.Build(t, script)
			}
			w := peersOn(t, lib, farLib, p)
			l := w.ladders[peerLadder]
			last := l.Steps[len(l.Steps)-1]
			got := ""
			if e := last.Error; e != nil {
				got = e.Name
				if st, ok := e.WCStatus.Get(); ok {
					got = map[int]string{10: "10", 12: "12"}[st]
				}
			}
			if last.Name != test.step || got != test.want {
				t.Errorf("it ended in %s with %q: %+v", last.Name, got, last.Error)
			}
			var varied []string
			for _, v := range l.Varied {
				s := v.Attribute + " " + v.From + " to " + v.To + " works"
				if v.Error != nil {
					s = v.Attribute + " " + v.From + " to " + v.To + " fails"
				}
				varied = append(varied, s)
			}
			if !slices.Equal(varied, test.varied) {
				t.Errorf("varied %q, want %q", varied, test.varied)
			}
			if l.End.Outcome != facts.Completed {
				t.Errorf("it ended %+v", l.End)
			}
		})
	}
}

func TestPeerMeasures(t *testing.T) {
	test := func(probe, op, direction string, size, qps int) PeerTest {
		return PeerTest{Probe: probe, Op: op, Size: size, Depth: 16, QPs: qps, Direction: direction, Time: 200 * time.Millisecond, Count: 300}
	}
	tests := []PeerTest{test("latency", "write", "", 2, 1), test("latency", "send", "", 64, 1), test("latency", "read", "", 2, 1),
		test("bandwidth", "write", "out", 65536, 1), test("bandwidth", "write", "in", 65536, 1), test("bandwidth", "write", "both", 65536, 1),
		test("bandwidth", "read", "in", 65536, 1), test("bandwidth", "read", "out", 65536, 1), test("bandwidth", "send", "out", 65536, 1),
		test("bandwidth", "send", "in", 65536, 1), test("message-rate", "write", "out", 8, 4), test("ordering", "write", "out", 64, 1)}
	w := peers(t, "", Peer{Tests: tests})
	if len(w.measured) != len(tests) {
		t.Fatalf("%d measurements of %d tests", len(w.measured), len(tests))
	}
	if len(w.ladders) > 0 {
		t.Errorf("nobody asked for the ladder")
	}
	for i, m := range w.measured {
		name := tests[i].name()
		if m.Error != nil {
			t.Errorf("%s: %s", name, *m.Error)
			continue
		}
		units := map[string]string{"latency": "ns", "bandwidth": "bit/s", "message-rate": "messages/s", "ordering": "violations"}
		if m.Unit != units[m.Probe] || m.Path == nil || m.Path.PathMTU != 1024 {
			t.Errorf("%s: unit %q, path %+v", name, m.Unit, m.Path)
		}
		if m.Probe == "ordering" {
			if v, ok := m.Violations.Get(); !ok || v != 0 || m.Messages == 0 {
				t.Errorf("%s: %d violations of %d, known %v", name, v, m.Messages, ok)
			}
			continue
		}
		if m.Quantiles == nil || m.Quantiles.Count != len(m.Samples) || len(m.Samples) == 0 || m.Quantiles.Min > m.Quantiles.P50 ||
			m.Quantiles.P50 > m.Quantiles.P99 || m.Quantiles.P99 > m.Quantiles.Max || m.Quantiles.Min <= 0 {
			t.Errorf("%s: %d samples, quantiles %+v", name, len(m.Samples), m.Quantiles)
		}
		if m.Probe == "latency" && (m.WarmUp == 0 || m.WarmUp+len(m.Samples) < m.Iterations-1) {
			t.Errorf("%s: %d iterations, %d of warm-up, %d samples", name, m.Iterations, m.WarmUp, len(m.Samples))
		}
		if m.Probe != "latency" && (m.Bytes != m.Messages*uint64(m.SizeBytes) || m.Messages < uint64(m.Iterations)) {
			t.Errorf("%s: %d bytes in %d messages, %d iterations", name, m.Bytes, m.Messages, m.Iterations)
		}
	}
}

// A measurement that fails says why, and the others are made all the same.
func TestPeerMeasureFails(t *testing.T) {
	tests := []PeerTest{{Probe: "latency", Op: "write", Size: 2, Depth: 1, QPs: 1, Time: time.Second, Count: 100},
		{Probe: "bandwidth", Op: "write", Size: 4096, Depth: 4, QPs: 1, Direction: "out", Time: time.Second, Count: 100}}
	w := peers(t, "lie status 12", Peer{Tests: tests})
	if len(w.measured) != 2 {
		t.Fatalf("%d measurements", len(w.measured))
	}
	for i, m := range w.measured {
		if m.Error == nil || m.Failed == nil || m.Failed.WCStatus.Or(0) != 12 || m.Samples == nil || len(m.Samples) > 0 {
			t.Errorf("%s: error %v, %+v", tests[i].name(), m.Error, m.Failed)
		}
	}
	w = peers(t, "fail open_device EACCES", Peer{Tests: tests})
	if len(w.measured) != 2 || w.measured[0].Failed == nil || w.measured[0].Failed.Name != "EACCES" {
		t.Errorf("a device that does not open: %+v", w.measured)
	}
}

// What a far worker is asked out of turn or out of bounds it refuses, and goes
// on.
func TestFarRefuses(t *testing.T) {
	libs := verbs.Options{Verbs: fakeverbs.Build(t, ""), RDMACM: "/none"}
	near, far := wire()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, libs, PeerProbe, []byte(`{"device":"fake0","port":1,"global":true,"gid_index":1,"pkey_index":0,"sl":0,"traffic_class":0}`), far)
	}()
	good := endpoint{QPNs: []uint32{1}}
	refused := func(r request) {
		t.Helper()
		if a, err := ask(ctx, near, &r, 10*time.Second); err == nil {
			t.Errorf("%+v: answer %+v", r, a)
		}
	}
	refused(request{Connect: &connectRequest{Near: good, PathMTU: 1024}})
	if _, err := ask(ctx, near, &request{Open: &openRequest{}}, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	refused(request{Open: &openRequest{}})
	refused(request{})
	refused(request{Connect: &connectRequest{Near: good, PathMTU: 1000}})
	refused(request{Connect: &connectRequest{PathMTU: 1024}})
	refused(request{Connect: &connectRequest{Near: endpoint{QPNs: make([]uint32, maxPeerQPs+1)}, PathMTU: 1024}})
	refused(request{Connect: &connectRequest{Near: endpoint{QPNs: []uint32{1 << 24}}, PathMTU: 1024}})
	refused(request{Fill: &fillRequest{Bytes: peerMemory + 1}})
	refused(request{Fill: &fillRequest{Bytes: -1}})
	refused(request{Receive: &receiveRequest{Count: 1, Bytes: 1}}) // Nothing is connected.
	refused(request{Prepare: &PeerTest{Probe: "latency", Op: "write", Size: 2, Depth: 1, QPs: 1, Time: time.Second, Count: 1}})
	if _, err := ask(ctx, near, &request{End: true}, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestParsePeerRefuses(t *testing.T) {
	for _, text := range []string{``, `[]`, `{}`, `{"device":"a","port":0}`, `{"device":"a","port":1,"gid_index":-1}`, `{"device":"a","port":1,"sl":16}`,
		`{"device":"a","port":1,"path_mtu_bytes":1000}`, `{"device":"a","port":1,"file":"/etc/passwd"}`,
		`{"device":"a","port":1,"tests":[{"size_bytes":1}]}`,
		`{"device":"a","port":1,"tests":[{"probe":"latency","op":"write","size_bytes":1,"depth":1,"qps":1,"time_nanos":61000000000,"iterations":1}]}`,
		`{"device":"a","port":1,"tests":[{"probe":"latency","op":"write","size_bytes":9999999,"depth":1,"qps":1,"time_nanos":1,"iterations":1}]}`} {
		if p, err := ParsePeer([]byte(text)); !errors.Is(err, errPeer) {
			t.Errorf("%s: %+v, %v", text, p, err)
		}
	}
}

func FuzzPeer(f *testing.F) {
	f.Add([]byte(`{"device":"mlx5_0","port":1,"gid_index":3,"pkey_index":0,"sl":0,"traffic_class":104,"tests":[{"probe":"latency","op":"write","size_bytes":2,"depth":1,"qps":1,"direction":"","time_nanos":1,"iterations":1}]}`))
	f.Add([]byte(`{"device":"x","port":255,"other_gid_indexes":[1]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ParsePeer(text)
		if err != nil {
			return
		}
		for _, test := range p.Tests {
			if test.check() != nil || test.Size > maxPeerSize || test.Time > maxPeerTime {
				t.Errorf("test %+v", test)
			}
		}
	})
}
