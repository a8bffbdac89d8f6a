package kernels

import (
	"slices"
	"strings"
	"testing"
)

func TestDependencies(t *testing.T) {
	for _, c := range []struct {
		name, out string
		want      []string
	}{
		{"plain", "linux-image-amd64\n  Depends: linux-image-6.1.0-57-amd64\n",
			[]string{"linux-image-6.1.0-57-amd64"}},
		{"alternatives and virtual", "x\n |Depends: a\n  Depends: b\n" +
			"  Depends: <c>\n    d\n  Breaks: e\n", []string{"a", "b"}},
		{"empty", "", nil},
		{"cut", "x\n  Depends:", nil},
		{"nameless", "x\n  Depends: \n", nil},
		{"no newline", "  Depends: a", []string{"a"}},
	} {
		if got := dependencies(c.out); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestImageOf(t *testing.T) {
	for _, c := range []struct {
		name, series, want string
	}{
		{"linux-image-6.1.0-57-amd64", "6.1", "6.1.0-57-amd64"},
		{"linux-image-6.12.117+deb12-amd64", "6.12", "6.12.117+deb12-amd64"},
		{"linux-image-6.12.117+deb12-amd64", "6.1", ""},
		{"linux-image-6.12.117+deb12-rt-amd64", "6.12", ""},
		{"linux-image-6.1.0-57-cloud-amd64", "6.1", ""},
		{"linux-image-6.1.0-57-arm64", "6.1", ""},
		{"linux-headers-6.1.0-57-amd64", "6.1", ""},
		{"linux-image-6.1", "6.1", ""},
		{"", "6.1", ""},
	} {
		got, ok := imageOf(c.name, c.series)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("imageOf(%q, %q) = %q, %v, want %q", c.name, c.series, got,
				ok, c.want)
		}
	}
}

func TestHeaderParts(t *testing.T) {
	got := headerParts([]string{"linux-base", "linux-headers-6.12.117+deb12-common",
		"linux-image-6.12.117+deb12-amd64", "linux-kbuild-6.12.117+deb12", "gcc-12"})
	want := []string{"linux-headers-6.12.117+deb12-common",
		"linux-kbuild-6.12.117+deb12"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestField(t *testing.T) {
	stanza := "Package: a\nVersion: 6.1.192-3\nDescription: x\n Version: no\n\n" +
		"Package: b\nSize: 7\n"
	for name, want := range map[string]string{"Version": "6.1.192-3",
		"Package": "a", "Size": "", "Vers": ""} {
		if got := field(stanza, name); got != want {
			t.Errorf("field %s: got %q, want %q", name, got, want)
		}
	}
}

func TestRelocate(t *testing.T) {
	got := relocate("include /usr/src/linux-headers-6.12-common/Makefile\n", "/c")
	want := "include /c/usr/src/linux-headers-6.12-common/Makefile\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzLists(f *testing.F) {
	f.Add("linux-image-amd64\n  Depends: linux-image-6.1.0-57-amd64\n")
	f.Add(" |Depends: a\n  Depends: <c>\n")
	f.Add("Depends")
	f.Add("Version: 1\n\nVersion: 2\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, name := range dependencies(s) {
			if name == "" || name[0] == '<' || strings.Contains(name, "\n") {
				t.Errorf("dependency %q", name)
			}
			if release, ok := imageOf(name, "6.1"); ok && !strings.HasPrefix(release, "6.1.") {
				t.Errorf("release %q of %q", release, name)
			}
		}
		if v := field(s, "Version"); strings.Contains(v, "\n") {
			t.Errorf("version %q spans lines", v)
		}
	})
}
