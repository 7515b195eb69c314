package positions

import "unsafe"

// kernels are those that this processor has.
func kernels() []kernel {
	switch {
	case !Have:
		return nil
	case !haveWide:
		return []kernel{plain, pairs}
	}
	return []kernel{plain, pairs, wide}
}

// readPairs calls the assembly for pairs alone.
func readPairs(wkt bool, text unsafe.Pointer, xs, ys []float64) (end, count int, inside bool) {
	x, y := unsafe.Pointer(unsafe.SliceData(xs)), unsafe.Pointer(unsafe.SliceData(ys))
	if wkt {
		return pairsWKT(pairConstants, text, x, y, len(xs))
	}
	return pairsJSON(pairConstants, text, x, y, len(xs))
}
