//go:build amd64 || arm64

package positions

import (
	"slices"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// room reserves n positions in g, and returns where their ordinates go.
func room(g *geoarrow.GeometryBuilder, n int) (xs, ys unsafe.Pointer) {
	if min(cap(g.X), cap(g.Y))-len(g.X) < n {
		grow(g, n)
	}
	xs, ys = unsafe.Pointer(unsafe.SliceData(g.X)), unsafe.Pointer(unsafe.SliceData(g.Y))
	return unsafe.Add(xs, 8*len(g.X)), unsafe.Add(ys, 8*len(g.X))
}

//go:noinline
func grow(g *geoarrow.GeometryBuilder, n int) { g.X, g.Y = slices.Grow(g.X, n), slices.Grow(g.Y, n) }
