package kernels

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// constructed lays out a complete kernel of empty files.
func constructed(t *testing.T) (dir string, k Kernel) {
	t.Helper()
	dir = t.TempDir()
	k = layout(dir, "6.1", packages{release: "6.1.0-57-amd64", version: "6.1.192-3"})
	for _, name := range []string{k.Image, filepath.Join(k.Modules, "modules.dep"),
		filepath.Join(k.Headers, "Makefile")} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeFile(filepath.Join(dir, "kernel.json"), b); err != nil {
		t.Fatal(err)
	}
	return dir, k
}

func TestReady(t *testing.T) {
	dir, want := constructed(t)
	if got, ok := ready(dir); !ok || got != want {
		t.Fatalf("complete kernel: got %+v, %v, want %+v", got, ok, want)
	}
	if err := os.Remove(want.Image); err != nil {
		t.Fatal(err)
	}
	if _, ok := ready(dir); ok {
		t.Error("kernel without image is ready")
	}
}

func TestReadyRefuses(t *testing.T) {
	for name, record := range map[string]string{
		"absent": "", "empty": " ", "cut": `{"series": "6.1", "rel`,
		"moved": `{"series": "6.1", "root": "/elsewhere/kernels/6.1/root"}`,
	} {
		dir, _ := constructed(t)
		path := filepath.Join(dir, "kernel.json")
		if err := os.WriteFile(path, []byte(record), 0o644); err != nil {
			t.Fatal(err)
		}
		if record == "" {
			os.Remove(path)
		}
		if _, ok := ready(dir); ok {
			t.Errorf("%s record is ready", name)
		}
	}
}

func TestEnsureUnknownSeries(t *testing.T) {
	_, err := Ensure(context.Background(), t.TempDir(), "5.10")
	if err == nil || !strings.Contains(err.Error(), `"5.10"`) {
		t.Errorf("got error %v, want one that names the series", err)
	}
}

func TestLockWaitsForHolder(t *testing.T) {
	dir := t.TempDir()
	unlock, err := Lock(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Lock(ended, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("second lock: got %v, want canceled", err)
	}
	unlock()
	unlock, err = Lock(context.Background(), dir)
	if err != nil {
		t.Fatalf("lock after unlock: %v", err)
	}
	unlock()
}

func TestReplaceDirKeepsOldOnFailure(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken package")
	err := replaceDir(dir, func(string) error { return broken })
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("old folder: %v", err)
	}
	if _, err := os.Stat(dir + ".tmp"); !os.IsNotExist(err) {
		t.Errorf("temporary folder: got %v, want it gone", err)
	}
}

func TestCacheFromEnvironment(t *testing.T) {
	t.Setenv(CacheEnv, "/somewhere/cache")
	if got, err := Cache(); err != nil || got != "/somewhere/cache" {
		t.Errorf("set: got %q, %v", got, err)
	}
	t.Setenv(CacheEnv, "")
	top, err := Repository()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(top, "lab", "kernels")); err != nil {
		t.Errorf("repository: %v", err)
	}
	if got, err := Cache(); err != nil || got != filepath.Join(top, ".cache/lab") {
		t.Errorf("unset: got %q, %v", got, err)
	}
	t.Chdir(t.TempDir())
	if _, err := Cache(); err == nil {
		t.Error("outside a repository: got no error")
	}
}
