//go:build cgo && linux && !noverbs

package verbs

import (
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestLoadSaysWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(Options{Verbs: filepath.Join(dir, "libibverbs.so.1")}); !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), dir) {
		t.Errorf("no library: %v", err)
	}
	empty := filepath.Join(dir, "empty.so")
	compileShared(t, empty, "int nothing;")
	_, err := Load(Options{Verbs: empty})
	var se *SymbolError
	if !errors.As(err, &se) || se.Name != "ibv_get_device_list" || se.Version != "IBVERBS_1.1" || se.Library != empty {
		t.Errorf("library without symbols: %v", err)
	}
	l := load(t, "")
	if len(l.Missing()) > 0 {
		t.Errorf("missing of the fake: %v", l.Missing())
	}
	l, err = Load(Options{Verbs: l.Path(), RDMACM: filepath.Join(dir, "librdmacm.so.1")})
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(l.CMErr(), ErrCMNotInstalled) {
		t.Errorf("no librdmacm: %v", l.CMErr())
	}
}

func compileShared(t *testing.T, out, src string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "gcc", "-shared", "-fPIC", "-x", "c", "-o", out, "-")
	c.Stdin = strings.NewReader(src)
	if b, err := c.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, b)
	}
}

func TestDeviceListsAndNames(t *testing.T) {
	for script, want := range map[string]int{"": 1, "device a\ndevice b": 2, "no-devices": 0} {
		d, err := load(t, script).Devices()
		if err != nil || len(d) != want {
			t.Errorf("%q: %v %v, want %d devices", script, d, err, want)
		}
	}
	d, err := load(t, "link iwarp").Devices()
	if err != nil || d[0].NodeType != NodeRNIC || d[0].Transport != 1 || d[0].Uverbs != "uverbs0" || d[0].NodeGUID != 0x5054000300123400 {
		t.Errorf("iWARP device: %+v %v", d, err)
	}
	l := load(t, "fail get_device_list ENOSYS")
	if _, err := l.Devices(); !errors.Is(err, ErrNoKernelSupport) {
		t.Errorf("list with ENOSYS: %v", err)
	}
	if _, err := l.Open("fake0"); !errors.Is(err, ErrNoKernelSupport) {
		t.Errorf("open with ENOSYS: %v", err)
	}
	var e *Errno
	if _, err := load(t, "fail get_device_list none").Devices(); !errors.As(err, &e) || e.Errno != 0 {
		t.Errorf("list without errno: %v", err)
	}
	if _, err := load(t, "no-devices").Open("fake0"); !errors.Is(err, ErrNoDevice) {
		t.Errorf("open a device that is not there: %v", err)
	}
}

func TestUverbsOf(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "uverbs3"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "uverbs3", "ibdev"), []byte("labhca0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := uverbsOf(dir, "labhca0"); got != "uverbs3" {
		t.Errorf("got %q, want uverbs3", got)
	}
	if got := uverbsOf(dir, "labhca1"); got != "" {
		t.Errorf("got %q for a device that is not there", got)
	}
}

func TestDeviceAttributes(t *testing.T) {
	l := load(t, "link infiniband\nlid 7\nsm-lid 1\nactive-mtu 4096\nmax-qp 77\nodp 1\nno-gids\ngid 3 ib fe80::1 0\npkey 0x7fff")
	c, err := l.Open("fake0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if d, err := c.QueryDevice(); err != nil || d.MaxQP != 77 || !d.Ex || d.ODPGeneral != 1 || d.FWVer != "1.2.3" || d.NodeGUID != 0x5054000300123400 {
		t.Errorf("device: %+v %v", d, err)
	}
	if p, err := c.QueryPort(1); err != nil || p.LID != 7 || p.SMLID != 1 || p.ActiveMTU != 4096 || p.MaxMTU != 4096 || p.LinkLayer != LinkLayerInfiniBand || p.State != PortActive || p.PhysState != 5 {
		t.Errorf("port: %+v %v", p, err)
	}
	if _, err := c.QueryPort(2); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("port 2: %v", err)
	}
	g, err := c.GIDTable(1)
	if err != nil || len(g) != 1 || g[0].Index != 3 || g[0].Type != GIDTypeIB || g[0].GID.String() != "fe80::1" || g[0].IfIndex != 0 {
		t.Errorf("GID table: %+v %v", g, err)
	}
	if k, err := c.QueryPKey(1, 0); err != nil || k != 0x7fff {
		t.Errorf("pkey: 0x%x %v", k, err)
	}
	if _, err := c.QueryPKey(1, 1); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("pkey 1: %v", err)
	}
}

func TestEventIsRead(t *testing.T) {
	c, err := load(t, "event 10 1").Open("fake0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if e, err := c.AsyncEvent(); err != nil || e.Type != EventPortErr || e.Port != 1 || !e.Type.OfPort() {
		t.Errorf("event: %+v %v", e, err)
	}
	if _, err := c.AsyncEvent(); !errors.Is(err, ErrNoEvent) {
		t.Errorf("second event: %v", err)
	}
}

// The test program calls the whole engine and must start without libibverbs.
func TestNeedsNoLibrary(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	libs, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range libs {
		if strings.Contains(l, "ibverbs") || strings.Contains(l, "rdmacm") {
			t.Errorf("NEEDED %s", l)
		}
	}
	syms, err := f.ImportedSymbols()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(syms, func(s elf.ImportedSymbol) bool { return s.Name == "dlvsym" }) {
		t.Error("the engine is not in this program")
	}
	for _, s := range syms {
		if strings.HasPrefix(s.Name, "ibv_") || strings.HasPrefix(s.Name, "rdma_") {
			t.Errorf("undefined symbol %s", s.Name)
		}
	}
}

// cgo shows a warning of its own build only where it fails, so the C files are
// compiled once more here, at the levels that find most.
func TestCHasNoWarnings(t *testing.T) {
	files, err := filepath.Glob("rd_*.c")
	if err != nil || len(files) < 4 {
		t.Fatalf("C files: %v %v", files, err)
	}
	for _, level := range []string{"-O0", "-O2"} {
		args := append([]string{"-std=gnu11", "-Wall", "-Wextra", "-Werror", "-c", "-o", "/dev/null", level}, "")
		for _, f := range files {
			args[len(args)-1] = f
			if out, err := exec.CommandContext(t.Context(), "gcc", args...).CombinedOutput(); err != nil {
				t.Errorf("gcc %s %s: %v\n%s", level, f, err, out)
			}
		}
	}
}
