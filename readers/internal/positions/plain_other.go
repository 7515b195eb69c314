//go:build !amd64 && !arm64

package positions

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Have is false: other processors read positions with number.Float.
const Have = false

// JSON is never called.
func JSON(*geoarrow.GeometryBuilder, unsafe.Pointer, int, int) (end int, inside bool) { return 0, true }

// WKT is never called.
func WKT(*geoarrow.GeometryBuilder, unsafe.Pointer, int, int) (end, count int, inside bool) {
	return 0, 0, true
}
