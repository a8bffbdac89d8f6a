package anonymise

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"testing"
)

func lldpTLV(typ uint16, value string) []byte {
	return append(binary.BigEndian.AppendUint16(nil, typ<<9|uint16(len(value))), value...)
}

// lldpFile is a constructed file of systemd-networkd's with one frame.
func lldpFile(tlvs ...[]byte) []byte {
	frame, _ := hex.DecodeString("0180c200000e1c34da00000188cc")
	for _, t := range tlvs {
		frame = append(frame, t...)
	}
	frame = append(frame, 0, 0)
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(frame))), frame...)
}

func TestLLDP(t *testing.T) {
	a := learned(t)
	const name = lldpDir + "4"
	file := lldpFile(lldpTLV(1, "\x04\x1c\x34\xda\x00\x00\x01"), lldpTLV(2, "\x05swp12"), lldpTLV(3, "\x00\x78"), lldpTLV(4, "to gpu-017 of acme"),
		lldpTLV(5, "leaf3.acme.example"), lldpTLV(6, "Cumulus at acme"), lldpTLV(8, "\x05\x01\x0a\x01\x02\x03\x02\x00\x00\x00\x0a\x00"))
	got := a.replace("read", name, append(bytes.Clone(file), file...))
	for _, gone := range [][]byte{[]byte("acme"), []byte("gpu"), []byte("leaf3"), {0x1c, 0x34, 0xda, 0, 0, 1}, {10, 1, 2, 3}} {
		if bytes.Contains(got, gone) {
			t.Errorf("%q is left in %q", gone, got)
		}
	}
	mac := a.key.mac([6]byte{0x1c, 0x34, 0xda, 0, 0, 1})
	want := lldpFile(lldpTLV(1, "\x04"+string(mac[:])), lldpTLV(2, "\x05swp12"), lldpTLV(3, "\x00\x78"), lldpTLV(4, a.key.word("to gpu-017 of acme")),
		lldpTLV(5, a.key.word("leaf3")+"."+a.key.word("acme")+"."+a.key.word("example")))
	copy(want[14:], mac[:])
	if !bytes.Equal(got, append(bytes.Clone(want), want...)) {
		t.Errorf("%q, want %q twice", got, want)
	}
	for name, bad := range map[string][]byte{"cut": file[:30], "short": file[:5], "huge": {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}} {
		if got := a.lldp(bad); len(got) > 0 {
			t.Errorf("%s: %q is left", name, got)
		}
	}
}

func FuzzLLDP(f *testing.F) {
	f.Add(lldpFile(lldpTLV(1, "\x04\x1c\x34\xda\x00\x00\x01"), lldpTLV(5, "leaf3")))
	f.Add([]byte{14, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := learned(t).lldp(data); len(got) > len(data) {
			t.Errorf("%d bytes of %d", len(got), len(data))
		}
	})
}
