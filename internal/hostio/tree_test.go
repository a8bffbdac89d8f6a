package hostio

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// plant makes a constructed tree: a name ending in "/" is a folder, "-> target"
// a link, "|" a named pipe.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		var err error
		switch target, isLink := strings.CutPrefix(text, "-> "); {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o777)
		case isLink:
			err = os.Symlink(target, path)
		case text == "|":
			err = syscall.Mkfifo(path, 0o666)
		default:
			err = os.WriteFile(path, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTree(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("not yours"), 0o666); err != nil {
		t.Fatal(err)
	}
	dir := plant(t, map[string]string{
		"sys/devices/pci0/infiniband/mlx5_0/node_guid": "9c9c:b3ff:fe68:9770\n",
		"sys/devices/pci0/infiniband/mlx5_0/long":      strings.Repeat("x", 100),
		"sys/devices/pci0/infiniband/mlx5_0/pipe":      "|",
		"sys/devices/pci0/infiniband/mlx5_0/out":       "-> ../../../../../../../../../../etc/passwd",
		"sys/devices/pci0/infiniband/mlx5_0/absolute":  "-> " + secret,
		"sys/devices/pci0/infiniband/mlx5_0/loop":      "-> loop",
		"sys/devices/pci0/infiniband/mlx5_0/empty/":    "",
		"sys/class/infiniband/mlx5_0":                  "-> ../../devices/pci0/infiniband/mlx5_0",
		"sys/class/infiniband/b":                       "1",
	})
	const dev = "/sys/class/infiniband/mlx5_0"
	for _, tc := range []struct {
		name string
		op   Op
		want Result
	}{
		{"through a link inside", Op{Kind: ReadFile, Name: dev + "/node_guid"}, Result{Data: []byte("9c9c:b3ff:fe68:9770\n")}},
		{"longer than the limit", Op{Kind: ReadFile, Name: dev + "/long", Limit: 8}, Result{Data: []byte("xxxxxxxx"), Truncated: true}},
		{"just the limit", Op{Kind: ReadFile, Name: dev + "/long", Limit: 100}, Result{Data: []byte(strings.Repeat("x", 100))}},
		{"a folder as a file", Op{Kind: ReadFile, Name: dev + "/empty"}, Result{Errno: syscall.EISDIR}},
		{"a named pipe", Op{Kind: ReadFile, Name: dev + "/pipe"}, Result{NotInForm: true}},
		{"a link out of the tree", Op{Kind: ReadFile, Name: dev + "/out"}, Result{NotInForm: true}},
		{"an absolute link", Op{Kind: ReadFile, Name: dev + "/absolute"}, Result{NotInForm: true}},
		{"dots", Op{Kind: ReadFile, Name: "/sys/../../etc/passwd"}, Result{NotInForm: true}},
		{"a relative name", Op{Kind: ReadFile, Name: "sys/class"}, Result{NotInForm: true}},
		{"nothing", Op{Kind: ReadFile}, Result{NotInForm: true}},
		{"absent in a folder that was copied", Op{Kind: ReadFile, Name: dev + "/fw_ver"}, Result{Errno: syscall.ENOENT}},
		{"absent deeper", Op{Kind: ReadDir, Name: dev + "/ports/1/gids"}, Result{Errno: syscall.ENOENT}},
		{"a class that was not copied", Op{Kind: ReadFile, Name: "/sys/class/net/eth0/mtu"}, Result{NotInForm: true}},
		{"its folder", Op{Kind: ReadDir, Name: "/sys/class/infiniband_verbs"}, Result{NotInForm: true}},
		{"another top", Op{Kind: ReadFile, Name: "/proc/modules"}, Result{NotInForm: true}},
		{"a link as it is", Op{Kind: ReadLink, Name: dev}, Result{Data: []byte("../../devices/pci0/infiniband/mlx5_0")}},
		{"a folder", Op{Kind: ReadDir, Name: "/sys/class/infiniband"}, Result{Data: []byte("b\nmlx5_0\n")}},
		{"an empty folder", Op{Kind: ReadDir, Name: dev + "/empty"}, Result{}},
		{"a file as a folder", Op{Kind: ReadDir, Name: dev + "/node_guid"}, Result{Errno: syscall.ENOTDIR}},
		{"a node", Op{Kind: Stat, Name: "/dev/infiniband/uverbs0"}, Result{NotInForm: true}},
		{"opening", Op{Kind: TryOpen, Name: "/dev/infiniband/uverbs0"}, Result{NotInForm: true}},
		{"netlink", Op{Kind: Netlink, Name: "rdma/get"}, Result{NotInForm: true}},
		{"a system call", Op{Kind: System, Name: "uname"}, Result{NotInForm: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree, err := OpenTree(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Close()
			got := One(t.Context(), tree, tc.op)
			if string(got.Data) != string(tc.want.Data) || got.Errno != tc.want.Errno ||
				got.NotInForm != tc.want.NotInForm || got.Truncated != tc.want.Truncated || got.TimedOut {
				t.Errorf("got %+v (%q), want %+v", got, got.Data, tc.want)
			}
		})
	}
}

func TestTreeLoopOfLinks(t *testing.T) {
	tree, err := OpenTree(plant(t, map[string]string{"class/infiniband/a/loop": "-> loop"}))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	res := One(t.Context(), tree, Op{Kind: ReadFile, Name: "/sys/class/infiniband/a/loop"})
	if res.Err() == nil || res.TimedOut {
		t.Errorf("%+v, want an error", res)
	}
}

func TestTreeOfSysItself(t *testing.T) {
	tree, err := OpenTree(plant(t, map[string]string{"class/infiniband/mlx5_0/fw_ver": "28.1\n"}))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if res := One(t.Context(), tree, Op{Kind: ReadFile, Name: "/sys/class/infiniband/mlx5_0/fw_ver"}); res.Text() != "28.1" {
		t.Errorf("%+v, want 28.1", res)
	}
	for name, want := range map[string]error{
		"/sys/class/infiniband/mlx5_0/board_id": syscall.ENOENT,
		"/sys/class/net/eth0":                   ErrNotInForm,
		"/proc/modules":                         ErrNotInForm,
	} {
		if err := One(t.Context(), tree, Op{Kind: ReadFile, Name: name}).Err(); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	st := One(t.Context(), tree, Op{Kind: Stat, Name: "/sys/class/infiniband/mlx5_0"})
	var fs FileStat
	if err := json.Unmarshal(st.Data, &fs); err != nil || fs.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		t.Errorf("stat %+v (%v), want a directory", fs, err)
	}
}

func TestOpenTreeRefuses(t *testing.T) {
	if _, err := OpenTree(t.TempDir()); !errors.Is(err, ErrNotTree) {
		t.Errorf("%v, want ErrNotTree", err)
	}
	if _, err := OpenTree(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want it not to exist", err)
	}
}

func TestTreeEndsWithItsContext(t *testing.T) {
	tree, err := OpenTree(plant(t, map[string]string{"class/infiniband/a": "1"}))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	rs := tree.Do(ctx, make([]Op, 3))
	for _, r := range rs {
		if !r.TimedOut {
			t.Errorf("%+v, want it timed out", r)
		}
	}
	if len(rs) != 3 {
		t.Errorf("%d results for 3 ops", len(rs))
	}
}
