package catalog

import (
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// view says which columns of a table are given, and how they are encoded. It does not change, but
// for the message of its schema, and any number of scans share it.
type view struct {
	names    []string // that are asked for, in this order; nil: all, as they stand in the table
	encoding geoarrow.Encoding
	crs      geoarrow.CRS // the name that it goes out with
	schema   *arrow.Schema
	attrs    []int // the table's attributes that are asked for
	geometry bool  // so is the geometry
	columns  []int // for each field of schema: the attribute's place in attrs, or len(attrs), the geometry

	mu      sync.Mutex
	message []byte // of the schema; nil before it is asked for
}

// named is the name that a table's reference system goes out with.
func (sel *Selection) named(crs geoarrow.CRS) (geoarrow.CRS, error) {
	switch {
	case sel.CRS != "":
		asked, ok := geoarrow.ParseCRS(sel.CRS)
		if same := crs == asked || isWGS84(crs) && isWGS84(asked); !ok || !same {
			return crs, &OtherCRSError{sel.CRS, crs}
		}
		return asked, nil
	case crs == geoarrow.CRS84 && sel.CRS84As != (geoarrow.CRS{}):
		return sel.CRS84As, nil
	}
	return crs, nil
}

// isWGS84 reports the names of longitude and latitude on WGS 84.
func isWGS84(crs geoarrow.CRS) bool {
	return crs == geoarrow.CRS84 || crs == geoarrow.CRS{Authority: "EPSG", Code: "4326"}
}

// newView finds the columns. One that the table does not have gives an *UnknownColumnError.
func newView(t *readers.Table, sel Selection) (*view, error) {
	crs, err := sel.named(t.CRS)
	if err != nil {
		return nil, err
	}
	full, attributes := geoarrow.Schema(t.Batches[0], crs, sel.Encoding), len(t.Batches[0].Attributes)
	fields, err := pick(full, sel.Columns)
	if err != nil {
		return nil, err
	}
	v := &view{names: slices.Clone(sel.Columns), encoding: sel.Encoding, crs: crs}
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

// pick finds the fields of the names, or all. full is a table's schema: its attributes, then its
// geometry if it has one.
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
			return nil, &UnknownColumnError{Column: name, Nearest: nearest(name, known)}
		}
		fields[i] = found[0]
	}
	return fields, nil
}

// encoded gives what encode makes of the schema, made once.
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

// narrow leaves out the columns that are not asked for, so that no row of them is copied.
func (v *view) narrow(c *geoarrow.Columns) *geoarrow.Columns {
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

// keptViews is how many views of a table are kept. The tickets of the endpoints of one
// GetFlightInfo are of one view.
const keptViews = 8

// views are those of one table that were asked for last.
type views struct {
	mu     sync.Mutex
	recent []*view // the last one first
}

// of gives the view that a selection of the table asks for.
func (vs *views) of(t *readers.Table, sel Selection) (*view, error) {
	crs, err := sel.named(t.CRS)
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
	vs.recent = slices.Insert(vs.recent[:min(len(vs.recent), keptViews-1)], 0, v)
	return v, nil
}
