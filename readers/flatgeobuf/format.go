// Package flatgeobuf reads FlatGeobuf 3 (https://github.com/flatgeobuf/flatgeobuf,
// src/fbs/header.fbs and feature.fbs).
//
//	file      magic, header, [index], { feature }
//	magic     "fgb" 3 "fgb" and the patch level, any
//	header    length, flatbuffer: kind of the geometries, columns, reference system, number of features, size
//	          of the index's nodes
//	index     a packed Hilbert R-tree, if the header has a number of features and a size of nodes; skipped
//	feature   length, flatbuffer: geometry, properties
//
// All numbers are little-endian. Nothing in a flatbuffer is trusted: each offset and length is
// compared with the bytes left before it is used. Parts that several geometries share count each
// time, so that no feature becomes larger than its bytes.
//
// The header's column types are those of the table. A feature is malformed if its geometry is not
// of the header's kind, its arrays have inconsistent lengths, it has a column twice, an unknown
// column or columns of its own, text that is not UTF-8, invalid JSON, or a boolean other than 0 or
// 1. Curves and surfaces are refused. docs/formats/flatgeobuf.md has the whole list, and what GDAL
// does.
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

// Format returns FlatGeobuf.
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
