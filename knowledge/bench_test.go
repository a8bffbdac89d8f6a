package knowledge

import (
	"io/fs"
	"testing"
)

func BenchmarkLoadPages(b *testing.B) {
	sub, err := fs.Sub(embedded, "pitfalls")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := loadPages(sub); err != nil {
			b.Fatal(err)
		}
	}
}
