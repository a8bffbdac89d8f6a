package flight

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// at is when the constructed samples were taken.
func at(i int) time.Time {
	return time.Date(2026, 11, 29, 2, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Minute)
}

// changing is a constructed series of samples in which every form of change
// occurs.
func changing(n int) []Sample {
	r := rand.New(rand.NewPCG(1, 2))
	stats := map[string]uint64{}
	for i := range 300 {
		stats[fmt.Sprintf("rx_prio%d_packets", i)] = 0
	}
	netlink := bytes.Repeat([]byte{0, 1, 2, 3}, 200)
	var log []byte
	var all []Sample
	for i := range n {
		for range 5 {
			stats[fmt.Sprintf("rx_prio%d_packets", r.IntN(300))] += r.Uint64N(1 << 40)
			netlink[r.IntN(len(netlink))]++
		}
		if i%7 == 3 {
			stats[fmt.Sprintf("new_%d", i)] = 1
		}
		if i%7 == 5 {
			delete(stats, fmt.Sprintf("new_%d", i-2))
		}
		log = append(log, fmt.Sprintf("6,%d,%d,-;mlx5_core 0000:3b:00.0: line %d\x00", i, i*1000, i)...)
		if len(log) > 500 {
			log = log[bytes.IndexByte(log, 0)+1:]
		}
		text, _ := json.Marshal(stats)
		s := Sample{Began: at(i), Results: map[string]hostio.Result{
			"ethtool-stats:eth2": {Data: text},
			"netlink:route/link": {Data: bytes.Clone(netlink)},
			"kmsg:":              {Data: bytes.Clone(log)},
			"read:/a":            {Data: []byte("always the same\n")},
			"read:/n":            {Data: fmt.Append(nil, i)},
			"read:/denied":       {Errno: 13},
			fmt.Sprintf("read:/proc/%d/status", 100+i/3): {Data: []byte("Name:\tjob\n")},
		}}
		switch i % 4 {
		case 1:
			s.Results["read:/a"] = hostio.Result{TimedOut: true, NotTried: true}
		case 2:
			s.Results["read:/n"] = hostio.Result{Data: []byte("cut"), Truncated: true}
			s.Results["read:/x"] = hostio.Result{NotInForm: true}
		case 3:
			s.Results["kmsg:"] = hostio.Result{Errno: 1}
		}
		all = append(all, s)
	}
	return all
}

func TestCodecRoundTrip(t *testing.T) {
	var e encoder
	var st state
	small := 0
	for i, s := range changing(60) {
		b := e.sample(Sample{s.Began, maps.Clone(s.Results)})
		got, err := st.sample(b)
		if err != nil {
			t.Fatalf("sample %d: %v", i, err)
		}
		if diff := cmp.Diff(s, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("sample %d (-taken +read):\n%s", i, diff)
		}
		if i > 0 && len(b) < 1200 {
			small++
		}
	}
	if small < 50 {
		t.Errorf("%d of 59 samples are small, want what changes to be all they hold", small)
	}
}

func TestDataForms(t *testing.T) {
	long := bytes.Repeat([]byte("0123456789"), 10)
	changed := bytes.Clone(long)
	changed[50]++
	for _, tc := range []struct {
		name, key string
		old, data []byte
		want      byte
	}{
		{"same", "read:/a", []byte("1"), []byte("1"), dataSame},
		{"short", "read:/a", []byte("1"), []byte("2"), dataWhole},
		{"one byte of many", "netlink:route/a", long, changed, dataPatched},
		{"all bytes", "netlink:route/a", long, bytes.Repeat([]byte("x"), 100), dataWhole},
		{"log goes on", "kmsg:", []byte("6,1,1;aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\x006,2,2;b\x00"), []byte("6,2,2;b\x006,3,3;c\x00"), dataLog},
		{"log is another", "kmsg:", []byte("6,1,1;a\x00"), []byte("6,9,9;z\x00"), dataWhole},
		{"log was cleared", "kmsg:", []byte("6,1,1;a\x00"), nil, dataWhole},
		{"counter", "ethtool-stats:eth2", []byte(`{"aaaaaaaaaaaaaaaa":1,"b":2}`), []byte(`{"aaaaaaaaaaaaaaaa":1,"b":3}`), dataCounters},
		{"counter gone", "ethtool-stats:eth2", []byte(`{"aaaaaaaaaaaaaaaa":1,"b":2}`), []byte(`{"b":3}`), dataWhole},
		{"no counters", "ethtool-stats:eth2", []byte(`null`), []byte(`{"b":3}`), dataWhole},
	} {
		b := appendData(nil, tc.key, tc.old, tc.data)
		if b[0] != tc.want {
			t.Errorf("%s: form %d, want %d", tc.name, b[0], tc.want)
		}
		d := decoder{b: b}
		if got := d.data(tc.old); d.err != nil || !bytes.Equal(got, tc.data) {
			t.Errorf("%s: read back as %q (%v), want %q", tc.name, got, d.err, tc.data)
		}
	}
}

// What no writer writes is refused, and costs no more memory than it has bytes.
func TestDecodeHostile(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty":                nil,
		"a time only, cut":     {0x80},
		"key number unknown":   {0, 5, 0},
		"key longer than data": {0, 0, 0xff, 0xff, 0xff, 0x7f},
		"no flags":             {0, 0, 1, 'a'},
		"unknown flag":         {0, 0, 1, 'a', 0x80, dataWhole, 0},
		"gone and more":        {0, 0, 1, 'a', flagGone | flagErrno, 1, dataWhole, 0},
		"errno 0":              {0, 0, 1, 'a', flagErrno, 0, dataWhole, 0},
		"errno too large":      {0, 0, 1, 'a', flagErrno, 0xff, 0xff, 0x7f, dataWhole, 0},
		"unknown form":         {0, 0, 1, 'a', 0, 9, 0},
		"patch of nothing":     {0, 0, 1, 'a', 0, dataPatched, 3, 9, 1, 'x'},
		"log of nothing":       {0, 0, 1, 'a', 0, dataLog, 1, 9},
		"counters of nothing":  {0, 0, 1, 'a', 0, dataCounters, 2, '{', '}'},
	} {
		var st state
		if _, err := st.sample(b); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzSample(f *testing.F) {
	var e encoder
	for _, s := range changing(6) {
		f.Add(e.sample(s), []byte{})
	}
	f.Add([]byte{0, 0, 1, 'a', 0, dataWhole, 1, 'x'}, []byte{2, 1, 0, dataPatched, 3, 0, 1, 'y'})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var st state
		for _, b := range [][]byte{first, second} {
			s, err := st.sample(b)
			if err != nil {
				return
			}
			// What can be read can be written, and is the same then.
			var e encoder
			var again state
			got, err := again.sample(e.sample(Sample{s.Began, maps.Clone(s.Results)}))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
