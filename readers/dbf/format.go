// Package dbf reads tables of dBASE III, IV and 5, FoxPro and Visual FoxPro, and the attributes of
// shapefiles.
//
// There is no standard. The layout is described in Borland's "Table File Format" of dBASE IV and 5
// and Microsoft's "Table File Structure" of Visual FoxPro 9; ESRI uses both:
//
//	file    header | record … | [0x1A]
//	record  deletion flag | field …          all records of a table are equally long, all fields of a name too
//	flag    blank: a record; *: a deleted one
//
// Numbers and dates are text, right- or left-aligned among blanks; NULs count as blanks. A blank
// value is null. A value that is invalid for its field's type is a *readers.ParseError with its
// record, and null under on_error: null or repair. Bytes after the number of records in the header
// are ignored. Errors are a header whose lengths contradict one another or the file, fewer records
// than in the header, an encrypted table, a table of dBASE II or 7, and a memo outside of the memo
// file.
//
// The records of a table are at known places, so any number of workers may read them.
// docs/formats/dbf.md has the whole list, and what GDAL does.
package dbf

import (
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/source"
)

const (
	formatName = "dbf"
	unit       = "record"
)

// Format returns DBF in all its forms with a header of 32 bytes.
func Format() readers.Format {
	return readers.Format{
		Name:       formatName,
		Extensions: []string{".dbf"},
		Unit:       unit,
		Version:    3,
		Siblings:   []string{".cpg", ".dbt", ".fpt"},
		Binary:     true,
		Options:    Options(),
		Open:       open,
		CPU: func(l readers.Layout) readers.Parser {
			return parser{header: l.Dialect.(*Header).Project(l.Columns), blockBytes: blockBytes}
		},
		GPU: func(pool *slots.Pool) readers.Engine {
			return device.New(pool, func(l readers.Layout, e *device.Engine) readers.Parser {
				return parser{header: l.Dialect.(*Header).Project(l.Columns), blockBytes: blockBytes, device: e}
			})
		},
	}
}

// Options are the options of a table, which formats that contain a table have as well.
func Options() []readers.Option {
	return []readers.Option{
		{Name: "encoding", Doc: "code page of texts, as UTF-8, 1252, CP437, ISO-8859-2, GBK; by default that of the " +
			".cpg file, then of the header, then ISO-8859-1"},
		{
			Name: "include_deleted", Default: "false", Values: []string{"false", "true"},
			Doc: "whether records that are marked as deleted are rows",
		},
		{
			Name: "decimal", Default: ".", Values: []string{".", ","},
			Doc: "the decimal separator of numbers that are text",
		},
		{
			Name: "memo", Default: "read", Values: []string{"read", "ignore"},
			Doc: "read memo fields, or ignore them: then they are null, and the memo file may be missing",
		},
	}
}

// options are their values.
type options struct {
	skip        bool // malformed records are skipped
	nulls       bool // malformed values are null
	repair      bool // values that have one obvious reading are read that way
	comma       bool // numbers have a decimal comma
	deleted     bool // deleted records are not skipped
	withoutMemo bool
}

func optionsOf(o readers.Options) options {
	return options{
		skip: o.SkipErrors(), nulls: o.NullErrors(), repair: o.Repairs(), comma: o.Get("decimal") == ",",
		deleted: o.Get("include_deleted") == "true", withoutMemo: o.Get("memo") == "ignore",
	}
}

func open(ctx context.Context, src *source.File, opts readers.Options) (readers.Layout, error) {
	h, err := ReadHeader(ctx, src, opts)
	if err == nil && len(h.Fields) == 0 {
		err = h.noField(src)
	}
	if err != nil {
		return readers.Layout{}, err
	}
	return readers.Layout{Options: opts, Dialect: h}, nil
}
