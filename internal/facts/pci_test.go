package facts

import "testing"

// Trees that no kernel makes end, and nothing in common is told from nothing
// between.
func TestPCITree(t *testing.T) {
	s := &Snapshot{PCI: []PCIFunction{
		{Address: "loop-a", Parent: "loop-b"}, {Address: "loop-b", Parent: "loop-a"},
		{Address: "root"}, {Address: "up", Parent: "root"}, {Address: "down-1", Parent: "up"}, {Address: "down-2", Parent: "up"},
		{Address: "nic", Parent: "down-1"}, {Address: "nic.1", Parent: "down-1"}, {Address: "gpu", Parent: "down-2"}, {Address: "alone"},
	}}
	tree := s.PCITree()
	if n := len(tree.Bridges(tree["loop-a"])); n != deepestPCI {
		t.Errorf("a loop has %d bridges, want %d", n, deepestPCI)
	}
	for _, tt := range []struct {
		a, b, common string
		between      int
	}{
		{"nic", "gpu", "up", 2}, {"nic", "nic.1", "down-1", 0}, {"nic", "alone", "", 0}, {"loop-a", "gpu", "", 0}, {"up", "gpu", "root", 2},
	} {
		between, common := tree.Between(tree[tt.a], tree[tt.b])
		if (common == nil) != (tt.common == "") || common != nil && common.Address != tt.common || len(between) != tt.between {
			t.Errorf("between %s and %s: %d bridges below %+v", tt.a, tt.b, len(between), common)
		}
	}
	if n := len(tree.Bridges(tree["gpu"])); n != 3 {
		t.Errorf("the GPU has %d bridges above it, want 3", n)
	}
}
