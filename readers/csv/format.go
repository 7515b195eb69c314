// Package csv reads delimited text: RFC 4180, and the variants that spreadsheets, databases and
// GDAL write.
//
//	file      = [BOM] [ header ] *record
//	header    = record
//	record    = field *( delimiter field ) ( line end | end of the file )
//	field     = quoted | *( any byte but delimiter, CR, LF )             that does not begin with a quote
//	quoted    = quote *( any byte but quote | quote quote ) quote
//	delimiter = the first of "," tab ";" "|" that gives the first two records most fields, or by option
//	line end  = LF | CRLF | CR
//
// Where the standard is silent: empty lines are not records. A quote inside of a field that does
// not begin with one is an ordinary byte. Blanks belong to the field, also before a quote. A
// delimiter or a line end must follow a closing quote. Line ends inside of quotes are kept. A
// record with more or fewer fields than the first one is an error (or padded, by option). An empty
// field is null, a quoted one is the empty text.
//
// A column's type depends on the whole file. The geometry is found by the names of columns and
// their first values. docs/formats/csv.md has the whole list, and what GDAL does.
package csv

import (
	"context"
	"errors"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/prj"
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Format returns comma-separated values and its variants.
func Format() readers.Format {
	return readers.Format{
		Name:       "csv",
		Extensions: []string{".csv", ".tsv", ".tab", ".psv"},
		Unit:       unit,
		Siblings:   []string{".prj"},
		Version:    3,
		Options: []readers.Option{
			{
				Name: optDelimiter, Default: auto,
				Doc: "the byte between fields, or tab; auto takes that of the file's first records",
			},
			{Name: optQuote, Default: `"`, Doc: "the byte around fields that hold delimiters or line ends, or none"},
			{
				Name: optHeader, Default: auto, Values: []string{auto, "true", "false"},
				Doc: "whether the first record names the columns; auto: unless one of its fields is a number " +
					"without quotes",
			},
			{
				Name: optEncoding, Default: "utf-8",
				Doc: "the encoding of the text, as the WHATWG names it: windows-1252, shift_jis",
			},
			{
				Name: optDecimal, Default: auto, Values: []string{auto, ".", ","},
				Doc: "the decimal separator of numbers; auto: a point, and for coordinates the separator of " +
					"their first values",
			},
			{
				Name: optRagged, Default: "error", Values: []string{"error", "pad"},
				Doc: "how to treat a record of fewer or more fields: error, or pad it with nulls " +
					"and drop surplus fields",
			},
			{
				Name: optTypes, Default: auto, Values: []string{auto, "string"},
				Doc: "whether columns get the types of their values, or all are text",
			},
			{Name: optLatitude, Doc: "the column with the y of points; with longitude"},
			{Name: optLongitude, Doc: "the column with the x of points; with latitude"},
			{
				Name: optGeometry, Default: auto,
				Doc: "the column with geometries; auto looks for one, or for a pair of coordinates; none: a table " +
					"without geometry",
			},
			{
				Name: optGeometryFormat, Default: auto, Values: []string{auto, "wkt", "wkb", "geojson"},
				Doc: "how geometries are written: as WKT or EWKT, as hexadecimal WKB or EWKB, or as GeoJSON",
			},
			{
				Name: optKeep, Default: "false", Values: []string{"true", "false"},
				Doc: "whether the columns of the geometry are attributes too",
			},
			{Name: optCRS, Doc: "the coordinate reference system, as EPSG:3857; that of the geometries' SRID if " +
				"empty, which it overrides"},
		},
		Open: open,
		CPU: func(l readers.Layout) readers.Parser {
			return parser{dialect: l.Dialect.(*dialect), columns: l.Columns}
		},
		GPU: func(pool *slots.Pool) readers.Engine {
			return device.New(pool, func(l readers.Layout, e *device.Engine) readers.Parser {
				return parser{dialect: l.Dialect.(*dialect), columns: l.Columns, device: e}
			})
		},
	}
}

// unit is the word for a row in errors.
const unit = "record"

// Names of options, and their default value.
const (
	optDelimiter      = "delimiter"
	optQuote          = "quote"
	optHeader         = "header"
	optEncoding       = "encoding"
	optDecimal        = "decimal"
	optRagged         = "ragged"
	optTypes          = "types"
	optLatitude       = "latitude"
	optLongitude      = "longitude"
	optGeometry       = "geometry"
	optGeometryFormat = "geometry_format"
	optKeep           = "keep_geometry_columns"
	optCRS            = "crs"

	auto = "auto"
)

// readPRJ reads the .prj if there is a geometry and no option gives its reference system.
func (d *dialect) readPRJ(src *source.File) (err error) {
	if d.geometry == noGeometry || d.crs != (geoarrow.CRS{}) {
		return nil
	}
	d.prj, err = prj.Read(src)
	if large := (*prj.TooLargeError)(nil); errors.As(err, &large) {
		return &readers.ParseError{Name: src.Name, Format: "csv", Row: -1, Err: large}
	}
	if d.prj != (geoarrow.CRS{}) {
		d.final = false // it holds for the present rows
	}
	return err
}

// open finds the dialect, the columns and the geometry. It reads the first two records, and then
// until every column that may be the geometry has had a value, which may take the whole file.
func open(ctx context.Context, src *source.File, opts readers.Options) (readers.Layout, error) {
	d, err := newDialect(src.Name, opts)
	if err != nil {
		return readers.Layout{}, err
	}
	if err := d.findColumns(ctx, src, opts); err != nil {
		return readers.Layout{}, err
	}
	if err := d.findGeometry(ctx, src, opts); err != nil {
		return readers.Layout{}, err
	}
	if err := d.readPRJ(src); err != nil {
		return readers.Layout{}, err
	}
	return readers.Layout{Options: opts, Dialect: d}, nil
}
