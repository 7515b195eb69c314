package positions

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

type kernel uint8

const (
	neon kernel = iota
	wide        // of another processor
)

func kernels() []kernel { return []kernel{neon} }

func readJSON(_ kernel, g *geoarrow.GeometryBuilder, text unsafe.Pointer, p, most int) (int, bool) {
	return JSON(g, text, p, most)
}

func readWKT(_ kernel, g *geoarrow.GeometryBuilder, text unsafe.Pointer, p, most int) (int, int, bool) {
	return WKT(g, text, p, most)
}

// readPairs calls the assembly alone.
func readPairs(wkt bool, text unsafe.Pointer, xs, ys []float64) (end, count int, inside bool) {
	x, y := unsafe.Pointer(unsafe.SliceData(xs)), unsafe.Pointer(unsafe.SliceData(ys))
	if wkt {
		return neonWKT(neonConstants, text, x, y, len(xs))
	}
	return neonJSON(neonConstants, text, x, y, len(xs))
}
