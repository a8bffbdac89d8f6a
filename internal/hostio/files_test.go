package hostio

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// live does one op on this host.
func live(t *testing.T, kind Kind, name string) Result {
	t.Helper()
	return One(t.Context(), &Live{}, Op{Kind: kind, Name: name})
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(name, data, 0o640); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLiveReadFile(t *testing.T) {
	dir := t.TempDir()
	small := write(t, dir+"/small", []byte("4: ACTIVE\n"))
	big := write(t, dir+"/big", bytes.Repeat([]byte("0123456789abcdef"), 8192))
	fifo := dir + "/fifo"
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(small, dir+"/link"); err != nil {
		t.Fatal(err)
	}
	if r := live(t, ReadFile, dir+"/link"); r.Err() != nil || r.Text() != "4: ACTIVE" {
		t.Errorf("a link to a file: %+v", r)
	}
	r := live(t, ReadFile, big)
	if !r.Truncated || len(r.Data) != DefaultLimit {
		t.Errorf("a long file gave %d bytes, truncated %v, want %d, true", len(r.Data), r.Truncated, DefaultLimit)
	}
	for _, limit := range []int{1, 10, 11, 1 << 30} {
		r := One(t.Context(), &Live{}, Op{Kind: ReadFile, Name: small, Limit: limit})
		if r.Truncated != (limit < 10) || len(r.Data) != min(limit, 10) || r.Errno != 0 {
			t.Errorf("limit %d: %+v", limit, r)
		}
	}
	// None of these may be opened, let alone waited for.
	for _, name := range []string{fifo, "/dev/null", "relative", "", dir + "/x\x00y"} {
		if r := live(t, ReadFile, name); !r.NotInForm || r.Data != nil {
			t.Errorf("%q: %+v, want not in form", name, r)
		}
	}
	if r := live(t, ReadFile, dir); r.Errno != syscall.EISDIR {
		t.Errorf("a directory: %+v, want EISDIR", r)
	}
	if r := live(t, ReadFile, dir+"/none"); r.Errno != syscall.ENOENT {
		t.Errorf("no file: %+v, want ENOENT", r)
	}
	if r := live(t, ReadFile, small+"/below"); r.Errno != syscall.ENOTDIR {
		t.Errorf("below a file: %+v, want ENOTDIR", r)
	}
}

func TestLiveNeverReads(t *testing.T) {
	dir := t.TempDir()
	for _, base := range []string{"vpd", "rom", "resource", "resource0", "resource2_wc", "mem", "kmsg", "kcore", "trace_pipe"} {
		if r := live(t, ReadFile, write(t, filepath.Join(dir, base), []byte("secret"))); !r.NotInForm || r.Data != nil {
			t.Errorf("%s is read: %+v", base, r)
		}
	}
	if r := live(t, ReadFile, "/sys/kernel/debug/x/y"); !r.NotInForm {
		t.Errorf("debugfs is read: %+v", r)
	}
	for _, base := range []string{"resources", "romance", "meminfo", "numa_node"} {
		if r := live(t, ReadFile, write(t, filepath.Join(dir, base), []byte("fine"))); r.Text() != "fine" {
			t.Errorf("%s is not read: %+v", base, r)
		}
	}
}

func TestLiveDirectoriesAndLinks(t *testing.T) {
	dir := t.TempDir()
	if r := live(t, ReadDir, dir); r.Err() != nil || r.Lines() != nil {
		t.Errorf("an empty directory: %+v", r)
	}
	for _, n := range []string{"b", "a", "10", "9", "new\nline"} {
		write(t, filepath.Join(dir, n), nil)
	}
	if got, want := live(t, ReadDir, dir).Lines(), []string{"10", "9", "a", "b"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	if err := unix.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]syscall.Errno{"/a": syscall.ENOTDIR, "/fifo": syscall.ENOTDIR, "/none": syscall.ENOENT} {
		if r := live(t, ReadDir, dir+name); r.Errno != want {
			t.Errorf("%s: %+v, want %v", name, r, want)
		}
	}
	if err := os.Symlink("../driver/x", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	if r := live(t, ReadLink, dir+"/link"); string(r.Data) != "../driver/x" {
		t.Errorf("link target %q", r.Data)
	}
	if r := live(t, ReadLink, dir+"/a"); r.Errno != syscall.EINVAL {
		t.Errorf("a file as a link: %+v, want EINVAL", r)
	}
}

func TestLiveStat(t *testing.T) {
	var st FileStat
	if r := live(t, Stat, "/dev/null"); r.Err() != nil || json.Unmarshal(r.Data, &st) != nil {
		t.Fatalf("stat /dev/null: %+v", r)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFCHR || st.Major != 1 || st.Minor != 3 {
		t.Errorf("/dev/null is %+v, want character device 1:3", st)
	}
	name := write(t, t.TempDir()+"/f", nil)
	if err := os.Chmod(name, 0o604); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(live(t, Stat, name).Data, &st); err != nil || st.Mode != unix.S_IFREG|0o604 || int(st.UID) != os.Geteuid() {
		t.Errorf("file is %+v (%v)", st, err)
	}
}

func TestLiveOpensOnlyVerbsNodes(t *testing.T) {
	for _, name := range []string{
		"/dev/null", "/dev/infiniband/umad0", "/dev/infiniband/issm0", "/dev/infiniband/ucm0", "/dev/infiniband/uverbs",
		"/dev/infiniband/uverbs0/..", "/dev/infiniband/../null", "/dev/infiniband/uverbs0\n", "/dev/infiniband/rdma_cm2",
		"dev/infiniband/uverbs0", "/dev/infiniband/uverbs" + strings.Repeat("1", 99),
	} {
		if r := live(t, TryOpen, name); !r.NotInForm {
			t.Errorf("%q: %+v, want not in form", name, r)
		}
	}
	if r := live(t, TryOpen, "/dev/infiniband/uverbs31337"); r.Errno != syscall.ENOENT {
		t.Errorf("a node that is not there: %+v, want ENOENT", r)
	}
}

func TestLiveUnknownKind(t *testing.T) {
	if r := live(t, "write", "/tmp/x"); !r.NotInForm {
		t.Errorf("an unknown kind: %+v", r)
	}
}
