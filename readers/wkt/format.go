// Package wkt reads files of well-known text, and parses single geometries for other formats.
//
// A file is geometries one after the other, each ended by a line end (LF, CRLF, CR), by ";" or by
// the end of the file:
//
//	file        = [BOM] { separator } [ row { { blank } separator { separator } row } ] { separator }
//	separator   = blank | line end | ";"
//	row         = "NULL" | [ "SRID" "=" digits ";" ] geometry
//	geometry    = name [ "Z" | "M" | "ZM" ] ( "EMPTY" | "(" … ")" )
//	name        = POINT | LINESTRING | POLYGON | MULTIPOINT | MULTILINESTRING | MULTIPOLYGON | GEOMETRYCOLLECTION
//	position    = number number [ number [ number ] ]
//
// This is the text of OGC 06-103r4 section 7 (ISO 19125-1), and the EWKT of PostGIS. Words may be
// in any case. The blank before the tag of a dimension is optional. Blanks and line ends may be
// between any two words, numbers and brackets of a row. EMPTY may replace any bracket except that
// of a position. Where the standard is silent or differs from practice:
//
//	no tag           the first position says the dimension: 3 numbers are XYZ, 4 are XYZM
//	other numbers    a position of another length than its tag or the first one is an error
//	collections      members have dimensions of their own; the row has the union. A tag M makes 3 numbers of
//	                 an untagged member XYM
//	MULTIPOINT       positions with or without brackets, or EMPTY, which is a position of NaN
//	numbers          as JSON, and +5, .5, 5., 007, nan, inf, infinity. Beyond float64: an error
//	rings, lines     may be open and short, and are counted
//
// Curves, triangles and surfaces are refused by name. docs/formats/wkt.md has the whole list, and
// what GDAL does.
package wkt

import (
	"context"
	"fmt"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Format returns files of WKT and EWKT.
func Format() readers.Format {
	return readers.Format{
		Name:       "wkt",
		Extensions: []string{".wkt", ".ewkt"},
		Unit:       unit,
		Version:    2,
		Sniff:      Begins,
		Options: []readers.Option{
			{Name: "crs", Doc: "the coordinate reference system, as EPSG:3857; that of the SRIDs if empty, which it " +
				"overrides"},
		},
		Open: open,
		CPU:  func(l readers.Layout) readers.Parser { return parser{layout: l} },
		GPU: func(pool *slots.Pool) readers.Engine {
			return device.New(pool, func(l readers.Layout, e *device.Engine) readers.Parser {
				return parser{layout: l, device: e}
			})
		},
	}
}

// unit is the word for a row in errors: it need not be a line.
const unit = "row"

// open reads the options: nothing precedes the rows. The Dialect is the geoarrow.CRS of
// the option.
func open(_ context.Context, _ *source.File, opts readers.Options) (readers.Layout, error) {
	var crs geoarrow.CRS
	if name := opts.Get("crs"); name != "" {
		var ok bool
		if crs, ok = geoarrow.ParseCRS(name); !ok {
			return readers.Layout{}, &readers.OptionError{
				Option: "crs",
				Err:    fmt.Errorf("%q names no coordinate reference system; want one as EPSG:3857 or OGC:CRS84", name),
			}
		}
	}
	return readers.Layout{Options: opts, Dialect: crs}, nil
}
