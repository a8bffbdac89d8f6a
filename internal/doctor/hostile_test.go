package doctor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// mostAllocated bounds what one examination of a hostile tree may allocate in
// all; a healthy host of eight adapters takes some tens of megabytes.
const mostAllocated = 512 << 20

// survives examines a host that lies. The report is whole, ends before the
// deadline and costs a bounded amount of memory.
func survives(t *testing.T, name string, h hostio.Host, origin facts.Origin) report.Summary {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var fold report.Fold
	sum, err := Examine(t.Context(), Options{Host: h, Origin: origin, Timeout: time.Minute, KeepSnapshot: true}, &fold)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > mostAllocated {
		t.Errorf("%s: %d MiB were allocated, want at most %d", name, n>>20, mostAllocated>>20)
	}
	doc := fold.Document()
	if doc.Error != nil {
		t.Errorf("%s: %+v", name, doc.Error)
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(doc); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("%s: the report is no JSON: %v", name, err)
	}
	if i := bytes.IndexFunc(b.Bytes(), func(r rune) bool { return r < ' ' && r != '\n' }); i >= 0 {
		t.Errorf("%s: a control character is in the report: %q", name, b.Bytes()[max(0, i-20):i+1])
	}
	return sum
}

// hostileTexts take the place of what files hold.
var hostileTexts = map[string]string{
	"nothing":       "",
	"NULs":          strings.Repeat("\x00", 300),
	"negative":      "-1\n",
	"past 64 bits":  "99999999999999999999999\n",
	"not UTF-8":     "\xff\xfe\x80: \xc3(\n",
	"escapes":       "\x1b]0;x\x07\x1b[2J4: ACTIVE\n",
	"long":          strings.Repeat("4: ACTIVE ", 20000),
	"many lines":    strings.Repeat("a 1\n", 50000),
	"a link's text": "../../../../../../etc/passwd",
	"failing":       "errno: EIO",
	"silent":        "timed out",
	"a directory":   "errno: EISDIR",
}

func TestHostileTexts(t *testing.T) {
	for _, name := range []string{"mlx5-roce-8x400g", "hfi1", "roce-lag", "vf-in-container"} {
		if testing.Short() && strings.Contains(name, "8x") {
			continue
		}
		plain := layered(t, name, nil).Archive()
		for what, text := range hostileTexts {
			a := &fixture.Archive{}
			for _, f := range plain.Files {
				if !strings.HasPrefix(f.Data, "-> ") && !strings.HasSuffix(f.Name, "/") && !strings.Contains(f.Data, "node:") {
					f.Data = text
				}
				a.Files = append(a.Files, f)
			}
			if sum := survives(t, name+" "+what, fixture.Host(a), facts.Live); sum.ExitCode == report.ExitInternal {
				t.Errorf("%s %s: exit %d", name, what, sum.ExitCode)
			}
		}
	}
}

// Replies of the kernel that are cut anywhere leave a report.
func TestHostileReplies(t *testing.T) {
	plain := layered(t, "roce-lag", nil).Archive()
	for share := range 8 {
		a := &fixture.Archive{}
		for _, f := range plain.Files {
			if digits, ok := strings.CutPrefix(f.Data, "hex: "); ok {
				n := len(digits) / 2 * (share + 1) / 9
				f.Data = "hex: " + digits[:2*n]
			}
			a.Files = append(a.Files, f)
		}
		survives(t, fmt.Sprintf("%d ninths of each reply", share+1), fixture.Host(a), facts.Live)
	}
}

// A copied tree may hold anything that a file system can.
func TestHostileTree(t *testing.T) {
	dir := t.TempDir()
	class := filepath.Join(dir, "sys/class/infiniband")
	device := filepath.Join(class, "mlx5_0")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const ports = 2000
	for n := range ports {
		port := filepath.Join(device, "ports", fmt.Sprint(n))
		must(os.MkdirAll(port, 0o755))
		must(os.WriteFile(filepath.Join(port, "state"), []byte("4: ACTIVE\n"), 0o644))
	}
	one := filepath.Join(device, "ports/1")
	must(os.MkdirAll(filepath.Join(one, "counters"), 0o755))
	must(os.WriteFile(filepath.Join(one, "counters/symbol_error"), []byte("-7\n"), 0o644))
	must(os.WriteFile(filepath.Join(one, "counters/\xff\n\x1b[2J"), []byte("1\n"), 0o644))
	must(os.WriteFile(filepath.Join(one, "link_layer"), []byte("Ethernet\x00\x00\x00"), 0o644))
	must(os.Symlink("../..", filepath.Join(one, "gids")))       // The tree within itself.
	must(os.Symlink("pkeys", filepath.Join(one, "pkeys")))      // A link to itself.
	must(os.Symlink("/etc", filepath.Join(one, "hw_counters"))) // Out of the tree.
	must(unix.Mkfifo(filepath.Join(one, "rate"), 0o644))
	must(os.Mkdir(filepath.Join(device, "fw_ver"), 0o755))
	must(os.WriteFile(filepath.Join(device, "node_desc"), []byte("secret"), 0o000))
	huge, err := os.Create(filepath.Join(device, "board_id"))
	must(err)
	must(huge.Truncate(8 << 30)) // Holes only.
	must(huge.Close())
	must(os.Symlink("mlx5_0", filepath.Join(class, "mlx5_1")))
	must(os.Symlink("../../../../../../../../../..", filepath.Join(device, "device")))
	must(os.MkdirAll(filepath.Join(dir, "proc"), 0o755))
	must(os.Symlink("/dev/zero", filepath.Join(dir, "proc/modules")))
	for n := range 1000 {
		must(os.MkdirAll(filepath.Join(dir, "sys/class/net", fmt.Sprintf("veth%d", n)), 0o755))
	}
	tree, err := hostio.OpenTree(dir)
	must(err)
	defer tree.Close()
	survives(t, "tree", tree, facts.Tree)
}
