package extent

import processor "golang.org/x/sys/cpu"

const lanes = 8 // positions of a step

var have = processor.X86.HasAVX2

// add is addPlain for n positions, a multiple of lanes, with any sign of a zero.
//
//go:noescape
func add(b *Box, x, y *float64, n int)
