package collect

import (
	"context"
	"hash/fnv"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// sameAnswer is a host that gives every op the same kind of answer.
type sameAnswer func(hostio.Op) hostio.Result

func (a sameAnswer) Do(_ context.Context, ops []hostio.Op) []hostio.Result {
	rs := make([]hostio.Result, len(ops))
	for i, op := range ops {
		rs[i] = a(op)
	}
	return rs
}

// A host that answers nothing has no source, and a gap for each.
func TestNothingReadable(t *testing.T) {
	hosts := map[string]sameAnswer{
		"denied":    func(hostio.Op) hostio.Result { return hostio.Result{Errno: syscall.EACCES} },
		"absent":    func(hostio.Op) hostio.Result { return hostio.Result{Errno: syscall.ENOENT} },
		"timed out": func(hostio.Op) hostio.Result { return hostio.Result{TimedOut: true} },
		"EIO":       func(hostio.Op) hostio.Result { return hostio.Result{Errno: syscall.EIO} },
		"not in it": func(hostio.Op) hostio.Result { return hostio.Result{NotInForm: true} },
	}
	for name, h := range hosts {
		for _, origin := range []facts.Origin{facts.Live, facts.Recording, facts.Tree} {
			s := Run(t.Context(), h, Options{Origin: origin})
			roundTrips(t, s)
			if len(s.Sources) > 0 {
				t.Errorf("%s, %s: sources %v", name, origin, s.Sources)
			}
			gaps := map[facts.Source]bool{}
			for _, g := range s.Gaps {
				gaps[g.Source] = true
			}
			for _, c := range All() {
				perNetdev := c.Source == facts.Ethtool || c.Source == facts.DCBNetlink
				perFunction := c.Source == facts.Devlink || c.Source == facts.SRIOV
				if !gaps[c.Source] && !perNetdev && !perFunction { // Nothing is known to ask about.
					t.Errorf("%s, %s: %s leaves no gap", name, origin, c.Source)
				}
			}
		}
	}
}

// A tree holds what someone copied; each source that is not in it is one gap.
func TestTree(t *testing.T) {
	dir := t.TempDir()
	a, err := fixture.Read(filepath.Join("testdata", "sysfs-rdma-mlx5-roce.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.WriteTree(dir); err != nil {
		t.Fatal(err)
	}
	tree, err := hostio.OpenTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	s := Run(t.Context(), tree, Options{Origin: facts.Tree})
	roundTrips(t, s)
	d := s.Device("mlx5_0")
	if d == nil || len(d.Ports) != 1 || len(d.Ports[0].GIDs) != 7 || d.PCI.Or("") != "0000:3b:00.0" || d.Provider.Or("") != "mlx5" {
		t.Fatalf("device: %+v", d)
	}
	n := 0
	for _, g := range s.Gaps {
		if g.Source == facts.Namespaces {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d gaps about a source that is not in the tree, want 1: %v", n, s.Gaps)
	}
}

// FuzzCollect feeds every collector with arbitrary answers: whatever a host
// says, a snapshot comes of it that keeps its JSON form.
func FuzzCollect(f *testing.F) {
	f.Add([]byte("4: ACTIVE\n0000:00:00.0\nmlx5_0\n1\n0\n/\n../\n"))
	f.Add([]byte("\xff\x00,;=:\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 || len(data) > 200 { // Listings within listings multiply.
			return
		}
		h := sameAnswer(func(op hostio.Op) hostio.Result {
			sum := fnv.New32a()
			sum.Write([]byte(op.Key()))
			at := int(sum.Sum32()) % len(data)
			return hostio.Result{Data: data[max(at, -at):]}
		})
		for _, c := range All() {
			s := Run(t.Context(), h, Options{Origin: facts.Recording, Only: []facts.Source{facts.SysfsRDMA, c.Source}})
			roundTrips(t, s)
		}
	})
}

func TestBoundedNames(t *testing.T) {
	s := &facts.Snapshot{}
	r := &Reader{src: facts.SysfsRDMA, Snap: s}
	want(t, "plain", r.bounded("/d", []string{"a", "..", ".", "", "b/c", "d\x1b[2J", "e\xff", "é"}), []string{"a", "é"})
	want(t, "gap", gap(t, s, "/d").Detail, "6 names are not plain text")
	many := strings.Split(strings.Repeat("x\n", mostNames+1), "\n")
	want(t, "many", len(r.bounded("/e", many[:mostNames+1])), mostNames)
	gap(t, s, "/e")
}

func TestBoundedGapsAndReads(t *testing.T) {
	s := &facts.Snapshot{}
	r := &Reader{ctx: t.Context(), host: sameAnswer(func(hostio.Op) hostio.Result { return hostio.Result{Errno: syscall.EIO} }), src: facts.SysfsRDMA, Snap: s}
	b := r.batch()
	for i := range mostReads + 5 {
		b.file("/f"+strconv.Itoa(i), func(string) {})
	}
	b.run()
	want(t, "reads", len(b.ops), mostReads)
	want(t, "gaps", len(s.Gaps), mostGaps+1)
	want(t, "the first", s.Gaps[0].Detail, "more to read than a real host has, the rest is left out")
	want(t, "the last", s.Gaps[mostGaps].Detail, "further gaps are left out")
	again := &Reader{src: facts.SysfsRDMA, Snap: s}
	again.gap(s.Gaps[1].What, s.Gaps[1].Kind, s.Gaps[1].Detail)
	want(t, "a gap known from the first sample is not doubled", len(s.Gaps), mostGaps+1)
}
