package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// The first collection of garbage comes when the program has this much, in
// percent of the 4 MiB where Go would begin.
const firstCollection = 500

// runBriefly puts off collecting garbage: an examination ends before there is
// much of it. A run that goes on, such as the screen or the flight recorder,
// collects as usual from the first time on.
func runBriefly() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(firstCollection)
	// The runtime finds this unused in its first collection.
	type mark struct{ _ *byte }
	runtime.SetFinalizer(&mark{}, func(*mark) { debug.SetGCPercent(100) })
}
