package main

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Numbers of include/uapi/rdma/rdma_netlink.h that x/sys does not have.
const (
	rdmaNLClientNldev   = 5 // RDMA_NL_NLDEV
	rdmaNldevCmdGet     = 1 // RDMA_NLDEV_CMD_GET
	rdmaNldevCmdDellink = 5 // RDMA_NLDEV_CMD_DELLINK
	rdmaNldevAttrIndex  = 1 // RDMA_NLDEV_ATTR_DEV_INDEX
	rdmaNldevAttrName   = 2 // RDMA_NLDEV_ATTR_DEV_NAME
)

// Parents of queueing disciplines, of include/uapi/linux/pkt_sched.h.
const (
	tcHandleRoot    = 0xFFFFFFFF // TC_H_ROOT
	tcHandleIngress = 0xFFFFFFF1 // TC_H_INGRESS, and TC_H_CLSACT
)

// query sends one request to a netlink family and returns the replies.
func query(family int, kind netlink.HeaderType, flags netlink.HeaderFlags,
	data []byte) ([]netlink.Message, error) {
	conn, err := netlink.Dial(family, nil)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.Execute(netlink.Message{
		Header: netlink.Header{Type: kind, Flags: netlink.Request | flags},
		Data:   data,
	})
}

// attributes decodes the attributes behind a fixed header of that size.
func attributes(m netlink.Message, header int) (map[uint16][]byte, error) {
	if len(m.Data) < header {
		return nil, fmt.Errorf("netlink message of %d bytes, want %d at least",
			len(m.Data), header)
	}
	list, err := netlink.UnmarshalAttributes(m.Data[header:])
	if err != nil {
		return nil, err
	}
	found := make(map[uint16][]byte, len(list))
	for _, a := range list {
		found[a.Type&^uint16(unix.NLA_F_NESTED|unix.NLA_F_NET_BYTEORDER)] = a.Data
	}
	return found, nil
}

func text(b []byte) string { return strings.TrimRight(string(b), "\x00") }

func number(b []byte) uint32 {
	if len(b) != 4 {
		return 0
	}
	return binary.NativeEndian.Uint32(b)
}

// link is a network device.
type link struct {
	index uint32
	name  string
	// state is what of it a scenario may change.
	state string
}

// links lists the network devices of this namespace.
func links() ([]link, error) {
	msgs, err := query(unix.NETLINK_ROUTE, unix.RTM_GETLINK, netlink.Dump,
		make([]byte, unix.SizeofIfInfomsg))
	if err != nil {
		return nil, fmt.Errorf("list links: %w", err)
	}
	var all []link
	for _, m := range msgs {
		attrs, err := attributes(m, unix.SizeofIfInfomsg)
		if err != nil {
			return nil, fmt.Errorf("list links: %w", err)
		}
		flags := binary.NativeEndian.Uint32(m.Data[8:])
		name := text(attrs[unix.IFLA_IFNAME])
		all = append(all, link{
			index: binary.NativeEndian.Uint32(m.Data[4:]),
			name:  name,
			state: fmt.Sprintf("%s up=%t promisc=%t mtu=%d txqlen=%d qdisc=%s "+
				"address=%x", name, flags&unix.IFF_UP != 0,
				number(attrs[unix.IFLA_PROMISCUITY]) != 0,
				number(attrs[unix.IFLA_MTU]), number(attrs[unix.IFLA_TXQLEN]),
				text(attrs[unix.IFLA_QDISC]), attrs[unix.IFLA_ADDRESS]),
		})
	}
	return all, nil
}

// deleteLink removes a network device.
func deleteLink(index uint32) error {
	data := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(data[4:], index)
	_, err := query(unix.NETLINK_ROUTE, unix.RTM_DELLINK, netlink.Acknowledge, data)
	return err
}

// linkUp sets a network device up.
func linkUp(name string) error {
	all, err := links()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(l link) bool { return l.name == name })
	if i < 0 {
		return fmt.Errorf("set link up: no %q", name)
	}
	data := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(data[4:], all[i].index)
	binary.NativeEndian.PutUint32(data[8:], unix.IFF_UP)
	binary.NativeEndian.PutUint32(data[12:], unix.IFF_UP)
	_, err = query(unix.NETLINK_ROUTE, unix.RTM_NEWLINK, netlink.Acknowledge, data)
	if err != nil {
		return fmt.Errorf("set link %q up: %w", name, err)
	}
	return nil
}

// addresses lists addresses as "IFINDEX ADDRESS/LENGTH label".
func addresses() ([]string, error) {
	msgs, err := query(unix.NETLINK_ROUTE, unix.RTM_GETADDR, netlink.Dump,
		make([]byte, unix.SizeofIfAddrmsg))
	if err != nil {
		return nil, fmt.Errorf("list addresses: %w", err)
	}
	var all []string
	for _, m := range msgs {
		attrs, err := attributes(m, unix.SizeofIfAddrmsg)
		if err != nil {
			return nil, fmt.Errorf("list addresses: %w", err)
		}
		addr, _ := netip.AddrFromSlice(attrs[unix.IFA_ADDRESS])
		all = append(all, fmt.Sprintf("%s/%d scope %d", addr, m.Data[1], m.Data[3]))
	}
	return all, nil
}

// route is a route or a rule, which have the same header.
type route struct {
	// key is what it does, without the index of an interface, which grows
	// with each one made.
	key  string
	data []byte
}

// routes lists routes of all tables, or rules.
func routes(request netlink.HeaderType) ([]route, error) {
	msgs, err := query(unix.NETLINK_ROUTE, request, netlink.Dump,
		make([]byte, unix.SizeofRtMsg))
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	var all []route
	for _, m := range msgs {
		attrs, err := attributes(m, unix.SizeofRtMsg)
		if err != nil {
			return nil, fmt.Errorf("list routes: %w", err)
		}
		// Attribute numbers of routes; of rules, 6 is the priority too.
		key := fmt.Sprintf("header %x to %x from %x gateway %x "+
			"priority %x table %d", m.Data[:8], attrs[unix.RTA_DST],
			attrs[unix.RTA_SRC], attrs[unix.RTA_GATEWAY],
			attrs[unix.RTA_PRIORITY], number(attrs[unix.RTA_TABLE]))
		all = append(all, route{key, m.Data})
	}
	return all, nil
}

// deleteRoute deletes a route or rule that routes has listed.
func deleteRoute(request netlink.HeaderType, r route) error {
	_, err := query(unix.NETLINK_ROUTE, request, netlink.Acknowledge, r.data)
	return err
}

// deleteQdiscs removes the queueing disciplines of a network device, those
// for what comes in too. The kernel puts its default in their place.
func deleteQdiscs(index uint32) {
	for _, parent := range []uint32{tcHandleRoot, tcHandleIngress} {
		// struct tcmsg: family, ifindex, handle, parent, info.
		data := make([]byte, 20)
		binary.NativeEndian.PutUint32(data[4:], index)
		binary.NativeEndian.PutUint32(data[12:], parent)
		query(unix.NETLINK_ROUTE, unix.RTM_DELQDISC, netlink.Acknowledge, data)
	}
}

// rdmaLink is an RDMA device.
type rdmaLink struct {
	index uint32
	name  string
}

// rdmaLinks lists RDMA devices. Without ib_core there are none, and asking
// would load it.
func rdmaLinks() ([]rdmaLink, error) {
	if !moduleLoaded("ib_core") {
		return nil, nil
	}
	msgs, err := query(unix.NETLINK_RDMA, rdmaRequest(rdmaNldevCmdGet),
		netlink.Dump, nil)
	if err != nil {
		return nil, fmt.Errorf("list RDMA devices: %w", err)
	}
	var all []rdmaLink
	for _, m := range msgs {
		attrs, err := attributes(m, 0)
		if err != nil {
			return nil, fmt.Errorf("list RDMA devices: %w", err)
		}
		all = append(all, rdmaLink{
			index: number(attrs[rdmaNldevAttrIndex]),
			name:  text(attrs[rdmaNldevAttrName]),
		})
	}
	return all, nil
}

// deleteRdmaLink removes a software RDMA device. It blocks while a process
// has the device open.
func deleteRdmaLink(index uint32) error {
	data, err := netlink.MarshalAttributes([]netlink.Attribute{{
		Type: rdmaNldevAttrIndex,
		Data: binary.NativeEndian.AppendUint32(nil, index),
	}})
	if err != nil {
		return err
	}
	_, err = query(unix.NETLINK_RDMA, rdmaRequest(rdmaNldevCmdDellink),
		netlink.Acknowledge, data)
	return err
}

// rdmaRequest is RDMA_NL_GET_TYPE of rdma_netlink.h.
func rdmaRequest(command uint16) netlink.HeaderType {
	return netlink.HeaderType(rdmaNLClientNldev<<10 | command)
}
