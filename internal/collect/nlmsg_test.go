package collect

import (
	"encoding/hex"
	"testing"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// body makes a message's data of a fixed header and attributes (constructed).
func body(t testing.TB, header []byte, put func(*netlink.AttributeEncoder)) []byte {
	t.Helper()
	ae := netlink.NewAttributeEncoder()
	if put != nil {
		put(ae)
	}
	attrs, err := ae.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return append(align(append([]byte(nil), header...)), attrs...)
}

// nest is AttributeEncoder.Nested for a func that cannot fail.
func nest(ae *netlink.AttributeEncoder, typ uint16, put func(*netlink.AttributeEncoder)) {
	ae.Nested(typ, func(in *netlink.AttributeEncoder) error {
		put(in)
		return nil
	})
}

// reply makes a reply of messages, in a fixture's form.
func reply(t testing.TB, bodies ...[]byte) string {
	t.Helper()
	return "hex: " + hex.EncodeToString(rawReply(t, bodies...))
}

func rawReply(t testing.TB, bodies ...[]byte) []byte {
	t.Helper()
	var b []byte
	for _, data := range bodies {
		data = align(append([]byte(nil), data...))
		m, err := netlink.Message{Header: netlink.Header{Length: uint32(nlHeaderLen + len(data)), Type: 16}, Data: data}.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, m...)
	}
	return b
}

func TestNetlinkOp(t *testing.T) {
	op := netlinkOp("route/dcb-ieee-get.eth2", unix.RTM_GETDCB, nlDump, []byte{0, 21, 0, 0}, func(ae *netlink.AttributeEncoder) {
		ae.String(1, "eth2")
	})
	var m netlink.Message
	if err := m.UnmarshalBinary(op.Request); err != nil {
		t.Fatal(err)
	}
	if m.Header.Type != unix.RTM_GETDCB || m.Header.Flags != netlink.Request|netlink.Dump || m.Header.Sequence != 0 {
		t.Errorf("header %+v", m.Header)
	}
	want(t, "data", m.Data, []byte{0, 21, 0, 0, 9, 0, 1, 0, 'e', 't', 'h', '2', 0, 0, 0, 0})
	if op.Kind != hostio.Netlink || op.Key() != "netlink:route/dcb-ieee-get.eth2" {
		t.Errorf("op %+v", op)
	}
	long := netlinkOp("x", 1, 0, nil, func(ae *netlink.AttributeEncoder) { ae.Bytes(1, make([]byte, 1<<17)) })
	if long.Request != nil {
		t.Error("an attribute of 128 KiB is sent")
	}
}

func TestMessages(t *testing.T) {
	whole := rawReply(t, []byte{1, 2, 3, 4}, nil, []byte{5, 6, 7, 8})
	for size := range len(whole) + 1 {
		var got int
		err := messages(whole[:size], func(netlink.Message) { got++ })
		wantCount, wantErr := 0, true
		switch {
		case size == 0:
			wantErr = false
		case size < 20:
		case size == 20:
			wantCount, wantErr = 1, false
		case size < 36:
			wantCount = 1
		case size == 36:
			wantCount, wantErr = 2, false
		case size < 56:
			wantCount = 2
		default:
			wantCount, wantErr = 3, false
		}
		if got != wantCount || (err != nil) != wantErr {
			t.Errorf("%d bytes: %d messages, error %v, want %d, error %v", size, got, err, wantCount, wantErr)
		}
	}
	bad := append([]byte(nil), whole...)
	bad[0] = 3 // A length below the header's own.
	if err := messages(bad, func(netlink.Message) {}); err == nil {
		t.Error("a length below a header is accepted")
	}
}

func TestAttributes(t *testing.T) {
	none := func(*netlink.AttributeDecoder) {}
	for _, tc := range []struct {
		name string
		body []byte
		size int
		err  bool
	}{
		{"nothing", nil, 0, false},
		{"header only", make([]byte, 12), 12, false},
		{"header cut", make([]byte, 11), 12, true},
		{"header of odd length", make([]byte, 3), 3, false},
		{"attribute", []byte{8, 0, 1, 0, 1, 2, 3, 4}, 0, false},
		{"attribute past the end", []byte{9, 0, 1, 0, 1, 2, 3, 4}, 0, true},
		{"attribute shorter than its header", []byte{2, 0, 1, 0, 1, 2, 3, 4}, 0, true},
		{"half an attribute header", []byte{8, 0}, 0, true},
	} {
		if err := attributes(tc.body, tc.size, none); (err != nil) != tc.err {
			t.Errorf("%s: error %v, want an error: %v", tc.name, err, tc.err)
		}
	}
}
