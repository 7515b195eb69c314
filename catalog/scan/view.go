package scan

import (
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog/nearest"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// view is a projection of a table: which columns it has, and how they are encoded. It is immutable,
// except for the cached message of its schema, and shared by any number of scans.
type view struct {
	names    []string // of the selected columns, in this order; nil: all, in the table's order
	encoding geoarrow.Encoding
	crs      geoarrow.CRS  // of the geometries that are given
	move     *reprojection // of the table's geometries; nil: they stay as they are
	schema   *arrow.Schema
	attrs    []int // the selected attributes of the table
	geometry bool  // the geometry is selected
	columns  []int // for each field of schema: the attribute's place in attrs, or len(attrs), the geometry

	mu      sync.Mutex
	message []byte // of the schema; nil until the first call of encoded
}

// newView finds the selected columns. An unknown one gives an *UnknownColumnError.
func newView(t *readers.Table, sel Selection) (*view, error) {
	crs, move, err := sel.crs(t.CRS)
	if err != nil {
		return nil, err
	}
	full, attributes := geoarrow.Schema(t.Batches[0], crs, sel.Encoding), len(t.Batches[0].Attributes)
	fields, err := pick(full, sel.Columns)
	if err != nil {
		return nil, err
	}
	v := &view{names: slices.Clone(sel.Columns), encoding: sel.Encoding, crs: crs, move: move}
	chosen := make([]arrow.Field, len(fields))
	v.columns = make([]int, len(fields))
	places := make(map[int]int, len(fields)) // in attrs, of attributes
	for i, k := range fields {
		chosen[i] = full.Field(k)
		place, known := places[k]
		switch {
		case k == attributes:
			v.geometry = true
		case !known:
			place, places[k] = len(v.attrs), len(v.attrs)
			v.attrs = append(v.attrs, k)
		}
		v.columns[i] = place
	}
	for i, k := range fields {
		if k == attributes {
			v.columns[i] = len(v.attrs)
		}
	}
	meta := full.Metadata()
	v.schema = arrow.NewSchema(chosen, &meta)
	return v, nil
}

// pick returns the indices of the named fields, or of all if names is nil. full is a table's
// schema: its attributes, then its geometry if it has one.
func pick(full *arrow.Schema, names []string) ([]int, error) {
	if names == nil {
		all := make([]int, full.NumFields())
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	fields := make([]int, len(names))
	for i, name := range names {
		found := full.FieldIndices(name)
		if len(found) == 0 {
			known := make([]string, full.NumFields())
			for k := range known {
				known[k] = full.Field(k).Name
			}
			return nil, &UnknownColumnError{Column: name, Nearest: nearest.Name(name, known)}
		}
		fields[i] = found[0]
	}
	return fields, nil
}

// encoded returns the result of encode for the schema, computed once.
func (v *view) encoded(encode func(*arrow.Schema) ([]byte, error)) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.message == nil {
		message, err := encode(v.schema)
		if err != nil {
			return nil, err
		}
		v.message = message
	}
	return v.message, nil
}

// project drops the columns that are not selected, so that no row of them is copied.
func (v *view) project(c *geoarrow.Columns) *geoarrow.Columns {
	if v.names == nil {
		return c
	}
	out := &geoarrow.Columns{Rows: c.Rows, Attributes: make([]geoarrow.Column, len(v.attrs))}
	for i, k := range v.attrs {
		out.Attributes[i] = c.Attributes[k]
	}
	if v.geometry {
		out.Geometry = c.Geometry
	}
	return out
}

// maxViews is the number of views of a table that are kept. The tickets of the endpoints of one
// GetFlightInfo share a view.
const maxViews = 8

// Views caches the views of one table that were used last.
type Views struct {
	mu     sync.Mutex
	recent []*view // most recently used first
}

// Scan prepares a scan of the table. src.Table must be the same one in all calls.
func (vs *Views) Scan(src Source, sel Selection) (*Scan, error) {
	v, err := vs.of(src.Table(), sel)
	if err != nil {
		return nil, err
	}
	return v.scan(src, sel)
}

func (vs *Views) of(t *readers.Table, sel Selection) (*view, error) {
	crs, _, err := sel.crs(t.CRS)
	if err != nil {
		return nil, err
	}
	vs.mu.Lock()
	defer vs.mu.Unlock()
	for i, v := range vs.recent {
		if v.encoding == sel.Encoding && v.crs == crs && (v.names == nil) == (sel.Columns == nil) &&
			slices.Equal(v.names, sel.Columns) {
			copy(vs.recent[1:], vs.recent[:i])
			vs.recent[0] = v
			return v, nil
		}
	}
	v, err := newView(t, sel)
	if err != nil {
		return nil, err
	}
	vs.recent = slices.Insert(vs.recent[:min(len(vs.recent), maxViews-1)], 0, v)
	return v, nil
}
