package hostio

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestOpenNodes(t *testing.T) {
	dir := t.TempDir()
	for name, target := range map[string]string{"0": "/dev/null", "3": "/dev/infiniband/uverbs1", "4": "/home/someone/secret", "5": "/dev/infiniband/rdma_cm", "6": "/dev/infiniband/uverbs1"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	res := One(t.Context(), &Live{}, Op{Kind: OpenNodes, Name: dir})
	const want = `{"files":5,"nodes":["/dev/infiniband/rdma_cm","/dev/infiniband/uverbs1"]}`
	if string(res.Data) != want || res.Err() != nil {
		t.Errorf("open nodes = %s, %v, want %s", res.Data, res.Err(), want)
	}
	res = One(t.Context(), &Live{}, Op{Kind: OpenNodes, Name: "/proc/self/fd"})
	var open NodesOpen
	if err := json.Unmarshal(res.Data, &open); err != nil || open.Files < 3 || open.Nodes == nil {
		t.Errorf("own open files = %s, %v", res.Data, err)
	}
	res = One(t.Context(), &Live{}, Op{Kind: OpenNodes, Name: dir + "/none"})
	if res.Errno != syscall.ENOENT {
		t.Errorf("absent directory: %v", res.Err())
	}
	res = One(t.Context(), &Live{}, Op{Kind: OpenNodes, Name: "relative"})
	if !res.NotInForm {
		t.Errorf("relative path: %v", res.Err())
	}
}

func TestCountLines(t *testing.T) {
	dir := t.TempDir()
	tests := []struct{ text, want string }{{"", "0"}, {"a", "0"}, {"a\nb\n", "2"}}
	for i, tt := range tests {
		name := filepath.Join(dir, string(rune('a'+i)))
		if err := os.WriteFile(name, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if res := One(t.Context(), &Live{}, Op{Kind: CountLines, Name: name}); string(res.Data) != tt.want || res.Err() != nil {
			t.Errorf("lines of %q = %s, %v, want %s", tt.text, res.Data, res.Err(), tt.want)
		}
	}
	if res := One(t.Context(), &Live{}, Op{Kind: CountLines, Name: dir}); !res.NotInForm {
		t.Errorf("a directory: %v", res.Err())
	}
	if res := One(t.Context(), &Live{}, Op{Kind: CountLines, Name: dir + "/none"}); res.Errno != syscall.ENOENT {
		t.Errorf("absent file: %v", res.Err())
	}
	if res := One(t.Context(), &Live{}, Op{Kind: CountLines, Name: "/sys/bus/pci/devices/0000:00:00.0/vpd"}); !res.NotInForm {
		t.Errorf("a file that is never read: %v", res.Err())
	}
}
