package collect

import "strings"

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
