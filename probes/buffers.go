package probes

import (
	"bytes"
	"context"
	"os"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// buffers is the memory of a ladder, by pages: a canary, what the requester
// reaches at the responder, the requester's own, another canary. It is mapped
// until no queue pair is left that could write to it.
type buffers struct {
	mem  *verbs.Memory
	page int
	mr   *verbs.MR // the two pages in the middle
}

func newBuffers(lib *verbs.Library) (*buffers, error) {
	b := &buffers{page: os.Getpagesize()}
	var err error
	if b.mem, err = lib.Alloc(uint64(4 * b.page)); err != nil {
		return nil, err
	}
	b.wipe()
	return b, nil
}

// patterns of the canaries and of memory that nothing was written to.
const (
	canary  = 0xc5
	nothing = 0x3a
)

// wipe sets everything back.
func (b *buffers) wipe() {
	m := b.mem.Bytes()
	fill(m, nothing)
	fill(m[:b.page], canary)
	fill(m[3*b.page:], canary)
}

func fill(m []byte, v byte) {
	for i := range m {
		m[i] = v
	}
}

// whole reports whether every byte of m is v.
func whole(m []byte, v byte) bool {
	return bytes.Count(m, []byte{v}) == len(m)
}

func (b *buffers) target() []byte { return b.mem.Bytes()[b.page : 2*b.page] }
func (b *buffers) source() []byte { return b.mem.Bytes()[2*b.page : 3*b.page] }

// canaries reports whether the pages around are as they were.
func (b *buffers) canaries() bool {
	m := b.mem.Bytes()
	return whole(m[:b.page], canary) && whole(m[3*b.page:], canary)
}

func (b *buffers) close() {
	if b != nil {
		_ = b.mem.Close()
	}
}

// write puts a pattern that no other transfer has into m.
func pattern(m []byte, seed byte) {
	for i := range m {
		m[i] = seed + byte(i*7) ^ byte(i>>8)
	}
}

// arrives waits until got is want, where no completion tells that it is.
func arrives(ctx context.Context, got, want []byte) bool {
	for end := time.Now().Add(arrivalLimit); ; {
		if bytes.Equal(got, want) {
			return true
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return false
		}
		time.Sleep(200 * time.Microsecond)
	}
}
