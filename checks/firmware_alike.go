package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var firmwareAlike = register(&Check{
	ID:    "firmware-alike",
	Title: "devices of one board run one firmware",
	Doc: "Devices with the same board_id take the same firmware stream. Where versions differ, behaviour and speed differ " +
		"between ports that should be alike.",
	Layer: Driver,
	Needs: []facts.Source{facts.SysfsRDMA},
	Codes: []string{"firmware-mixed"},
	Params: Params{
		"firmware-mixed": "board_id versions",
	},
	Run: func(p *Pass) {
		boards := map[string]map[string][]string{} // board_id to version to devices
		for d := range p.Devices(func(d *facts.Device) bool { return !d.Software() }) {
			board, ok := d.BoardID.Get()
			if !ok {
				p.NotApplicable("%s tells no board_id", d.Name)
				continue
			}
			version, ok := d.FirmwareVersion.Get()
			if !ok {
				p.Unread(d.Name, "fw_ver")
				continue
			}
			if boards[board] == nil {
				boards[board] = map[string][]string{}
			}
			boards[board][version] = append(boards[board][version], d.Name)
		}
		for board, versions := range boards {
			if len(versions) < 2 {
				continue
			}
			var names, parts []string
			f := Finding{Code: "firmware-mixed", Severity: Warn, Confidence: Proved}
			for version, devices := range versions {
				slices.Sort(devices)
				names = append(names, version)
				parts = append(parts, fmt.Sprintf("%s on %s", version, strings.Join(devices, ", ")))
				for _, d := range devices {
					f.Evidence = append(f.Evidence, Evidence{"/sys/class/infiniband/" + d + "/fw_ver", version})
				}
			}
			slices.Sort(names)
			slices.Sort(parts)
			slices.SortFunc(f.Evidence, func(a, b Evidence) int { return strings.Compare(a.Source, b.Source) })
			f.Subject = hostSubject
			f.Message = fmt.Sprintf("board %s runs %d firmware versions: %s", board, len(names), strings.Join(parts, "; "))
			f.Params = params("board_id", board, "versions", strings.Join(names, ", "))
			p.Report(f)
		}
	},
})
