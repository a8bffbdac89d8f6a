package collect

import (
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// mostGPUs bounds the GPUs of one host.
const mostGPUs = 128

// gpuVendors are the makers of GPUs and accelerators that RDMA NICs move data
// to and from: NVIDIA, AMD, Intel Habana. Intel's own have IDs of their own.
var gpuVendors = map[uint16]bool{0x10de: true, 0x1002: true, 0x1da3: true}

// intelGPU reports whether an Intel function is a Data Center GPU (xe's and
// i915's ID tables: Ponte Vecchio, Arctic Sound).
func intelGPU(device uint16) bool {
	return 0x0bd0 <= device && device <= 0x0be5 || device == 0x56c0 || device == 0x56c1 || device == 0x56c2
}

// gpuClass reports whether a class code (pci_ids.h) is that of a GPU: VGA, 3D or
// other display controller, or processing accelerator.
func gpuClass(class string) bool {
	for _, prefix := range []string{"0x0300", "0x0302", "0x0380", "0x1200"} {
		if strings.HasPrefix(class, prefix) {
			return true
		}
	}
	return false
}

// findGPUs reads the class of functions whose vendor makes GPUs, and marks those
// that are one.
func findGPUs(r *Reader, all []facts.PCIFunction) {
	b := r.batch()
	for i := range all {
		f := &all[i]
		switch {
		case f.Vendor.Or(0) == 0x8086:
			f.GPU = intelGPU(f.DeviceID.Or(0))
		case gpuVendors[f.Vendor.Or(0)]:
			attr(b, pciDir(f)+"class", &f.Class, parsePCIClass)
		}
	}
	b.run()
	for i := range all {
		f := &all[i]
		f.GPU = f.GPU || gpuVendors[f.Vendor.Or(0)] && gpuClass(f.Class.Or(""))
	}
}

// virtualFunctions are device IDs that only virtual functions have: in a guest,
// where no physfn leads to the physical one, they are how to tell. From
// mlx5_core_pci_table, mlx4_pci_table, hns_roce_hw_v2_pci_tbl and hns3_pci_tbl.
var virtualFunctions = []pciRange{
	{0x15b3, 0x1002, 0x1002, "mlx4_ib"}, // MT25400 family
	{0x15b3, 0x1004, 0x1004, "mlx4_ib"}, // ConnectX-3
	{0x15b3, 0x1012, 0x1012, "mlx5_ib"}, // Connect-IB
	{0x15b3, 0x1014, 0x1014, "mlx5_ib"}, // ConnectX-4
	{0x15b3, 0x1016, 0x1016, "mlx5_ib"}, // ConnectX-4 Lx
	{0x15b3, 0x1018, 0x1018, "mlx5_ib"}, // ConnectX-5
	{0x15b3, 0x101a, 0x101a, "mlx5_ib"}, // ConnectX-5 Ex
	{0x15b3, 0x101c, 0x101c, "mlx5_ib"}, // ConnectX-6
	{0x15b3, 0x101e, 0x101e, "mlx5_ib"}, // ConnectX-6 Dx and later
	{0x15b3, 0xa2d3, 0xa2d3, "mlx5_ib"}, // BlueField
	{0x19e5, 0xa22f, 0xa22f, "hns_roce_hw_v2"},
	{0x1414, 0x00ba, 0x00ba, "mana_ib"},
}

func virtualID(vendor, device uint16) bool {
	for _, f := range virtualFunctions {
		if f.vendor == vendor && f.first <= device && device <= f.last {
			return true
		}
	}
	return false
}

// asleep reports whether reading f's registers would wake it.
func asleep(f *facts.PCIFunction) bool { return f.Power.Or("") == "suspended" }
