// Package topojson reads TopoJSON 1.0.0 (https://github.com/topojson/topojson-specification).
//
// It accepts, strictly by RFC 8259, with any blanks and any order of members:
//
//	topology   "type": "Topology", "objects": { name: object }, "arcs": [ arc ]; "transform"; crs, as in GeoJSON
//	arc        array of positions; with a transform each is the difference from the one before it
//	object     GeometryCollection: a layer, whose geometries are rows; any other geometry: a row of the layer
//	           "TopoJSON", which is the last one
//	geometry   Point and MultiPoint: "coordinates"; LineString, MultiLineString, Polygon, MultiPolygon: "arcs",
//	           indices of arcs, ~i for arc i backwards; GeometryCollection: "geometries"; null: no geometry
//	row        geometry with "id" and "properties"
//
// A file is read whole before its rows are, and is bounded by --max-feature-bytes: any row may use any
// arc. One worker reads it.
//
// docs/formats/topojson.md has the whole list, and what GDAL does.
package topojson

import (
	"bytes"
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
	"github.com/vibeflight/vibeflight/readers/source"
)

const (
	formatName = "topojson"
	unit       = "geometry"
)

// Format returns TopoJSON.
func Format() readers.Format {
	return readers.Format{
		Name:       formatName,
		Extensions: []string{".topojson"},
		Unit:       unit,
		Version:    1,
		Layered:    true,
		Sniff:      sniff,
		Open: func(_ context.Context, _ *source.File, opts readers.Options) (readers.Layout, error) {
			return readers.Layout{Options: opts}, nil
		},
		CPU: func(l readers.Layout) readers.Parser { return parser{layout: l} },
	}
}

// sniff accepts text that begins as an object with the type of a topology, or with arcs and objects.
func sniff(head []byte) bool {
	if !bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")), " \t\r\n"), []byte("{")) {
		return false
	}
	root := jsonrows.Names(head, 1)
	return root["type"] && bytes.Contains(head, []byte(`"Topology"`)) ||
		root["arcs"] && (root["objects"] || root["transform"])
}
