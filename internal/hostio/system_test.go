package hostio

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestLiveSystem(t *testing.T) {
	var u Uname
	if r := live(t, System, "uname"); r.Err() != nil || json.Unmarshal(r.Data, &u) != nil || u.Release == "" || u.Machine == "" {
		t.Errorf("uname %+v from %+v", u, r)
	}
	var ids IDs
	if r := live(t, System, "ids"); r.Err() != nil || json.Unmarshal(r.Data, &ids) != nil || ids.PID != os.Getpid() || ids.UID != os.Geteuid() {
		t.Errorf("ids %+v from %+v", ids, r)
	}
	var ns int64
	if r := live(t, System, "monotonic"); r.Err() != nil || json.Unmarshal(r.Data, &ns) != nil || ns <= 0 {
		t.Errorf("monotonic %d from %+v", ns, r)
	}
	if r := live(t, System, "reboot"); !r.NotInForm {
		t.Errorf("an unknown system op: %+v", r)
	}
}

func TestDrainKernelLog(t *testing.T) {
	var replies []any
	read := func(b []byte) (int, error) {
		if len(replies) == 0 {
			return 0, unix.EAGAIN
		}
		next := replies[0]
		replies = replies[1:]
		if err, ok := next.(error); ok {
			return 0, err
		}
		return copy(b, next.(string)), nil
	}
	replies = []any{"6,1,5,-;one\n", unix.EPIPE, unix.EINTR, "6,9,7,-;two\n DEVICE=+pci:0000:3b:00.0\n"}
	if r := drain(read); r.Err() != nil || string(r.Data) != "6,1,5,-;one\n\x006,9,7,-;two\n DEVICE=+pci:0000:3b:00.0\n\x00" {
		t.Errorf("records %q, %v", r.Data, r.Err())
	}
	replies = []any{"6,1,5,-;one\n", unix.EPERM, "6,2,6,-;two\n"}
	if r := drain(read); r.Errno != unix.EPERM || len(r.Data) != 13 {
		t.Errorf("a read that fails midway: %+v", r)
	}
	replies = []any{"6,1,5,-;one\n", ""}
	if r := drain(read); r.Err() != nil || len(r.Data) != 13 {
		t.Errorf("an end of file: %+v", r)
	}
}

func TestDrainKeepsTheNewest(t *testing.T) {
	n, total := 0, 3*maxLog/1000
	r := drain(func(b []byte) (int, error) {
		if n++; n > total {
			return 0, unix.EAGAIN
		}
		return copy(b, fmt.Sprintf("6,%d,5,-;%s\n", n, strings.Repeat("x", 980))), nil
	})
	records := strings.Split(strings.TrimSuffix(string(r.Data), "\x00"), "\x00")
	if !r.Truncated || len(r.Data) > 2*maxLog || len(r.Data) < maxLog/2 {
		t.Errorf("kept %d bytes, truncated %v", len(r.Data), r.Truncated)
	}
	if last := records[len(records)-1]; !strings.HasPrefix(last, fmt.Sprintf("6,%d,", total)) {
		t.Errorf("the newest record is %.20q, want number %d", last, total)
	}
	for _, rec := range records {
		if !strings.HasPrefix(rec, "6,") || len(rec) < 980 {
			t.Fatalf("a record was cut: %.40q", rec)
		}
	}
}

func TestLiveEthtool(t *testing.T) {
	for _, kind := range []Kind{EthtoolStats, EthtoolDriver, EthtoolPause} {
		for _, name := range []string{"", "..", "a/b", "eth0:1", strings.Repeat("e", 16), "e\x00"} {
			if r := live(t, kind, name); !r.NotInForm {
				t.Errorf("%s of %q: %+v, want not in form", kind, name, r)
			}
		}
		// Looked up by netlink: the ioctl would make the kernel load "netdev-<name>".
		if r := live(t, kind, "no-such-dev0"); r.Errno != unix.ENODEV {
			t.Errorf("%s of a netdev that is not there: %+v, want ENODEV", kind, r)
		}
		if r := live(t, kind, "lo"); r.Errno != 0 && r.Errno != unix.EOPNOTSUPP {
			t.Errorf("%s of lo: %+v", kind, r)
		}
	}
}
