package tool

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestNeedMissing(t *testing.T) {
	err := Need("no-such-program")
	if e, ok := errors.AsType[*MissingError](err); !ok || e.Tool != "no-such-program" {
		t.Errorf("got %v, want a MissingError", err)
	}
}

func TestRunReportsStandardError(t *testing.T) {
	_, err := Run(context.Background(), "", "sh", "-c", "echo why >&2; exit 3")
	if err == nil || !strings.Contains(err.Error(), "exit status 3: why") {
		t.Errorf("got %v, want exit status and text", err)
	}
}

func TestRunEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	cancel(enough)
	if _, err := Run(ctx, "", "sleep", "600"); !errors.Is(err, enough) {
		t.Errorf("got %v, want the cause of the cancellation", err)
	}
}

func TestTail(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", " \n", ""},
		{"one line", "why\n", ": why"},
		{"last lines", "1\n2\n3\n4\n5\n6\n7\n", ": 2; 3; 4; 5; 6; 7"},
		{"compiler", "x\na.c:1: error: no\n1\n2\n3\n4\n5\n6\n",
			": a.c:1: error: no"},
	} {
		if got := tail(c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
