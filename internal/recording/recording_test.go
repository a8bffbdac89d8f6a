package recording

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// answers is a constructed host: key to answer. What it does not know is
// absent.
type answers map[string]hostio.Result

func (a answers) Do(_ context.Context, ops []hostio.Op) []hostio.Result {
	rs := make([]hostio.Result, len(ops))
	for i, op := range ops {
		res, ok := a[op.Key()]
		if !ok {
			res = hostio.Result{Errno: syscall.ENOENT}
		}
		rs[i] = res
	}
	return rs
}

func data(s string) hostio.Result { return hostio.Result{Data: []byte(s)} }

// every kind of read and of answer, in one sample.
func first() answers {
	return answers{
		"read:/sys/class/infiniband/mlx5_0/fw_ver": data("28.1\n"),
		"read:/sys/empty":                          {},
		"read:/sys/denied":                         {Errno: syscall.EACCES},
		"read:/sys/half":                           {Data: []byte("begun"), Errno: syscall.EIO},
		"read:/sys/long":                           {Data: []byte("xxxx"), Truncated: true},
		"read:/sys/slow":                           {TimedOut: true},
		"read:/sys/odd errno":                      {Errno: 200},
		"read:/a b/../%/\xff":                      data("odd name"),
		"read:/a":                                  data("a file"),
		"read://a":                                 data("the same file by another name"),
		"link:/sys/class/net/eth0":                 data("../../devices/x"),
		"link:/bad":                                data("\xff\xfe"),
		"dir:/sys/class/net":                       data("eth0\nlo\n"),
		"dir:/sys/none":                            {},
		"dir:/badnames":                            data("\xff\n"),
		"stat:/dev/infiniband/uverbs0":             data(`{"mode":8630,"uid":0,"gid":0,"major":231,"minor":192,"inode":7}`),
		"open:/dev/infiniband/uverbs0":             {Errno: syscall.EPERM},
		"netlink:rdma/port-get.mlx5_0/1":           data("\x10\x00\x00\x00\x02"),
		"netlink:route/dcb.eth0":                   {Errno: syscall.EOPNOTSUPP},
		"ethtool-stats:eth0":                       data(`{"rx_prio3_pause":18446744073709551615}`),
		"system:uname":                             data(`{"nodename":"gpu-017"}`),
		"kmsg:":                                    data("6,1,1,-;hello\x00"),
		"system:nowhere":                           {NotInForm: true},
	}
}

func opOf(key string) hostio.Op {
	kind, name, _ := strings.Cut(key, ":")
	return hostio.Op{Kind: hostio.Kind(kind), Name: name}
}

// record reads every key of each sample and returns the archive.
func record(t testing.TB, samples ...answers) []byte {
	t.Helper()
	if len(samples) == 0 {
		samples = []answers{first()}
	}
	host := answers{}
	r := NewRecorder(&host)
	at := time.Date(2026, 11, 29, 12, 0, 0, 123456789, time.UTC)
	r.now = func() time.Time { at = at.Add(time.Second); return at }
	for i, s := range samples {
		if host = s; i > 0 {
			r.NextSample()
		}
		for key := range s {
			hostio.One(t.Context(), r, opOf(key))
		}
	}
	var b bytes.Buffer
	err := r.WriteTo(&b, About{Version: "1.2.3", Host: "gpu-017", Sources: []facts.Source{facts.SysfsRDMA},
		Elapsed: map[facts.Source]time.Duration{facts.SysfsRDMA: 1100 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReplayAnswersAsTheHostDid(t *testing.T) {
	second := first()
	second["read:/sys/class/infiniband/mlx5_0/fw_ver"] = data("28.2\n")
	r, err := Read(bytes.NewReader(record(t, first(), second)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Times()); n != 2 || r.Times()[1].Sub(r.Times()[0]) != time.Second {
		t.Errorf("times %v, want two, a second apart", r.Times())
	}
	if m := r.Manifest(); m.Host != "gpu-017" || m.Version != "1.2.3" || r.Damage() != "" {
		t.Errorf("manifest %+v, damage %q", m, r.Damage())
	}
	if got := r.Elapsed()[facts.SysfsRDMA]; got != 1100*time.Millisecond {
		t.Errorf("elapsed %v, want 1.1s", got)
	}
	for i, want := range []answers{first(), second} {
		if i > 0 && !r.NextSample() {
			t.Fatal("no second sample")
		}
		for key, w := range want {
			got := hostio.One(t.Context(), r, opOf(key))
			if len(got.Data) == 0 {
				got.Data = nil
			}
			if !reflect.DeepEqual(got, w) {
				t.Errorf("sample %d: %s is %+v (%q), want %+v (%q)", i, key, got, got.Data, w, w.Data)
			}
		}
	}
	if r.NextSample() {
		t.Error("a third sample")
	}
	if res := hostio.One(t.Context(), r, opOf("read:/never/asked")); !res.NotInForm {
		t.Errorf("never asked: %+v, want not in form", res)
	}
	res := hostio.One(t.Context(), r, hostio.Op{Kind: hostio.ReadFile, Name: "/sys/class/infiniband/mlx5_0/fw_ver", Limit: 2})
	if string(res.Data) != "28" || !res.Truncated {
		t.Errorf("with a lower limit: %+v", res)
	}
}

func TestEqualAnswersGiveEqualArchives(t *testing.T) {
	if a, b := record(t), record(t); !bytes.Equal(a, b) {
		t.Error("two recordings of the same answers differ")
	}
}

func TestAReadThatTimedOutMayBeTriedAgain(t *testing.T) {
	host := answers{"read:/a": {TimedOut: true}, "read:/b": data("first")}
	r := NewRecorder(&host)
	ops := []hostio.Op{opOf("read:/a"), opOf("read:/b")}
	r.Do(t.Context(), ops)
	host = answers{"read:/a": data("late"), "read:/b": data("second")}
	r.Do(t.Context(), ops)
	var b bytes.Buffer
	if err := r.WriteTo(&b, About{}); err != nil {
		t.Fatal(err)
	}
	rep, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	got := rep.Do(t.Context(), ops)
	if string(got[0].Data) != "late" || string(got[1].Data) != "first" {
		t.Errorf("%q and %q, want late and first", got[0].Data, got[1].Data)
	}
}

// A recording cut anywhere either says clearly why it is of no use, or says
// what it lacks and answers the rest.
func TestCutRecording(t *testing.T) {
	big := first()
	for i := range 300 {
		// Incompressible, so that the cut falls between members.
		big[fmt.Sprintf("read:/sys/many/%d", i)] = data(fmt.Sprintf("%x", [4]int{i * 7919, i * 104729, i * i * 31, i}))
	}
	whole := record(t, big, first())
	salvaged := 0
	for cut := 0; cut < len(whole)-1; cut += len(whole) / 80 {
		r, err := Read(bytes.NewReader(whole[:cut]))
		if err != nil {
			if msg := err.Error(); !strings.Contains(msg, "cut off") && !strings.Contains(msg, "not a recording") {
				t.Errorf("cut at %d: %v", cut, err)
			}
			continue
		}
		salvaged++
		if !strings.Contains(r.Damage(), "cut off") || !strings.Contains(r.Damage(), "missing") {
			t.Errorf("cut at %d: damage %q", cut, r.Damage())
		}
		for key, want := range big {
			got := hostio.One(t.Context(), r, opOf(key))
			if got.Errno == syscall.EIO && got.Data == nil {
				continue
			}
			if !bytes.Equal(got.Data, want.Data) || got.Errno != want.Errno {
				t.Fatalf("cut at %d: %s is %+v, want %+v or EIO", cut, key, got, want)
			}
		}
	}
	if salvaged == 0 {
		t.Error("no cut recording could be used at all")
	}
}
