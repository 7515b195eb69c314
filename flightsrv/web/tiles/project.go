package tiles

import (
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// CRSError says that the reference system of a table can't be drawn in the tiles.
type CRSError struct {
	Name string       // of the table
	CRS  geoarrow.CRS // the zero value: the table has none
}

func (e *CRSError) Error() string {
	if e.CRS == (geoarrow.CRS{}) {
		return fmt.Sprintf("%s: the table has no reference system, so its place in the tiles is unknown", e.Name)
	}
	return fmt.Sprintf("%s: the reference system is %.100s; tiles are made of OGC:CRS84, EPSG:4326 and EPSG:3857",
		e.Name, e.CRS)
}

// projection maps the coordinates of a table to the web mercator square of EPSG:3857. The square is
// [0, 1] in x and y here, x to the east, y to the south.
//
// Both axes are mapped separately and monotonically. A box in the coordinates of the table is
// therefore a box in the square.
type projection uint8

const (
	degrees projection = iota // longitude and latitude
	metres                    // EPSG:3857
)

// maxLatitude is the latitude of the northern edge of the square: atan(sinh(π)).
const maxLatitude = 85.05112877980659

// earthHalf is half the width of the square in metres: π times the semi-major axis of WGS 84.
const earthHalf = math.Pi * 6378137

// projectionOf returns the projection of a table. ok is false for other reference systems.
func projectionOf(crs geoarrow.CRS) (p projection, ok bool) {
	switch crs {
	case geoarrow.CRS84, geoarrow.CRS{Authority: "EPSG", Code: "4326"}:
		return degrees, true
	case geoarrow.CRS{Authority: "EPSG", Code: "3857"}:
		return metres, true
	}
	return 0, false
}

// x returns the place of an x ordinate. It may be outside of [0, 1].
func (p projection) x(v float64) float64 {
	if p == metres {
		return (v/earthHalf + 1) / 2
	}
	return v/360 + 0.5
}

// y returns the place of a y ordinate. Ordinates outside of the square are moved to its edge.
func (p projection) y(v float64) float64 {
	if p == metres {
		return min(max((1-v/earthHalf)/2, 0), 1)
	}
	switch {
	case v >= maxLatitude:
		return 0
	case v <= -maxLatitude:
		return 1
	}
	// ln(tan(π/4 + φ/2)) is atanh(sin φ)
	return min(max(0.5-math.Atanh(math.Sin(v*(math.Pi/180)))/(2*math.Pi), 0), 1)
}

// fromX is the inverse of x.
func (p projection) fromX(v float64) float64 {
	if p == metres {
		return (2*v - 1) * earthHalf
	}
	return (v - 0.5) * 360
}

// fromY is the inverse of y, for v in [0, 1].
func (p projection) fromY(v float64) float64 {
	if p == metres {
		return (1 - 2*v) * earthHalf
	}
	return math.Atan(math.Sinh(math.Pi*(1-2*v))) * (180 / math.Pi)
}

// areaScale returns by which factor an area in the coordinates of the table, at ordinate y, is
// larger in the square.
func (p projection) areaScale(y float64) float64 {
	if p == metres {
		return 1 / (4 * earthHalf * earthHalf)
	}
	return 1 / (360 * 360 * math.Cos(min(max(y, -maxLatitude), maxLatitude)*(math.Pi/180)))
}

// lengths returns by which factors lengths in the coordinates of the table, at ordinate y, are
// larger in the square.
func (p projection) lengths(y float64) (dx, dy float64) {
	if p == metres {
		return 1 / (2 * earthHalf), 1 / (2 * earthHalf)
	}
	return 1.0 / 360, 1 / (360 * math.Cos(min(max(y, -maxLatitude), maxLatitude)*(math.Pi/180)))
}

// lonLat returns a position of a table in longitude and latitude.
func (p projection) lonLat(x, y float64) (lon, lat float64) {
	if p == metres {
		return degrees.fromX(p.x(x)), degrees.fromY(p.y(y))
	}
	return x, y
}
