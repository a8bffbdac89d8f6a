package collect

import (
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// providers maps a kernel driver, as the device/driver link of an RDMA device
// names it, to the user-space provider of rdma-core. The link names the
// driver on the bus, which is the Ethernet one where the RDMA driver sits on
// an auxiliary device of it.
var providers = map[string]string{
	"be2net":     "ocrdma",
	"bnxt_en":    "bnxt_re",
	"cxgb4":      "cxgb4",
	"efa":        "efa",
	"erdma":      "erdma",
	"hfi1":       "hfi1verbs",
	"hns3":       "hns",
	"hns_roce":   "hns", // the platform device of the first generation
	"i40e":       "irdma",
	"ib_mthca":   "mthca",
	"ib_qib":     "ipathverbs",
	"ice":        "irdma",
	"idpf":       "irdma",
	"ionic":      "ionic",
	"mana":       "mana",
	"mlx4_core":  "mlx4",
	"mlx5_core":  "mlx5",
	"qede":       "qedr",
	"rdma_rxe":   "rxe",
	"siw":        "siw",
	"vmw_pvrdma": "vmw_pvrdma",
}

// provider returns the provider for a kernel driver. Drivers on the auxiliary
// bus are called MODULE.DEVICE ("mlx5_core.sf" drives subfunctions).
func provider(driver string) (string, bool) {
	module, _, _ := strings.Cut(driver, ".")
	p, ok := providers[module]
	return p, ok
}

// providerOfChip knows a Mellanox chip by hca_type, "MT4129", which is the PCI
// device ID in decimal. Copied trees lack the driver link often.
func providerOfChip(hcaType string) facts.Opt[string] {
	digits, ok := strings.CutPrefix(hcaType, "MT")
	id, err := strconv.ParseUint(digits, 10, 16)
	if !ok || err != nil {
		return facts.Opt[string]{}
	}
	switch rdmaModule(0x15b3, uint16(id)) {
	case "mlx5_ib":
		return facts.Some("mlx5")
	case "mlx4_ib":
		return facts.Some("mlx4")
	}
	return facts.Opt[string]{}
}
