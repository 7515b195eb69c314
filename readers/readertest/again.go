package readertest

import (
	"bytes"
	"context"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// checkAgain reads each batch of a file by itself, as one whose shape is known, of all columns and
// of some.
func checkAgain(t *testing.T, f readers.Format, in Input) {
	t.Helper()
	r := openInput(t, f, in)
	defer r.close(t)
	for _, rows := range []int{1, 2, 7} {
		limits := readers.Limits{BatchRows: rows}
		table, err := r.read(nil, limits)
		if err != nil {
			t.Fatal(err)
		}
		if table.Rows == 0 || table.Summary.Skipped.Count > 0 {
			return
		}
		names := columnNames(table)
		for _, columns := range [][]string{nil, names[:1], names[len(names)-1:]} {
			asked := readers.Project(columns)
			for i := range table.Batches {
				b, err := r.again(table, limits, asked, i)
				if err != nil {
					t.Errorf("%s\nbatch %d of %d rows, columns %s: %v", clip(in.Text), i, rows, asked.Key(), err)
					return
				}
				if got, want := dumpSome(b, asked), dumpSome(table.Batches[i], asked); !bytes.Equal(got, want) {
					t.Errorf("%s\nbatch %d of %d rows, columns %s\ngot:\n%s\nwant:\n%s", clip(in.Text),
						i, rows, asked.Key(), clip(got), clip(want))
					return
				}
			}
		}
	}
}

// again reads some columns of batch i of a table.
func (r input) again(table *readers.Table, limits readers.Limits, asked readers.Projection,
	i int,
) (*geoarrow.Columns, error) {
	ctx := context.Background()
	layout, err := r.layout(ctx)
	if err != nil {
		return nil, err
	}
	layout.Columns = asked
	shape := table.Shape(limits).Project(asked)
	return readers.Again(ctx, r.format.CPU(layout), r.src, limits, &shape, i, table.Spans[i])
}

// dumpSome writes every slice of some columns.
func dumpSome(c *geoarrow.Columns, asked readers.Projection) []byte {
	var b bytes.Buffer
	for i := range c.Attributes {
		if asks(asked, c.Attributes[i].Name) {
			dumpColumn(&b, &c.Attributes[i])
		}
	}
	if c.Geometry != nil && asked.Geometry() {
		dumpGeometry(&b, c.Geometry)
	}
	return b.Bytes()
}
