package rows

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// part fills a sink with as many rows, points and lines in turns, and gives them.
func part(t *testing.T, k *Sink, rows, first int) *geoarrow.Columns {
	t.Helper()
	for i := range rows {
		v := first + i
		k.Column(geoarrow.RoleAttribute, []byte("n")).AddNumber(number.Num{Int: uint64(v), Float: float64(v)}, nil)
		kind := geoarrow.Point
		k.Geom.X, k.Geom.Y = append(k.Geom.X, float64(v)), append(k.Geom.Y, 0)
		if i%2 == 1 {
			kind = geoarrow.LineString
			k.Geom.X, k.Geom.Y = append(k.Geom.X, float64(v)), append(k.Geom.Y, 1)
		}
		k.Geom.End(kind)
		k.Commit(int64(i))
	}
	c, err := k.Columns(0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPoolMemory: what one part held in int32 and as WKB, the next one holds in the same memory,
// and it is what a sink of its own gives.
func TestPoolMemory(t *testing.T) {
	pool := Pool[*Sink]{New: NewSink}
	var integers, wkb unsafe.Pointer
	for i, rows := range []int{100, 100, 7, 99} {
		k := pool.Take()
		got, want := part(t, k, rows, 1000*i), part(t, NewSink(), rows, 1000*i)
		if !bytes.Equal(got.Attributes[0].Values, want.Attributes[0].Values) ||
			!bytes.Equal(got.Geometry.WKB, want.Geometry.WKB) {
			t.Errorf("part %d\ngot  %d, %x\nwant %d, %x", i, got.Attributes[0].Values, got.Geometry.WKB,
				want.Attributes[0].Values, want.Geometry.WKB)
		}
		a, b := unsafe.Pointer(unsafe.SliceData(got.Attributes[0].Values)),
			unsafe.Pointer(unsafe.SliceData(got.Geometry.WKB))
		if i > 0 && (a != integers || b != wkb) {
			t.Errorf("part %d: its memory is at %p and %p, that of the part before at %p and %p", i, a,
				b, integers, wkb)
		}
		integers, wkb = a, b
		pool.Give(k)
	}
}
