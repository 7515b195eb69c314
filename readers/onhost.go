package readers

import (
	"sort"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/resident"
)

// OnHost describes the table for its copy on a GPU. batch returns its batches. Rows are encoded as a
// stream without options has them.
func (t *Table) OnHost(batch func(i int) (*geoarrow.Columns, error)) resident.Host {
	h := resident.Host{
		Schema: geoarrow.Schema(t.Batches[0], t.CRS, geoarrow.Encoding{}), IDs: t.IDs, Rows: t.Rows, Starts: t.Starts,
	}
	h.Read = func(from, to int64) (arrow.Record, error) {
		rows, err := t.rows(batch, from, to)
		if err != nil {
			return nil, err
		}
		return rows.Record(h.Schema, nil, geoarrow.Encoding{})
	}
	return h
}

// rows returns rows [from, to), of which there is at least one.
func (t *Table) rows(batch func(i int) (*geoarrow.Columns, error), from, to int64) (*geoarrow.Columns, error) {
	var pieces []*geoarrow.Columns
	first := sort.Search(len(t.Batches), func(i int) bool { return t.Starts[i+1] > from })
	for i := first; i < len(t.Batches) && t.Starts[i] < to; i++ {
		b, err := batch(i)
		if err != nil {
			return nil, err
		}
		begin, end := max(from-t.Starts[i], 0), min(to-t.Starts[i], int64(b.Rows))
		if begin > 0 || end < int64(b.Rows) {
			b = b.Slice(int(begin), int(end))
		}
		pieces = append(pieces, b)
	}
	if len(pieces) == 1 {
		return pieces[0], nil
	}
	return geoarrow.Concat(&geoarrow.Arena{}, pieces)
}
