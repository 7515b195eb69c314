//go:build !amd64

package number

import "unsafe"

func decimals(out []float64, q unsafe.Pointer, starts, first []uint32) (n int, valid uint64) {
	return decimalsPlain(out, q, starts, first)
}
