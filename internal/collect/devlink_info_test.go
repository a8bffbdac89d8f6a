package collect

import (
	"slices"
	"strings"
	"testing"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// infoBody is a reply to DEVLINK_CMD_INFO_GET as devlink_nl_info_fill makes it.
func infoBody(t testing.TB, chip, board string) []byte {
	return body(t, []byte{unix.DEVLINK_CMD_INFO_GET, 1, 0, 0}, func(ae *netlink.AttributeEncoder) {
		ae.String(unix.DEVLINK_ATTR_BUS_NAME, "pci")
		ae.String(unix.DEVLINK_ATTR_DEV_NAME, "0000:3b:00.0")
		ae.String(unix.DEVLINK_ATTR_INFO_DRIVER_NAME, "bnxt_en")
		if chip != "" {
			ae.String(unix.DEVLINK_ATTR_INFO_SERIAL_NUMBER, chip)
		}
		if board != "" {
			ae.String(unix.DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER, board)
		}
	})
}

func TestSerial(t *testing.T) {
	for name, tt := range map[string]struct {
		driver, answer string
		want           facts.Opt[string]
		kind           facts.GapKind // "": no gap
	}{
		"board":         {"bnxt_en", reply(t, infoBody(t, "B0-26-28-FF-FE-12-34-56", "P220C00123")), facts.Some("P220C00123"), ""},
		"chip":          {"ice", reply(t, infoBody(t, "40-a6-b7-ff-ff-12-34-56", "")), facts.Some("40-a6-b7-ff-ff-12-34-56"), ""},
		"neither":       {"hns3", reply(t, infoBody(t, "", "")), facts.Opt[string]{}, ""},
		"no info_get":   {"mlx4_core", "errno: EOPNOTSUPP", facts.Opt[string]{}, ""},
		"denied":        {"ice", "errno: EPERM", facts.Opt[string]{}, facts.Denied},
		"timed out":     {"ice", "timed out", facts.Opt[string]{}, facts.Timeout},
		"cut":           {"ice", reply(t, infoBody(t, "40-a6-b7-ff-ff-12-34-56", "")[:20]), facts.Opt[string]{}, facts.Malformed},
		"never of mlx5": {"mlx5_core", reply(t, infoBody(t, "1", "MT2231X00001")), facts.Opt[string]{}, ""},
	} {
		h := withDevlink(t, map[string]string{"enable_rdma": "errno: EINVAL", "enable_roce": "errno: EINVAL", "enable_iwarp": "errno: EINVAL"})
		h.Put("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/driver", "-> ../../../../bus/pci/drivers/"+tt.driver)
		h.Put("netlink:devlink/info-get.0000:3b:00.0", tt.answer)
		s := collected(t, h, facts.PCISysfs, facts.Devlink)
		want(t, name, s.PCITree()["0000:3b:00.0"].Serial, tt.want)
		if tt.kind != "" {
			want(t, name+": gap", gap(t, s, "devlink/info-get.0000:3b:00.0").Kind, tt.kind)
		} else {
			noGaps(t, s)
		}
		asked := slices.ContainsFunc(h.Log, func(key string) bool { return strings.Contains(key, "info-get") })
		want(t, name+": asked", asked, tt.driver != "mlx5_core")
	}
}
