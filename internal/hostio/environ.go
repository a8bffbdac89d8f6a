package hostio

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

// maxEnviron bounds what is read of one environment, in bytes.
const maxEnviron = 256 << 10

// rdmaVariable are the variables that steer RDMA libraries: NCCL and its forks,
// UCX, rdma-core, libfabric, and the network choice of Open MPI. Nothing else
// of an environment leaves the host.
var rdmaVariable = pattern.Of(`^(NCCL|RCCL|UCX|FI|RDMAV|MLX5|MLX4|IBV)_[A-Z0-9_]{1,60}$|^OMPI_MCA_(btl|pml|mtl)(_[a-z0-9_]{1,60})?$`)

// secret are names among those that may hold one, and say nothing of RDMA.
var secret = pattern.Of(`KEY|TOKEN|SECRET|PASS|CRED|COMM_ID`)

// environ answers Environ.
func environ(name string) Result {
	fd := -1
	err := uninterrupted(func() (err error) {
		fd, err = unix.Open(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return failed(err)
	}
	defer unix.Close(fd)
	res := readAll(fd, maxEnviron, false)
	if err := res.Err(); err != nil && !errors.Is(err, ErrTruncated) {
		return res
	}
	answer := asJSON(RDMAVariables(string(res.Data)))
	answer.Truncated = res.Truncated
	return answer
}

// RDMAVariables picks the variables that steer RDMA libraries out of an
// environment as /proc/PID/environ holds it: NAME=VALUE, each ended by a NUL.
// Of a name that comes twice the first counts, as for getenv(3).
func RDMAVariables(environ string) map[string]string {
	found := map[string]string{}
	for v := range strings.SplitSeq(environ, "\x00") {
		name, value, ok := strings.Cut(v, "=")
		if !ok || !rdmaVariable.MatchString(name) || secret.MatchString(name) {
			continue
		}
		if _, had := found[name]; !had && len(value) <= 4096 {
			found[name] = strings.ToValidUTF8(value, "\uFFFD")
		}
	}
	return found
}
