package collect

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// answering answers ops by key, with the next of the answers each time and the
// last for ever. What it does not know is absent.
type answering struct {
	answers map[string][]hostio.Result
	asked   map[string]int
}

func (a *answering) Do(_ context.Context, ops []hostio.Op) []hostio.Result {
	rs := make([]hostio.Result, len(ops))
	for i, op := range ops {
		key := op.Key()
		rs[i] = hostio.Result{Errno: syscall.ENOENT}
		if list := a.answers[key]; len(list) > 0 {
			rs[i] = list[min(a.asked[key], len(list)-1)]
		}
		a.asked[key]++
	}
	return rs
}

func texts(ss ...string) (rs []hostio.Result) {
	for _, s := range ss {
		rs = append(rs, hostio.Result{Data: []byte(s)})
	}
	return rs
}

func TestOnce(t *testing.T) {
	h := &answering{asked: map[string]int{}, answers: map[string][]hostio.Result{
		"read:/a": texts("first", "second"),
		"read:/b": {{TimedOut: true}, {Data: []byte("late")}},
		"read:/c": texts(strings.Repeat("c", mostKept+1)),
	}}
	o := &once{host: h, answers: map[string]hostio.Result{}}
	ask := func(names ...string) (got []string) {
		var ops []hostio.Op
		for _, n := range names {
			ops = append(ops, hostio.Op{Kind: hostio.ReadFile, Name: n})
		}
		for _, r := range o.Do(t.Context(), ops) {
			got = append(got, r.Text()[:min(6, len(r.Text()))])
		}
		return got
	}
	want(t, "first turn", ask("/a", "/b", "/c"), []string{"first", "", "cccccc"})
	want(t, "second turn", ask("/b", "/a", "/c"), []string{"late", "first", "cccccc"})
	want(t, "asked", []int{h.asked["read:/a"], h.asked["read:/b"], h.asked["read:/c"]}, []int{1, 2, 2})
	o.next()
	want(t, "next sample", ask("/a"), []string{"second"})
}

// A device that is taken away while its node is looked at is no device without
// a node; one that stays is.
func TestNodeOfDeviceThatWent(t *testing.T) {
	for _, stays := range []bool{false, true} {
		number := texts("231:193\n")
		if !stays {
			number = nil // It went before that was read.
		}
		h := &answering{asked: map[string]int{}, answers: map[string][]hostio.Result{
			"dir:/sys/class/infiniband_verbs":                texts("uverbs0\nuverbs1\n"),
			"dir:/dev/infiniband":                            texts("uverbs0\n"),
			"read:/sys/class/infiniband_verbs/uverbs0/ibdev": texts("mlx5_0\n"),
			"read:/sys/class/infiniband_verbs/uverbs1/ibdev": texts("mlx5_1\n"),
			"read:/sys/class/infiniband_verbs/uverbs0/dev":   texts("231:192\n"),
			"read:/sys/class/infiniband_verbs/uverbs1/dev":   number,
			"stat:/dev/infiniband/uverbs0":                   texts(`{"mode":8630,"major":231,"minor":192}`),
			"open:/dev/infiniband/uverbs0":                   texts(""),
			"stat:/sys/class/infiniband_verbs/uverbs0":       texts(`{"mode":16877}`),
		}}
		if stays {
			h.answers["stat:/sys/class/infiniband_verbs/uverbs1"] = texts(`{"mode":16877}`)
		}
		s := Run(t.Context(), h, Options{Origin: facts.Live, Only: []facts.Source{facts.CharDevNodes}})
		var paths []string
		for _, d := range s.CharDevs {
			paths = append(paths, d.Path)
		}
		all := []string{"/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1"}
		if !stays {
			all = all[:1]
		}
		want(t, "nodes", paths, all)
	}
}
