package peer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Bounds of what the far host may print before the far end runs: login shells
// greet, and some print a lot.
const (
	maxLine  = 4 << 10
	maxNoise = 64 << 10 // bytes
)

// Ready is the line that a far end writes to standard output before it speaks
// the protocol there.
const Ready = "rdmadoctor far end"

// boot is the conversation with start.sh.
type boot struct {
	ssh    SSH
	client *client
	nonce  string
	out    *bufio.Reader
	noise  int
	last   string // printed by others
}

// word is a line of start.sh that says why it goes no further, or how the far
// end has ended.
type word struct{ name, rest string }

func (w word) Error() string { return strings.TrimSpace(w.name + " " + w.rest) }

var (
	errNoise   = errors.New("the far host prints without end")
	errMachine = errors.New("the far host is of another kind")
)

// run goes through it until the far end speaks.
func (b *boot) run(binary io.Reader, size int64) (notes []string, err error) {
	ready, err := b.expect("ready")
	if err != nil {
		return nil, err
	}
	f := strings.Fields(ready.rest)
	if len(f) < 2 || f[0] != "Linux" || f[1] != b.ssh.machine() {
		return nil, fmt.Errorf("%w: %s", errMachine, strings.Join(f[:min(len(f), 2)], " "))
	}
	for _, place := range f[2:] {
		if dir, ok := strings.CutSuffix(place, ":noexec"); ok {
			notes = append(notes, "no program may be run from "+dir+" (noexec)")
		}
	}
	if _, err := io.CopyN(b.client.in, binary, size); err != nil {
		// Why it takes no more is what it says last.
		if _, said := b.expect("copied"); errors.As(said, new(word)) {
			return nil, said
		}
		return nil, err
	}
	if _, err := b.expect("copied"); err != nil {
		return nil, err
	}
	for {
		line, err := b.line()
		if err != nil {
			return nil, err
		}
		if line == Ready {
			return notes, nil
		}
		if w, ok := b.word(line); ok {
			return nil, w
		}
	}
}

// expect reads to the line of start.sh with that name.
func (b *boot) expect(name string) (word, error) {
	for {
		line, err := b.line()
		if err != nil {
			return word{}, err
		}
		if w, ok := b.word(line); ok {
			if w.name != name {
				return w, w
			}
			return w, nil
		}
	}
}

func (b *boot) word(line string) (word, bool) {
	// A banner without a newline may stand before it.
	_, rest, ok := strings.Cut(line, "rdmadoctor-"+b.nonce+" ")
	if !ok {
		return word{}, false
	}
	name, rest, _ := strings.Cut(rest, " ")
	return word{name, rest}, true
}

// line reads a line, or the end of one that is too long.
func (b *boot) line() (string, error) {
	text, err := b.out.ReadSlice('\n')
	if b.noise += len(text); b.noise > maxNoise {
		return "", errNoise
	}
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
		return "", err
	}
	line := strings.TrimRight(string(text), "\r\n")
	if line != "" && !strings.Contains(line, b.nonce) {
		b.last = line
	}
	return line, nil
}

// explain turns what went wrong into what a person can act upon.
func (b *boot) explain(err error, late bool) error {
	e := &StartError{Host: b.ssh.Host, Said: b.client.said.text()}
	var w word
	switch {
	case late:
		e.What = fmt.Sprintf("it did not begin within %v", b.ssh.Begin)
		e.Hint = "does ssh " + b.ssh.Host + " true end by itself?"
		if b.last != "" {
			e.What += ", and printed " + quoted(b.last)
		}
	case errors.Is(err, errNoise):
		e.What, e.Hint = err.Error(), "a login script there prints to standard output; it should do so for terminals only"
	case errors.Is(err, errMachine):
		_, kind, _ := strings.Cut(err.Error(), ": ")
		e.What = fmt.Sprintf("it is %s, and this binary is for Linux %s", quoted(kind), b.ssh.machine())
		e.Hint = "start an rdmadoctor built for it there: rdmadoctor agent --listen ADDRESS:PORT"
	case errors.As(err, &w):
		e.What, e.Hint = w.explain()
	default:
		e.What, e.Hint = b.ended()
	}
	return e
}

func (w word) explain() (what, hint string) {
	switch w.name {
	case "missing":
		return fmt.Sprintf("there is no %s there", quoted(w.rest)), "install coreutils or busybox there, or start it there: rdmadoctor agent --listen ADDRESS:PORT"
	case "nowhere":
		return "there is no folder from which a program may be run:" + quoted(w.rest), "set TMPDIR there to one that is writable and not mounted noexec"
	case "short":
		return "the copy was cut off: is the disk full there? (" + quoted(w.rest) + ")", "free some space there, or set TMPDIR"
	case "ended":
		return "the copy does not run there, exit code " + quoted(w.rest), "it needs glibc as new as here; a build with CGO_ENABLED=0 needs none, but has no probes"
	}
	return "it said " + quoted(w.Error()), ""
}

// ended says why ssh ended before there was a far end.
func (b *boot) ended() (what, hint string) {
	said := b.client.said.text()
	for _, k := range []struct{ text, what, hint string }{
		{"Permission denied", "ssh may not log in", "try ssh " + b.ssh.Host + " true; a key or an agent is needed, or a terminal to ask at"},
		{"Host key verification failed", "its host key is not known or has changed", "try ssh " + b.ssh.Host + " true"},
		{"Could not resolve hostname", "the name is not known", ""},
		{"Connection refused", "nothing listens at ssh's port there", ""},
		{"Connection timed out", "no answer at ssh's port", ""},
		{"No route to host", "no route to it", ""},
		{"Cannot execute command-line and remote command", "the user's ssh configuration has a RemoteCommand for it", "leave that out for this host"},
	} {
		if strings.Contains(said, k.text) {
			return k.what, k.hint
		}
	}
	what = "ssh ended before anything ran there"
	if b.last != "" {
		what += "; the far host printed " + quoted(b.last)
	}
	return what, "try ssh " + b.ssh.Host + " true"
}

func quoted(s string) string { return fmt.Sprintf("%q", clip(s, maxWords*2)) }

// lastWords keeps the last of what is written to it.
type lastWords struct {
	mu   sync.Mutex
	last []byte
}

const wordsKept = 1 << 10 // bytes

func (l *lastWords) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = append(l.last, b...)
	if over := len(l.last) - wordsKept; over > 0 {
		l.last = append(l.last[:0], l.last[over:]...)
	}
	return len(b), nil
}

func (l *lastWords) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(bytes.TrimSpace(l.last))
}
