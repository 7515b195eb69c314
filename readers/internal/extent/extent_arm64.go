package extent

const lanes = 4 // positions of a step

const have = true

// add is addPlain for n positions, a multiple of lanes, with any sign of a zero.
//
//go:noescape
func add(b *Box, x, y *float64, n int)
