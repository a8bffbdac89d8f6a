// Package tui shows a run on a terminal: the answer first, then the layers,
// the ports and what could not be looked at.
//
// It does no I/O of its own and reads no clock. What it shows comes through
// one door, a Feed, which is a report.Handler: a run on this host and a saved
// report look the same from here. What reaches outside (run again, write the
// report) is a function in Options.
package tui
