// Package extent finds the bounding box of positions.
package extent

// Box is xmin, ymin, xmax and ymax.
type Box [4]float64

// few positions are not worth the way to assembly.
const few = 16

// Add returns the box of b and of positions, of which there are as many x as y. A position counts
// if neither its x nor its y is NaN. Of two zeros the first one counts, so that the bits of the box
// are the same on every processor.
func Add(b Box, x, y []float64) Box {
	y = y[:len(x)]
	if whole := len(x) &^ (lanes - 1); have && whole >= few {
		a := b
		add(&a, &x[0], &y[0], whole)
		if a[0] != 0 && a[1] != 0 && a[2] != 0 && a[3] != 0 { // else signs are those of the lanes
			b, x, y = a, x[whole:], y[whole:]
		}
	}
	return addPlain(b, x, y)
}

// addPlain is Add for every processor.
func addPlain(b Box, x, y []float64) Box {
	xmin, ymin, xmax, ymax := b[0], b[1], b[2], b[3] // in registers
	for i, v := range x {
		w := y[i]
		if v != v || w != w {
			continue
		}
		if v < xmin {
			xmin = v
		}
		if v > xmax {
			xmax = v
		}
		if w < ymin {
			ymin = w
		}
		if w > ymax {
			ymax = w
		}
	}
	return Box{xmin, ymin, xmax, ymax}
}
