package collect

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

func addressDump() hostio.Op {
	return netlinkOp("route/address-dump", unix.RTM_GETADDR, nlDump, make([]byte, unix.SizeofIfAddrmsg), nil)
}

// An address is one RTM_NEWADDR message.
type address struct {
	facts.Address
	index int
}

// scopes are the names of ip(8), by number (rtnetlink.h, RT_SCOPE_*).
var scopes = map[uint8]string{
	unix.RT_SCOPE_UNIVERSE: "global", unix.RT_SCOPE_SITE: "site", unix.RT_SCOPE_LINK: "link",
	unix.RT_SCOPE_HOST: "host", unix.RT_SCOPE_NOWHERE: "nowhere",
}

// parseAddress reads one RTM_NEWADDR: struct ifaddrmsg and attributes. On
// point-to-point links IFA_ADDRESS is the far end's and IFA_LOCAL the own.
func parseAddress(body []byte) (address, error) {
	var a address
	if len(body) < unix.SizeofIfAddrmsg {
		return a, errCut
	}
	a.PrefixLen = int(body[1])
	flags := uint32(body[2])
	a.Scope = scopes[body[3]]
	a.index = int(binary.NativeEndian.Uint32(body[4:]))
	var local, remote netip.Addr
	err := attributes(body, unix.SizeofIfAddrmsg, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case unix.IFA_LOCAL:
			local, _ = netip.AddrFromSlice(ad.Bytes())
		case unix.IFA_ADDRESS:
			remote, _ = netip.AddrFromSlice(ad.Bytes())
		case unix.IFA_FLAGS:
			flags = ad.Uint32()
		}
	})
	if !local.IsValid() {
		local = remote
	}
	if err == nil && (!local.IsValid() || a.PrefixLen > local.BitLen()) {
		err = errCut
	}
	if err == nil {
		a.IP = local.String()
	}
	a.Duplicate = flags&unix.IFA_F_DADFAILED != 0
	a.Tentative = flags&(unix.IFA_F_TENTATIVE|unix.IFA_F_DADFAILED) != 0
	return a, err
}

// setAddresses puts addresses with their netdevs, IPv4 before IPv6, each as the
// kernel lists them: the first is the primary one.
func setAddresses(s *facts.Snapshot, addresses []address) {
	for _, a := range addresses {
		if n := s.NetdevByIndex(a.index); n != nil {
			n.Addresses = append(n.Addresses, a.Address)
		}
	}
	for i := range s.Netdevs {
		slices.SortStableFunc(s.Netdevs[i].Addresses, func(a, b facts.Address) int {
			return cmp.Compare(ipLength(a.IP), ipLength(b.IP))
		})
	}
}

// ipLength is how many bits an address has, 0 if it is none.
func ipLength(ip string) int {
	a, _ := netip.ParseAddr(ip)
	return a.BitLen()
}
