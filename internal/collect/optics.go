package collect

import (
	"fmt"

	"github.com/mdlayher/netlink"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// Attributes of ETHTOOL_MSG_MODULE_EEPROM_GET (ethtool_netlink.h).
const (
	ethModuleEEPROMGet = 31

	ethEEPROMOffset  = 2
	ethEEPROMLength  = 3
	ethEEPROMPage    = 4
	ethEEPROMAddress = 6
	ethEEPROMData    = 7
)

// collectOptics reads what optics and cables say of themselves, once a run: a
// byte takes the NIC about 0.1 ms. It reads neither the status flags of the
// lower page (reading clears them) nor a port without link: some drivers log
// an error for an empty cage. A virtual machine's NIC is no place to ask.
func collectOptics(r *Reader) {
	ids, details, limits := r.batch(), r.batch(), r.batch()
	for _, n := range r.carriers() {
		if !n.Carrier.Or(false) || !ownsLink(n) || !physical(r.Snap, n) {
			continue
		}
		ids.netlink(memoryOp(n.Name, moduleRead{offset: 0, length: 3}), func(body []byte) error {
			id, err := parseMemory(body, 3)
			if err != nil {
				return err
			}
			layout, form := layoutOf(id[0])
			if layout == nil {
				return nil
			}
			o := &facts.Transceiver{Form: form}
			n.Transceiver = facts.Some(*o)
			for _, part := range layout.parts {
				askMemory(details, n, o, part)
			}
			if !layout.flat(id[2]) {
				for _, part := range layout.limits {
					askMemory(limits, n, o, part)
				}
			}
			return nil
		}, r.Have)
	}
	ids.run()
	details.run()
	limits.run()
}

// physical reports whether the port's cage is this host's own.
func physical(s *facts.Snapshot, n *facts.Netdev) bool {
	if s.Host.Virtual.Or(false) {
		return false
	}
	for _, f := range s.PCI {
		if f.Address == n.PCI.Or("") {
			return !f.VF
		}
	}
	return false
}

// A moduleRead is one read of a module's memory.
type moduleRead struct {
	address        byte // on the module's bus; 0 is the usual one, 0x50
	page           byte
	offset, length int
}

// askMemory asks for one part, which many modules lack.
func askMemory(b *batch, n *facts.Netdev, o *facts.Transceiver, part modulePart) {
	b.netlinkIf(memoryOp(n.Name, part.moduleRead), func(body []byte) error {
		data, err := parseMemory(body, part.length)
		if err == nil {
			part.set(o, data)
			n.Transceiver = facts.Some(*o)
		}
		return err
	})
}

func memoryOp(netdev string, m moduleRead) hostio.Op {
	if m.address == 0 {
		m.address = 0x50
	}
	what := fmt.Sprintf("module-%02x-%02x-%d", m.address, m.page, m.offset)
	return ethtoolOp(what, ethModuleEEPROMGet, netdev, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(ethEEPROMOffset, uint32(m.offset))
		ae.Uint32(ethEEPROMLength, uint32(m.length))
		ae.Uint8(ethEEPROMPage, m.page)
		ae.Uint8(ethEEPROMAddress, m.address)
	})
}

// parseMemory reads ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY, which must hold
// length bytes.
func parseMemory(body []byte, length int) ([]byte, error) {
	var data []byte
	err := attributes(body, sizeofGenlMsg, func(ad *netlink.AttributeDecoder) {
		if ad.Type() == ethEEPROMData {
			data = ad.Bytes()
		}
	})
	if err == nil && len(data) < length {
		err = fmt.Errorf("read module memory: %d bytes, want %d", len(data), length)
	}
	return data, err
}
