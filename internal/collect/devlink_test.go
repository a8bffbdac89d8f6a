package collect

import (
	"testing"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

// paramBody is a reply to DEVLINK_CMD_PARAM_GET as devlink_nl_param_fill makes
// it for a boolean of the mode driverinit.
func paramBody(t testing.TB, name string, on bool) []byte {
	return paramBodyOf(t, name, nlaFlag, map[uint8]bool{unix.DEVLINK_PARAM_CMODE_DRIVERINIT: on})
}

func paramBodyOf(t testing.TB, name string, typ uint8, values map[uint8]bool) []byte {
	return body(t, []byte{unix.DEVLINK_CMD_PARAM_GET, 1, 0, 0}, func(ae *netlink.AttributeEncoder) {
		ae.String(unix.DEVLINK_ATTR_BUS_NAME, "pci")
		ae.String(unix.DEVLINK_ATTR_DEV_NAME, "0000:3b:00.0")
		nest(ae, unix.DEVLINK_ATTR_PARAM, func(p *netlink.AttributeEncoder) {
			p.String(unix.DEVLINK_ATTR_PARAM_NAME, name)
			p.Flag(unix.DEVLINK_ATTR_PARAM_GENERIC, true)
			p.Uint8(unix.DEVLINK_ATTR_PARAM_TYPE, typ)
			nest(p, unix.DEVLINK_ATTR_PARAM_VALUES_LIST, func(l *netlink.AttributeEncoder) {
				for mode, on := range values {
					nest(l, unix.DEVLINK_ATTR_PARAM_VALUE, func(v *netlink.AttributeEncoder) {
						v.Flag(unix.DEVLINK_ATTR_PARAM_VALUE_DATA, on)
						v.Uint8(unix.DEVLINK_ATTR_PARAM_VALUE_CMODE, mode)
					})
				}
			})
		})
	})
}

// withDevlink is pci-mlx5 with answers for its NIC.
func withDevlink(t testing.TB, answers map[string]string) *fixture.Tree {
	t.Helper()
	h := constructed(t, "pci-mlx5")
	h.Put("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/roce_enable", "1")
	for name, text := range answers {
		h.Put("netlink:devlink/param-get.0000:3b:00.0/"+name, text)
	}
	return h
}

func TestDevlink(t *testing.T) {
	h := withDevlink(t, map[string]string{
		"enable_rdma": reply(t, paramBody(t, "enable_rdma", true)), "enable_roce": reply(t, paramBody(t, "enable_roce", false)),
		"enable_iwarp": "errno: EINVAL",
	})
	s := collected(t, h, facts.PCISysfs, facts.Devlink)
	noGaps(t, s)
	nic := s.PCITree()["0000:3b:00.0"]
	want(t, "switches", nic.DevlinkParams, map[string]bool{"enable_rdma": true, "enable_roce": false})
	want(t, "roce_enable", nic.RoCEEnable, facts.Some(true))
	for _, f := range s.PCI {
		if f.Address != nic.Address && f.DevlinkParams != nil {
			t.Errorf("%s has switches", f.Address)
		}
	}
	if !s.Has(facts.Devlink) {
		t.Error("devlink was not read")
	}
}

func TestDevlinkBad(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string
		kind   facts.GapKind // "": no gap
		has    bool
	}{
		"no devlink":  {"errno: ENOENT", "", true},
		"no instance": {"errno: ENODEV", "", true},
		"denied":      {"errno: EPERM", facts.Denied, false},
		"timed out":   {"timed out", facts.Timeout, false},
		"cut":         {reply(t, paramBody(t, "enable_roce", true)[:44]), facts.Malformed, true},
		"other name":  {reply(t, paramBody(t, "enable_rdma", true)), "", true},
		"a number":    {reply(t, paramBodyOf(t, "enable_roce", 3, map[uint8]bool{0: true})), "", true},
	} {
		h := withDevlink(t, map[string]string{"enable_rdma": tt.answer, "enable_roce": tt.answer, "enable_iwarp": tt.answer})
		if name == "other name" {
			h = withDevlink(t, map[string]string{"enable_rdma": "errno: EINVAL", "enable_roce": tt.answer, "enable_iwarp": "errno: EINVAL"})
		}
		s := collected(t, h, facts.PCISysfs, facts.Devlink)
		want(t, name+": switches", len(s.PCITree()["0000:3b:00.0"].DevlinkParams), 0)
		want(t, name+": read", s.Has(facts.Devlink), tt.has)
		if tt.kind != "" {
			want(t, name+": gap", gap(t, s, "devlink/param-get.0000:3b:00.0/enable_roce").Kind, tt.kind)
		} else {
			noGaps(t, s)
		}
	}
}

// The value in force counts before the one that is stored.
func TestParseParam(t *testing.T) {
	for _, tt := range []struct {
		values map[uint8]bool
		want   facts.Opt[bool]
	}{
		{map[uint8]bool{0: true}, facts.Some(true)},
		{map[uint8]bool{1: false, 2: true}, facts.Some(false)},
		{map[uint8]bool{0: true, 1: false}, facts.Some(true)},
		{map[uint8]bool{9: true}, facts.Opt[bool]{}},
		{nil, facts.Opt[bool]{}},
	} {
		got, err := parseParam(paramBodyOf(t, "enable_roce", nlaFlag, tt.values), "enable_roce")
		if err != nil {
			t.Error(err)
		}
		want(t, "value", got, tt.want)
	}
}
