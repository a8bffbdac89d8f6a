package anonymise

import (
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/flight"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// learned is an Anonymiser of a constructed host.
func learned(t testing.TB) *Anonymiser {
	t.Helper()
	a := New("test")
	a.Learn(flight.Sample{Results: map[string]hostio.Result{
		"system:uname":                     {Data: []byte(`{"nodename":"gpu-017.acme.example","release":"6.1"}`)},
		"system:ids":                       {Data: []byte(`{"user":"alice"}`)},
		"read:/sys/class/net/eth2/address": {Data: []byte("9c:9c:b3:68:97:70\n")},
		"read:/sys/class/infiniband/mlx5_0/node_guid":    {Data: []byte("9c9c:b303:0068:9770\n")},
		"read:/etc/security/limits.conf":                 {Data: []byte("bob soft memlock unlimited\n@crew - nofile 9\n* hard memlock 1\n")},
		"read:/proc/41/status":                           {Data: []byte("Name:\tacme_solver\nUid:\t0\n")},
		"read:/sys/class/net/eth2/device/serial_number":  {Data: []byte("MT2133X01234\n")},
		"read:/sys/class/net/eth3/device/serial_number":  {Data: []byte("2133101234\n")},
		"read:/sys/class/infiniband/mlx5_0/ports/1/gids": {Data: []byte("10.1.2.3 2001:db8::9e9c:b3ff:fe68:9770\n")},
	}})
	if err := a.Ready(); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestText(t *testing.T) {
	a := learned(t)
	text := func(form string) string { return a.text(form) }
	mac := text("9c:9c:b3:68:97:70")
	plain := strings.ReplaceAll(mac, ":", "")
	ip := text("10.1.2.3")
	for in, want := range map[string]string{
		"9c-9c-b3-68-97-70":                                   strings.ReplaceAll(mac, ":", "-"),
		"9C:9C:B3:68:97:70":                                   strings.ToUpper(mac),
		"9c9cb3689770":                                        plain,
		"0x9c9cb30300689770":                                  "0x" + plain[:6] + "0300" + plain[6:],
		"9c9c:b3ff:fe68:9770":                                 plain[:4] + ":" + plain[4:6] + "ff:fe" + plain[6:8] + ":" + plain[8:],
		"fe80:0000:0000:0000:9e9c:b3ff:fe68:9770":             "fe80:0000:0000:0000:9e" + plain[2:4] + ":" + plain[4:6] + "ff:fe" + plain[6:8] + ":" + plain[8:],
		"fe80::9e9c:b3ff:fe68:9770%eth2":                      "fe80::9e" + plain[2:4] + ":" + plain[4:6] + "ff:fe" + plain[6:8] + ":" + strings.TrimLeft(plain[8:], "0") + "%eth2",
		"from 10.1.2.3:4791, 10.1.2.3/24 and ::ffff:10.1.2.3": "from " + ip + ":4791, " + ip + "/24 and ::ffff:" + ip,
		"alice@gpu-017 gpu-017.acme.example":                  text("alice") + "@" + text("gpu-017") + " " + text("gpu-017") + "." + a.word("acme.example"),
		"/home/bob/x":                                         "/home/" + text("bob") + "/x",
		"MT2133X01234 2133101234":                             text("MT2133X01234") + " " + text("2133101234"),
	} {
		if got := text(in); got != want || got == in {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{"0000:3b:00.0", "mlx5_core 0000:3b:00.0 eth2: Link down", "fw 28.39.1002", "12:34:56", "127.0.0.1", "a::b::c", "0xffff888123456789",
		"100 Gb/sec (4X EDR)", "\x00\x01 2\x00", "5: LinkUp", "ACCESS_REG(0x805) op_mod(0x0)"} {
		if got := text(in); got != in {
			t.Errorf("%q becomes %q, and names nobody", in, got)
		}
	}
	if got := text("10.0.0.0/8 10.1.0.0/16"); !strings.HasPrefix(got, "10.0.0.0/8 ") || !strings.HasSuffix(got, ".0.0/16") {
		t.Errorf("networks become %q, want networks", got)
	}
}

func TestKernelLog(t *testing.T) {
	a := learned(t)
	log := "6,1,1000,-;mlx5_core 0000:3b:00.0 eth2: Link down\n SUBSYSTEM=pci\n DEVICE=+pci:0000:3b:00.0\n SECRET=9c\n\x00" +
		"6,2,2000,-;usb 1-1: Manufacturer: Acme Corp\n\x00" +
		"3,3,3000,-;Out of memory: Killed process 4711 (payroll) total-vm:1kB\n\x00" +
		"4,4,4000,-;infiniband mlx5_0: peer 10.1.2.3 gone\n\x00garbage\x00"
	got := a.kernelLog(log)
	for _, want := range []string{"6,1,1000,-;mlx5_core 0000:3b:00.0 eth2: Link down\n SUBSYSTEM=pci\n DEVICE=+pci:0000:3b:00.0\n\x00",
		"6,2,2000,-;" + removed, "Killed process 4711 (" + a.process("payroll") + ")", "peer " + a.text("10.1.2.3") + " gone"} {
		if !strings.Contains(got, want) {
			t.Errorf("the log lacks %q:\n%q", want, got)
		}
	}
	for _, gone := range []string{"Acme", "payroll", "10.1.2.3", "SECRET", "garbage"} {
		if strings.Contains(got, gone) {
			t.Errorf("the log has %q still:\n%q", gone, got)
		}
	}
	if strings.Count(got, "\x00") != strings.Count(log, "\x00") {
		t.Errorf("%d records, want %d", strings.Count(got, "\x00"), strings.Count(log, "\x00"))
	}
}

// Whatever stands in a recording, replacing ends, and what is no identifier is
// not touched.
func FuzzReplace(f *testing.F) {
	f.Add("9c:9c:b3:68:97:70 10.1.2.3 alice", []byte{8, 0, 1, 0, 10, 1, 2, 3})
	f.Add("\x00\x01\x005\x01 ::::: 1.2.3.4/99", []byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		a := learned(t)
		s := flight.Sample{Results: map[string]hostio.Result{"read:/etc/x": {Data: []byte(text)}, "kmsg:": {Data: []byte("6,1,1;" + text)},
			"netlink:route/route-dump-ipv4": {Data: data}, "netlink:netfilter/rules": {Data: data}, "read:/proc/1/status": {Data: data}}}
		a.Learn(s)
		if a.Ready() != nil {
			return
		}
		out := a.Replace(s)
		for k, res := range out.Results {
			if strings.HasPrefix(k, "netlink:") && len(res.Data) != len(data) {
				t.Errorf("%s: %d bytes of %d", k, len(res.Data), len(data))
			}
		}
	})
}
