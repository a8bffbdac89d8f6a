package netswitch

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// TestFabric joins hosts by real sockets, across the spine.
func TestFabric(t *testing.T) {
	f, err := NewFabric([][]string{{"a", "b"}, {"c", "d"}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	hosts := make(map[string]*host)
	for _, name := range []string{"a", "d"} {
		conn, err := net.Dial("unix", f.Socket(name))
		if err != nil {
			t.Fatal(err)
		}
		h := &host{conn: conn, got: make(chan []byte, 100)}
		hosts[name] = h
		go readFrames(conn, func(b []byte) { h.got <- b })
		waitPort(t, f, name)
	}
	hosts["a"].send(frame(0xff, 1, 5, 0))
	select {
	case got := <-hosts["d"].got:
		if number(got) != 5 {
			t.Errorf("got frame %d, want 5", number(got))
		}
	case <-time.After(10 * time.Second):
		t.Fatal("no frame across the spine")
	}
	if err := f.Command("leaf1-spine out silent\n\n d out loss=1%"); err != nil {
		t.Fatal(err)
	}
	up, err := f.Port("leaf1-spine")
	if err != nil {
		t.Fatal(err)
	}
	hosts["a"].send(frame(0xff, 1, 6, 0))
	for end := time.Now().Add(10 * time.Second); up.Counts(Out).Dropped != 1; {
		if time.Now().After(end) {
			t.Fatalf("silent uplink: got %+v, want 1 dropped", up.Counts(Out))
		}
		time.Sleep(time.Millisecond)
	}
	f.Reset()
	hosts["a"].send(frame(0xff, 1, 7, 0))
	if got := number(<-hosts["d"].got); got != 7 {
		t.Errorf("after reset: got frame %d, want 7", got)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("folder after Close: got %v, want none", err)
	}
}

// waitPort waits until a host's port is there.
func waitPort(t *testing.T, f *Fabric, name string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; {
		if _, err := f.Port(name); err == nil {
			return
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestParseLine(t *testing.T) {
	port, d, i, err := parseLine(strings.Fields("a out loss=1% reorder=0.5% " +
		"corrupt=100% delay=5ms rate=100mbit max_frame=1600 silent"))
	want := Impairment{Loss: 0.01, Reorder: 0.005, Corrupt: 1,
		Delay: 5 * time.Millisecond, Rate: 100e6, MaxFrame: 1600, Silent: true}
	if err != nil || port != "a" || d != Out || i != want {
		t.Errorf("got %q, %q, %+v, %v, want %+v", port, d, i, err, want)
	}
	for _, bad := range []string{
		"", "a", "a up", "a in loss", "a in loss=1", "a in loss=101%", "a in loss=-1%",
		"a in loss=NaN%", "a in delay=5", "a in delay=-5ms", "a in delay=2h",
		"a in rate=5", "a in rate=0mbit", "a in rate=mbit", "a in rate=99999999999gbit",
		"a in max_frame=1", "a in max_frame=x", "a in silent=1", "a in what=1",
		"a in reorder=1%",
	} {
		if _, _, i, err := parseLine(strings.Fields(bad)); err == nil {
			t.Errorf("%q: got %+v, want an error", bad, i)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add("a out loss=1% delay=5ms rate=100mbit")
	f.Add("leaf1-spine in max_frame=1600 silent")
	f.Add("a in loss=1e400%")
	f.Fuzz(func(t *testing.T, line string) {
		_, d, i, err := parseLine(strings.Fields(line))
		if err == nil && (d != In && d != Out || !(i.Loss >= 0 && i.Loss <= 1) ||
			i.Rate < 0 || i.Delay < 0 || i.MaxFrame < 0) {
			t.Errorf("%q: got %q, %+v", line, d, i)
		}
	})
}
