// Package recording keeps what a host answered, so that it can be examined
// again elsewhere. A recording is a tar.gz:
//
//	manifest.json            what it is, and each member's size and sha256
//	t0/index.json            every read of the first sample by its key, and what came of it
//	t0/fs/PATH               a file as read
//	t0/netlink/FAMILY-REQUEST.bin, t0/KIND/NAME
//	                         the raw answers of the other reads
//	t1/...                   the second sample, if there is one
//
// Manifest and indexes come first, so that a recording that was cut off still
// tells what it lacks.
package recording

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// Schema is the version of the archive's form. Within a major version fields
// and members are only added.
const Schema = "1.0"

const manifestName = "manifest.json"

// Manifest says what a recording is.
type Manifest struct {
	Schema  string         `json:"schema"`
	Tool    string         `json:"tool"`
	Version string         `json:"version"`
	Host    string         `json:"host"`
	Samples []Sample       `json:"samples"`
	Sources []facts.Source `json:"sources"` // read at least partly
	// Elapsed is how far apart each source's two readings were.
	Elapsed map[facts.Source]time.Duration `json:"elapsed_nanos,omitempty"`
	Members []Member                       `json:"members"` // all but the manifest itself, in the order of the archive
}

// Sample is one reading of the host.
type Sample struct {
	Name  string    `json:"name"` // the folder, "t0"
	Began time.Time `json:"began"`
}

// Member is one file of the archive.
type Member struct {
	Name   string `json:"name"`
	Size   int64  `json:"size_bytes"`
	SHA256 string `json:"sha256"`
}

// index is t0/index.json: the reads of one sample by keyText.
type index struct {
	Ops map[string]entry `json:"ops"`
}

// keyText is the key of a read as JSON can hold it.
func keyText(op hostio.Op) string {
	if key := op.Key(); !utf8.ValidString(key) {
		return strconv.QuoteToASCII(key)
	}
	return op.Key()
}

// entry is what became of one read. Small answers are in the entry, so that
// the index alone shows a directory, a link or a failure.
type entry struct {
	Member    string          `json:"member,omitempty"` // where the data is
	Link      *string         `json:"link,omitempty"`   // ReadLink
	Names     *[]string       `json:"names,omitempty"`  // ReadDir
	JSON      json.RawMessage `json:"json,omitempty"`   // Stat
	Errno     string          `json:"errno,omitempty"`  // its name: numbers differ between machines
	TimedOut  bool            `json:"timed_out,omitempty"`
	NotTried  bool            `json:"not_tried,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
	NotInForm bool            `json:"not_in_form,omitempty"`
}

// memberName is where an answer's data goes within its sample.
func memberName(kind hostio.Kind, name string) string {
	switch kind {
	case hostio.ReadFile:
		return "fs/" + safePath(strings.TrimLeft(name, "/"))
	case hostio.Netlink:
		family, request, _ := strings.Cut(name, "/")
		return "netlink/" + safeElement(family) + "-" + safeElement(request) + ".bin"
	}
	if name == "" {
		return safeElement(string(kind)) + ".bin"
	}
	return safeElement(string(kind)) + "/" + safePath(name)
}

// safePath makes a path that stays where it is put, whatever unpacks it.
func safePath(p string) string {
	var parts []string
	for part := range strings.SplitSeq(p, "/") {
		if part != "" {
			parts = append(parts, safeElement(part))
		}
	}
	if len(parts) == 0 {
		return "%"
	}
	return strings.Join(parts, "/")
}

// safeElement escapes what a file name should not hold, as URLs do.
func safeElement(s string) string {
	if s == "" {
		return "%"
	}
	dots := strings.Trim(s, ".") == ""
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.' && dots:
			b.WriteString("%2E")
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("._:@+=,-", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// errnoName spells an errno so that errnoByName finds it again.
func errnoName(e syscall.Errno) string {
	if e == 0 {
		return ""
	}
	if n := unix.ErrnoName(e); n != "" {
		return n
	}
	return fmt.Sprintf("errno %d", int(e))
}

func errnoByName(name string) (syscall.Errno, bool) {
	if name == "" {
		return 0, true
	}
	var n int
	if _, err := fmt.Sscanf(name, "errno %d", &n); err == nil && n > 0 && n < 4096 {
		return syscall.Errno(n), true
	}
	e, ok := errnos()[name]
	return e, ok
}

// errnos are the names that this machine knows.
var errnos = sync.OnceValue(func() map[string]syscall.Errno {
	m := map[string]syscall.Errno{}
	for e := syscall.Errno(1); e < 256; e++ {
		if n := unix.ErrnoName(e); n != "" {
			m[n] = e
		}
	}
	return m
})
