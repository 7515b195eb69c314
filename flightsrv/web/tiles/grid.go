package tiles

import "math"

// frame is a tile as a part of the grid of its zoom: extent units to a tile, y to the south. The
// origin of coordinates is the north-west corner of the tile.
type frame struct {
	z, x, y        uint32
	extent, buffer int64
	pixel          int64 // units of one pixel
	projection     projection
	scale          float64 // units of the whole square
	pixels         float64 // pixels of the whole square
	left, top      int64   // of the tile, in units of the whole square

	// The box in the coordinates of the table in which lines keep their shape.
	xmin, ymin, xmax, ymax float64
}

// pixels is the width of a tile in pixels, as MapLibre and Mapbox GL draw it.
const (
	pixels    = 1 << pixelBits
	pixelBits = 9
)

func newFrame(p projection, z, x, y uint32, extent, buffer int64) *frame {
	f := &frame{
		z: z, x: x, y: y, extent: extent, buffer: buffer, pixel: max(1, extent/pixels), projection: p,
		scale: math.Ldexp(float64(extent), int(z)), pixels: math.Ldexp(pixels, int(z)),
		left: int64(x) * extent, top: int64(y) * extent,
	}
	box := f.box(buffer + margin)
	f.xmin, f.ymin, f.xmax, f.ymax = box[0], box[1], box[2], box[3]
	return f
}

// margin is the number of units outside of the buffer in which lines keep their shape, so that the
// simplification inside of it does not depend on what is cut off.
const margin = 64

// box returns the tile with some units around it, in the coordinates of the table. Tiles at the
// edge of the square include what is moved to that edge.
func (f *frame) box(around int64) [4]float64 {
	at := func(from int64) float64 { return float64(from) / f.scale }
	box := [4]float64{
		f.projection.fromX(at(f.left - around)), math.Inf(-1),
		f.projection.fromX(at(f.left + f.extent + around)), math.Inf(1),
	}
	if top := f.top - around; top > 0 {
		box[3] = f.projection.fromY(at(top))
	}
	if bottom := f.top + f.extent + around; float64(bottom) < f.scale {
		box[1] = f.projection.fromY(at(bottom))
	}
	return box
}

// searchBox is the box of the buffer, a little larger so that rounding loses no row.
func (f *frame) searchBox() [4]float64 { return f.box(f.buffer + 1) }

// unitX returns the column of the grid, relative to the tile, that is next to an x ordinate.
func (f *frame) unitX(x float64) int64 { return round(f.projection.x(x)*f.scale) - f.left }

// unitY is unitX for y.
func (f *frame) unitY(y float64) int64 { return round(f.projection.y(y)*f.scale) - f.top }

// maxUnit bounds coordinates in the whole square, so that differences fit in 63 bits.
const maxUnit = 1 << 60

// round rounds to the nearest integer, halves up: the same in every tile.
func round(v float64) int64 { return int64(math.Floor(min(max(v, -maxUnit), maxUnit) + 0.5)) }

// vertex is a position in units of a tile.
type vertex struct{ x, y int64 }

// less orders vertices.
func (v vertex) less(w vertex) bool { return v.x < w.x || v.x == w.x && v.y < w.y }

// hash returns a well mixed number of a vertex, never 0.
func (v vertex) hash() uint64 { return mix(uint64(v.x)*0x9e3779b97f4a7c15^mix(uint64(v.y))) | 1 }

// mix is the finalizer of splitmix64 (Steele, Lea and Flood 2014).
func mix(v uint64) uint64 {
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}
