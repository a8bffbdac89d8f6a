// Package collect reads a host into a Snapshot. One file reads one source. A
// collector only reads: what it finds is not judged here, and what it cannot
// read becomes a gap, never an end.
package collect

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// A Collector reads one source into a snapshot.
type Collector struct {
	Source facts.Source
	// After orders collectors that build on what others found (ports before
	// their counters): lower first.
	After int
	// Read fills the snapshot from the first sample.
	Read func(*Reader)
	// Again re-reads what moves, into the Last half of counters and states. Nil:
	// nothing moves.
	Again func(*Reader)
}

var registry []Collector

func register(c Collector) Collector {
	registry = append(registry, c)
	return c
}

// All returns the collectors in the order they run.
func All() []Collector {
	cs := slices.Clone(registry)
	slices.SortStableFunc(cs, func(a, b Collector) int {
		if a.After != b.After {
			return a.After - b.After
		}
		return strings.Compare(string(a.Source), string(b.Source))
	})
	return cs
}

// A Reader is what one collector works with during one sample.
type Reader struct {
	ctx  context.Context
	host hostio.Host
	src  facts.Source
	Snap *facts.Snapshot

	seen  map[facts.Gap]bool // gaps of the snapshot, made at the first gap
	added int
}

// Have notes that the collector's source was read at least partly.
func (r *Reader) Have() {
	if !r.Snap.Has(r.src) {
		r.Snap.Sources = append(r.Snap.Sources, r.src)
	}
}

// Do answers a batch of ops. One batch costs one exchange with the reading
// child, so collectors ask for many files at once.
func (r *Reader) Do(ops ...hostio.Op) []hostio.Result { return r.host.Do(r.ctx, ops) }

// File reads one file.
func (r *Reader) File(path string) hostio.Result {
	return hostio.One(r.ctx, r.host, hostio.Op{Kind: hostio.ReadFile, Name: path})
}

// Dir lists a directory, names sorted.
func (r *Reader) Dir(path string) ([]string, error) {
	res := hostio.One(r.ctx, r.host, hostio.Op{Kind: hostio.ReadDir, Name: path})
	return res.Lines(), res.Err()
}

// Files reads many files in one batch.
func (r *Reader) Files(paths ...string) []hostio.Result {
	ops := make([]hostio.Op, len(paths))
	for i, p := range paths {
		ops[i] = hostio.Op{Kind: hostio.ReadFile, Name: p}
	}
	return r.Do(ops...)
}

// Gap records that what could not be read, and why.
func (r *Reader) Gap(what string, err error) {
	if errors.Is(err, hostio.ErrNotInForm) && r.Snap.Origin != facts.Live {
		// What a copied tree or a recording does not hold is one gap for the
		// source, not one for each of its files.
		what = string(r.src)
	}
	kind, detail := classify(err)
	r.gap(what, kind, detail)
}

// Malformed records that what held text in another form than expected.
func (r *Reader) Malformed(what, text, want string) {
	if len(text) > 80 {
		text = text[:80] + "…"
	}
	r.gap(what, facts.Malformed, "found "+quote(text)+", want "+want)
}

// mostGaps bounds what one collector adds. Past it a host is not what it says,
// and more gaps say no more.
const mostGaps = 2000

func (r *Reader) gap(what string, kind facts.GapKind, detail string) {
	if r.seen == nil {
		r.seen = map[facts.Gap]bool{}
		for _, g := range r.Snap.Gaps {
			r.seen[g] = true
		}
	}
	if r.added == mostGaps {
		what, kind, detail = string(r.src), facts.Malformed, "further gaps are left out"
	}
	g := facts.Gap{Source: r.src, What: what, Kind: kind, Detail: detail}
	if !r.seen[g] {
		r.seen[g] = true
		r.Snap.Gaps = append(r.Snap.Gaps, g)
		r.added = min(r.added+1, mostGaps)
	}
}

// classify turns a read error into the kind of gap it makes.
func classify(err error) (facts.GapKind, string) {
	switch {
	case err == hostio.ErrNotTried:
		return facts.Timeout, facts.NotAsked
	case errors.Is(err, hostio.ErrTimedOut):
		return facts.Timeout, facts.NoAnswer
	case errors.Is(err, hostio.ErrNotInForm):
		return facts.Unsupported, facts.NotInForm
	case errors.Is(err, hostio.ErrTruncated):
		return facts.Malformed, err.Error()
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.ENOTDIR):
		return facts.Absent, errnoName(err)
	case errors.Is(err, fs.ErrPermission):
		return facts.Denied, errnoName(err)
	case errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EPROTONOSUPPORT),
		errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOTTY), errors.Is(err, syscall.EAFNOSUPPORT):
		return facts.Unsupported, errnoName(err)
	}
	return facts.Malformed, errnoName(err)
}
