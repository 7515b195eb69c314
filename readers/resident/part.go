package resident

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Part is the rows of one part of a file, and those of their columns that the GPU has.
type Part struct {
	Rows     int
	columns  map[geoarrow.ColumnID]column
	geometry *column
}

// column is a column of a part on the GPU.
type column struct {
	of    arrow.DataType
	nodes []Node
}

// Node is an array of a column, or of one of its children, in the order of a RecordBatch message:
// each parent is followed by its children.
type Node struct {
	Length, Nulls int
	Valid         []byte  // validity bitmap, on the host; nil: no nulls
	Buffers       []Place // that of the validity is empty
}

// Add adds the next rows of the file: a part that a Writer returned, or nil for n rows without columns
// on the GPU. t may be nil.
func (t *Table) Add(p *Part, n int) {
	if t == nil || n == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if p == nil {
		p = &Part{Rows: n}
	}
	t.parts = append(t.parts, *p)
}

// stop makes the parse keep no further columns.
func (t *Table) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.full = true
}
