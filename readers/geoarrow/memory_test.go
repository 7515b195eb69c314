package geoarrow

import (
	"bytes"
	"slices"
	"syscall"
	"testing"
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
			if n := resident(b, page); n != written.first*page {
				t.Errorf("%d pages are there, want %d", n/page, written.first)
			}
			(&Arena{Helpers: written.helpers}).populate(b[1 : len(b)-1])
			if written.first > 0 {
				b[0] = 1
			}
			if n := resident(b[page:len(b)-page], page); n != len(b)-2*page {
				t.Skipf("%d of %d pages are there: the kernel does not populate", n/page, pages-2)
			}
			if n := resident(b[len(b)-page:], page); n != 0 {
				t.Error("a page that is not asked for as a whole is there")
			}
		})
	}
}

// TestShare has work of any size done once, byte by byte, a caller that helps.
func TestShare(t *testing.T) {
	for _, helpers := range []int{0, 1, 3} {
		for _, size := range []int{0, 1, sharedBytes - 1, sharedBytes, sharedBytes + 1, 9*sharedBytes + 5} {
			done := make([]byte, size)
			(&Arena{Helpers: helpers}).share(size, func(from, to int) {
				for i := range done[from:to] {
					done[from+i]++
				}
			})
			if n := bytes.Count(done, []byte{1}); n != size {
				t.Errorf("%d helpers: %d of %d bytes are done once", helpers, n, size)
			}
		}
	}
}

// TestAppendWithHelpers appends columns that are copied in pieces.
func TestAppendWithHelpers(t *testing.T) {
	const rows = 3*sharedBytes/8 + 7
	c := &Columns{Rows: rows, Geometry: &Geometry{
		Rows: rows, Kind: Point, X: make([]float64, rows),
		Y: make([]float64, rows),
	}}
	for i := range rows {
		c.Geometry.X[i], c.Geometry.Y[i] = float64(i), float64(-i)
	}
	j := Concatenation{Memory: &Arena{Helpers: 3}}
	for _, span := range [][2]int{{0, rows}, {1, rows}, {5, 9}} {
		if err := j.Append(c, span[0], span[1]); err != nil {
			t.Fatal(err)
		}
	}
	want := slices.Concat(c.Geometry.X, c.Geometry.X[1:], c.Geometry.X[5:9])
	if got := j.Columns().Geometry; !slices.Equal(got.X, want) || !slices.Equal(got.Y[rows:2*rows-1],
		c.Geometry.Y[1:]) {
		t.Error("rows that were appended are others")
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
