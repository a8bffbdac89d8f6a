package knowledge

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestReadme: the tables name every key and every value there is.
func TestReadme(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, v := range []reflect.Type{reflect.TypeFor[Page](), reflect.TypeFor[Explains](), reflect.TypeFor[Remedy](), reflect.TypeFor[Line]()} {
		for i := range v.NumField() {
			if tag := v.Field(i).Tag.Get("yaml"); tag != "-" {
				words = append(words, tag)
			}
		}
	}
	for _, p := range Places {
		words = append(words, string(p))
	}
	for _, d := range Disruptions {
		words = append(words, string(d))
	}
	for _, i := range impacts {
		words = append(words, string(i))
	}
	for _, c := range confidences {
		words = append(words, string(c))
	}
	for _, w := range words {
		if !strings.Contains(string(b), "`"+w+"`") {
			t.Errorf("%q is not in the README", w)
		}
	}
}
