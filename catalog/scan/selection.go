package scan

import (
	"fmt"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Selection is a part of a table. Row conditions apply in the order Rows, Partitions, BBox, Limit.
type Selection struct {
	Columns []string // in this order; nil: all
	// xmin ymin xmax ymax, closed, in the system of CRS: selects the rows whose bounding box meets it. A
	// null or empty geometry has no bounding box, nor has one that CRS has no positions for.
	BBox *[4]float64
	Rows *[2]int64 // half-open range of the file's rows, clipped to them
	// Partitions are the values that columns of a dataset's folders must have: a string, an int64, or
	// nil for null. A table that is not a dataset has no such columns.
	Partitions map[string]any
	Limit      *int64 // maximum number of rows
	Encoding   geoarrow.Encoding
	// RecordRows is the maximum number of rows of a record; 0: those of a batch. Records that are not
	// whole batches need less memory if their geometries are encoded.
	RecordRows int

	// CRS is the reference system that geometries are given in; empty: the table's own. Tables have x
	// first, so that OGC:CRS84 and EPSG:4326 are two names of one system.
	CRS string
	// Transformer is for the systems that package project does not know; nil: they give an
	// *OtherCRSError.
	Transformer Transformer
	// CRS84As is the name to give to OGC:CRS84 if CRS is empty; empty: its own name.
	CRS84As geoarrow.CRS
}

// Reads returns the columns that are needed to select, including those that choose rows; nil: all.
func (sel Selection) Reads() []string {
	if sel.Columns == nil || sel.BBox == nil || slices.Contains(sel.Columns, readers.GeometryColumn) {
		return sel.Columns
	}
	return append(slices.Clone(sel.Columns), readers.GeometryColumn)
}

// crs returns the reference system of the geometries that are given, and how they are moved to it;
// nil: they stay as they are.
func (sel *Selection) crs(own geoarrow.CRS) (geoarrow.CRS, *reprojection, error) {
	switch {
	case sel.CRS != "":
		requested, ok := geoarrow.ParseCRS(sel.CRS)
		if ok && (own == requested || isWGS84(own) && isWGS84(requested)) {
			return requested, nil, nil
		}
		if !ok || own == (geoarrow.CRS{}) {
			return own, nil, &OtherCRSError{Asked: sel.CRS, CRS: own, Unknown: !ok}
		}
		r, err := sel.reprojection(own, requested)
		return requested, r, err
	case own == geoarrow.CRS84 && sel.CRS84As != (geoarrow.CRS{}):
		return sel.CRS84As, nil, nil
	}
	return own, nil, nil
}

// isWGS84 reports whether crs is a name of longitude and latitude on WGS 84.
func isWGS84(crs geoarrow.CRS) bool {
	return crs == geoarrow.CRS84 || crs == geoarrow.CRS{Authority: "EPSG", Code: "4326"}
}

// OtherCRSError says that geometries can't be given in the reference system that a selection names.
type OtherCRSError struct {
	Asked   string
	CRS     geoarrow.CRS // of the table
	Unknown bool         // Asked is not the name of a system
	Beyond  bool         // Row has a position that Asked has no coordinates for
	Row     int64        // of the table
}

func (e *OtherCRSError) Error() string {
	switch {
	case e.Unknown:
		return fmt.Sprintf("field \"crs\": %.100q names no reference system", e.Asked)
	case e.Beyond:
		return fmt.Sprintf("row %d: its geometry has a position in %.100s that %.100s has no coordinates for", e.Row,
			e.CRS, e.Asked)
	case e.CRS == (geoarrow.CRS{}):
		return fmt.Sprintf("field \"crs\": %.100q: the table has no reference system", e.Asked)
	}
	return fmt.Sprintf("field \"crs\": positions of %.100s are moved to %.100q by PROJ, which this server does not "+
		"have: SQL with DuckDB's spatial extension is missing (--duckdb-extensions)", e.CRS, e.Asked)
}

// UnknownColumnError says that a selection names a column that the table does not have.
type UnknownColumnError struct {
	Column  string
	Nearest string // "" for a table without columns
}

func (e *UnknownColumnError) Error() string {
	if e.Nearest == "" {
		return fmt.Sprintf("no column %q: the table has none", e.Column)
	}
	return fmt.Sprintf("no column %q; the nearest is %q", e.Column, e.Nearest)
}

// PartitionError says that a selection names a partition that the table cannot have.
type PartitionError struct {
	Column, What string
}

func (e *PartitionError) Error() string {
	return fmt.Sprintf("field \"partitions\": %q %s", e.Column, e.What)
}
