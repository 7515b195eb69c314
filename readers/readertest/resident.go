package readertest

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/resident"
)

// CompareResident compares what stays of a table on a device, if anything does, with the table, bit by
// bit. It returns the number of bytes that never were on the host.
func CompareResident(t *readers.Table) (kept int64, err error) {
	r := t.Summary.Resident.Use()
	if r == nil {
		return 0, nil
	}
	defer r.Release()
	host := t.OnHost(func(i int) (*geoarrow.Columns, error) { return t.Batches[i], nil })
	c, err := r.Complete(host)
	if err != nil {
		return 0, err
	}
	from := int64(0)
	for _, b := range c.Batches {
		record, err := host.Read(from, from+int64(b.Rows))
		if err != nil {
			return 0, err
		}
		nodes := b.Nodes
		for i, a := range record.Columns() {
			if nodes, err = compareArray(r, nodes, a.Data()); err != nil {
				err = fmt.Errorf("on the device, rows from %d on, column %s: %w", from, record.ColumnName(i), err)
				break
			}
		}
		record.Release()
		if err != nil {
			return 0, err
		}
		if len(nodes) > 0 {
			return 0, fmt.Errorf("%d arrays too many on the device", len(nodes))
		}
		from += int64(b.Rows)
	}
	if from != t.Rows {
		return 0, fmt.Errorf("%d of %d rows on the device", from, t.Rows)
	}
	return c.Kept, nil
}

// compareArray compares an array and its children with the first nodes, and returns the others.
func compareArray(r *resident.Table, nodes []resident.Field, d arrow.ArrayData) ([]resident.Field, error) {
	if len(nodes) == 0 {
		return nil, fmt.Errorf("missing")
	}
	n := nodes[0]
	if n.Length != d.Len() || n.Nulls != d.NullN() {
		return nil, fmt.Errorf("%d values and %d nulls, want %d and %d", n.Length, n.Nulls, d.Len(), d.NullN())
	}
	var want [][]byte
	if d.DataType().ID() != arrow.NULL {
		for _, b := range d.Buffers() {
			var content []byte
			if b != nil {
				content = b.Bytes()
			}
			want = append(want, content)
		}
	}
	if len(want) != len(n.Buffers) {
		return nil, fmt.Errorf("%d buffers, want %d", len(n.Buffers), len(want))
	}
	for i, place := range n.Buffers {
		got, err := r.Bytes(place)
		if err != nil {
			return nil, err
		}
		if i == 0 && d.NullN() == 0 || d.Len() == 0 { // a bitmap of ones, or the offset of no list, may be left out
			continue
		}
		if !bytes.Equal(got, want[i]) {
			return nil, fmt.Errorf("buffer %d is %x, want %x", i, head(got), head(want[i]))
		}
	}
	nodes = nodes[1:]
	for _, child := range d.Children() {
		var err error
		if nodes, err = compareArray(r, nodes, child); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

func head(b []byte) []byte { return b[:min(len(b), 256)] }
