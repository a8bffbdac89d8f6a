// Package fakeverbs builds a libibverbs.so.1 for tests. Its devices move data
// between the QPs of one process, at once, and refuse what InfiniBand refuses;
// a script has it fail, lie, hang or crash. Only tests import it.
//
// A script has a command a line; # begins a comment.
//
//	device NAME              a device (several lines: several); fake0 if none
//	no-devices               an empty list
//	link ethernet            or infiniband, or iwarp
//	port-state N             ibv_port_state, 4 ACTIVE
//	lid N, sm-lid N, pkey N
//	max-mtu N, active-mtu N  bytes; 4096 and 1024
//	gid INDEX TYPE ADDRESS [IFINDEX]  type ib, rocev1 or rocev2
//	no-gids                  an empty table; without it index 0 is link-local
//	                         and index 1 is ::ffff:192.0.2.1, both RoCE v2
//	max-qp N, max-qp-wr N, max-cqe N, max-inline N, atomic-cap N, odp 1
//	limit-qp N               so many QPs, then ENOMEM, whatever max-qp says
//	limit-mr BYTES           larger MRs fail with ENOMEM
//	refuse-gid INDEX         modify to RTR fails with it,
//	refuse-mtu BYTES         with a larger path MTU,
//	refuse-pkey INDEX        and modify to INIT with it,
//	refuse-errno NAME        all with this errno, EINVAL if not given
//	fail CALL ERRNO [NTH]    CALL as in ibv_CALL; modify_init, modify_rtr,
//	                         modify_rts and modify_err for ibv_modify_qp.
//	                         ERRNO none: it fails and errno is 0
//	crash CALL [NTH]         SIGSEGV
//	hang CALL [NTH]          never returns
//	exit CALL [NTH]          the process ends with 3
//	lie wr-id                completions have another wr_id
//	lie status N, lie opcode N
//	lie drop                 completions never come
//	lie data                 a byte of what arrives is wrong
//	vendor-err N             of completions with an error
//	allow wrong-rkey         or stale-rkey, range, permission, rnr: what must
//	                         be refused is done
//	disorder N               every nth write of 9 to 64 bytes arrives after the
//	                         next one
//	latency NANOSECONDS      from post to completion
//	event TYPE [PORT]        an asynchronous event is waiting when opened
//	cm-event N EVENT STATUS  rdma_cm says EVENT where it would say N, numbers of
//	                         rdma_cm_event_type
//
// The same file is a librdmacm.so.1, for verbs.Options.RDMACM: every address
// is on the first device, connections are within the process. Its calls have
// the names resolve_addr, resolve_route, connect, accept and listen.
package fakeverbs

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

//go:embed src
var source embed.FS

// Build compiles the library for the test with a script and gives its path,
// for verbs.Options. Each call gives a library of its own, with its own
// devices. The script can be changed with Script until devices are listed.
func Build(t testing.TB, script string) string {
	t.Helper()
	compiled, err := compile(t.Context())
	if err != nil {
		t.Fatalf("build fake libibverbs: %v", err)
	}
	// dlopen knows a library by its inode: a copy is another library.
	lib := filepath.Join(t.TempDir(), "libibverbs.so.1")
	if err := os.WriteFile(lib, compiled, 0o755); err != nil {
		t.Fatalf("build fake libibverbs: %v", err)
	}
	Script(t, lib, script)
	return lib
}

// compiled is the library, compiled once in the life of a test.
var compiled struct {
	sync.Mutex
	elf []byte
}

func compile(ctx context.Context) ([]byte, error) {
	compiled.Lock()
	defer compiled.Unlock()
	if compiled.elf != nil {
		return compiled.elf, nil
	}
	dir, err := os.MkdirTemp("", "fakeverbs-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, source); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "src", "*.c"))
	if err != nil {
		return nil, err
	}
	lib := filepath.Join(dir, "libibverbs.so.1")
	args := []string{"-shared", "-fPIC", "-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-o", lib,
		"-Wl,-soname,libibverbs.so.1", "-Wl,--version-script=" + filepath.Join(dir, "src", "fake.map")}
	if asan {
		args = append(args, "-fsanitize=address")
	}
	args = append(append(args, files...), "-lpthread", "-ldl")
	if out, err := exec.CommandContext(ctx, "gcc", args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("gcc: %w\n%s", err, out)
	}
	compiled.elf, err = os.ReadFile(lib)
	return compiled.elf, err
}

// Script gives a library that Build built another script, which it reads when
// its devices are listed next.
func Script(t testing.TB, lib, script string) {
	t.Helper()
	if err := os.WriteFile(lib+".script", []byte(script), 0o644); err != nil {
		t.Fatalf("write script of fake libibverbs: %v", err)
	}
}
