package hostio

import (
	"encoding/binary"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	nlHeaderLen  = 16        // struct nlmsghdr
	nlRecvBuffer = 256 << 10 // the kernel fills at most 32 KiB of it in a dump
	nlTimeout    = 1500 * time.Millisecond
	nlProtoRDMA  = 20 // NETLINK_RDMA
)

// netlink sends one request on a socket of its own and collects the reply. A
// dump that the kernel says was inconsistent (NLM_F_DUMP_INTR), or that
// overran the socket, is asked for once more; if that one is too, it is
// returned as Truncated.
func (l *Live) netlink(op Op) Result {
	family, _, _ := strings.Cut(op.Name, "/")
	request := append([]byte(nil), op.Request...)
	proto := unix.NETLINK_GENERIC
	switch family {
	case "route":
		proto = unix.NETLINK_ROUTE
	case "rdma":
		proto = nlProtoRDMA
		// Opening the socket makes the kernel load ib_core where it is not.
		if !exists("/sys/module/ib_core") && !exists("/sys/class/infiniband") {
			return Result{Errno: unix.EPROTONOSUPPORT}
		}
		// Asking for a client's node makes it load the client's module; without
		// one, this is its answer.
		if binary.NativeEndian.Uint16(request[4:])&0xff == rdmaGetChardev && !exists("/sys/module/ib_uverbs") && !exists("/sys/class/infiniband_verbs") {
			return Result{Errno: unix.EOPNOTSUPP}
		}
	case "netfilter":
		proto = unix.NETLINK_NETFILTER
		// Opening the socket makes the kernel load nfnetlink, and asking a part of
		// it that is not there loads that; without nf_tables this is its answer.
		if !exists("/sys/module/nf_tables") {
			return Result{Errno: unix.EPROTONOSUPPORT}
		}
	case "ethtool", "devlink":
		id, res := l.familyID(family)
		if res.Err() != nil {
			return res
		}
		binary.NativeEndian.PutUint16(request[4:], id)
	default:
		return Result{NotInForm: true}
	}
	return l.exchange(proto, request)
}

// exchange asks, and asks again where the first answer was inconsistent.
func (l *Live) exchange(proto int, request []byte) Result {
	res := l.ask(proto, request)
	if res.Truncated && res.Errno == 0 && len(res.Data) < MaxData/2 || res.Errno == unix.ENOBUFS {
		res = l.ask(proto, request)
	}
	return res
}

func (l *Live) ask(proto int, request []byte) Result {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, proto)
	if err != nil {
		return failed(err)
	}
	defer unix.Close(fd)
	wait := l.NetlinkTimeout
	if wait <= 0 {
		wait = nlTimeout
	}
	tv := unix.NsecToTimeval(wait.Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv); err != nil {
		return failed(err)
	}
	// Best effort: a larger buffer only makes overruns rarer.
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1<<20)

	const seq = 1
	binary.NativeEndian.PutUint32(request[0:], uint32(len(request)))
	binary.NativeEndian.PutUint32(request[8:], seq)
	binary.NativeEndian.PutUint32(request[12:], 0)
	if err := uninterrupted(func() error {
		return unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
	}); err != nil {
		return failed(err)
	}
	r := reply{seq: seq, ack: binary.NativeEndian.Uint16(request[6:])&(unix.NLM_F_ACK|unix.NLM_F_DUMP) == unix.NLM_F_ACK}
	if l.received == nil {
		l.received = make([]byte, nlRecvBuffer)
	}
	buf := l.received
	for !r.done {
		var n, flags int
		var from unix.Sockaddr
		err := uninterrupted(func() (err error) {
			n, _, flags, from, err = unix.Recvmsg(fd, buf, nil, 0)
			return err
		})
		switch {
		case err == unix.EAGAIN:
			r.TimedOut, r.done = true, true
			continue
		case err != nil:
			r.Errno, r.done = errnoOf(err), true
			continue
		}
		// Only the kernel has port 0; any process may send to ours.
		if sa, ok := from.(*unix.SockaddrNetlink); !ok || sa.Pid != 0 {
			continue
		}
		if flags&unix.MSG_TRUNC != 0 {
			r.Truncated = true
		}
		r.add(buf[:n])
	}
	return r.Result
}

// A reply gathers the messages that answer one request.
type reply struct {
	Result
	seq  uint32
	ack  bool // the request asked for an acknowledgement, which comes last
	done bool
}

// add takes one datagram: messages, each padded to four bytes.
func (r *reply) add(b []byte) {
	for len(b) >= nlHeaderLen && !r.done {
		length := int(binary.NativeEndian.Uint32(b))
		if length < nlHeaderLen || length > len(b) {
			r.Truncated, r.done = true, true
			return
		}
		if binary.NativeEndian.Uint32(b[8:]) == r.seq {
			r.message(b[:length])
		}
		b = b[min(len(b), (length+3)&^3):]
	}
}

func (r *reply) message(m []byte) {
	flags := binary.NativeEndian.Uint16(m[6:])
	if flags&unix.NLM_F_DUMP_INTR != 0 {
		r.Truncated = true
	}
	switch binary.NativeEndian.Uint16(m[4:]) {
	case unix.NLMSG_ERROR, unix.NLMSG_DONE:
		// Both begin with a negative errno; DONE may lack it.
		if len(m) >= nlHeaderLen+4 {
			if e := int32(binary.NativeEndian.Uint32(m[nlHeaderLen:])); e < 0 && e > -4096 {
				r.Errno = unix.Errno(-e)
			}
		}
		r.done = true
		return
	case unix.NLMSG_NOOP:
		return
	}
	if len(r.Data)+len(m) > MaxData {
		r.Truncated, r.done = true, true
		return
	}
	r.Data = append(r.Data, m...)
	for len(r.Data)%4 != 0 { // NLMSG_ALIGN, so that messages can be walked.
		r.Data = append(r.Data, 0)
	}
	r.done = flags&unix.NLM_F_MULTI == 0 && !r.ack
}
