package collect

import (
	"errors"
	"slices"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// devlinkParams asks the drivers of RDMA NICs whether RDMA is switched on
// (generic netlink family "devlink", DEVLINK_CMD_PARAM_GET; devlink-params.rst),
// which they answer from memory, and for the card's serial number.
var _ = register(Collector{
	Source: facts.Devlink,
	After:  15, // PCI functions say whom to ask.
	Read: func(r *Reader) {
		b := r.batch()
		asked := 0
		for i := range r.Snap.PCI {
			f := &r.Snap.PCI[i]
			if f.RDMACapable == "" || f.Driver.Or("") == "" || asked == mostDevlink {
				continue
			}
			asked++
			for _, name := range rdmaParams {
				askParam(b, f, name)
			}
			if !f.VF && !readsVPD[f.Driver.Or("")] {
				askSerial(b, f)
			}
		}
		b.run()
	},
})

// mostDevlink bounds the functions that are asked.
const mostDevlink = 512

// rdmaParams are the generic parameters that switch RDMA (devlink-params.rst).
var rdmaParams = []string{"enable_rdma", "enable_roce", "enable_iwarp"}

func paramGet(pci, name string) hostio.Op {
	header := []byte{unix.DEVLINK_CMD_PARAM_GET, 1, 0, 0} // struct genlmsghdr, DEVLINK_GENL_VERSION
	return netlinkOp("devlink/param-get."+pci+"/"+name, 0, 0, header, func(ae *netlink.AttributeEncoder) {
		ae.String(unix.DEVLINK_ATTR_BUS_NAME, "pci")
		ae.String(unix.DEVLINK_ATTR_DEV_NAME, pci)
		ae.String(unix.DEVLINK_ATTR_PARAM_NAME, name)
	})
}

// askParam asks for one switch. A driver that has none answers EINVAL, one
// without devlink ENODEV.
func askParam(b *batch, f *facts.PCIFunction, name string) {
	op := paramGet(f.Address, name)
	b.add(op, func(res hostio.Result) {
		if err := res.Err(); err != nil {
			kind, _ := classify(err)
			switch {
			case errors.Is(err, hostio.ErrNotInForm):
				b.r.netlinkGap(op, err)
			case kind == facts.Unsupported || kind == facts.Absent:
				b.r.Have()
			default:
				b.r.Gap(op.Name, err)
			}
			return
		}
		b.r.answer(op, res, func(body []byte) error {
			on, err := parseParam(body, name)
			if v, ok := on.Get(); ok {
				if f.DevlinkParams == nil {
					f.DevlinkParams = map[string]bool{}
				}
				f.DevlinkParams[name] = v
			}
			return err
		}, b.r.Have)
	})
}

// parseParam reads the value of a boolean parameter. One that is on carries
// data, as a flag; one that is off has none. A value for the next start comes
// before one that is stored in the device.
func parseParam(body []byte, name string) (facts.Opt[bool], error) {
	var on facts.Opt[bool]
	best := uint8(255)
	err := attributes(body, sizeofGenlMsg, func(ad *netlink.AttributeDecoder) {
		if ad.Type() != unix.DEVLINK_ATTR_PARAM {
			return
		}
		var got string
		boolean := false
		var values []paramValue
		nested(ad, func(in *netlink.AttributeDecoder) {
			switch in.Type() {
			case unix.DEVLINK_ATTR_PARAM_NAME:
				got = in.String()
			case unix.DEVLINK_ATTR_PARAM_TYPE:
				boolean = in.Uint8() == nlaFlag
			case unix.DEVLINK_ATTR_PARAM_VALUES_LIST:
				nested(in, func(v *netlink.AttributeDecoder) { values = append(values, parseParamValue(v)) })
			}
		})
		if got != name || !boolean {
			return
		}
		for _, v := range values {
			if mode, ok := v.mode.Get(); ok && slices.Contains(modesInUse, mode) && mode < best {
				best, on = mode, facts.Some(v.on)
			}
		}
	})
	return on, err
}

// nlaFlag is the type of boolean parameters (DEVLINK_VAR_ATTR_TYPE_FLAG).
const nlaFlag = 6

// modesInUse are the configuration modes, the first the most immediate.
var modesInUse = []uint8{unix.DEVLINK_PARAM_CMODE_RUNTIME, unix.DEVLINK_PARAM_CMODE_DRIVERINIT, unix.DEVLINK_PARAM_CMODE_PERMANENT}

type paramValue struct {
	on   bool
	mode facts.Opt[uint8]
}

func parseParamValue(ad *netlink.AttributeDecoder) (v paramValue) {
	nested(ad, func(in *netlink.AttributeDecoder) {
		switch in.Type() {
		case unix.DEVLINK_ATTR_PARAM_VALUE_DATA:
			v.on = true
		case unix.DEVLINK_ATTR_PARAM_VALUE_CMODE:
			v.mode = facts.Some(in.Uint8())
		}
	})
	return v
}
