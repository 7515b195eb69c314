// Package xlsx reads the sheets of Office Open XML workbooks: ECMA-376, SpreadsheetML (part 1,
// section 18) in an Open Packaging container (part 2), the transitional and the strict form.
//
//	file       zip archive: workbook, its relationships, styles, shared strings, a part for each sheet
//	sheet      worksheet(… sheetData(row*) …): a layer; chart sheets and dialog sheets are not layers
//	row        row(r? c*): a row of the table
//	cell       c(r? s? t? f? v? is?): the value of a column; of a formula the value that was stored
//
// Each sheet is a table of its own, hidden ones too. The first row names the columns if all its
// cells are different texts, and another row follows. Without such a row the columns are Field1,
// Field2 and so on. A row that the file leaves out is a row of nulls, up to the last row with a
// value. A cell in a merged range other than its first one is null, as in the file.
//
// A number with the format of a date, a time or both is one. An error such as #N/A is null and
// counted. The geometry is found by the names of columns and their first values, by the rules of
// package csv. docs/formats/xlsx.md has the whole list, and what GDAL does.
package xlsx

import (
	"bytes"
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

const formatName = "xlsx"

// unit is the word for a row in errors.
const unit = "row"

// Names of options, and their default value.
const (
	optHeader         = "header"
	optTypes          = "types"
	optLatitude       = "latitude"
	optLongitude      = "longitude"
	optGeometry       = "geometry"
	optGeometryFormat = "geometry_format"
	optKeep           = "keep_geometry_columns"
	optCRS            = "crs"

	auto = "auto"
)

// Format returns workbooks of spreadsheets.
func Format() readers.Format {
	return readers.Format{
		Name:       formatName,
		Extensions: []string{".xlsx", ".xlsm"},
		Unit:       unit,
		Version:    1,
		Binary:     true,
		Layered:    true,
		Series:     true,
		Sniff:      sniff,
		Options: []readers.Option{
			{
				Name: optHeader, Default: auto, Values: []string{auto, "true", "false"},
				Doc: "whether the first row names the columns; auto: if its cells are different texts, and " +
					"another row follows",
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
				Name: optGeometryFormat, Default: auto, Values: []string{auto, "wkt", "wkb"},
				Doc: "how geometries are written: as WKT or EWKT, or as hexadecimal WKB or EWKB",
			},
			{
				Name: optKeep, Default: "false", Values: []string{"true", "false"},
				Doc: "whether the columns of the geometry are attributes too",
			},
			{Name: optCRS, Doc: "the coordinate reference system, as EPSG:3857; that of the geometries' SRID if " +
				"empty, which it overrides"},
		},
		Open: open,
		CPU:  func(l readers.Layout) readers.Parser { return parser{l.Dialect.(*workbook), l} },
	}
}

// sniff reports whether a file is a zip archive with the parts of a workbook.
func sniff(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) && bytes.Contains(head, []byte("xl/w"))
}

// open reads everything but the sheets.
func open(ctx context.Context, src *source.File, opts readers.Options) (readers.Layout, error) {
	w, err := readWorkbook(ctx, src)
	if err != nil {
		return readers.Layout{}, err
	}
	if err := w.setOptions(opts); err != nil {
		return readers.Layout{}, err
	}
	return readers.Layout{Options: opts, Dialect: w}, nil
}
