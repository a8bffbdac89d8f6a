package hostio

import (
	"encoding/binary"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// message builds one netlink message (constructed).
func message(typ, flags uint16, seq uint32, body ...byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(nlHeaderLen+len(body)))
	b = binary.NativeEndian.AppendUint16(b, typ)
	b = binary.NativeEndian.AppendUint16(b, flags)
	b = binary.NativeEndian.AppendUint32(b, seq)
	b = append(binary.NativeEndian.AppendUint32(b, 0), body...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func errnoBody(e syscall.Errno) []byte {
	return binary.NativeEndian.AppendUint32(nil, uint32(-int32(e)))
}

func join(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func TestReply(t *testing.T) {
	one := message(16, 0, 1, 1, 2, 3, 4, 5)
	part := message(16, unix.NLM_F_MULTI, 1, 9, 9, 9, 9)
	intr := message(16, unix.NLM_F_MULTI|unix.NLM_F_DUMP_INTR, 1)
	done := message(unix.NLMSG_DONE, unix.NLM_F_MULTI, 1, errnoBody(0)...)
	tests := []struct {
		name      string
		ack       bool
		datagrams [][]byte
		data      int
		errno     syscall.Errno
		truncated bool
		done      bool
	}{
		{"single", false, [][]byte{one}, len(one), 0, false, true},
		{"single with ack", true, [][]byte{one, message(unix.NLMSG_ERROR, 0, 1, errnoBody(0)...)}, len(one), 0, false, true},
		{"single before its ack", true, [][]byte{one}, len(one), 0, false, false},
		{"error", false, [][]byte{message(unix.NLMSG_ERROR, 0, 1, errnoBody(unix.EOPNOTSUPP)...)}, 0, unix.EOPNOTSUPP, false, true},
		{"dump", false, [][]byte{join(part, part), join(part, done)}, 3 * len(part), 0, false, true},
		{"dump not ended", false, [][]byte{join(part, part)}, 2 * len(part), 0, false, false},
		{"dump that fails midway", false, [][]byte{part, message(unix.NLMSG_DONE, unix.NLM_F_MULTI, 1, errnoBody(unix.ENODEV)...)}, len(part), unix.ENODEV, false, true},
		{"done without errno", false, [][]byte{message(unix.NLMSG_DONE, unix.NLM_F_MULTI, 1)}, 0, 0, false, true},
		{"interrupted dump", false, [][]byte{intr, done}, len(intr), 0, true, true},
		{"another's answer", false, [][]byte{message(16, 0, 2, 7), one}, len(one), 0, false, true},
		{"length past the end", false, [][]byte{append([]byte{0xff, 0, 0, 0}, one[4:]...)}, 0, 0, true, true},
		{"length below a header", false, [][]byte{append([]byte{3, 0, 0, 0}, one[4:]...)}, 0, 0, true, true},
		{"positive error", false, [][]byte{message(unix.NLMSG_ERROR, 0, 1, 5, 0, 0, 0)}, 0, 0, false, true},
		{"short datagram", false, [][]byte{one[:10]}, 0, 0, false, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := reply{seq: 1, ack: tc.ack}
			for _, d := range tc.datagrams {
				r.add(d)
			}
			if len(r.Data) != tc.data || r.Errno != tc.errno || r.Truncated != tc.truncated || r.done != tc.done {
				t.Errorf("got %d bytes, errno %v, truncated %v, done %v, want %d, %v, %v, %v",
					len(r.Data), r.Errno, r.Truncated, r.done, tc.data, tc.errno, tc.truncated, tc.done)
			}
		})
	}
}

func FuzzReply(f *testing.F) {
	f.Add(message(16, 0, 1, 1, 2, 3), false)
	f.Add(join(message(16, unix.NLM_F_MULTI, 1), message(unix.NLMSG_DONE, 2, 1, 0, 0, 0, 0)), true)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}, false)
	f.Fuzz(func(t *testing.T, b []byte, ack bool) {
		r := reply{seq: 1, ack: ack}
		r.add(b)
		if len(r.Data) > len(b)+3 {
			t.Errorf("%d bytes from %d", len(r.Data), len(b))
		}
		parseFamilies(b)
	})
}

func TestLiveNetlinkLinks(t *testing.T) {
	request := message(unix.RTM_GETLINK, unix.NLM_F_REQUEST|unix.NLM_F_DUMP, 0, make([]byte, unix.SizeofIfInfomsg)...)
	r := One(t.Context(), &Live{}, Op{Kind: Netlink, Name: "route/link-dump", Request: request})
	if r.Err() != nil || len(r.Data) < nlHeaderLen {
		t.Fatalf("links of this host: %+v", r)
	}
	if typ := binary.NativeEndian.Uint16(r.Data[4:]); typ != unix.RTM_NEWLINK {
		t.Errorf("first message is of type %d, want %d", typ, unix.RTM_NEWLINK)
	}
}

func TestLiveNetlinkRefuses(t *testing.T) {
	req := func(typ uint16, body ...byte) []byte { return message(typ, unix.NLM_F_REQUEST, 0, body...) }
	for _, tc := range []struct {
		name    string
		request []byte
	}{
		{"route/link-set", req(unix.RTM_SETLINK)},
		{"route/link-new", req(unix.RTM_NEWLINK)},
		{"route/link-del", req(unix.RTM_DELLINK)},
		{"route/dcb-set", req(unix.RTM_SETDCB)},
		{"route/noop", req(2)},
		{"netfilter/x", req(0)},
		{"audit", req(2)},
		{"route/short", []byte{1}},
		{"route/none", nil},
	} {
		r := One(t.Context(), &Live{}, Op{Kind: Netlink, Name: tc.name, Request: tc.request})
		if !r.NotInForm {
			t.Errorf("%s: %+v, want not in form", tc.name, r)
		}
	}
}

func TestMayRequest(t *testing.T) {
	type row struct {
		family  string
		typ     uint16
		cmd     uint8
		allowed bool
	}
	rows := []row{
		{"route", unix.RTM_GETLINK, 0, true}, {"route", unix.RTM_GETADDR, 0, true}, {"route", unix.RTM_GETROUTE, 0, true},
		{"route", unix.RTM_GETRULE, 0, true}, {"route", unix.RTM_GETNEIGH, 0, true}, {"route", unix.RTM_GETQDISC, 0, true},
		{"route", unix.RTM_GETDCB, 0, true}, {"route", unix.RTM_NEWROUTE, 0, false}, {"route", unix.RTM_DELQDISC, 0, false},
		{"rdma", 5<<10 | 1, 0, true}, {"rdma", 5<<10 | 5, 0, true}, {"rdma", 5<<10 | 9, 0, true},
		{"rdma", 5<<10 | 2, 0, false}, {"rdma", 5<<10 | 3, 0, false}, {"rdma", 5<<10 | 4, 0, false}, // SET, NEWLINK, DELLINK
		{"rdma", 5<<10 | 7, 0, false}, {"rdma", 5<<10 | 10, 0, false}, {"rdma", 5<<10 | 16, 0, false}, // SYS_SET, RES_QP_GET, STAT_SET
		{"rdma", 2<<10 | 1, 0, false}, {"rdma", 5<<10 | 0x101, 0, false},
		{"ethtool", 0, unix.ETHTOOL_MSG_LINKMODES_GET, true}, {"ethtool", 0, unix.ETHTOOL_MSG_LINKMODES_SET, false},
		{"ethtool", 0, unix.ETHTOOL_MSG_CABLE_TEST_ACT, false}, {"ethtool", 0, unix.ETHTOOL_MSG_FEC_SET, false},
		{"devlink", 0, unix.DEVLINK_CMD_INFO_GET, true}, {"devlink", 0, unix.DEVLINK_CMD_HEALTH_REPORTER_DUMP_GET, false},
		{"netfilter", 10<<8 | unix.NFT_MSG_GETRULE, 0, true}, {"netfilter", 10<<8 | unix.NFT_MSG_GETCHAIN, 0, true},
		{"netfilter", 10<<8 | unix.NFT_MSG_NEWRULE, 0, false}, {"netfilter", 10<<8 | unix.NFT_MSG_DELTABLE, 0, false},
		{"netfilter", 10<<8 | unix.NFT_MSG_GETRULE_RESET, 0, false}, {"netfilter", 1<<8 | unix.NFT_MSG_GETRULE, 0, false},
		{"devlink", 0, unix.DEVLINK_CMD_RELOAD, false}, {"other", 0, 1, false},
	}
	chardev := func(client string) []byte {
		b := binary.NativeEndian.AppendUint16(nil, uint16(4+len(client)+1))
		b = binary.NativeEndian.AppendUint16(b, rdmaChardevType)
		return message(5<<10|rdmaGetChardev, 1, 0, append(append(b, client...), 0)...)
	}
	for client, allowed := range map[string]bool{"uverbs": true, "umad": false, "issm": false, "rdma_cm": false, "": false} {
		if got := mayRequest("rdma", chardev(client)); got != allowed {
			t.Errorf("node of client %q: allowed %v, want %v", client, got, allowed)
		}
	}
	for _, r := range rows {
		if got := mayRequest(r.family, message(r.typ, 1, 0, r.cmd, 0, 0, 0)); got != r.allowed {
			t.Errorf("%s type %d command %d: allowed %v, want %v", r.family, r.typ, r.cmd, got, r.allowed)
		}
	}
}

func TestLiveFamilies(t *testing.T) {
	var l Live
	if _, res := l.familyID("no-such-family"); res.Errno != syscall.ENOENT {
		t.Errorf("an unknown family: %+v, want ENOENT", res)
	}
	if id := l.families["nlctrl"]; id != unix.GENL_ID_CTRL {
		t.Errorf("nlctrl has id %d, want %d", id, unix.GENL_ID_CTRL)
	}
}

func TestLiveRDMAWithoutSubsystem(t *testing.T) {
	if exists("/sys/module/ib_core") || exists("/sys/class/infiniband") {
		t.Skip("this host has RDMA")
	}
	r := One(t.Context(), &Live{}, Op{Kind: Netlink, Name: "rdma/device-dump", Request: message(5<<10|1, 0x301, 0)})
	if r.Errno != syscall.EPROTONOSUPPORT {
		t.Errorf("%+v, want EPROTONOSUPPORT", r)
	}
}
