package hostio

import (
	"bytes"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

func TestFramesRoundTrip(t *testing.T) {
	for _, op := range []Op{
		{},
		{Kind: ReadFile, Name: "/sys/class/infiniband/mlx5_0/fw_ver", Limit: 4096},
		{Kind: Netlink, Name: "rdma/port-get.rxe0/1", Request: []byte{1, 0, 255}},
		{Kind: ReadDir, Name: strings.Repeat("n", maxName)},
	} {
		b, ok := appendOp(nil, 77, op)
		if !ok {
			t.Fatalf("%v is refused", op)
		}
		id, got, err := parseOp(b)
		if err != nil || id != 77 || !reflect.DeepEqual(got, op) {
			t.Errorf("%v became %v (%d, %v)", op, got, id, err)
		}
		for n := range b {
			if _, _, err := parseOp(b[:n]); err == nil {
				t.Errorf("%v cut to %d bytes is accepted", op, n)
			}
		}
	}
	for _, res := range []Result{
		{},
		{Data: []byte("x"), Errno: syscall.EOPNOTSUPP},
		{TimedOut: true}, {Truncated: true}, {NotInForm: true}, {TimedOut: true, NotTried: true},
	} {
		b := appendResult(nil, 5, res)
		id, got, err := parseResult(b)
		if err != nil || id != 5 || !reflect.DeepEqual(got, res) {
			t.Errorf("%v became %v (%d, %v)", res, got, id, err)
		}
		for n := range b {
			if _, _, err := parseResult(b[:n]); err == nil {
				t.Errorf("%v cut to %d bytes is accepted", res, n)
			}
		}
	}
}

func TestFramesOutOfForm(t *testing.T) {
	for name, op := range map[string]Op{
		"kind":    {Kind: Kind(strings.Repeat("k", maxKind+1))},
		"name":    {Name: strings.Repeat("n", maxName+1)},
		"request": {Request: make([]byte, maxRequest+1)},
		"limit":   {Limit: MaxData + 1},
		"below":   {Limit: -1},
	} {
		if _, ok := appendOp(nil, 1, op); ok {
			t.Errorf("an op with a %s out of bounds is sent", name)
		}
	}
	good := appendResult(nil, 1, Result{Data: []byte("abc")})
	for name, b := range map[string][]byte{
		"more than one":  append(bytes.Clone(good), 0),
		"unknown flag":   append(append(bytes.Clone(good[:8]), 0x80), good[9:]...),
		"absurd errno":   append(append(bytes.Clone(good[:4]), 0, 0, 0x10, 0), good[8:]...),
		"promised bytes": append(bytes.Clone(good[:9]), 0xff, 0xff, 0xff, 0xff),
	} {
		if _, _, err := parseResult(b); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzFrame(f *testing.F) {
	op, _ := appendOp(nil, 1, Op{Kind: ReadFile, Name: "/a", Limit: 9, Request: []byte("r")})
	f.Add(appendFrame(nil, op))
	f.Add(appendFrame(nil, appendResult(nil, 2, Result{Data: []byte("d"), Errno: 13})))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte{0, 0, 0, 4, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := readFrame(bytes.NewReader(b))
		if err != nil {
			return
		}
		if id, op, err := parseOp(frame); err == nil {
			if again, ok := appendOp(nil, id, op); !ok || !bytes.Equal(again, frame) {
				t.Errorf("op %v is written as %x, was %x", op, again, frame)
			}
		}
		if id, res, err := parseResult(frame); err == nil {
			if again := appendResult(nil, id, res); !bytes.Equal(again, frame) {
				t.Errorf("result %v is written as %x, was %x", res, again, frame)
			}
		}
	})
}
