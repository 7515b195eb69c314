//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
)

// DuckDB leaves in the value of a null what its memory had before: addresses, or values of rows that
// the caller may not see. Clients get zeros.

// clearNulls sets the values of null rows to zero, among n rows that were added last.
func (g *columnBuilder) clearNulls(valid *uint64, n int) {
	if valid == nil || g.width == 0 {
		return
	}
	for i := range n {
		if !isValid(valid, i) {
			clearValue(g.values, g.rows+i, g.width)
		}
	}
}

// clearNulls sets the values of null rows to zero, also in nested columns. Their memory is ours.
func clearNulls(data arrow.ArrayData) {
	buffers := data.Buffers()
	fixed, ok := data.DataType().(arrow.FixedWidthDataType)
	if ok && data.NullN() != 0 && len(buffers) == 2 && buffers[0] != nil && buffers[1] != nil {
		valid, values := buffers[0].Bytes(), buffers[1].Bytes()
		for i := data.Offset(); i < data.Offset()+data.Len() && len(valid) > 0; i++ {
			if !bitutil.BitIsSet(valid, i) {
				clearValue(values, i, fixed.BitWidth())
			}
		}
	}
	for _, child := range data.Children() {
		clearNulls(child)
	}
}

// clearValue sets a value of a number of bits to zero.
func clearValue(values []byte, row, width int) {
	if width == 1 {
		bitutil.ClearBit(values, row)
		return
	}
	clear(values[row*width/8 : (row+1)*width/8])
}
