// Package worker runs probes in a process of their own, so that what befalls
// it (a crash in a vendor's library, a call that the kernel never returns
// from, the OOM killer) is a result and not the end of the program.
//
// # Parent
//
// [Start] starts this binary again with the argument [Arg], gives it a [Task]
// and hands what it tells, one [Message] after the other, to Options.Tell.
// [Worker.Wait] says how it ended: Result.End.Outcome is one of the outcomes
// of package facts. Every wait has a deadline. A process that is killed and
// does not end, since the kernel holds it, is left behind and reported.
//
// A probe of a pair has a worker on each host. What one sends with
// [Reporter.Send] arrives at its parent as Message.OOB, which takes it to the
// other parent, which gives it to its worker with [Worker.OOB]; there
// [Reporter.Receive] returns it. A blob is kept whole and in order; nothing in
// between looks into it.
//
// # Process
//
// [Serve] is the other side: it takes the task, runs it and reports.
//
// The two speak in frames of a length and a JSON text, over two pipes that the
// process finds on file descriptors 3 and 4. Standard output and error belong
// to the libraries; their last lines are in the Result.
package worker
