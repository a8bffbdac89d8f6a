package tui

import "testing"

func BenchmarkView(b *testing.B) {
	for _, bc := range []struct {
		stream string
		w, h   int
		keys   []string
	}{
		{"sick", 80, 24, nil},
		{"sick", 200, 60, nil},
		{"many", 80, 24, nil},
		{"many", 200, 60, nil},
		{"many", 200, 60, []string{"tab"}},
		{"sick", 200, 60, []string{"enter"}},
		{"sick", 200, 60, []string{"/", "enter"}},
	} {
		name := bc.stream
		for _, k := range bc.keys {
			name += "," + k
		}
		b.Run(name, func(b *testing.B) {
			m := shown(load(b, bc.stream), bc.w, bc.h, Options{})
			press(m, bc.keys...)
			b.ReportAllocs()
			for b.Loop() {
				m.drawn = false
				m.View()
			}
		})
	}
}
