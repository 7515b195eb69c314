// Package flatgeobuf reads FlatGeobuf 3 (https://github.com/flatgeobuf/flatgeobuf,
// src/fbs/header.fbs and feature.fbs).
//
//	file      magic, header, [index], { feature }
//	magic     "fgb" 3 "fgb" and the patch level, any
//	header    length, flatbuffer: kind of the geometries, columns, reference system, number of features, size
//	          of the index's nodes
//	index     a packed Hilbert R-tree, where the header gives a number of features and a size of nodes; passed over
//	feature   length, flatbuffer: geometry, properties
//
// All numbers are little-endian. Nothing in a flatbuffer is trusted: each offset and length is
// compared with the bytes that are there before it is followed, and parts that several geometries
// share count each time, so that no feature becomes more than it is long.
//
// The header's column types are those of the table. A feature is malformed whose geometry is of
// another kind than the header says, whose arrays do not fit each other, which has a column twice,
// a column that the header has not, or columns of its own; whose text is not UTF-8, whose JSON is
// none, whose boolean is neither 0 nor 1. Curves and surfaces are refused.
// docs/formats/flatgeobuf.md has the whole list, and what GDAL does.
package flatgeobuf

import (
	"bytes"
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

const (
	formatName = "flatgeobuf"
	unit       = "feature"
)

// Format is FlatGeobuf.
func Format() readers.Format {
	return readers.Format{
		Name:       formatName,
		Extensions: []string{".fgb"},
		Unit:       unit,
		Version:    2,
		Binary:     true,
		Sniff:      func(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) },
		Open:       open,
		CPU:        func(l readers.Layout) readers.Parser { return parser{layout: l} },
	}
}

func open(_ context.Context, src *source.File, opts readers.Options) (readers.Layout, error) {
	h, err := readHeader(src)
	return readers.Layout{Options: opts, Dialect: h}, err
}
