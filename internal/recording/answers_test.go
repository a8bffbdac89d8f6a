package recording

import (
	"bytes"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// What answers are taken out of a recording can be written again, whatever
// their names.
func TestAnswersRoundTrip(t *testing.T) {
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	want := []Answers{{at, map[string]hostio.Result{
		"read:/sys/a":       {Data: []byte("1\n")},
		"read:/sys/\xff":    {Data: []byte("no UTF-8 in the name")},
		"read:/denied":      {Errno: syscall.EACCES},
		"link:/l":           {Data: []byte("../x")},
		"link:/odd":         {Data: []byte("../\xff")},
		"dir:/d":            {Data: []byte("a\nb\n")},
		"dir:/empty":        {},
		"stat:/s":           {Data: []byte(`{"mode":1}`)},
		"netlink:route/x.y": {Data: []byte{1, 2, 0xff}, Truncated: true},
		"kmsg:":             {TimedOut: true, NotTried: true},
		"system:uname":      {NotInForm: true},
	}}, {at.Add(time.Second), map[string]hostio.Result{"read:/sys/a": {Data: []byte("2\n")}}}}
	var b bytes.Buffer
	if err := Recorded(want).WriteTo(&b, About{Version: "test"}); err != nil {
		t.Fatal(err)
	}
	rep, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range [][]Answers{rep.Answers(), Recorded(want).Answers()} {
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-written +read):\n%s", diff)
		}
	}
}
