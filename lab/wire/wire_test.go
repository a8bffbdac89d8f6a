package wire

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRoundTrip(t *testing.T) {
	frames := []Frame{
		{Kind: Hello, Stream: 0, Data: []byte{}},
		{Kind: Stdout, Stream: 7, Data: []byte("a\x00b")},
		{Kind: Reply, Stream: 1<<32 - 1, Data: make([]byte, MaxData)},
	}
	var b bytes.Buffer
	for _, f := range frames {
		if err := Write(&b, f); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range frames {
		got, err := Read(&b)
		if err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("frame %d (-want +got):\n%s", i, diff)
		}
	}
	if _, err := Read(&b); err != io.EOF {
		t.Errorf("after the last frame: got %v, want io.EOF", err)
	}
}

// countWriter counts calls, which must be one a frame.
type countWriter int

func (c *countWriter) Write(p []byte) (int, error) { *c++; return len(p), nil }

func TestWriteOnce(t *testing.T) {
	var c countWriter
	if err := Write(&c, Frame{Kind: Stdin, Data: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	if c != 1 {
		t.Errorf("got %d writes, want 1", c)
	}
}

func TestWriteTooLarge(t *testing.T) {
	err := Write(io.Discard, Frame{Kind: Stdin, Data: make([]byte, MaxData+1)})
	if !errors.Is(err, ErrFrame) {
		t.Errorf("got %v, want ErrFrame", err)
	}
}

func TestReadMalformed(t *testing.T) {
	tests := []struct {
		name string
		in   string
		want error
	}{
		{"nothing", "", io.EOF},
		{"length cut", "\x00\x00", io.ErrUnexpectedEOF},
		{"header cut", "\x00\x00\x00\x05\x01", io.ErrUnexpectedEOF},
		{"header absent", "\x00\x00\x00\x05", io.ErrUnexpectedEOF},
		{"data cut", "\x00\x00\x00\x07\x02\x00\x00\x00\x01a", io.ErrUnexpectedEOF},
		{"length below header", "\x00\x00\x00\x04\x02\x00\x00\x00", ErrFrame},
		{"length zero", "\x00\x00\x00\x00", ErrFrame},
		{"length huge", "\xff\xff\xff\xff\x02\x00\x00\x00\x01", ErrFrame},
		{"kind zero", "\x00\x00\x00\x05\x00\x00\x00\x00\x01", ErrFrame},
		{"kind unknown", "\x00\x00\x00\x05\x63\x00\x00\x00\x01", ErrFrame},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(bytes.NewReader([]byte(tt.in)))
			if !errors.Is(err, tt.want) {
				t.Errorf("%q: got %v, want %v", tt.in, err, tt.want)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "\x00\x00\x00\x05\x01\x00\x00\x00\x01",
		"\x00\x00\x00\x06\x02\x00\x00\x00\x01a", "\xff\xff\xff\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		for {
			got, err := Read(r)
			if err != nil {
				return
			}
			var b bytes.Buffer
			if err := Write(&b, got); err != nil {
				t.Fatalf("write what was read: %v", err)
			}
			end := len(in) - r.Len()
			if want := in[end-b.Len() : end]; !bytes.Equal(b.Bytes(), want) {
				t.Fatalf("got %q, want %q", b.Bytes(), want)
			}
		}
	})
}
