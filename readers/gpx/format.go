// Package gpx reads GPX, the GPS Exchange Format of Topografix: GPX 1.1
// (http://www.topografix.com/GPX/1/1/gpx.xsd) and GPX 1.0. Package xmltext reads the XML, strictly.
//
//	file   gpx [version]: wpt, rte and trk; anything else is skipped
//	wpt    lat, lon: ele, time, magvar, …                 a row of waypoints
//	rte    name, …, rtept: lat, lon, as wpt               a row of routes; a row of route_points for each rtept
//	trk    name, …, trkseg: trkpt: lat, lon, as wpt       a row of tracks; a row of track_points for each trkpt
//
// A file has the five layers of GDAL's driver, with its columns. A parse reads the rows of one
// layer; the rest of the file must be well-formed XML. Elements of GPX have the prefix of the root
// element.
//
// Where the standard is silent: a time without a zone is UTC, in which the standard has all times;
// a longitude of 180, which GPX 1.0 allows and GPX 1.1 does not, is read; a blank number is null.
// docs/formats/gpx.md says the rest, and what GDAL does.
package gpx

import (
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
	"github.com/vibeflight/vibeflight/readers/source"
)

const formatName = "gpx"

// Names of options and their values.
const (
	optionElevation = "elevation"
	elevationColumn = "column"
	elevationZ      = "z"

	optionExtensions  = "extensions"
	extensionChildren = "children"
	extensionValues   = "values"
)

// Format returns GPX.
func Format() readers.Format {
	return readers.Format{
		Name:       formatName,
		Extensions: []string{".gpx"},
		Unit:       "feature",
		Version:    1,
		Layered:    true,
		Sniff:      func(head []byte) bool { return string(xmltext.Root(head)) == rootName },
		Recode:     xmltext.Recode,
		Options: []readers.Option{{
			Name: optionElevation, Default: elevationColumn, Values: []string{elevationColumn, elevationZ},
			Doc: "where the elevation of a position is: in the column ele alone, or also in the z of the geometry",
		}, {
			Name: optionExtensions, Default: extensionChildren,
			Values: []string{extensionChildren, extensionValues},
			Doc: "which elements of extensions have columns: its children, with their content as text, " +
				"or those with a value at any depth",
		}},
		Open: func(_ context.Context, _ *source.File, opts readers.Options) (readers.Layout, error) {
			return readers.Layout{Options: opts}, nil
		},
		CPU: func(l readers.Layout) readers.Parser { return parser{layout: l} },
	}
}
