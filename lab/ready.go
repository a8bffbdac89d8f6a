package lab

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
	"github.com/rdmadoctor/rdmadoctor/lab/tool"
)

// RequireEnv names the environment variable that turns skipped tests into
// failed ones: a list of words separated by commas, of which the lab's is
// "lab".
const RequireEnv = "RDMADOCTOR_REQUIRE"

// Required says whether a lab that cannot run is a failure.
func Required() bool {
	return slices.Contains(strings.Split(os.Getenv(RequireEnv), ","), "lab")
}

// hostPrograms are what the lab itself runs on this host.
var hostPrograms = []string{"qemu-system-x86_64", "modprobe", "xz", "go"}

// Ready returns the kernel of a series if a guest of it can be booted here.
// It downloads the kernel if the cache does not have it yet.
func Ready(ctx context.Context, series string) (kernels.Kernel, error) {
	if err := tool.Need(hostPrograms...); err != nil {
		return kernels.Kernel{}, err
	}
	cache, err := kernels.Cache()
	if err != nil {
		return kernels.Kernel{}, err
	}
	return kernels.Ensure(ctx, cache, series)
}
