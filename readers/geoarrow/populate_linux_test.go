package geoarrow

import (
	"syscall"
	"testing"

	"github.com/vibeflight/vibeflight/internal/system"
)

// mapped returns pages of which none is there.
func mapped(t testing.TB, pages int) (b []byte, page int) {
	t.Helper()
	page = syscall.Getpagesize()
	b, err := syscall.Mmap(-1, 0, pages*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|
		syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(b) })
	return b, page
}

// TestPopulate has memory of which some pages are there: then all are, but for those at the ends of
// which not every byte is requested.
func TestPopulate(t *testing.T) {
	const pages = 2500 // more than are looked at in one go
	for _, written := range []struct {
		name    string
		there   []int
		first   int // that is not
		helpers int
	}{
		{"none", nil, 0, 0},
		{"the first one", []int{0}, 1, 0},
		{"a later one", []int{1}, 0, 0},
		{"the first ones", []int{0, 1, 2}, 3, 0},
		{"the first ones, with helpers", []int{0, 1, 2}, 3, 3},
	} {
		t.Run(written.name, func(t *testing.T) {
			b, page := mapped(t, pages)
			for _, i := range written.there {
				b[i*page] = 1
			}
			if n := system.Resident(b); n != written.first*page {
				t.Errorf("%d pages are there, want %d", n/page, written.first)
			}
			(&Arena{Helpers: written.helpers}).populate(b[1 : len(b)-1])
			if written.first > 0 {
				b[0] = 1
			}
			if n := system.Resident(b[page : len(b)-page]); n != len(b)-2*page {
				t.Skipf("%d of %d pages are there: the kernel does not populate", n/page, pages-2)
			}
			if n := system.Resident(b[len(b)-page:]); n != 0 {
				t.Error("a page that is not asked for as a whole is there")
			}
		})
	}
}

func BenchmarkPopulateWhatIsThere(b *testing.B) {
	m, page := mapped(b, 2048)
	for i := 0; i < len(m); i += page {
		m[i] = 1
	}
	b.SetBytes(int64(len(m)))
	for b.Loop() {
		(&Arena{}).populate(m)
	}
}
