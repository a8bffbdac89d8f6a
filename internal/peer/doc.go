// Package peer lets one rdmadoctor ask another for what a probe of a pair of
// hosts needs of the far one: its facts, and a worker there.
//
// # Far end
//
// [Serve] answers on one connection. It reads facts with the collectors of an
// examination and starts workers for tasks that they know; there is nothing
// else to ask for. It ends with the connection.
//
// # Ways there
//
// [SSH] starts the far end over the system's OpenSSH client: it copies this
// binary to a fresh place, runs it, and speaks over standard input and output.
// [Listen] waits for one peer, which [Join] brings: TLS 1.3, and each end knows
// the other's key from the join line.
//
// # Trust
//
// What the far end says is data. It is bounded in size, count and time here,
// kept apart from this host's own facts, and cleaned where it is shown.
// The near end is no more trusted: a task names no file and no program.
package peer
