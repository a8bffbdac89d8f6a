package hostio

import "time"

// A Sampler is a Host that keeps the samples of a run apart: a recorder, or a
// replay of what one wrote. It starts in the first sample.
type Sampler interface {
	Host
	// NextSample moves on to the next sample. It is false where a replay has no
	// further one.
	NextSample() bool
}

// Replayed is a Sampler whose samples were taken in the past.
type Replayed interface {
	Sampler
	// Times is when each sample began, oldest first.
	Times() []time.Time
}
