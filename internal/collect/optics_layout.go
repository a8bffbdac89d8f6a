package collect

import (
	"encoding/binary"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// A modulePart is a stretch of a module's memory and what it says.
type modulePart struct {
	moduleRead
	set func(*facts.Transceiver, []byte)
}

// A moduleLayout is where a family of modules keeps what is wanted.
type moduleLayout struct {
	flat          func(status byte) bool // no page holds limits; status is byte 2
	parts, limits []modulePart
}

// Identifiers are byte 0 of every module (SFF-8024, table 4-1).
var moduleForms = map[byte]struct {
	form   string
	layout *moduleLayout
}{
	0x03: {"SFP", &sfp},
	0x0c: {"QSFP", &qsfp},
	0x0d: {"QSFP+", &qsfp},
	0x11: {"QSFP28", &qsfp},
	0x18: {"QSFP-DD", &cmis},
	0x19: {"OSFP", &cmis},
	0x1e: {"QSFP56", &cmis},
	0x1f: {"SFP-DD", &cmis},
	0x20: {"DSFP", &cmis},
	0x22: {"QSFP-DD", &cmis},
	0x24: {"OSFP-XD", &cmis},
	0x25: {"OSFP-XD", &cmis},
}

func layoutOf(id byte) (*moduleLayout, string) {
	m := moduleForms[id]
	return m.layout, m.form
}

// sfp are SFP modules (SFF-8472). Their monitors are at a second address.
var sfp = moduleLayout{
	flat: func(byte) bool { return false },
	parts: []modulePart{{moduleRead{offset: 20, length: 64}, func(o *facts.Transceiver, b []byte) {
		o.Vendor, o.Part, o.Serial = moduleText(b[0:16]), moduleText(b[20:36]), moduleText(b[48:64])
	}}},
	limits: []modulePart{
		{moduleRead{address: 0x51, offset: 0, length: 6}, func(o *facts.Transceiver, b []byte) { setLimitsOf(o, b[0:], b[4:]) }},
		{moduleRead{address: 0x51, offset: 96, length: 2}, setTemperature},
	},
}

// qsfp are QSFP modules up to 28 Gb/s a lane (SFF-8636).
var qsfp = moduleLayout{
	flat: func(status byte) bool { return status&4 != 0 },
	parts: []modulePart{
		{moduleRead{offset: 22, length: 2}, setTemperature},
		{moduleRead{offset: 148, length: 64}, func(o *facts.Transceiver, b []byte) {
			o.Vendor, o.Part, o.Serial = moduleText(b[0:16]), moduleText(b[20:36]), moduleText(b[48:64])
		}},
	},
	limits: []modulePart{{moduleRead{page: 3, offset: 128, length: 6}, func(o *facts.Transceiver, b []byte) { setLimitsOf(o, b[0:], b[4:]) }}},
}

// cmis are modules of the Common Management Interface Specification: 50 Gb/s a
// lane and more.
var cmis = moduleLayout{
	flat: func(status byte) bool { return status&0x80 != 0 },
	parts: []modulePart{
		{moduleRead{offset: 14, length: 2}, setTemperature},
		{moduleRead{offset: 129, length: 73}, func(o *facts.Transceiver, b []byte) {
			o.Vendor, o.Part, o.Serial = moduleText(b[0:16]), moduleText(b[19:35]), moduleText(b[37:53])
			if b[72] > 0 && b[72] < 0xff {
				o.MaxPower = facts.Some(float64(b[72]) / 4)
			}
		}},
	},
	limits: []modulePart{{moduleRead{page: 2, offset: 128, length: 6}, func(o *facts.Transceiver, b []byte) { setLimitsOf(o, b[0:], b[4:]) }}},
}

// moduleText is a name padded with spaces. Erased memory holds 0xff.
func moduleText(b []byte) string {
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == 0 || b[len(b)-1] == 0xff) {
		b = b[:len(b)-1]
	}
	s := text(string(b))
	if strings.ContainsRune(s, '\uFFFD') {
		return ""
	}
	return s
}

// celsius is a temperature as all three families keep it: signed, in steps of
// 1/256 degree.
func celsius(b []byte) float64 { return float64(int16(binary.BigEndian.Uint16(b))) / 256 }

// setTemperature takes over a reading. Zero is what modules without a sensor
// hold, and outside of what electronics stand it is no reading.
func setTemperature(o *facts.Transceiver, b []byte) {
	if t := celsius(b); t > -60 && t < 150 && t != 0 {
		o.Temperature = facts.Some(t)
	}
}

// setLimitsOf takes over the high alarm and the high warning. Modules without a
// sensor hold zeros, ones or the two in the wrong order.
func setLimitsOf(o *facts.Transceiver, alarm, warning []byte) {
	a, w := celsius(alarm), celsius(warning)
	if a >= w && w >= 20 && a < 128 {
		o.HighAlarm, o.HighWarning = facts.Some(a), facts.Some(w)
	}
}
