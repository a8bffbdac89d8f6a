package kernels

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/lab/tool"
)

// apt asks Debian's package lists, and downloads packages, without changing
// the host: packages go to the cache.
type apt struct {
	debs  string // where packages are downloaded to
	lists string // our own package lists
	own   bool   // whether our own lists are used instead of the host's
}

// newApt makes the folders that apt-get wants to find.
func newApt(ctx context.Context, cache string) (*apt, error) {
	a := &apt{
		debs:  filepath.Join(cache, "debs"),
		lists: filepath.Join(cache, "apt"),
	}
	for _, dir := range []string{a.debs, filepath.Join(a.lists, "lists/partial"),
		filepath.Join(a.lists, "cache/archives/partial")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("cache folder: %w", err)
		}
	}
	return a, nil
}

// options are apt's options: no drop to user _apt, which cannot write to the
// cache, and our own lists if the host's do not serve.
func (a *apt) options() []string {
	opts := []string{"-q", "-o", "APT::Sandbox::User=root",
		"-o", "Acquire::Retries=3", "-o", "Acquire::http::Timeout=60"}
	if a.own {
		opts = append(opts, "-o", "Dir::State::lists="+a.lists+"/lists",
			"-o", "Dir::Cache="+a.lists+"/cache")
	}
	return opts
}

// refresh switches to lists of our own and updates them. A plain user cannot
// update the host's, and a fresh machine has none.
func (a *apt) refresh(ctx context.Context) error {
	a.own = true
	unlock, err := Lock(ctx, a.lists)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = tool.Run(ctx, a.debs, "apt-get", append(a.options(), "update")...)
	return err
}

// download fetches a package of exactly that version and returns its file.
// apt-get checks the file against the signed lists, and a whole file that is
// here already is not fetched again.
func (a *apt) download(ctx context.Context, name, version string) (string, error) {
	unlock, err := Lock(ctx, a.debs)
	if err != nil {
		return "", err
	}
	defer unlock()
	args := func() []string {
		return append(a.options(), "download", name+"="+version)
	}
	_, err = tool.Run(ctx, a.debs, "apt-get", args()...)
	if err != nil && !a.own && ctx.Err() == nil {
		// The host's lists are old: the server has replaced the file.
		if err = a.refresh(ctx); err == nil {
			_, err = tool.Run(ctx, a.debs, "apt-get", args()...)
		}
	}
	if err != nil {
		return "", fmt.Errorf("download %s %s: %w", name, version, err)
	}
	// apt writes the colon of an epoch as %3a.
	pattern := name + "_" + strings.ReplaceAll(version, ":", "%3a") + "_*.deb"
	found, err := filepath.Glob(filepath.Join(a.debs, pattern))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("download %s: found %d files %q, want one", name,
			len(found), pattern)
	}
	return found[0], nil
}

// packages names the packages of one kernel. All are of one version.
type packages struct {
	release string   // "6.1.0-57-amd64"
	version string   // "6.1.192-3"
	image   string   // "linux-image-6.1.0-57-amd64"
	headers []string // what a module build needs unpacked in one tree
}

// resolve finds the packages of a series in the host's lists, or in fresh ones
// of our own if the host's do not have it.
func (a *apt) resolve(ctx context.Context, series string) (packages, error) {
	p, err := a.lookUp(ctx, series)
	if err != nil && !a.own && ctx.Err() == nil {
		if err := a.refresh(ctx); err != nil {
			return packages{}, err
		}
		return a.lookUp(ctx, series)
	}
	return p, err
}

func (a *apt) lookUp(ctx context.Context, series string) (packages, error) {
	var p packages
	// The series is the distribution's default, or an extra one of backports.
	for _, meta := range []string{"linux-image-" + series + "-amd64",
		"linux-image-amd64"} {
		for _, name := range a.depends(ctx, meta) {
			if release, ok := imageOf(name, series); ok {
				p.image, p.release = name, release
			}
		}
		if p.image != "" {
			break
		}
	}
	if p.image == "" {
		return p, fmt.Errorf("find image package: no %q package in the lists of "+
			"this host (needs Debian 12)", "linux-image-"+series+"*")
	}
	own := "linux-headers-" + p.release
	p.headers = append([]string{own}, headerParts(a.depends(ctx, own))...)
	if len(p.headers) != 3 {
		return p, fmt.Errorf("find headers of %s: got %q, want headers, common "+
			"headers and kbuild", p.release, p.headers)
	}
	out, err := tool.Run(ctx, a.debs, "apt-cache", append(a.options(), "show",
		"--no-all-versions", p.image)...)
	if err != nil {
		return p, err
	}
	p.version = field(out, "Version")
	if p.version == "" {
		return p, fmt.Errorf("find version of %s: no Version field", p.image)
	}
	return p, nil
}

// depends lists the direct dependencies of a package, none if it is unknown.
func (a *apt) depends(ctx context.Context, name string) []string {
	out, err := tool.Run(ctx, a.debs, "apt-cache", append(a.options(), "depends",
		name)...)
	if err != nil {
		return nil
	}
	return dependencies(out)
}
