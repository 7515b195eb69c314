package crs

import (
	"math"
	"strings"
)

// definition is the part of a definition, in WKT 1 of OGC, GDAL or ESRI, in WKT 2 or in PROJJSON,
// that determines the places of positions.
type definition struct {
	kind       Kind
	name       string
	dimensions int
	id         ID   // of the outermost node, if it is in the registry
	axes       bool // it says which axes there are
	northFirst bool // they are north, then east

	datum       string
	major       float64 // semi-major axis, in metres
	minor       float64
	meridian    float64 // of Greenwich, in radians
	angularUnit float64 // in radians, of a geographic system's axes
	unit        float64 // in metres, of the other axes
	method      string  // of the projection, in canonical form
	parameters  map[string]float64

	parts []*definition // of a compound system
}

// wktKinds are the outermost nodes.
var wktKinds = map[string]Kind{
	"GEOGCS": Geographic, "GEOGCRS": Geographic, "GEODCRS": Geographic, "GEODETICCRS": Geographic,
	"GEOGRAPHICCRS": Geographic, "BASEGEOGCRS": Geographic, "BASEGEODCRS": Geographic, "GEOCCS": Geocentric,
	"PROJCS": Projected, "PROJCRS": Projected, "PROJECTEDCRS": Projected,
	"VERT_CS": Vertical, "VERTCS": Vertical, "VERTCRS": Vertical, "VERTICALCRS": Vertical,
	"COMPD_CS": Compound, "COMPOUNDCRS": Compound,
}

// define reads a text of WKT. ok is false if a required part is missing.
func define(text string) (d *definition, ok bool) {
	nodes, err := parseWKT(text)
	if err != nil {
		return nil, false
	}
	first, ok := defineNode(&nodes[0])
	if !ok || len(nodes) == 1 {
		return first, ok
	}
	height, ok := defineNode(&nodes[1]) // ESRI's PROJCS[…],VERTCS[…]
	if !ok || len(nodes) > 2 || height.kind != Vertical {
		return nil, false
	}
	return &definition{
		kind: Compound, dimensions: first.dimensions + 1, name: first.name + " + " + height.name,
		parts: []*definition{first, height},
	}, true
}

func defineNode(n *node) (*definition, bool) {
	if n.keyword == "BOUNDCRS" {
		source := n.child("SOURCECRS")
		if source == nil || len(source.nodes) == 0 {
			return nil, false
		}
		return defineNode(&source.nodes[0])
	}
	d := &definition{kind: wktKinds[n.keyword], name: n.text(0), dimensions: 2, angularUnit: degree, unit: 1}
	d.id, _ = n.id()
	d.axes, d.northFirst = n.child("AXIS") != nil, firstIsNorth(n)
	switch d.kind {
	case Geographic, Geocentric:
		return d, d.ofEarth(n)
	case Projected:
		return d, d.projected(n)
	case Vertical:
		d.dimensions = 1
		datum := n.child("VDATUM", "VERT_DATUM", "VRF", "VERTICALDATUM", "DATUM", "ENSEMBLE")
		d.datum = datum.text(0)
		d.unit = unitOf(n, 1)
		return d, datum != nil
	case Compound:
		d.dimensions = 0
		for i := range n.nodes {
			if wktKinds[n.nodes[i].keyword] == "" {
				continue
			}
			part, ok := defineNode(&n.nodes[i])
			if !ok {
				return nil, false
			}
			d.parts = append(d.parts, part)
			d.dimensions += part.dimensions
		}
		return d, len(d.parts) == 2
	}
	return nil, false
}

const degree = math.Pi / 180

// ofEarth reads a geographic or geocentric node.
func (d *definition) ofEarth(n *node) bool {
	datum := n.child("DATUM", "GEODETICDATUM", "TRF", "ENSEMBLE")
	if datum == nil {
		return false
	}
	ellipsoid := datum.child("SPHEROID", "ELLIPSOID")
	if ellipsoid == nil || !ellipsoid.isNumber(1) || !ellipsoid.isNumber(2) {
		return false
	}
	d.datum = datum.text(0)
	d.setEllipsoid(ellipsoid.number(1, 0)*unitOf(ellipsoid, 1), ellipsoid.number(2, 0))
	d.angularUnit = unitOf(n, degree)
	if prime := n.child("PRIMEM", "PRIMEMERIDIAN"); prime != nil {
		d.meridian = prime.number(1, 0) * unitOf(prime, d.angularUnit)
	}
	if cs := n.child("CS"); cs != nil {
		d.dimensions = int(cs.number(1, 2))
		if strings.EqualFold(cs.text(0), "cartesian") {
			d.kind = Geocentric
		}
	}
	if d.kind == Geocentric {
		d.dimensions, d.northFirst = 3, false
		d.unit = unitOf(n, 1)
	}
	if n.child("LINUNIT") != nil {
		d.dimensions = 3
	}
	return d.major > 0 && d.minor > 0
}

// setEllipsoid sets the semi-major axis and the inverse flattening, which is 0 for a sphere.
func (d *definition) setEllipsoid(major, inverse float64) {
	d.major, d.minor = major, major
	if inverse != 0 {
		d.minor = major * (1 - 1/inverse)
	}
}

// projected reads a projected node of WKT 1 or 2.
func (d *definition) projected(n *node) bool {
	base := n.child("GEOGCS", "BASEGEOGCRS", "BASEGEODCRS", "GEOGCRS", "GEODCRS")
	if base == nil {
		return false
	}
	of, ok := defineNode(base)
	if !ok {
		return false
	}
	d.datum, d.major, d.minor, d.meridian, d.angularUnit = of.datum, of.major, of.minor, of.meridian, of.angularUnit
	d.unit = unitOf(n, 1)
	if cs := n.child("CS"); cs != nil {
		d.dimensions = int(cs.number(1, 2))
	}
	parameters := n
	method := n.child("PROJECTION")
	if c := n.child("CONVERSION"); c != nil {
		parameters, method = c, c.child("METHOD", "PROJECTION")
	}
	if method == nil {
		return false
	}
	d.method = canonicalMethod(method.text(0))
	for i := range parameters.nodes {
		if p := &parameters.nodes[i]; p.keyword == "PARAMETER" {
			if !p.isNumber(1) {
				return false
			}
			d.set(p.text(0), p.number(1, 0), unitOf(p, 0))
		}
	}
	return true
}

// set notes a parameter. Without a unit of its own an angle is in that of the geographic system, a
// length in that of the projected one.
func (d *definition) set(name string, value, unit float64) {
	key := canonicalParameter(name)
	if unit == 0 {
		switch {
		case isAngle(key):
			unit = d.angularUnit
		case strings.HasPrefix(key, "false"), strings.Contains(key, "height"):
			unit = d.unit
		default:
			unit = 1
		}
	}
	if d.parameters == nil {
		d.parameters = map[string]float64{}
	}
	d.parameters[key] = value * unit
}

func isAngle(key string) bool {
	for _, word := range []string{"latitude", "longitude", "meridian", "parallel", "azimuth", "angle", "rotat"} {
		if strings.Contains(key, word) {
			return true
		}
	}
	return false
}

// unitOf returns the factor of a node's unit, its own or that of its first axis.
func unitOf(n *node, without float64) float64 {
	keywords := []string{"UNIT", "ANGLEUNIT", "LENGTHUNIT", "SCALEUNIT"}
	if u := n.child(keywords...); u != nil {
		return u.number(1, without)
	}
	if axis := n.child("AXIS"); axis != nil {
		if u := axis.child(keywords...); u != nil {
			return u.number(1, without)
		}
	}
	return without
}

// firstIsNorth reports axes that are north, then east.
func firstIsNorth(n *node) bool {
	axis := n.child("AXIS")
	return axis != nil && strings.EqualFold(axis.text(1), "north")
}

// canonicalMethod returns the name of a projection in a form that is the same for all spellings.
func canonicalMethod(name string) string {
	key := canonical(name)
	for _, end := range []string{"1sp", "2sp"} {
		key = strings.TrimSuffix(key, end)
	}
	switch key {
	case "gausskruger":
		return "transversemercator"
	case "albers":
		return "albersconicequalarea"
	}
	return key
}

// canonicalParameter returns the name of a parameter. WKT 1 names one by several words.
func canonicalParameter(name string) string {
	switch key := canonical(name); key {
	case "longitudeofcenter", "longitudeoforigin":
		return "centralmeridian"
	case "latitudeofcenter":
		return "latitudeoforigin"
	default:
		return key
	}
}
