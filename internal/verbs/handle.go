package verbs

import "sync"

// Kind is a kind of handle.
type Kind string

// The kinds of handles.
const (
	KindContext     Kind = "context"
	KindPD          Kind = "PD"
	KindMemory      Kind = "memory"
	KindMR          Kind = "MR"
	KindCQ          Kind = "CQ"
	KindCompChannel Kind = "completion channel"
	KindQP          Kind = "QP"
	KindAH          Kind = "AH"
	KindCMID        Kind = "rdma_cm ID"
)

// graph guards what is open in this process and what was made from what. It is
// never held while the library is called, which may hang.
var graph = struct {
	sync.Mutex
	live map[Kind]int
}{live: map[Kind]int{}}

// Live counts the handles of this process that are open, by kind. A handle
// whose close failed is still open. Kinds with none are absent.
func Live() map[Kind]int {
	graph.Lock()
	defer graph.Unlock()
	out := map[Kind]int{}
	for k, n := range graph.live {
		if n > 0 {
			out[k] = n
		}
	}
	return out
}

// node is a handle in the graph of handles.
type node struct {
	kind     Kind
	parents  []*node
	children map[*node]struct{}
	closing  bool
	closed   bool
	release  func() error
}

// newNode registers a handle that was made from its parents.
func newNode(kind Kind, release func() error, parents ...*node) *node {
	n := &node{kind: kind, parents: parents, children: map[*node]struct{}{}, release: release}
	graph.Lock()
	defer graph.Unlock()
	graph.live[kind]++
	for _, p := range parents {
		p.children[n] = struct{}{}
	}
	return n
}

// open says whether calls may be made.
func (n *node) open() bool {
	if n == nil {
		return false
	}
	graph.Lock()
	defer graph.Unlock()
	return !n.closed && !n.closing
}

// take begins the closing: false when another does it or has done it.
func (n *node) take() ([]*node, bool) {
	graph.Lock()
	defer graph.Unlock()
	if n.closed || n.closing {
		return nil, false
	}
	n.closing = true
	var all []*node
	for c := range n.children {
		all = append(all, c)
	}
	return all, true
}

// done ends the closing. One that failed can be tried again.
func (n *node) done(err error) {
	graph.Lock()
	defer graph.Unlock()
	n.closing = false
	if err != nil {
		return
	}
	n.closed = true
	graph.live[n.kind]--
	for _, p := range n.parents {
		delete(p.children, n)
	}
}

// close closes children first. Where a child cannot be closed, its parent is
// not either, since the library would refuse it or crash.
func (n *node) close() error {
	if n == nil {
		return nil
	}
	children, ok := n.take()
	if !ok {
		return nil
	}
	var err error
	for _, c := range children {
		if e := c.close(); e != nil && err == nil {
			err = e
		}
	}
	if err == nil {
		err = n.release()
	}
	n.done(err)
	return err
}
