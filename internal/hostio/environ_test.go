package hostio

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRDMAVariables(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       map[string]string
	}{
		{"empty", "", map[string]string{}},
		{"those of RDMA", "HOME=/root\x00NCCL_IB_GID_INDEX=3\x00UCX_IB_GID_INDEX=auto\x00AWS_SECRET_ACCESS_KEY=x\x00",
			map[string]string{"NCCL_IB_GID_INDEX": "3", "UCX_IB_GID_INDEX": "auto"}},
		{"secrets among them", "FI_OPX_KEY=x\x00NCCL_COMM_ID=10.0.0.1:1\x00UCX_SECRET=x\x00UCX_TLS=rc\x00", map[string]string{"UCX_TLS": "rc"}},
		{"the first counts", "NCCL_DEBUG=INFO\x00NCCL_DEBUG=WARN\x00", map[string]string{"NCCL_DEBUG": "INFO"}},
		{"cut off", "NCCL_IB_HCA=mlx5_0\x00NCCL_IB_T", map[string]string{"NCCL_IB_HCA": "mlx5_0"}},
		{"no name", "=3\x00NCCL_=1\x00nccl_ib_tc=1\x00XNCCL_IB_TC=1\x00", map[string]string{}},
		{"empty value", "UCX_TLS=\x00", map[string]string{"UCX_TLS": ""}},
		{"a value that is no text", "UCX_TLS=\xff\x00", map[string]string{"UCX_TLS": "\uFFFD"}},
		{"a value without end", "UCX_TLS=" + strings.Repeat("x", 5000) + "\x00", map[string]string{}},
		{"Open MPI", "OMPI_MCA_btl=^openib\x00OMPI_MCA_pml_ucx_tls=rc\x00OMPI_MCA_PML_X=1\x00OMPI_MCA_orte_hnp_uri=x\x00",
			map[string]string{"OMPI_MCA_btl": "^openib", "OMPI_MCA_pml_ucx_tls": "rc"}},
	} {
		if d := cmp.Diff(tc.want, RDMAVariables(tc.text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
	}
}

func TestEnviron(t *testing.T) {
	file := filepath.Join(t.TempDir(), "environ")
	if err := os.WriteFile(file, []byte("A=1\x00NCCL_DEBUG=INFO\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	if res := environ(file); string(res.Data) != `{"NCCL_DEBUG":"INFO"}` || res.Err() != nil {
		t.Errorf("environ = %s, %v", res.Data, res.Err())
	}
	if res := environ(file + ".none"); res.Errno != syscall.ENOENT {
		t.Errorf("absent: %v", res.Err())
	}
	if res := One(t.Context(), &Live{}, Op{Kind: Environ, Name: file}); !res.NotInForm {
		t.Errorf("a file that is not a process's: %v", res.Err())
	}
	res := One(t.Context(), &Live{}, Op{Kind: Environ, Name: "/proc/self/environ"})
	var vars map[string]string
	if err := json.Unmarshal(res.Data, &vars); err != nil || vars == nil {
		t.Errorf("own environment = %s, %v", res.Data, err)
	}
	// The whole environment is read by nobody.
	for _, name := range []string{"/proc/self/environ", "/proc/1/task/1/environ"} {
		if res := One(t.Context(), &Live{}, Op{Kind: ReadFile, Name: name}); !res.NotInForm {
			t.Errorf("%s as a file: %v", name, res.Err())
		}
	}
}

func FuzzRDMAVariables(f *testing.F) {
	f.Add("NCCL_IB_GID_INDEX=3\x00PATH=/bin\x00")
	f.Add("=\x00\x00NCCL_A")
	f.Fuzz(func(t *testing.T, text string) {
		for name := range RDMAVariables(text) {
			if !rdmaVariable.MatchString(name) || !strings.Contains(text, name+"=") {
				t.Errorf("%q gives %q", text, name)
			}
		}
	})
}
