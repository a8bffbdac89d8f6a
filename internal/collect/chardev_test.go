package collect

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

func TestCharDevs(t *testing.T) {
	s := collected(t, constructed(t, "chardev-mlx5"), facts.CharDevNodes)
	noGaps(t, s)
	root := func(d facts.CharDev) facts.CharDev {
		d.Exists, d.UID, d.GID = facts.Some(true), facts.Some(0), facts.Some(0)
		return d
	}
	stale := root(facts.CharDev{Path: "/dev/infiniband/uverbs7", Kind: "uverbs", Mode: facts.Some[uint32](0o600), Number: facts.Some("231:199"), OpenError: facts.Some("ENXIO")})
	stale.GID = facts.Some(5)
	want(t, "nodes", s.CharDevs, []facts.CharDev{
		root(facts.CharDev{Path: "/dev/infiniband/issm0", Kind: "issm", Device: "mlx5_0", Port: facts.Some(1), Mode: facts.Some[uint32](0o600), Number: facts.Some("231:64"), SysfsDev: facts.Some("231:64")}),
		root(facts.CharDev{Path: "/dev/infiniband/rdma_cm", Kind: "rdma_cm", Mode: facts.Some[uint32](0o666), Number: facts.Some("10:122"), SysfsDev: facts.Some("10:122"), OpenError: facts.Some("EACCES")}),
		root(facts.CharDev{Path: "/dev/infiniband/umad0", Kind: "umad", Device: "mlx5_0", Port: facts.Some(1), Mode: facts.Some[uint32](0o600), Number: facts.Some("231:0"), SysfsDev: facts.Some("231:0")}),
		root(facts.CharDev{Path: "/dev/infiniband/uverbs0", Kind: "uverbs", Device: "mlx5_0", Mode: facts.Some[uint32](0o666), Number: facts.Some("231:192"), SysfsDev: facts.Some("231:192"), OpenError: facts.Some("")}),
		{Path: "/dev/infiniband/uverbs1", Kind: "uverbs", Device: "mlx5_1", Exists: facts.Some(false), SysfsDev: facts.Some("231:193")},
		stale,
	})
}

func TestCharDevsBad(t *testing.T) {
	empty := collected(t, fixture.Host(fixture.Parse("")), facts.CharDevNodes)
	want(t, "nothing there", empty.CharDevs, []facts.CharDev(nil))
	want(t, "sources", empty.Sources, []facts.Source{})
	want(t, "gap", gap(t, empty, "/dev/infiniband").Kind, facts.Unsupported)
	without := collected(t, fixture.Host(fixture.Parse("-- /sys/class/net/ --\n")), facts.CharDevNodes)
	noGaps(t, without)
	want(t, "a kernel without RDMA is read", without.Sources, []facts.Source{facts.CharDevNodes})
	h := constructed(t, "chardev-mlx5")
	h.Put("/dev/infiniband/uverbs0", "a file\n")
	h.Put("/sys/class/infiniband_verbs/uverbs1/dev", "231")
	h.Put("/sys/class/infiniband_mad/", "errno: EACCES")
	s := collected(t, h, facts.CharDevNodes)
	want(t, "a file is no node", gap(t, s, "/dev/infiniband/uverbs0").Detail, "not a character device")
	want(t, "number", gap(t, s, "/sys/class/infiniband_verbs/uverbs1/dev").Kind, facts.Malformed)
	want(t, "denied class", gap(t, s, "/sys/class/infiniband_mad").Kind, facts.Denied)
	want(t, "nodes", len(s.CharDevs), 6)
	tree := Run(t.Context(), constructed(t, "chardev-mlx5"), Options{Origin: facts.Tree, Only: []facts.Source{facts.CharDevNodes}})
	for _, d := range tree.CharDevs {
		if d.Exists.Known() || d.OpenError.Known() {
			t.Errorf("a copied tree says whether %s exists", d.Path)
		}
	}
}

func TestParseDevNumber(t *testing.T) {
	checkParser(t, "parseDevNumber", parseDevNumber, []parsed[string]{
		{text: "231:192", want: "231:192"}, {text: "231", err: true}, {text: ":", err: true}, {text: "a:b", err: true},
		{text: "231:192:1", err: true}, {text: "0231:1", err: true}, {text: "-1:1", err: true}, {text: "4294967296:1", err: true},
	})
}

func FuzzDevNumber(f *testing.F) {
	f.Add("231:192")
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := parseDevNumber(s); err == nil && v != s {
			t.Errorf("parseDevNumber(%q) = %q", s, v)
		}
	})
}
