package collect

import (
	"slices"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// configFS reads the rdma_cm defaults of ports (Documentation/ABI/testing/
// configfs-rdma_cm). A device's directory is there only after someone made it;
// without one the kernel's defaults hold. Nothing is made here.
var _ = register(Collector{
	Source: facts.ConfigFS,
	After:  5,
	Read: func(r *Reader) {
		root, reads := r.batch(), r.batch()
		var devices []string
		root.dir("/sys/kernel/config", func(names []string) {
			if len(names) == 0 {
				r.gap("/sys/kernel/config", facts.Absent, "configfs is not mounted")
				return
			}
			r.Have()
			if slices.Contains(names, "rdma_cm") {
				reads.dirIf(configRDMACM, func(names []string) { devices = names })
			}
		})
		root.run()
		reads.run()
		ports := r.batch()
		eachPort(r.Snap, func(d *facts.Device, p *facts.Port) {
			if slices.Contains(devices, d.Name) {
				dir := configRDMACM + "/" + d.Name + "/ports/" + strconv.Itoa(p.Number) + "/"
				attrIf(ports, dir+"default_roce_mode", &p.CMRoCEMode, parseText)
				attrIf(ports, dir+"default_roce_tos", &p.CMRoCETOS, parseTOS)
			}
		})
		ports.run()
	},
})

const configRDMACM = "/sys/kernel/config/rdma_cm"

// parseTOS reads default_roce_tos.
func parseTOS(s string) (int, error) {
	n, err := parseInt(s)
	if err != nil || n < 0 || n > 255 {
		return 0, form("a number from 0 to 255")
	}
	return n, nil
}
