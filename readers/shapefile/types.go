package shapefile

import (
	"fmt"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// shapeType is a shape's family and its ordinates in addition to x and y.
type shapeType uint32

const (
	null       shapeType = 0
	point      shapeType = 1
	polyLine   shapeType = 3
	polygon    shapeType = 5
	multiPoint shapeType = 8
	multiPatch shapeType = 31

	// Added to one of the first four.
	withZ shapeType = 10 // z, and m if the record is long enough
	withM shapeType = 20
)

// family returns the type without Z or M: polygon for PolygonZ and PolygonM.
func (t shapeType) family() shapeType {
	switch {
	case t == multiPatch:
		return t
	case t > withM:
		return t - withM
	case t > withZ:
		return t - withZ
	}
	return t
}

// known reports whether the standard has the type.
func (t shapeType) known() bool {
	switch t.family() {
	case point, polyLine, polygon, multiPoint, multiPatch:
		return true
	}
	return t == null
}

// hasZ reports whether shapes of the type have a z.
func (t shapeType) hasZ() bool { return t > withZ && t < withM || t == multiPatch }

// mayHaveM reports whether shapes of the type can have an m.
func (t shapeType) mayHaveM() bool { return t > withZ }

// dim returns the ordinates that every shape of the type has.
func (t shapeType) dim() geoarrow.Dim {
	if t.hasZ() {
		return geoarrow.XYZ
	}
	return geoarrow.XY
}

// String returns the name that the standard has for the type.
func (t shapeType) String() string {
	switch {
	case t == null:
		return "Null"
	case t == multiPatch:
		return "MultiPatch"
	case !t.known():
		return fmt.Sprintf("type %d", uint32(t))
	}
	name := [...]string{point: "Point", polyLine: "PolyLine", polygon: "Polygon", multiPoint: "MultiPoint"}[t.family()]
	switch {
	case t.hasZ():
		return name + "Z"
	case t.mayHaveM():
		return name + "M"
	}
	return name
}
