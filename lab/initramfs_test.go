package lab

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// TestArchive reads an archive back with cpio(1), where there is one.
func TestArchive(t *testing.T) {
	var b bytes.Buffer
	a := newArchive(&b)
	a.dir("d")
	a.file("d/odd", 0o755, []byte("abc"))
	a.file("d/empty", 0o600, nil)
	a.close()
	if b.Len()%4 != 0 {
		t.Errorf("got %d bytes, want a multiple of 4", b.Len())
	}
	cpio, err := exec.LookPath("cpio")
	if err != nil {
		t.Skip("no cpio to read the archive with")
	}
	for _, tt := range []struct{ args, want string }{
		{"-t", "d\nd/odd\nd/empty\n"},
		{"-i --to-stdout d/odd", "abc"},
	} {
		cmd := exec.CommandContext(t.Context(), cpio,
			append([]string{"--quiet"}, strings.Fields(tt.args)...)...)
		cmd.Stdin = bytes.NewReader(b.Bytes())
		out, err := cmd.Output()
		if err != nil || string(out) != tt.want {
			t.Errorf("cpio %s: got %q, %v, want %q", tt.args, out, err, tt.want)
		}
	}
}
