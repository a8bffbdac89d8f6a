// Package peerpb is the language of two rdmadoctors, generated from peer.proto.
package peerpb

//go:generate ./generate.sh
