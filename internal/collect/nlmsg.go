package collect

import (
	"cmp"
	"errors"

	"github.com/mdlayher/netlink"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

const nlHeaderLen = 16 // struct nlmsghdr

// nlDump asks for all objects, not for one.
const nlDump = netlink.Dump

// errCut is a netlink reply that ends inside a message or a fixed header.
var errCut = errors.New("a message that is cut short")

// netlinkOp makes the op that sends one request: the family's own header, then
// the attributes that put adds. Names begin with the socket family and are
// unique for a request, since a recording keeps the reply under it; they name
// the subject after the first dot.
func netlinkOp(name string, typ uint16, flags netlink.HeaderFlags, header []byte, put func(*netlink.AttributeEncoder)) hostio.Op {
	op := hostio.Op{Kind: hostio.Netlink, Name: name}
	data := align(append([]byte(nil), header...))
	if put != nil {
		ae := netlink.NewAttributeEncoder()
		put(ae)
		attrs, err := ae.Encode()
		if err != nil { // A name too long for an attribute: the host refuses the empty request.
			return op
		}
		data = append(data, attrs...)
	}
	m := netlink.Message{
		Header: netlink.Header{Length: uint32(nlHeaderLen + len(data)), Type: netlink.HeaderType(typ), Flags: netlink.Request | flags},
		Data:   data,
	}
	if b, err := m.MarshalBinary(); err == nil {
		op.Request = b
	}
	return op
}

// align pads to four bytes (NLMSG_ALIGN).
func align(b []byte) []byte {
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

// messages hands each message of a reply to each. It gives errCut where the
// reply ends inside a message.
func messages(reply []byte, each func(netlink.Message)) error {
	for len(reply) > 0 {
		var m netlink.Message
		if len(reply) < nlHeaderLen || m.UnmarshalBinary(reply[:len(reply)&^3]) != nil {
			return errCut
		}
		each(m)
		reply = reply[min(len(reply), (int(m.Header.Length)+3)&^3):]
	}
	return nil
}

// attributes hands each attribute after a fixed header of size bytes to each.
func attributes(body []byte, size int, each func(*netlink.AttributeDecoder)) error {
	if len(body) < size {
		return errCut
	}
	ad, err := netlink.NewAttributeDecoder(body[min(len(body), (size+3)&^3):])
	if err != nil {
		return err
	}
	for ad.Next() {
		each(ad)
	}
	return ad.Err()
}

// nested hands each attribute inside ad's to each.
func nested(ad *netlink.AttributeDecoder, each func(*netlink.AttributeDecoder)) {
	ad.Nested(func(in *netlink.AttributeDecoder) error {
		for in.Next() {
			each(in)
		}
		return nil
	})
}

// netlink asks op and hands each message of the answer to each, then calls
// answered, which may be nil, where there was one. What is not answered, or
// not in form, is a gap; a message that each gives an error for is left out.
// A dump that was cut or failed midway is used and is a gap.
func (b *batch) netlink(op hostio.Op, each func(body []byte) error, answered func()) {
	b.add(op, func(res hostio.Result) {
		if err := res.Err(); err != nil {
			b.r.netlinkGap(op, err)
		}
		b.r.answer(op, res, each, answered)
	})
}

// netlinkIf is netlink for what many kernels and drivers rightly lack.
func (b *batch) netlinkIf(op hostio.Op, each func(body []byte) error) {
	b.add(op, func(res hostio.Result) {
		if err := res.Err(); err != nil {
			if kind, _ := classify(err); kind != facts.Unsupported && kind != facts.Absent {
				b.r.Gap(op.Name, err)
			}
		}
		b.r.answer(op, res, each, nil)
	})
}

// noNetlink is the one gap of a source whose input, such as a copied tree, holds
// no netlink answers at all.
const noNetlink = "netlink"

func (r *Reader) netlinkGap(op hostio.Op, err error) {
	if errors.Is(err, hostio.ErrNotInForm) {
		r.Gap(noNetlink, err)
		return
	}
	r.Gap(op.Name, err)
}

// answer hands the messages of a reply to each.
func (r *Reader) answer(op hostio.Op, res hostio.Result, each func(body []byte) error, answered func()) {
	if res.Err() != nil && len(res.Data) == 0 {
		return
	}
	var bad error
	cut := messages(res.Data, func(m netlink.Message) {
		if err := each(m.Data); err != nil && bad == nil {
			bad = err
		}
	})
	if bad = cmp.Or(bad, cut); bad != nil {
		r.Malformed(op.Name, bad.Error(), "a netlink reply")
	}
	if answered != nil {
		answered()
	}
}
