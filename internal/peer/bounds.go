package peer

import "time"

// Protocol is the version of the language. Ends of different ones part.
const Protocol = 1

// Bounds of what one end may say to the other.
const (
	maxMessage  = 64 << 10 // bytes of a gRPC message
	pieceBytes  = 48 << 10 // of a larger thing that is cut
	MaxOOB      = 60 << 10 // bytes of a blob between two workers
	maxTask     = 32 << 10 // bytes
	maxFacts    = 64 << 20 // bytes of a snapshot's JSON
	maxTold     = 8 << 20  // bytes of one thing that a worker told
	maxAllTold  = 128 << 20
	maxWords    = 64 // bytes of a version, a machine, a source
	maxHostname = 255
	maxNotes    = 16
	maxNote     = 512
)

// Bounds of what one end may ask of the other.
const (
	maxInterval = 10 * time.Second // between the samples of a snapshot
	maxSources  = 64
	// MaxTask bounds the time of one task.
	MaxTask = 10 * time.Minute
	// maxSnapshotTime bounds reading the far host.
	maxSnapshotTime = time.Minute
	helloTime       = 15 * time.Second // a far end that does not speak by then is none
)

// How long the other end may be silent: gRPC asks it after keepaliveTime and
// gives it keepaliveTimeout to answer.
const (
	keepaliveTime    = 10 * time.Second
	keepaliveTimeout = 5 * time.Second
)
