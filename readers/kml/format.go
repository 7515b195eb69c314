// Package kml reads KML: OGC 07-147r2 (KML 2.2) and OGC 12-007r2 (KML 2.3), Google's extensions in
// the namespace gx, and the common part of KML 2.0 and 2.1 of Google Earth. Package xmltext reads
// the XML, strictly; namespaces are ignored, and any prefix is accepted.
//
//	file       kml, which holds features and containers
//	container  Document | Folder: name, Schemas, features and containers; other elements are skipped
//	feature    Placemark | GroundOverlay: a row
//	geometry   Point | LineString | LinearRing | Polygon | MultiGeometry | gx:Track | gx:MultiTrack; not Model
//	tuple      number "," number ["," number], blanks around commas allowed, blanks between tuples
//
// Each container with features of its own is a layer, named by the name element before its first
// feature. Layers are in the order of their first features. A parse reads the features of one
// layer; the rest of the file must be well-formed XML.
//
// docs/formats/kml.md says what is done where the standard is silent or forbids what is common, and
// what GDAL does. NetworkLinks, PhotoOverlays, ScreenOverlays and Updates are not rows; styles are
// not columns.
package kml

import (
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/source"
)

const formatName = "kml"

// Format returns KML.
func Format() readers.Format {
	return readers.Format{
		Name:       formatName,
		Extensions: []string{".kml"},
		Unit:       "feature",
		Version:    3,
		Layered:    true,
		Sniff:      func(head []byte) bool { return string(xmltext.Root(head)) == "kml" },
		Recode:     xmltext.Recode,
		Open: func(_ context.Context, _ *source.File, opts readers.Options) (readers.Layout, error) {
			return readers.Layout{Options: opts}, nil
		},
		CPU: func(l readers.Layout) readers.Parser { return parser{layout: l} },
		GPU: func(pool *slots.Pool) readers.Engine {
			return device.New(pool, func(l readers.Layout, e *device.Engine) readers.Parser {
				return parser{layout: l, device: e}
			})
		},
	}
}
