package hostio

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSymbolVersionsAllowed(t *testing.T) {
	for name, ok := range map[string]bool{
		"/usr/lib/x86_64-linux-gnu/libibverbs.so.1":               true,
		"/usr/lib/x86_64-linux-gnu/libibverbs/libmlx5-rdmav34.so": true,
		"/usr/local/lib64/libibverbs/libbnxt_re-rdmav57.so":       true,
		"/lib64/libibverbs.so.1.14.44.0":                          true,
		"/usr/lib64/libc.so.6":                                    false,
		"/home/x/libibverbs.so.1":                                 false,
		"/usr/lib64/../../etc/libibverbs.so.1":                    false,
		"/usr/lib64/libmlx5-rdmav34.so.bak":                       false,
		"/dev/infiniband/libibverbs.so.1":                         false,
	} {
		if got := Allowed(Op{Kind: SymbolVersions, Name: name}); got != ok {
			t.Errorf("%s: allowed %v, want %v", name, got, ok)
		}
	}
}

// installed are the libraries of this machine, which the tests need not have.
func installed(t testing.TB) (verbs string, providers []string) {
	t.Helper()
	for _, pattern := range []string{"/usr/lib/*/", "/usr/lib64/"} {
		if found, _ := filepath.Glob(pattern + "libibverbs.so.1"); found != nil {
			verbs = found[0]
		}
		found, _ := filepath.Glob(pattern + "libibverbs/*-rdmav*.so")
		providers = append(providers, found...)
	}
	if verbs == "" || providers == nil {
		t.Skip("libibverbs and its providers are not installed here")
	}
	return verbs, providers
}

// What one package installed fits together.
func TestSymbolVersionsOfThisMachine(t *testing.T) {
	verbs, providers := installed(t)
	read := func(name string) (v VerbsVersions) {
		res := new(Live).do(Op{Kind: SymbolVersions, Name: name})
		if err := res.Err(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := json.Unmarshal(res.Data, &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := read(verbs)
	i := slices.IndexFunc(v.Defines, func(s string) bool { return strings.HasPrefix(s, "IBVERBS_PRIVATE_") })
	if i < 0 || !slices.Contains(v.Defines, "IBVERBS_1.1") {
		t.Fatalf("%s defines %q", verbs, v.Defines)
	}
	for _, name := range providers {
		if needs := read(name).Needs; !slices.Contains(needs, v.Defines[i]) {
			t.Errorf("%s needs %q, want %s", name, needs, v.Defines[i])
		}
	}
}

func TestSymbolVersionsBad(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Result{
		file("text", "no library"):          {Errno: unix.ENOEXEC},
		file("empty", ""):                   {Errno: unix.ENOEXEC},
		file("head", "\x7fELF\x02\x01\x01"): {Errno: unix.ENOEXEC},
		filepath.Join(dir, "none"):          {Errno: unix.ENOENT},
		filepath.Join(dir, "fifo"):          {NotInForm: true},
		dir:                                 {NotInForm: true},
	} {
		if got := symbolVersions(name); got.Errno != want.Errno || got.NotInForm != want.NotInForm {
			t.Errorf("%s: %+v, want %+v", filepath.Base(name), got, want)
		}
	}
}

func FuzzSymbolVersions(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	if found, _ := filepath.Glob("/usr/lib/*/libibverbs/libsiw-rdmav*.so"); found != nil {
		if b, err := os.ReadFile(found[0]); err == nil {
			f.Add(b)
			f.Add(b[:len(b)/2])
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := versionsOf(bytes.NewReader(data))
		if err == nil && (v.Defines == nil || v.Needs == nil) {
			t.Error("no lists and no error")
		}
	})
}
