// Package gpkg reads GeoPackage (OGC 12-128r19, GeoPackage 1.4). Package sqlite reads the database.
//
//	file       an SQLite database, and its WAL if there is one
//	layer      a table that gpkg_contents lists as features or attributes; other tables as GDAL has it
//	row        a row of the table
//	geometry   "GP", version 0, flags, srs_id, envelope, ISO WKB (section 2.1.3)
//
// Column types are those that the table declares. A value whose storage class is not that of its
// column is malformed, and so is a geometry of an extended type or with curves, unless the option
// curves asks for lines. The envelope is not read, and neither are spatial indexes.
// docs/formats/gpkg.md has the whole list, and what GDAL does.
package gpkg

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/sqlite"
	"github.com/vibeflight/vibeflight/readers/source"
)

const (
	formatName = "gpkg"
	unit       = "row"
)

// Extensions of the files next to a database that are a part of it.
const (
	extWAL     = ".gpkg-wal"
	extJournal = ".gpkg-journal"
)

// optionCurves is the option that says what becomes of curves.
const optionCurves = "curves"

// Format returns GeoPackage.
func Format() readers.Format {
	return readers.Format{
		Name:       formatName,
		Extensions: []string{".gpkg"},
		Unit:       unit,
		Version:    1,
		Siblings:   []string{extWAL, extJournal},
		Binary:     true,
		Layered:    true,
		Indexed:    true,
		Sniff:      sniff,
		Options: []readers.Option{{
			Name: optionCurves, Default: "fail", Values: []string{"fail", "linearize"},
			Doc: "what to do about circular arcs: fail, or read them as lines with the positions that GDAL computes, " +
				"about every 4 degrees",
		}},
		Open: open,
		CPU:  func(l readers.Layout) readers.Parser { return parser{layout: l} },
	}
}

// Numbers that say in a database's header that it is a GeoPackage: "GP10", "GP11", "GPKG".
var applications = []string{"GP10", "GP11", "GPKG"}

// applicationAt is where the header has the number.
const applicationAt = 68

func sniff(head []byte) bool {
	if len(head) < sqlite.HeaderBytes || !bytes.HasPrefix(head, []byte(sqlite.Magic)) {
		return false
	}
	for _, id := range applications {
		if binary.BigEndian.Uint32(head[applicationAt:]) == binary.BigEndian.Uint32([]byte(id)) {
			return true
		}
	}
	return false
}

func open(ctx context.Context, src *source.File, opts readers.Options) (readers.Layout, error) {
	p, err := openPackage(ctx, src)
	if err != nil {
		return readers.Layout{}, faultOf(src, -1, err)
	}
	return readers.Layout{Options: opts, Dialect: p}, nil
}
