// Package shapefile reads ESRI shapefiles (ESRI Shapefile Technical Description, July 1998): the
// shapes of a .shp, the attributes of the .dbf next to it, the coordinate reference system of its
// .prj.
//
//	file      header, then records, numbered from 1, or from 0 as some writers have it
//	record    number, length, shape: Null or of the header's type
//	shape     Point, PolyLine, Polygon, MultiPoint, each also with Z and with M; MultiPatch
//
// Record number n of the .dbf belongs to record number n of the .shp; without a .dbf there are no
// attributes. A record that is marked as deleted in the .dbf is not a row. Each record begins where
// the previous one ends, which is also verified if several workers read the file. Only a file whose
// shapes were changed in place, so that records do not follow each other, is read by its .shx. The
// length in the header, the boxes and the ranges of z and m are ignored, since nothing depends on
// them. A record that is shorter than its shape, a part without points, numbers out of sequence and
// truncation are errors; a longer record is read and counted. docs/formats/shapefile.md has the
// whole list, and what GDAL does.
package shapefile

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/dbf"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/prj"
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/source"
)

const (
	formatName = "shapefile"
	unit       = "record"
)

// Format returns the shapefile.
func Format() readers.Format {
	return readers.Format{
		Name:       formatName,
		Extensions: []string{".shp"},
		Unit:       unit,
		Version:    3,
		Siblings: []string{
			".dbf", ".dbt", ".fpt", ".cpg", ".prj", ".shx", // read
			// indexes and metadata of other programs
			".qpj", ".sbn", ".sbx", ".qix", ".fbn", ".fbx", ".ain", ".aih", ".atx", ".ixs", ".mxs", ".cst",
		},
		Binary:  true,
		Options: dbf.Options(),
		Open:    open,
		CPU:     func(l readers.Layout) readers.Parser { return parser{layout: l} },
		GPU: func(pool *slots.Pool) readers.Engine {
			return device.New(pool, func(l readers.Layout, e *device.Engine) readers.Parser {
				return parser{layout: l, device: e}
			})
		},
	}
}

// dialect is what is known before any record.
type dialect struct {
	kind       shapeType
	base       int64 // number of the first record
	order      order
	crs        geoarrow.CRS
	attributes *dbf.Header // nil: no .dbf
}

func open(ctx context.Context, src *source.File, opts readers.Options) (readers.Layout, error) {
	d := dialect{}
	var at int64
	var err error
	if d.kind, at, err = readHeader(src, src.Size); err != nil {
		if at < 0 {
			return readers.Layout{}, fmt.Errorf("%s: %w", src.Name, err)
		}
		return readers.Layout{}, faultAt(src, at, -1, err)
	}
	if d.base, err = firstNumber(src); err != nil {
		return readers.Layout{}, err
	}
	if d.order, err = orderOf(ctx, src, d.base); err != nil {
		return readers.Layout{}, err
	}
	table, err := src.Sibling(".dbf")
	if err != nil {
		return readers.Layout{}, err
	}
	if table != nil {
		if d.attributes, err = dbf.ReadHeader(ctx, table, opts); err != nil {
			return readers.Layout{}, ofAttributes(src, 0, -1, err)
		}
	}
	d.crs, err = readCRS(src)
	return readers.Layout{Options: opts, Dialect: d}, err
}

// firstNumber returns 0 if the first record has that number, else 1, the standard's number.
func firstNumber(src *source.File) (int64, error) {
	var number [4]byte
	n, err := src.ReadAt(number[:], headerBytes)
	switch {
	case n == len(number) && number == [4]byte{}:
		return 0, nil
	case err != nil && !errors.Is(err, io.EOF):
		return 0, fmt.Errorf("%s: %w", src.Name, err)
	}
	return 1, nil
}

// readCRS reads the .prj.
func readCRS(src *source.File) (geoarrow.CRS, error) {
	crs, err := prj.Read(src)
	if large := (*prj.TooLargeError)(nil); errors.As(err, &large) {
		return geoarrow.CRS{}, errorAt(src, 0, -1, large)
	}
	return crs, err
}

// errorAt returns the error for a defect at an offset of the file; row is -1 outside of records.
func errorAt(src *source.File, offset, row int64, what error) *readers.ParseError {
	return &readers.ParseError{Name: src.Name, Format: formatName, Offset: offset, Row: row, Unit: unit, Err: what}
}

// faultAt is errorAt for a violation of the standard.
func faultAt(src *source.File, offset, row int64, what error) *readers.ParseError {
	e := errorAt(src, offset, row, what)
	e.Rule = rule
	return e
}

// ofAttributes returns a parse error of the .dbf as one of its record at an offset of the .shp, and
// other errors unchanged.
func ofAttributes(src *source.File, offset, row int64, err error) error {
	var parse *readers.ParseError
	if !errors.As(err, &parse) {
		return err
	}
	var limit *readers.LimitError
	if errors.As(err, &limit) {
		return err
	}
	inner := *parse
	inner.Mode = "" // said once, at the end
	e := errorAt(src, offset, row, fmt.Errorf("attributes: %w", &inner))
	e.Field, e.Mode = parse.Field, parse.Mode
	return e
}
