package collect

import (
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// readsVPD are drivers that read the card's vital product data to answer
// DEVLINK_CMD_INFO_GET (mlx5 since Linux 6.17, mlx5_devlink_info_get). Such a
// read goes through the card's firmware four bytes at a time and is never made
// here.
var readsVPD = map[string]bool{"mlx5_core": true}

// askSerial asks for the serial number of a card, which many drivers do not
// tell.
func askSerial(b *batch, f *facts.PCIFunction) {
	header := []byte{unix.DEVLINK_CMD_INFO_GET, 1, 0, 0} // struct genlmsghdr, DEVLINK_GENL_VERSION
	op := netlinkOp("devlink/info-get."+f.Address, 0, 0, header, func(ae *netlink.AttributeEncoder) {
		ae.String(unix.DEVLINK_ATTR_BUS_NAME, "pci")
		ae.String(unix.DEVLINK_ATTR_DEV_NAME, f.Address)
	})
	b.add(op, func(res hostio.Result) {
		if err := res.Err(); err != nil {
			switch kind, _ := classify(err); kind {
			case facts.Unsupported, facts.Absent: // No driver has to, no recording of before does.
			default:
				b.r.Gap(op.Name, err)
			}
			return
		}
		b.r.answer(op, res, func(body []byte) error {
			serial, err := parseSerial(body)
			if serial != "" {
				f.Serial = facts.Some(serial)
			}
			return err
		}, b.r.Have)
	})
}

// parseSerial reads the board's serial number, else the chip's, of a reply to
// DEVLINK_CMD_INFO_GET.
func parseSerial(body []byte) (string, error) {
	var board, chip string
	err := attributes(body, sizeofGenlMsg, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case unix.DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER:
			board = text(ad.String())
		case unix.DEVLINK_ATTR_INFO_SERIAL_NUMBER:
			chip = text(ad.String())
		}
	})
	if board == "" {
		board = chip
	}
	return board, err
}
