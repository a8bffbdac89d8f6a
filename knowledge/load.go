package knowledge

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

//go:embed pitfalls
var embedded embed.FS

// shelf keeps the embedded pages that were asked for. Most runs need a few of
// them, and reading all costs more than the examination itself.
var shelf struct {
	sync.Mutex
	pages map[string]*Page
}

// Lookup returns the page of a code. The page is shared: it must not be
// changed.
func Lookup(code string) (*Page, bool) {
	if _, ok := LayerOf(code); !ok {
		return nil, false
	}
	shelf.Lock()
	defer shelf.Unlock()
	if p := shelf.pages[code]; p != nil {
		return p, true
	}
	file := code + ".md"
	text, err := embedded.ReadFile("pitfalls/" + file)
	if err != nil {
		return nil, false
	}
	p, err := parsePage(file, normal(text))
	if err != nil {
		panic(err) // A test proves that every page can be read.
	}
	if shelf.pages == nil {
		shelf.pages = map[string]*Page{}
	}
	shelf.pages[code] = p
	return p, true
}

// Pages returns every page, by layer from below and then by code.
func Pages() []*Page {
	var ps []*Page
	for _, l := range checks.Layers() {
		for _, c := range slices.Sorted(slices.Values(Codes[l])) {
			if p, ok := Lookup(c); ok {
				ps = append(ps, p)
			}
		}
	}
	return ps
}

// loadPages reads every CODE.md of a folder and checks the set. All errors of
// all pages are reported.
func loadPages(fsys fs.FS) (map[string]*Page, error) {
	files, err := fs.Glob(fsys, "*.md")
	if err != nil {
		return nil, err
	}
	ps := map[string]*Page{}
	var errs []error
	for _, f := range files {
		text, err := fs.ReadFile(fsys, f)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p, err := parsePage(f, normal(text))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if want := strings.TrimSuffix(path.Base(f), ".md"); p.Code != want {
			errs = append(errs, fmt.Errorf("%s:2: code %q: the file is named after %q", f, p.Code, want))
			continue
		}
		ps[p.Code] = p
	}
	if c := cycle(ps); c != nil {
		errs = append(errs, fmt.Errorf("explains goes in a circle: %s", strings.Join(c, " -> ")))
	}
	return ps, errors.Join(errs...)
}

// cycle returns a circle in the cause graph, its first code repeated at the
// end, or nil. It is the same one in every run.
func cycle(ps map[string]*Page) []string {
	const (
		unseen = iota
		onPath
		done
	)
	state := map[string]int{}
	var trail, found []string
	var visit func(string) bool
	visit = func(code string) bool {
		switch state[code] {
		case done:
			return false
		case onPath:
			found = append(slices.Clone(trail[slices.Index(trail, code):]), code)
			return true
		}
		state[code] = onPath
		trail = append(trail, code)
		if p := ps[code]; p != nil {
			for _, s := range p.Explains.scopes() {
				if slices.ContainsFunc(s.Codes, visit) {
					return true
				}
			}
		}
		trail = trail[:len(trail)-1]
		state[code] = done
		return false
	}
	codes := make([]string, 0, len(ps))
	for c := range ps {
		codes = append(codes, c)
	}
	slices.Sort(codes)
	if slices.ContainsFunc(codes, visit) {
		return found
	}
	return nil
}
