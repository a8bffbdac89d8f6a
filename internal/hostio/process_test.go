package hostio

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
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
	res := openNodes(dir)
	const want = `{"files":5,"nodes":["/dev/infiniband/rdma_cm","/dev/infiniband/uverbs1"]}`
	if string(res.Data) != want || res.Err() != nil {
		t.Errorf("open nodes = %s, %v, want %s", res.Data, res.Err(), want)
	}
	res = One(t.Context(), &Live{}, Op{Kind: OpenNodes, Name: "/proc/self/fd"})
	var open NodesOpen
	if err := json.Unmarshal(res.Data, &open); err != nil || open.Files < 3 || open.Nodes == nil {
		t.Errorf("own open files = %s, %v", res.Data, err)
	}
	if res = openNodes(dir + "/none"); res.Errno != syscall.ENOENT {
		t.Errorf("absent directory: %v", res.Err())
	}
	if res = One(t.Context(), &Live{}, Op{Kind: OpenNodes, Name: dir}); !res.NotInForm {
		t.Errorf("a directory that is not a process's: %v", res.Err())
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
		if res := countLines(name); string(res.Data) != tt.want || res.Err() != nil {
			t.Errorf("lines of %q = %s, %v, want %s", tt.text, res.Data, res.Err(), tt.want)
		}
	}
	if res := countLines(dir); res.Errno != syscall.EISDIR {
		t.Errorf("a directory: %v", res.Err())
	}
	if res := countLines(dir + "/none"); res.Errno != syscall.ENOENT {
		t.Errorf("absent file: %v", res.Err())
	}
	if res := One(t.Context(), &Live{}, Op{Kind: CountLines, Name: "/proc/self/environ"}); !res.NotInForm {
		t.Errorf("another file of a process: %v", res.Err())
	}
	res := One(t.Context(), &Live{}, Op{Kind: CountLines, Name: "/proc/self/maps"})
	if n, err := strconv.Atoi(string(res.Data)); err != nil || n < 5 {
		t.Errorf("own mappings: %q, %v", res.Data, res.Err())
	}
}
