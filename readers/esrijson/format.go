// Package esrijson reads Esri JSON, the JSON of the ArcGIS REST API
// (https://developers.arcgis.com/rest/services-reference/enterprise/geometry-objects/ and
// .../feature-object/): feature sets, as layers return them with f=json, single features and
// geometries, and features one after the other (Esri's "unenclosed" JSON).
//
// It accepts, strictly by RFC 8259, with any blanks and any order of members:
//
//	file      feature set | { feature } | { geometry }, after an optional byte order mark
//	set       "features": array of features; "fields", "spatialReference", "hasZ", "hasM" and others
//	feature   "attributes": object or null; "geometry": geometry or null
//	geometry  x, y [, z] [, m] | points | paths | rings | xmin, ymin, xmax, ymax; [hasZ] [, hasM]
//	position  [x, y], [x, y, z], [x, y, z, m]; or [x, y, m] with hasM and without hasZ
//
// The fields give the first columns and their types. Columns of other attributes, and of files
// without fields, have the types of their values, as in GeoJSON. A geometry has members of one kind.
// Curves are refused unless the option curves makes lines of them. Quantized coordinates
// ("transform") are refused.
//
// docs/formats/esrijson.md has the whole list, and what GDAL does.
package esrijson

import (
	"bytes"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
)

const (
	formatName = "esrijson"
	unit       = "feature"

	optionCurves                = "curves"
	curvesFail, curvesLinearize = "fail", "linearize"
)

// Format returns Esri JSON.
func Format() readers.Format {
	return readers.Format{
		Name:       formatName,
		Extensions: []string{".esrijson"},
		Unit:       unit,
		Version:    1,
		Options: []readers.Option{{
			Name: optionCurves, Default: curvesFail, Values: []string{curvesFail, curvesLinearize},
			Doc: "what to do about circular arcs, Bézier curves and elliptic arcs: fail, or read them as " +
				"lines with a position every 4 degrees",
		}},
		Sniff: sniff,
		Open:  open,
		CPU:   func(l readers.Layout) readers.Parser { return parser{layout: l} },
	}
}

// sniff accepts text that begins as an object without a type, and with members of a feature set, a
// feature or a geometry of Esri.
func sniff(head []byte) bool {
	if !bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")), " \t\r\n"), []byte("{")) {
		return false
	}
	root := jsonrows.Names(head, 1)
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return root[name] })
	}
	switch {
	case has("type"):
		return false
	case has("features") && jsonrows.Names(head, 3)["attributes"], has("attributes") && has("geometry"):
		return true
	case has("features", "fields"):
		return has("geometryType", "spatialReference", "fieldAliases", "objectIdFieldName")
	}
	return has("spatialReference") && has("x", "points", "paths", "rings", "curvePaths", "curveRings", "xmin")
}
