package verbs

import (
	"fmt"
	"os"
	"testing"
)

// A handle that is open when the tests end was leaked.
func TestMain(m *testing.M) {
	code := m.Run()
	if live := Live(); len(live) > 0 {
		fmt.Fprintf(os.Stderr, "handles left open: %v\n", live)
		code = 99
	}
	os.Exit(code)
}
