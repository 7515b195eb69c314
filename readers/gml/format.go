// Package gml reads features in GML: GML 2 (OGC 02-069), GML 3.1 (OGC 03-105r1) and GML 3.2 (OGC
// 07-036, ISO 19136), of the simple features profile (OGC 10-100r3), in collections of WFS 1.0,
// 1.1, 2.0 or others. Package xmltext reads the XML, strictly; any prefix is accepted.
//
//	file        a collection; a WFS ExceptionReport is an error that quotes its text
//	collection  members, each of which contains features or another collection; boundedBy; others are skipped
//	member      an element whose name ends with "member" or "members", in any case: gml:featureMember, wfs:member
//	feature     a row of the layer of its name; its leaf elements, at any depth, are its values
//	geometry    the first one in the feature is the row's own, others become columns of WKB: Point, LineString,
//	            Polygon, Multi…, Curve and Surface of linear parts
//
// A parse reads the features of one layer; the rest of the file must be well-formed XML. An .xsd
// next to the file gives columns their types. Nothing else is ever opened: no schema that the file
// names, no xlink:href, no entity.
//
// docs/formats/gml.md says what is done where the standard is silent or forbids what is common, and
// what GDAL does. Refused: splines and, without the option linearize, arcs; solids; two coordinate
// reference systems in one layer.
package gml

import (
	"bytes"
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/source"
)

const formatName = "gml"

// The option for coordinates whose first axis may be north, and its values.
const (
	optionAxes  = "axis_order"
	namedAxes   = "auto"
	plainAxes   = "xy"
	swappedAxes = "yx"
)

// The option that names the property with the geometry of the rows.
const optionGeometry = "geometry"

// The option to read arcs and circles as lines.
const (
	optionLinearize = "linearize"
	no, yes         = "false", "true"
)

// Format returns GML.
func Format() readers.Format {
	return readers.Format{
		Name:       formatName,
		Extensions: []string{".gml"},
		Unit:       "feature",
		Version:    3,
		Siblings:   []string{".xsd"},
		Layered:    true,
		Sniff:      sniff,
		Options: []readers.Option{{
			Name: optionAxes, Default: namedAxes, Values: []string{namedAxes, plainAxes, swappedAxes},
			Doc: "the order of coordinates in the file: auto is by srsName, xy is easting or longitude first, " +
				"yx is northing or latitude first",
		}, {
			Name: optionLinearize, Default: no, Values: []string{no, yes},
			Doc: "read arcs and circles as lines with a position every 4 degrees; else they are errors",
		}, {
			Name: optionGeometry,
			Doc: "the element that holds the geometry of the rows, as area or lot.area; empty is the first " +
				"geometry of each feature. Others are columns of WKB",
		}},
		Recode: xmltext.Recode,
		Open:   open,
		CPU:    func(l readers.Layout) readers.Parser { return parser{layout: l} },
		GPU: func(pool *slots.Pool) readers.Engine {
			return device.New(pool, func(l readers.Layout, e *device.Engine) readers.Parser {
				return parser{layout: l, device: e}
			})
		},
	}
}

func open(_ context.Context, src *source.File, opts readers.Options) (readers.Layout, error) {
	s, err := readSchema(src)
	return readers.Layout{Options: opts, Dialect: s}, err
}

// sniff accepts a root element that is a collection, or a feature with an identifier, if the first
// bytes name GML or WFS.
func sniff(head []byte) bool {
	root := xmltext.Root(head)
	if len(root) == 0 {
		return false
	}
	for _, namespace := range []string{
		"http://www.opengis.net/gml", "http://www.opengis.net/wfs",
		"http://ogr.maptools.org/",
	} {
		if bytes.Contains(head, []byte(namespace)) {
			return isCollection(root) || bytes.Contains(head, []byte("ember>")) ||
				bytes.Contains(head, []byte("embers>")) || bytes.Contains(head, []byte("gml:id="))
		}
	}
	return false
}
