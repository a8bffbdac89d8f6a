package flight

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// How a result's data follows from the one before it.
const (
	dataWhole    = iota // as it is
	dataPatched         // as long as before: runs of bytes that differ
	dataLog             // a log: some of the oldest bytes are gone, newer ones came
	dataCounters        // a JSON object of numbers: those that differ
	dataSame            // only what surrounds the data differs
)

var errForm = errors.New("not in form")

// appendData encodes data by what differs from old, the data of the same op one
// sample before.
func appendData(b []byte, key string, old, data []byte) []byte {
	if bytes.Equal(old, data) {
		return append(b, dataSame)
	}
	var kind byte = dataWhole
	short := data
	try := func(k byte, form []byte, ok bool) {
		if ok && len(form) < len(short) {
			kind, short = k, form
		}
	}
	switch {
	case strings.HasPrefix(key, string(hostio.KernelLog)+":"):
		form, ok := logChange(old, data)
		try(dataLog, form, ok)
	case strings.HasPrefix(key, string(hostio.EthtoolStats)+":"):
		form, ok := counterChange(old, data)
		try(dataCounters, form, ok)
	case len(old) == len(data) && len(data) > 32:
		try(dataPatched, patch(old, data), true)
	}
	return appendBytes(append(b, kind), short)
}

// data decodes what appendData encoded.
func (d *decoder) data(old []byte) []byte {
	kind := d.byte()
	if kind == dataSame {
		return old
	}
	form := d.bytes()
	if d.err != nil {
		return nil
	}
	var data []byte
	ok := true
	switch kind {
	case dataWhole:
		data = bytes.Clone(form)
	case dataPatched:
		data, ok = patched(old, form)
	case dataLog:
		data, ok = logChanged(old, form)
	case dataCounters:
		data, ok = countersChanged(old, form)
	default:
		ok = false
	}
	if !ok || len(data) > hostio.MaxData {
		d.err = errForm
	}
	return data
}

// patch lists the runs that differ: how many bytes stay, how many are new, and
// these.
func patch(old, data []byte) (b []byte) {
	for at, i := 0, 0; i < len(data); {
		if old[i] == data[i] {
			i++
			continue
		}
		end := i + 1
		for same := 0; end < len(data) && same < 4; end++ { // A short run costs less than its lengths.
			if same++; old[end] != data[end] {
				same = 0
			}
		}
		for old[end-1] == data[end-1] {
			end--
		}
		b = binary.AppendUvarint(b, uint64(i-at))
		b = appendBytes(b, data[i:end])
		at, i = end, end
	}
	return b
}

func patched(old, form []byte) ([]byte, bool) {
	data, at := bytes.Clone(old), 0
	d := decoder{b: form}
	for len(d.b) > 0 {
		skip := d.uvarint()
		run := d.bytes()
		if d.err != nil || skip > uint64(len(data)-at) || len(run) > len(data)-at-int(skip) {
			return nil, false
		}
		at += int(skip)
		at += copy(data[at:], run)
	}
	return data, true
}

// logChange is how many of the oldest bytes are gone and what was added.
func logChange(old, data []byte) ([]byte, bool) {
	first, _, _ := bytes.Cut(data, []byte{0})
	if len(first) == 0 {
		return nil, false
	}
	for from := 0; ; {
		i := bytes.Index(old[from:], first)
		if i < 0 {
			return nil, false
		}
		from += i
		if kept := old[from:]; (from == 0 || old[from-1] == 0) && bytes.HasPrefix(data, kept) {
			return append(binary.AppendUvarint(nil, uint64(from)), data[len(kept):]...), true
		}
		from++
	}
}

func logChanged(old, form []byte) ([]byte, bool) {
	d := decoder{b: form}
	gone := d.uvarint()
	if d.err != nil || gone > uint64(len(old)) {
		return nil, false
	}
	return slices.Concat(old[gone:], d.b), true
}

// counterChange holds the numbers that differ, by name. It is false where the
// text is not what encoding/json writes of the numbers.
func counterChange(old, data []byte) ([]byte, bool) {
	var was, is map[string]uint64
	if json.Unmarshal(old, &was) != nil || json.Unmarshal(data, &is) != nil || was == nil {
		return nil, false
	}
	moved := map[string]uint64{}
	for name, v := range is {
		if had, ok := was[name]; !ok || had != v {
			moved[name] = v
		}
	}
	form, err := json.Marshal(moved)
	if err != nil {
		return nil, false
	}
	again, ok := countersChanged(old, form)
	return form, ok && bytes.Equal(again, data)
}

func countersChanged(old, form []byte) ([]byte, bool) {
	var was, moved map[string]uint64
	if json.Unmarshal(old, &was) != nil || json.Unmarshal(form, &moved) != nil || was == nil {
		return nil, false
	}
	maps.Copy(was, moved)
	data, err := json.Marshal(was)
	return data, err == nil
}
