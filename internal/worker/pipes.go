package worker

import (
	"bufio"
	"io"
	"os"
	"sync"
)

// pipes are the two ends of what a process reads, writes and says.
type pipes struct {
	in, out, log                *os.File // of the parent
	childIn, childOut, childLog *os.File
}

func makePipes() (*pipes, error) {
	p := &pipes{}
	var err error
	if p.childIn, p.in, err = os.Pipe(); err == nil {
		if p.out, p.childOut, err = os.Pipe(); err == nil {
			p.log, p.childLog, err = os.Pipe()
		}
	}
	if err != nil {
		p.closeChild()
		p.closeParent()
		return nil, err
	}
	return p, nil
}

func (p *pipes) closeChild()  { closeAll(p.childIn, p.childOut, p.childLog) }
func (p *pipes) closeParent() { closeAll(p.in, p.out, p.log) }

func closeAll(fs ...*os.File) {
	for _, f := range fs {
		if f != nil {
			_ = f.Close()
		}
	}
}

func newReader(f *os.File) io.Reader { return bufio.NewReaderSize(f, 64<<10) }

// tail keeps the first and the last of what is written into a pipe: libraries
// warn at the start, and the Go runtime says first what ended it.
type tail struct {
	mu          sync.Mutex
	first, last []byte
	cut         bool
}

const tailKept = 4 << 10 // bytes, of each

func (t *tail) read(f *os.File) {
	buf := make([]byte, 4<<10)
	for {
		n, err := f.Read(buf)
		t.mu.Lock()
		head := min(n, tailKept-len(t.first))
		t.first = append(t.first, buf[:head]...)
		t.last = append(t.last, buf[head:n]...)
		if over := len(t.last) - tailKept; over > 0 {
			t.last, t.cut = append(t.last[:0], t.last[over:]...), true
		}
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cut {
		return string(t.first) + "\n...\n" + string(t.last)
	}
	return string(t.first) + string(t.last)
}
