package collect

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// A batch gathers the reads of one level (all attributes of all devices, say)
// so that they cost one exchange, and hands each answer to its own func when
// it runs.
type batch struct {
	r    *Reader
	ops  []hostio.Op
	then []func(hostio.Result)
}

func (r *Reader) batch() *batch { return &batch{r: r} }

// mostReads bounds a batch: a thousand virtual functions with 256 GIDs each.
// What listings within listings would add in a hostile tree is left out.
const mostReads = 1 << 18

// add asks for op. Then is called with whatever comes of it.
func (b *batch) add(op hostio.Op, then func(hostio.Result)) {
	if len(b.ops) == mostReads {
		b.r.gap(string(b.r.src), facts.Malformed, "more to read than a real host has, the rest is left out")
		return
	}
	b.ops = append(b.ops, op)
	b.then = append(b.then, then)
}

// run does the reads. A batch runs once.
func (b *batch) run() {
	if len(b.ops) == 0 {
		return
	}
	for i, res := range b.r.Do(b.ops...) {
		b.then[i](res)
	}
}

// file asks for a file's text. Unread it is a gap.
func (b *batch) file(path string, then func(text string)) {
	b.add(hostio.Op{Kind: hostio.ReadFile, Name: path}, func(res hostio.Result) {
		if err := res.Err(); err != nil {
			b.r.Gap(path, err)
			return
		}
		then(res.Text())
	})
}

// fileIf asks for a file that many hosts rightly lack: an absent one is no gap.
func (b *batch) fileIf(path string, then func(text string)) {
	b.add(hostio.Op{Kind: hostio.ReadFile, Name: path}, func(res hostio.Result) {
		switch err := res.Err(); {
		case err == nil:
			then(res.Text())
		case !b.r.missing(err):
			b.r.Gap(path, err)
		}
	})
}

// dir asks for a directory's names.
func (b *batch) dir(path string, then func(names []string)) {
	b.add(hostio.Op{Kind: hostio.ReadDir, Name: path}, func(res hostio.Result) {
		if err := res.Err(); err != nil {
			b.r.Gap(path, err)
			return
		}
		then(b.r.bounded(path, res.Lines()))
	})
}

// dirIf is dir for one that many hosts rightly lack.
func (b *batch) dirIf(path string, then func(names []string)) {
	b.add(hostio.Op{Kind: hostio.ReadDir, Name: path}, func(res hostio.Result) {
		switch err := res.Err(); {
		case err == nil:
			then(b.r.bounded(path, res.Lines()))
		case !b.r.missing(err):
			b.r.Gap(path, err)
		}
	})
}

// linkIf asks for the target of a symbolic link. What is no link, as in a
// copied tree that followed it, is passed over like an absent one.
func (b *batch) linkIf(path string, then func(target string)) {
	b.add(hostio.Op{Kind: hostio.ReadLink, Name: path}, func(res hostio.Result) {
		err := res.Err()
		if err == nil {
			then(res.Text())
			return
		}
		if kind, _ := classify(err); kind == facts.Denied || kind == facts.Timeout {
			b.r.Gap(path, err)
		}
	})
}

// absent reports whether err says that a file is not there.
func absent(err error) bool {
	kind, _ := classify(err)
	return kind == facts.Absent
}

// missing reports whether err says that a file which may rightly be absent is
// so. A copied tree or a recording holds what there was.
func (r *Reader) missing(err error) bool {
	return absent(err) || errors.Is(err, hostio.ErrNotInForm) && r.Snap.Origin != facts.Live
}

// nothing records that no part of a source whose files may all be absent was
// there.
func (r *Reader) nothing(what string) {
	if r.Snap.Origin == facts.Live {
		r.gap(what, facts.Absent, "ENOENT")
		return
	}
	r.gap(what, facts.Unsupported, facts.NotInForm)
}

// mostNames bounds one directory: a GID table has up to 1,024 slots, a busy
// host some thousand PCI functions, processes and interfaces. Past it a tree
// is hostile or not what it says.
const mostNames = 16384

// bounded takes names out of a listing that no kernel makes and that would
// lead a path astray or break a terminal, and cuts one that is longer than any
// real one.
func (r *Reader) bounded(path string, names []string) []string {
	plain := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return name == "" || name == "." || name == ".." || !utf8.ValidString(name) ||
			strings.ContainsFunc(name, func(c rune) bool { return c == '/' || unicode.IsControl(c) })
	})
	if n := len(names) - len(plain); n > 0 {
		r.gap(path, facts.Malformed, fmt.Sprintf("%d names are not plain text", n))
	}
	if len(plain) > mostNames {
		r.gap(path, facts.Malformed, fmt.Sprintf("%d entries, of which %d were looked at", len(plain), mostNames))
		plain = plain[:mostNames]
	}
	return plain
}

// attr asks for one attribute and stores it in dst. What cannot be read, or is
// not in the form that parse wants, is a gap.
func attr[T any](b *batch, path string, dst *facts.Opt[T], parse func(string) (T, error)) {
	b.file(path, func(text string) { store(b.r, path, text, dst, parse) })
}

// attrIf is attr for a file that many hosts rightly lack.
func attrIf[T any](b *batch, path string, dst *facts.Opt[T], parse func(string) (T, error)) {
	b.fileIf(path, func(text string) { store(b.r, path, text, dst, parse) })
}

func store[T any](r *Reader, path, text string, dst *facts.Opt[T], parse func(string) (T, error)) {
	switch v, err := parse(text); {
	case err == nil:
		*dst = facts.Some(v)
	case !errors.Is(err, errNoValue):
		r.Malformed(path, text, err.Error())
	}
}
