// Package geom has the kernels for kinds, rings and positions of geometries, and for WKB.
package geom

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// TypeKind is a type that a name says. Geometries are numbered as in WKB (OGC 06-103r4, table 2).
type TypeKind uint8

// As names of kind.cu.
const (
	KindUnknown TypeKind = iota
	KindPoint
	KindLineString
	KindPolygon
	KindMultiPoint
	KindMultiLineString
	KindMultiPolygon
	KindGeometryCollection
	KindFeature
	KindFeatureCollection

	// KindUndecided is a JSON name with an escape, or a WKT tag with 64 blanks and more between two
	// words: a parser that reads byte by byte is to say.
	KindUndecided TypeKind = 255
)

// CheckNames checks what both take, and gives the lengths of text and positions.
func CheckNames(w *kernels.Call, text gpu.Buffer[byte], positions gpu.Buffer[int64], ends string,
	kinds gpu.Buffer[TypeKind],
) (n, m int64) {
	n, m = w.CheckText(text), int64(positions.Len())
	w.Need(int64(kinds.Len()) == m, "%d kinds for %d positions", kinds.Len(), m)
	w.Need(len(ends) >= 1 && len(ends) <= 8, "%d bytes that end a name, 1 to 8", len(ends))
	return n, m
}
