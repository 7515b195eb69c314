// Package dbf reads tables of dBASE III, IV and 5, FoxPro and Visual FoxPro, and the attributes of
// shapefiles.
//
// There is no standard. What is known of the layout is in Borland's "Table File Format" of dBASE IV
// and 5, Microsoft's "Table File Structure" of Visual FoxPro 9, and ESRI's use of both:
//
//	file    header | record … | [0x1A]
//	record  deletion flag | field …          all records of a table are equally long, all fields of a name too
//	flag    blank: a record; *: a deleted one
//
// Numbers and dates are text, right- or left-aligned among blanks; NULs count as blanks. A blank
// value is null. Every value must be one of its field's type: what is none is a *readers.ParseError
// with its record, and null under on_error: null or repair. Records after the number that the
// header promises are none. A header whose lengths contradict one another or the file, one that
// promises more records than there are, an encrypted table, one of dBASE II or 7, a memo that lies
// in no memo file are refused.
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

// Format is DBF in all its forms that have a header of 32 bytes.
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

// Options are those of a table, which the formats that hold one have too.
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
	skip        bool // malformed records are left out
	nulls       bool // malformed values are null
	repair      bool // those that have one obvious reading are read so
	comma       bool // numbers have a decimal comma
	deleted     bool // deleted ones are not
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
