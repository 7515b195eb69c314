//go:build !amd64

package geojson

import "unsafe"

// Other processors read positions with number.Float.
const havePlain = false

type plainTables struct{}

var plain *plainTables

func plainPositions(*plainTables, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer, int) (read, count int, inside bool) {
	return 0, 0, true
}
