#!/bin/sh
# Regenerates peer.pb.go and peer_grpc.pb.go from peer.proto. It needs protoc
# (Debian: protobuf-compiler); without it the committed files are kept.
set -e
if ! command -v protoc >/dev/null; then
	echo "peerpb: no protoc here, the committed code is kept (scripts/packages generate installs it)" >&2
	exit 0
fi
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
go build -o "$tools" google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc
protoc --plugin="$tools/protoc-gen-go" --plugin="$tools/protoc-gen-go-grpc" \
	--go_out=. --go_opt=paths=source_relative \
	--go-grpc_out=. --go-grpc_opt=paths=source_relative peer.proto
