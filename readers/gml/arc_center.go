package gml

import (
	"fmt"
	"math"
	"strings"

	"github.com/vibeflight/vibeflight/readers/internal/curve"
	"github.com/vibeflight/vibeflight/readers/internal/trig"
)

// metres are the lengths of units of a radius, by their names in uom.
var metres = map[string]float64{
	"m": 1, "metre": 1, "meter": 1, "metres": 1, "meters": 1, "urn:ogc:def:uom:epsg::9001": 1,
	"urn:ogc:def:uom:ucum::m": 1,
	"km":                      1000, "kilometre": 1000, "urn:ogc:def:uom:epsg::9036": 1000,
	"nm": 1852, "nmi": 1852, "[nmi_i]": 1852, "m*1852": 1852, "urn:ogc:def:uom:epsg::9030": 1852,
	"mi": 1609.344, "[mi_i]": 1609.344, "urn:ogc:def:uom:epsg::9093": 1609.344,
	"ft": 0.3048, "[ft_i]": 0.3048, "urn:ogc:def:uom:epsg::9002": 0.3048,
}

// earthRadius is the radius of the sphere on which a minute of arc is a nautical mile, which GDAL
// uses for such circles.
const earthRadius = 1852 * 60 * 180 / math.Pi

// nearShare is the share of the radius by which a computed end of an arc may miss the position
// where the line continues.
const nearShare = 1.0 / 500

// addAround replaces the center of an arc, which is the position first, by the arc.
func (s *scanner) addAround(c frame, first int, e centeredArc, whole bool) bool {
	n := len(s.sink.Geom.X) - first
	switch {
	case n != 1:
		return s.wrongArc(fmt.Sprintf("a center of %d positions", n))
	case e.has&hasRadius == 0 || e.radius <= 0:
		return s.wrongArc("an arc around a center without a radius above 0")
	case !whole && e.has != hasRadius|hasStart|hasEnd:
		return s.wrongArc("an ArcByCenterPoint without startAngle and endAngle")
	case math.Abs(e.to-e.from) > 4*math.Pi:
		return s.wrongArc("an arc of more than two turns")
	}
	if whole {
		e.from, e.to = -math.Pi, math.Pi
	}
	center := s.takePositions(first).at(0)
	at, radius := s.placer(c, center, e)
	s.ends = curveEnds{radius * nearShare, radius * nearShare}
	steps := max(1, curve.Steps(e.to-e.from))
	if !s.arcs.Count(steps) {
		return s.tooManyComputed()
	}
	start := center
	for i := range steps + 1 {
		p := center
		p.X, p.Y = at(e.from + (e.to-e.from)*float64(i)/float64(steps))
		switch {
		case i == 0:
			start = p
		case i == steps && whole:
			p = start
		}
		s.addPosition(p)
	}
	return true
}

// placer returns positions around a center by their angle, and the radius in the units of the
// system. In a geographic system a radius in units of length is one on the sphere.
func (s *scanner) placer(c frame, center curve.Position, e centeredArc) (at func(angle float64) (x, y float64),
	radius float64,
) {
	radius = e.radius
	unit, isLength := metres[strings.ToLower(e.unit)]
	if isLength && c.system.isGeographic() {
		return onSphere(center, radius*unit/earthRadius, c.system.swapped), radius * unit / earthRadius * 180 / math.Pi
	}
	if isLength && unit > 1 {
		radius *= unit
	}
	o := curve.Circle{X: center.X, Y: center.Y, Radius: radius}
	return func(angle float64) (x, y float64) {
		if c.system.swapped {
			angle = math.Pi/2 - angle // from north to east
		}
		return o.At(angle)
	}, radius
}

// onSphere returns longitudes and latitudes in degrees at a distance from a center, on a sphere of
// radius 1.
func onSphere(center curve.Position, distance float64, northFirst bool) func(angle float64) (x, y float64) {
	lat, lon := center.Y*math.Pi/180, center.X*math.Pi/180
	sinLat, cosLat := trig.Sincos(lat)
	sinD, cosD := trig.Sincos(distance)
	return func(angle float64) (x, y float64) {
		if !northFirst {
			angle = math.Pi/2 - angle // to the bearing from north
		}
		sin, cos := trig.Sincos(angle)
		to := trig.Asin(float64(sinLat*cosD) + float64(cosLat*sinD*cos))
		sinTo, _ := trig.Sincos(to)
		east := trig.Atan2(sin*sinD*cosLat, cosD-float64(sinLat*sinTo))
		return (lon + east) * 180 / math.Pi, to * 180 / math.Pi
	}
}

// curveEnds has the distances within which the ends of the last curve must meet adjacent ones: 0
// for positions in the file.
type curveEnds struct{ start, end float64 }

// near reports whether two neighbouring positions are within a distance.
func (s *scanner) near(i, j int, within float64) bool {
	g := &s.sink.Geom
	return trig.Hypot(g.X[i]-g.X[j], g.Y[i]-g.Y[j]) <= within
}
