package worker

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

func zombie(stat string) bool {
	i := strings.LastIndex(stat, ") ")
	return i >= 0 && strings.HasPrefix(stat[i+2:], "Z")
}

// examples has each kind once.
var examples = []Message{
	{Task: &Task{Probe: "self", Params: json.RawMessage(`{"device":"mlx5_0"}`), Limit: time.Second}},
	{Stop: true},
	{OOB: []byte{}},
	{OOB: []byte{0, 1, 255}},
	{Hello: &Hello{Protocol: 1, PID: 7}},
	{Begun: &Begun{Step: "rtr", Limit: time.Second}},
	{Ended: &Ended{Ladder: 2, Refused: true, Step: facts.ProbeStep{Name: "wrong-rkey", Op: "write",
		Error: &facts.StepError{Call: "ibv_poll_cq", WCStatus: facts.Some(10), Text: "refused"}}}},
	{Ladder: &Ladder{ID: 1, Ladder: facts.Ladder{Probe: "self"}}},
	{Measurement: &facts.Measurement{Probe: "latency", Samples: []float64{1, 2}}},
	{Log: "text"},
	{Done: &Done{Unavailable: true, Error: "no library"}},
}

func TestMessagesComeBack(t *testing.T) {
	var pipe bytes.Buffer
	for i := range examples {
		if err := Write(&pipe, &examples[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range examples {
		got, err := Read(&pipe)
		if err != nil || !reflect.DeepEqual(*got, examples[i]) {
			t.Errorf("message %d: %+v, %v, want %+v", i, got, err, examples[i])
		}
	}
	if _, err := Read(&pipe); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func frame(text string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(text)))) + text
}

func TestNotInForm(t *testing.T) {
	for name, in := range map[string]string{
		"half a length":   "\x00\x00",
		"cut":             "\x00\x00\x00\x09{",
		"huge":            "\xff\xff\xff\xff",
		"empty":           frame(""),
		"no JSON":         frame("libmlx5: warning"),
		"no field":        frame("{}"),
		"null":            frame("null"),
		"two kinds":       frame(`{"stop":true,"log":"x"}`),
		"two values":      frame(`{"stop":true}{"stop":true}`),
		"unknown field":   frame(`{"exec":"/bin/sh"}`),
		"wrong type":      frame(`{"begun":{"step":7}}`),
		"nameless step":   frame(`{"begun":{"step":""}}`),
		"long step":       frame(`{"begun":{"step":"` + strings.Repeat("x", maxName+1) + `"}}`),
		"negative limit":  frame(`{"begun":{"step":"x","limit_nanos":-1}}`),
		"nameless task":   frame(`{"task":{"probe":""}}`),
		"negative task":   frame(`{"task":{"probe":"x","limit_nanos":-5}}`),
		"nameless ending": frame(`{"ended":{"ladder":1,"step":{"name":"","duration_nanos":0}}}`),
		"bad base64":      frame(`{"oob":"***"}`),
		"a list":          frame(`[]`),
	} {
		if m, err := Read(strings.NewReader(in)); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	if err := Write(io.Discard, &Message{}); !errors.Is(err, ErrFrame) {
		t.Errorf("an empty message was written: %v", err)
	}
	if err := Write(io.Discard, &Message{Log: strings.Repeat("x", MaxMessage)}); !errors.Is(err, ErrFrame) {
		t.Errorf("a message too long was written: %v", err)
	}
}

// What is read is written the same, and nothing panics.
func FuzzRead(f *testing.F) {
	for i := range examples {
		var b bytes.Buffer
		if err := Write(&b, &examples[i]); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
		f.Add(b.Bytes()[:b.Len()/2])
	}
	f.Add([]byte(frame(`{"exec":"/bin/sh"}`)))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, m); err != nil {
			t.Fatalf("%+v was read and cannot be written: %v", m, err)
		}
		again, err := Read(&b)
		if err != nil {
			t.Fatalf("%+v was written and cannot be read: %v", m, err)
		}
		x, _ := json.Marshal(m)
		y, _ := json.Marshal(again)
		if !bytes.Equal(x, y) {
			t.Errorf("%s came back as %s", x, y)
		}
	})
}
