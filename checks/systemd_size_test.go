package checks

import "testing"

var systemdSizes = []struct {
	text      string
	soft      uint64
	unlimited bool
	ok        bool
}{
	{"infinity", 0, true, true}, {"65536", 65536, false, true}, {"64K", 65536, false, true}, {"8M", 8 << 20, false, true},
	{"1G:2G", 1 << 30, false, true}, {"infinity:infinity", 0, true, true}, {"0", 0, false, true}, {" 64K ", 65536, false, true},
	{"", 0, false, false}, {"K", 0, false, false}, {"-1", 0, false, false}, {"8m", 0, false, false}, {"64 K", 0, false, false},
	{"99999999999999999999", 0, false, false}, {"18446744073709551615E", 0, false, false}, {":", 0, false, false},
}

func TestSystemdSize(t *testing.T) {
	for _, tt := range systemdSizes {
		soft, unlimited, ok := systemdSize(tt.text)
		if soft != tt.soft || unlimited != tt.unlimited || ok != tt.ok {
			t.Errorf("systemdSize(%q) = %d, %v, %v, want %d, %v, %v", tt.text, soft, unlimited, ok, tt.soft, tt.unlimited, tt.ok)
		}
	}
}

func FuzzSystemdSize(f *testing.F) {
	for _, tt := range systemdSizes {
		f.Add(tt.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		soft, unlimited, ok := systemdSize(text)
		if !ok && (soft != 0 || unlimited) || unlimited && soft != 0 {
			t.Errorf("systemdSize(%q) = %d, %v, %v", text, soft, unlimited, ok)
		}
	})
}
