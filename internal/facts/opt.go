package facts

import (
	"encoding/json"
	"fmt"
)

// Opt is a value that may not have been read. The zero Opt is "not read",
// which is never the same as a zero value.
type Opt[T any] struct {
	v  T
	ok bool
}

// Some returns an Opt that holds v.
func Some[T any](v T) Opt[T] { return Opt[T]{v, true} }

// Get returns the value and whether it was read.
func (o Opt[T]) Get() (T, bool) { return o.v, o.ok }

// Or returns the value, or d where it was not read.
func (o Opt[T]) Or(d T) T {
	if o.ok {
		return o.v
	}
	return d
}

// Known reports whether the value was read.
func (o Opt[T]) Known() bool { return o.ok }

// IsZero lets encoding/json's omitzero leave out what was not read.
func (o Opt[T]) IsZero() bool { return !o.ok }

// String shows the value as fmt does, or "not read".
func (o Opt[T]) String() string {
	if !o.ok {
		return "not read"
	}
	return fmt.Sprint(o.v)
}

// MarshalJSON writes the bare value. A field of type Opt must carry omitzero.
func (o Opt[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.v) }

// UnmarshalJSON reads the bare value; null leaves the Opt not read.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*o = Opt[T]{}
		return nil
	}
	o.ok = true
	return json.Unmarshal(b, &o.v)
}

// Counter is one monotonic counter at the two samples of a run. Values are in
// the unit the kernel documents for the counter, converted once by the
// collector where a file uses another (port_xmit_data counts four octets).
type Counter struct {
	First Opt[uint64] `json:"first,omitzero"`
	Last  Opt[uint64] `json:"last,omitzero"`
}

// Delta is the growth between the samples. It is false where one of them was
// not read or the counter went backwards (a reset or a wrap).
func (c Counter) Delta() (uint64, bool) {
	a, ok1 := c.First.Get()
	b, ok2 := c.Last.Get()
	if !ok1 || !ok2 || b < a {
		return 0, false
	}
	return b - a, true
}

// Value is the newest reading.
func (c Counter) Value() (uint64, bool) {
	if v, ok := c.Last.Get(); ok {
		return v, true
	}
	return c.First.Get()
}

// BitsPerSecond is a rate. Zero is zero, not unknown.
type BitsPerSecond uint64

// String prints the largest unit that keeps the value exact to 0.1.
func (r BitsPerSecond) String() string {
	switch {
	case r >= 1e9:
		return trim(float64(r)/1e9) + " Gb/s"
	case r >= 1e6:
		return trim(float64(r)/1e6) + " Mb/s"
	case r >= 1e3:
		return trim(float64(r)/1e3) + " kb/s"
	}
	return fmt.Sprintf("%d b/s", uint64(r))
}

func trim(f float64) string {
	s := fmt.Sprintf("%.1f", f)
	if n := len(s); s[n-2:] == ".0" {
		return s[:n-2]
	}
	return s
}
