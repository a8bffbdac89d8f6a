package collect

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// How much of a function's configuration space is read. Only what is needed:
// each four bytes cost the processor about a microsecond.
const (
	pciHeader  = 64  // all that the kernel gives without CAP_SYS_ADMIN
	pciBasic   = 256 // with the PCI Express capability
	pciExtends = facts.PCIConfigSpace
)

// collectConfig reads /sys/bus/pci/devices/*/config (pci-sysfs.c,
// pci_read_config): of RDMA functions, of the bridges above them, and to the
// end of those that traffic between NIC and GPU passes. Reading wakes what
// sleeps (pci_config_pm_runtime_get), so a suspended function is left alone.
func collectConfig(r *Reader) {
	b := r.batch()
	limits := configLimits(r.Snap)
	denied := false
	for i := range r.Snap.PCI {
		f := &r.Snap.PCI[i]
		limit := limits[f.Address]
		if limit == 0 || asleep(f) {
			continue
		}
		path := pciDir(f) + "config"
		askConfig(b, path, limit, func(data []byte) {
			c, err := parseConfig(data)
			if err != nil {
				r.gap(path, facts.Malformed, err.Error())
			}
			f.Config = facts.Some(c)
			denied = denied || limit > pciHeader && c.Bytes == pciHeader
		})
	}
	b.run()
	if denied {
		r.gap(pciDevices, facts.Denied, "64 bytes of each config only: the rest needs CAP_SYS_ADMIN")
	}
}

func askConfig(b *batch, path string, limit int, then func(data []byte)) {
	b.add(hostio.Op{Kind: hostio.ReadFile, Name: path, Limit: limit}, func(res hostio.Result) {
		switch err := res.Err(); {
		case err == nil, res.Truncated: // There is more than was asked for.
			then(res.Data[:min(len(res.Data), limit)])
		case !b.r.missing(err):
			b.r.Gap(path, err)
		}
	})
}

// confirmLost looks again at functions that gave nothing but ones: during a
// reset that is so for a moment.
func confirmLost(r *Reader) {
	b := r.batch()
	for i := range r.Snap.PCI {
		f := &r.Snap.PCI[i]
		c, _ := f.Config.Get()
		if !c.AllOnes {
			continue
		}
		askConfig(b, pciDir(f)+"config", pciHeader, func(data []byte) {
			if again, err := parseConfig(data); err != nil || !again.AllOnes {
				c.AllOnes = false
				f.Config = facts.Some(c)
			}
		})
	}
	b.run()
}

// configLimits tells how much of which configuration space is of use.
func configLimits(s *facts.Snapshot) map[string]int {
	limits := map[string]int{}
	want := func(f *facts.PCIFunction, n int) { limits[f.Address] = max(limits[f.Address], n) }
	tree := s.PCITree()
	var nics, gpus []*facts.PCIFunction
	for i := range s.PCI {
		f := &s.PCI[i]
		switch {
		case f.GPU:
			gpus = append(gpus, f)
		case f.RDMACapable == "" && len(f.RDMADevices) == 0:
		case f.VF: // Its own registers are the physical function's to set.
			want(f, pciHeader)
		default:
			nics = append(nics, f)
			want(f, pciBasic)
			for _, up := range tree.Bridges(f) {
				want(up, pciBasic)
			}
		}
	}
	for _, nic := range nics {
		for _, gpu := range gpus {
			between, _ := tree.Between(nic, gpu)
			for _, bridge := range between {
				want(bridge, pciExtends)
			}
		}
	}
	return limits
}

// Offsets of pci_regs.h.
const (
	pciStatus       = 0x06 // PCI_STATUS
	pciCapList      = 0x10 // PCI_STATUS_CAP_LIST
	pciCapPointer   = 0x34 // PCI_CAPABILITY_LIST
	pciCapExp       = 0x10 // PCI_CAP_ID_EXP
	pciExpFlags     = 0x02
	pciExpDevCap    = 0x04
	pciExpDevCtl    = 0x08
	pciExpLinkCtl   = 0x10
	pciExtStart     = 0x100
	pciExtACS       = 0x000d // PCI_EXT_CAP_ID_ACS
	pciACSControl   = 0x06
	pciRelaxEnabled = 0x0010 // PCI_EXP_DEVCTL_RELAX_EN
)

// portTypes are PCI_EXP_FLAGS_TYPE.
var portTypes = map[uint16]string{
	0: "endpoint", 1: "legacy-endpoint", 4: "root-port", 5: "upstream", 6: "downstream",
	7: "pcie-to-pci-bridge", 8: "pci-to-pcie-bridge", 9: "rc-integrated-endpoint", 10: "rc-event-collector",
}

// hasLink are the port types with registers of a link.
var hasLink = map[string]bool{"endpoint": true, "legacy-endpoint": true, "root-port": true, "upstream": true, "downstream": true}

// aspm are the values of ASPM Control (PCI_EXP_LNKCTL_ASPMC).
var aspm = [4]string{"off", "L0s", "L1", "L0s L1"}

// parseConfig reads a configuration space of which 64 bytes or more are there.
// What was understood before an error counts.
func parseConfig(b []byte) (facts.PCIConfig, error) {
	c := facts.PCIConfig{Bytes: len(b)}
	if len(b) < pciHeader {
		return c, form(fmt.Sprintf("%d bytes, want 64 or more", len(b)))
	}
	if len(bytes.Trim(b, "\xff")) == 0 {
		c.AllOnes = true
		return c, nil
	}
	if err := parsePCIe(b, &c); err != nil {
		return c, err
	}
	return c, parseExtended(b, &c)
}

// parsePCIe finds the PCI Express capability in the list that begins in the
// header, as far as it was read.
func parsePCIe(b []byte, c *facts.PCIConfig) error {
	if b[pciStatus]&pciCapList == 0 {
		return nil
	}
	at := int(b[pciCapPointer]) &^ 3
	for range (pciBasic - pciHeader) / 4 {
		if at == 0 {
			return nil
		}
		if at < pciHeader {
			return form("a capability inside the header")
		}
		if at+pciExpDevCtl+2 > len(b) {
			return nil // Not read, or at the very end.
		}
		if b[at] != pciCapExp {
			at = int(b[at+1]) &^ 3
			continue
		}
		flags := binary.LittleEndian.Uint16(b[at+pciExpFlags:])
		capable := binary.LittleEndian.Uint16(b[at+pciExpDevCap:])
		control := binary.LittleEndian.Uint16(b[at+pciExpDevCtl:])
		if name, ok := portTypes[flags>>4&0xf]; ok {
			c.PortType = facts.Some(name)
		}
		c.MaxPayloadCap = pciSize(capable & 7)
		c.MaxPayload = pciSize(control >> 5 & 7)
		c.MaxReadRequest = pciSize(control >> 12 & 7)
		c.RelaxedOrdering = facts.Some(control&pciRelaxEnabled != 0)
		if hasLink[c.PortType.Or("")] && at+pciExpLinkCtl+2 <= len(b) {
			c.ASPM = facts.Some(aspm[b[at+pciExpLinkCtl]&3])
		}
		return nil
	}
	return form("a capability list without end")
}

// pciSize decodes a size of Device Control, 128 bytes and up. Two codes are
// reserved.
func pciSize(code uint16) facts.Opt[int] {
	if code > 5 {
		return facts.Opt[int]{}
	}
	return facts.Some(128 << code)
}

// parseExtended finds the ACS capability. The header of each has an identifier,
// a version and the offset of the next.
func parseExtended(b []byte, c *facts.PCIConfig) error {
	at := pciExtStart
	for range (facts.PCIConfigSpace - pciExtStart) / 8 {
		if at+8 > len(b) {
			return nil
		}
		header := binary.LittleEndian.Uint32(b[at:])
		if header == 0 || header == 0xffffffff { // The list is empty.
			return nil
		}
		if header&0xffff == pciExtACS {
			c.ACS = facts.Some(binary.LittleEndian.Uint16(b[at+pciACSControl:]))
			return nil
		}
		if at = int(header>>20) &^ 3; at < pciExtStart {
			return nil
		}
	}
	return form("an extended capability list without end")
}
