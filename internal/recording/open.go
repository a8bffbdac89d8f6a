package recording

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// Limits of what is read, so that a hostile archive cannot fill memory. A
// recording of a large host is a few megabytes.
const (
	maxTotal   = 128 << 20 // bytes, unpacked
	maxMembers = 200_000
	maxSamples = 10_000
)

// ErrNotRecording is what Read says of something else.
var ErrNotRecording = errors.New("not a recording: want a tar.gz that rdmadoctor record wrote")

// Open reads the recording at path.
func Open(path string) (*Replay, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open recording: %w", err)
	}
	defer f.Close()
	r, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("open recording %q: %w", path, err)
	}
	return r, nil
}

// IsRecording tells by a file's first bytes whether Read is worth trying.
func IsRecording(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

// Read reads an archive. One that was cut off is used as far as it goes, if its
// manifest and the first index are there: Damage says what is missing. One
// whose content is not what its manifest says is refused.
func Read(r io.Reader) (*Replay, error) {
	z, err := gzip.NewReader(bufio.NewReader(r))
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.EOF) {
		return nil, ErrNotRecording
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotRecording, err)
	}
	members, cut, err := unpack(tar.NewReader(z))
	if err != nil {
		return nil, err
	}
	m, err := manifestOf(members, cut)
	if err != nil {
		return nil, err
	}
	missing, err := verify(m, members)
	if err != nil {
		return nil, err
	}
	rep := &Replay{manifest: *m, members: members}
	switch {
	case cut != nil:
		rep.damage = fmt.Sprintf("it was cut off (%v): %d of %d members are missing", cut, len(missing), len(m.Members))
	case len(missing) > 0:
		return nil, fmt.Errorf("member %q is missing: the manifest lists it", missing[0])
	}
	if err := rep.load(); err != nil {
		return nil, err
	}
	return rep, nil
}

// unpack reads the members. cut is why the archive ended early, if it did;
// what was read until then is whole.
func unpack(t *tar.Reader) (members map[string][]byte, cut, err error) {
	members = map[string][]byte{}
	var total int64
	for {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return members, nil, nil
		case err != nil && len(members) == 0:
			return nil, nil, fmt.Errorf("%w: read its first member: %w", ErrNotRecording, err)
		case err != nil:
			return members, err, nil
		case h.Typeflag == tar.TypeDir:
			continue
		}
		if err := admit(h); err != nil {
			return nil, nil, err
		}
		if _, twice := members[h.Name]; twice {
			return nil, nil, fmt.Errorf("member %q is there twice", h.Name)
		}
		total += h.Size
		if total > maxTotal || len(members) == maxMembers {
			return nil, nil, fmt.Errorf("member %q: the archive unpacks to more than %d MiB or %d members", h.Name, maxTotal>>20, maxMembers)
		}
		// Not make(h.Size): the header may promise more than follows.
		var b bytes.Buffer
		if n, err := io.Copy(&b, io.LimitReader(t, h.Size)); err != nil || n < h.Size {
			if err == nil {
				err = io.ErrUnexpectedEOF
			}
			if len(members) == 0 {
				return nil, nil, fmt.Errorf("%w: read its first member %q: %w", ErrNotRecording, h.Name, err)
			}
			return members, err, nil
		}
		members[h.Name] = b.Bytes()
	}
}

// admit refuses members that no recording has. Nothing is unpacked to disk, but
// a name that leads out of the archive was made by someone who hoped it is.
func admit(h *tar.Header) error {
	if h.Typeflag != tar.TypeReg {
		return fmt.Errorf("member %q is of tar type %q, want a regular file", h.Name, h.Typeflag)
	}
	if h.Name == "" || path.IsAbs(h.Name) || path.Clean(h.Name) != h.Name || h.Name == ".." ||
		strings.HasPrefix(h.Name, "../") || strings.Contains(h.Name, `\`) {
		return fmt.Errorf("member %q: want a plain path below the archive's top", h.Name)
	}
	if h.Size < 0 || h.Size > maxTotal {
		return fmt.Errorf("member %q has %d bytes, want at most %d", h.Name, h.Size, maxTotal)
	}
	return nil
}

func manifestOf(members map[string][]byte, cut error) (*Manifest, error) {
	text, ok := members[manifestName]
	if !ok && cut != nil {
		return nil, fmt.Errorf("it was cut off (%w) before its %s", cut, manifestName)
	}
	if !ok {
		return nil, fmt.Errorf("%w: it has no %s", ErrNotRecording, manifestName)
	}
	delete(members, manifestName)
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, err)
	}
	major, _, _ := strings.Cut(Schema, ".")
	if v, _, _ := strings.Cut(m.Schema, "."); v != major {
		return nil, fmt.Errorf("%s: schema %q, this program reads %s.x", manifestName, m.Schema, major)
	}
	if n := len(m.Samples); n == 0 || n > maxSamples {
		return nil, fmt.Errorf("%s: %d samples, want 1 to %d", manifestName, n, maxSamples)
	}
	// A sample that is listed a thousand times would be held in memory as often.
	seen := map[string]bool{}
	for _, sample := range m.Samples {
		if seen[sample.Name] {
			return nil, fmt.Errorf("%s: sample %q is there twice", manifestName, sample.Name)
		}
		seen[sample.Name] = true
	}
	return &m, nil
}

// verify compares the members with the manifest and names those not there.
func verify(m *Manifest, members map[string][]byte) (missing []string, err error) {
	listed := map[string]bool{}
	for _, want := range m.Members {
		listed[want.Name] = true
		data, ok := members[want.Name]
		if !ok {
			missing = append(missing, want.Name)
			continue
		}
		if int64(len(data)) != want.Size {
			return nil, fmt.Errorf("member %q has %d bytes, the manifest says %d", want.Name, len(data), want.Size)
		}
		sum := sha256.Sum256(data)
		if got := hex.EncodeToString(sum[:]); got != want.SHA256 {
			return nil, fmt.Errorf("member %q has sha256 %s, the manifest says %s", want.Name, got, want.SHA256)
		}
	}
	for name := range members {
		if !listed[name] {
			return nil, fmt.Errorf("member %q is not in the manifest", name)
		}
	}
	return missing, nil
}
