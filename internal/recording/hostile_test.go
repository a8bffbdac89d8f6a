package recording

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// unpacked is the archive's members in order.
func unpacked(t testing.TB, archive []byte) []file {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	var files []file
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			return files
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(r); err != nil {
			t.Fatal(err)
		}
		files = append(files, file{h.Name, b.Bytes(), h.ModTime})
	}
}

func packed(t testing.TB, files []file) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writeArchive(&b, files); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sealed puts files behind a manifest that fits them.
func sealed(t testing.TB, files ...file) []byte {
	t.Helper()
	m := Manifest{Schema: Schema, Samples: []Sample{{Name: "t0", Began: time.Unix(1e9, 0)}}}
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		m.Members = append(m.Members, Member{f.name, int64(len(f.data)), hex.EncodeToString(sum[:])})
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return packed(t, append([]file{{name: manifestName, data: text}}, files...))
}

func idx(text string) file { return file{name: "t0/index.json", data: []byte(text)} }

func TestReadRefuses(t *testing.T) {
	good := unpacked(t, record(t))
	change := func(name string, f func([]byte) []byte) []byte {
		files := unpacked(t, record(t))
		for i := range files {
			if files[i].name == name {
				files[i].data = f(files[i].data)
			}
		}
		return packed(t, files)
	}
	replace := func(name, old, with string) []byte {
		return change(name, func(b []byte) []byte {
			if !bytes.Contains(b, []byte(old)) {
				t.Fatalf("%s does not hold %q", name, old)
			}
			return bytes.Replace(b, []byte(old), []byte(with), 1)
		})
	}
	const member = "t0/fs/sys/class/infiniband/mlx5_0/fw_ver"
	for _, tc := range []struct {
		name    string
		archive []byte
		want    string
	}{
		{"nothing", nil, "not a recording"},
		{"text", []byte("hello"), "not a recording"},
		{"gzip of text", gz("hello"), "not a recording"},
		{"a tar of something else", packed(t, []file{{name: "a", data: []byte("b")}}), "it has no manifest.json"},
		{"changed member", change(member, func([]byte) []byte { return []byte("29.9\n") }), member + `" has sha256`},
		{"longer member", change(member, func([]byte) []byte { return []byte("28.1.2\n") }), member + `" has 7 bytes, the manifest says 5`},
		{"missing member", packed(t, good[:len(good)-1]), "is missing: the manifest lists it"},
		{"member too many", packed(t, append(good[:len(good):len(good)], file{name: "t0/fs/more"})), `"t0/fs/more" is not in the manifest`},
		{"member twice", packed(t, append(good[:len(good):len(good)], good[1])), `"t0/index.json" is there twice`},
		{"broken manifest", change(manifestName, func([]byte) []byte { return []byte("{") }), "manifest.json: unexpected end"},
		{"later schema", replace(manifestName, `"schema": "1.0"`, `"schema": "2.0"`), `schema "2.0", this program reads 1.x`},
		{"no samples", replace(manifestName, `"t0"`, `"t7"`), `"t7/index.json" is missing`},
		{"sample twice", change(manifestName, sampleTwice), `sample "t0" is there twice`},
		{"path out of the archive", packed(t, []file{{name: "../../etc/passwd", data: []byte("x")}}), `"../../etc/passwd": want a plain path`},
		{"absolute path", packed(t, []file{{name: "/etc/passwd", data: []byte("x")}}), `"/etc/passwd": want a plain path`},
		{"broken index", sealed(t, idx(`{"ops": 7}`)), "t0/index.json: json"},
		{"unknown errno", sealed(t, idx(`{"ops": {"read:/a": {"errno": "EWHAT"}}}`)), `"read:/a": errno "EWHAT"`},
		{"index of nothing", sealed(t, idx(`{"ops": {"read:/a": {"member": "t0/fs/a"}}}`)), `"read:/a": member "t0/fs/a" is missing`},
		{"no index", sealed(t), `"t0/index.json" is missing`},
		{"link member", linkMember(t), `"evil" is of tar type`},
		{"bomb", bomb(t), "unpacks to more than 128 MiB"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Read(bytes.NewReader(tc.archive))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want …%s…", err, tc.want)
			}
		})
	}
}

func gz(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.Bytes()
}

// sampleTwice lists the first sample of a manifest again.
func sampleTwice(text []byte) []byte {
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		panic(err)
	}
	m.Samples = append(m.Samples, m.Samples[0])
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return text
}

func linkMember(t *testing.T) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "evil", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bomb unpacks to far more than it is long.
func bomb(t *testing.T) []byte {
	zeros := make([]byte, maxTotal/4)
	var files []file
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		files = append(files, file{name: name, data: zeros})
	}
	return packed(t, files)
}

func TestOpenNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tar.gz")
	if err := os.WriteFile(path, []byte("hello"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, ErrNotRecording) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v, want ErrNotRecording with the path", err)
	}
	if _, err := Open(path + ".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want it not to exist", err)
	}
}

func TestMemberNamesStayInside(t *testing.T) {
	for _, name := range []string{"", "/", "..", "/../..", "/sys/../etc", "a/./b", "\x00", "/a\\..\\b", strings.Repeat("/..", 40)} {
		for _, kind := range []hostio.Kind{hostio.ReadFile, hostio.Netlink, hostio.KernelLog, "../odd"} {
			h := &tar.Header{Name: "t0/" + memberName(kind, name), Typeflag: tar.TypeReg}
			if err := admit(h); err != nil {
				t.Errorf("%s %q: %v", kind, name, err)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(record(f, answers{"read:/a": data("b"), "dir:/c": {}}))
	f.Add(sealed(f, idx(`{"ops": {}}`)))
	f.Add(gz("hello"))
	f.Fuzz(func(t *testing.T, archive []byte) { tryAll(t, archive) })
}

// FuzzIndex lets the fuzzer past the hashes.
func FuzzIndex(f *testing.F) {
	f.Add(`{"ops": {"read:/a": {"member": "t0/x"}, "dir:/b": {"names": ["c"]}, "link:/d": {"link": "e"}}}`, "content")
	f.Add(`{"ops": {"stat:/a": {"json": {"mode": 1}}, "read:/b": {"errno": "errno 77"}}}`, "")
	f.Add(`{"ops": {"kmsg:": {"member": "t0/index.json", "truncated": true}}}`, "\x00")
	f.Fuzz(func(t *testing.T, index, member string) {
		tryAll(t, sealed(t, idx(index), file{name: "t0/x", data: []byte(member)}))
	})
}

func tryAll(t *testing.T, archive []byte) {
	r, err := Read(bytes.NewReader(archive))
	if err != nil {
		return
	}
	for {
		for key := range r.samples[r.at].Ops {
			hostio.One(t.Context(), r, opOf(key))
		}
		if !r.NextSample() {
			return
		}
	}
}
