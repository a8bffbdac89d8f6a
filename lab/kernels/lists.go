package kernels

import "strings"

// dependencies reads the output of apt-cache depends: the names behind
// "Depends:", alternatives ("|Depends:") too, virtual packages (<name>) not.
func dependencies(out string) []string {
	var names []string
	for line := range strings.Lines(out) {
		kind, name, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.TrimPrefix(kind, "|") != "Depends" {
			continue
		}
		if name != "" && !strings.HasPrefix(name, "<") {
			names = append(names, name)
		}
	}
	return names
}

// imageOf returns the release that an image package is for, if it is of that
// series: "linux-image-6.1.0-57-amd64" is of "6.1", not of "6". Images for
// special use, as in "-rt-amd64" and "-cloud-amd64", are not meant.
func imageOf(name, series string) (release string, ok bool) {
	release, ok = strings.CutPrefix(name, "linux-image-")
	if !ok || !strings.HasPrefix(release, series+".") {
		return "", false
	}
	plain := strings.TrimSuffix(release, "-amd64")
	if plain == release || strings.HasSuffix(plain, "-rt") ||
		strings.HasSuffix(plain, "-cloud") {
		return "", false
	}
	return release, true
}

// headerParts picks, of the dependencies of linux-headers-RELEASE, the ones
// that a module build reads: the headers common to all flavours, and kbuild's
// programs. The image, which 6.12's headers depend on too, is none of them.
func headerParts(names []string) []string {
	var parts []string
	for _, name := range names {
		common := strings.HasPrefix(name, "linux-headers-") &&
			strings.HasSuffix(name, "-common")
		if common || strings.HasPrefix(name, "linux-kbuild-") {
			parts = append(parts, name)
		}
	}
	return parts
}

// field returns the value of a one-line field in the first stanza of a
// package's description, "" if it is absent.
func field(stanza, name string) string {
	for line := range strings.Lines(stanza) {
		if strings.TrimSpace(line) == "" {
			break
		}
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
