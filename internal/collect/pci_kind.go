package collect

import (
	"slices"
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

// virtualIDs are device IDs that only virtual functions have, by vendor: in a
// guest, where no physfn leads to the physical one, they are how to tell. From
// mlx4_pci_table, mlx5_core_pci_table, bnxt_pci_tbl, iavf_pci_tbl,
// ionic_id_table, hns3_pci_tbl and mana_id_table.
var virtualIDs = map[uint16][]uint16{
	0x15b3: {0x1002, 0x1004, 0x1012, 0x1014, 0x1016, 0x1018, 0x101a, 0x101c, 0x101e, 0xa2d3},
	0x14e4: {
		0x1606, 0x1607, 0x1608, 0x1609, 0x16bd, 0x16c1, 0x16c2, 0x16c3, 0x16c4, 0x16c5, 0x16cb, 0x16d3, 0x16dc,
		0x16e1, 0x16e5, 0x16e6, 0x1806, 0x1807, 0x1808, 0x1809, 0x1819, 0x181b, 0xd800,
	},
	0x8086: {0x154c, 0x1571, 0x1889, 0x37cd},
	0x1dd8: {0x1003},
	0x19e5: {0xa22e, 0xa22f},
	0x1414: {0x00ba},
}

func virtualID(vendor, device uint16) bool { return slices.Contains(virtualIDs[vendor], device) }

// asleep reports whether reading f's registers would wake it.
func asleep(f *facts.PCIFunction) bool { return f.Power.Or("") == "suspended" }
