// Command apptrust reads and sets the DCB trust table of a netdev, which
// Debian 12's dcb(8) cannot: apptrust NETDEV [SELECTOR...]. It prints the
// error number of a refused change, then the table, or "absent".
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Numbers of linux/dcbnl.h that x/sys/unix does not have.
const (
	cmdIEEESet, cmdIEEEGet = 20, 21
	attrIfname, attrIEEE   = 1, 13
	attrTrustTable         = 11
	attrIEEEApp, attrApp   = 1, 2
	selPCP                 = 255
	dcbHeader              = 4
)

func attr(kind uint16, data []byte) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(4+len(data)))
	b = append(binary.NativeEndian.AppendUint16(b, kind), data...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

// find returns the payload of the attribute of that kind, nil if absent.
func find(b []byte, kind uint16) []byte {
	for len(b) >= 4 {
		n := int(binary.NativeEndian.Uint16(b))
		if n < 4 || n > len(b) {
			return nil
		}
		if binary.NativeEndian.Uint16(b[2:])&^unix.NLA_F_NESTED == kind {
			return b[4:n:n]
		}
		b = b[min(len(b), (n+3)&^3):]
	}
	return nil
}

// request sends a DCB command and returns the attributes of its answer.
func request(netdev string, kind uint16, command byte, attrs []byte) ([]byte, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	body := append([]byte{unix.AF_UNSPEC, command, 0, 0},
		attr(attrIfname, append([]byte(netdev), 0))...)
	body = append(body, attrs...)
	b := binary.NativeEndian.AppendUint32(nil, uint32(unix.NLMSG_HDRLEN+len(body)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = binary.NativeEndian.AppendUint16(b, unix.NLM_F_REQUEST)
	b = append(append(b, 1, 0, 0, 0, 0, 0, 0, 0), body...)
	if err := unix.Sendto(fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	answer := make([]byte, 1<<16)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return nil, err
	}
	if n < unix.NLMSG_HDRLEN+dcbHeader {
		return nil, errors.New("short answer")
	}
	return answer[unix.NLMSG_HDRLEN+dcbHeader : n], nil
}

func main() {
	log.SetFlags(0)
	netdev, selectors := os.Args[1], os.Args[2:]
	var table []byte
	for _, s := range selectors {
		n, err := strconv.ParseUint(s, 0, 8)
		if err != nil {
			log.Fatal(err)
		}
		kind := uint16(attrIEEEApp)
		if n == selPCP {
			kind = attrApp
		}
		table = append(table, attr(kind, []byte{byte(n)})...)
	}
	if len(selectors) > 0 {
		b, err := request(netdev, unix.RTM_SETDCB, cmdIEEESet, attr(
			attrIEEE|unix.NLA_F_NESTED, attr(attrTrustTable|unix.NLA_F_NESTED, table)))
		if err != nil {
			log.Fatal(err)
		}
		if v := find(b, attrIEEE); len(v) == 1 && v[0] != 0 {
			fmt.Println("errno", 256-int(v[0]))
		}
	}
	b, err := request(netdev, unix.RTM_GETDCB, cmdIEEEGet, nil)
	if err != nil {
		log.Fatal(err)
	}
	v := find(find(b, attrIEEE), attrTrustTable)
	if v == nil {
		fmt.Println("absent")
		return
	}
	fmt.Print("trust")
	for len(v) >= 5 {
		fmt.Printf(" %d", v[4])
		v = v[min(len(v), 8):]
	}
	fmt.Println()
}
