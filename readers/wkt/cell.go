package wkt

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/positions"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// Cell reads single geometries from the cells of another format, for one goroutine. The zero value
// is ready to use. It allocates only if a cell is malformed or its slice has no padding.
type Cell struct {
	MaxDepth int // open GeometryCollections; 0: readers.DefaultMaxDepth

	text text
	copy []byte // of a text without room after it
}

// CellError is a defect in the text of a geometry, and its position.
type CellError struct {
	Offset int   // byte in the text
	Depth  bool  // well-formed, but nested beyond MaxDepth: a case for readers.LimitError
	Err    error // what was expected and what was found; "the nesting" with Depth
}

func (e *CellError) Error() string { return e.Err.Error() }

func (e *CellError) Unwrap() error { return e.Err }

// Geometry is what a text has in addition to its positions.
type Geometry struct {
	Kind geoarrow.Kind // for End
	SRID int32         // of an EWKT, 0 if there is none
}

// Read reads the WKT or EWKT of a geometry, with any blanks and line ends around it, into b, and
// counts unclosed and short rings in shapes. The row stays open: the caller ends it with End, or
// drops it with b.Undo if other cells of its record are malformed. Invalid text gives a *CellError,
// and leaves b and shapes as they were after the last row of b. So do empty text and NULL: the
// caller decides whether they are null.
//
//	text  the byte after it is set to 0 while it is read, and put back. A slice with less than number.Padding
//	      bytes of capacity after its
//	      length is copied first; of a window it is w.Text(p, end+number.Padding)[:end-p]
func (c *Cell) Read(b *geoarrow.GeometryBuilder, shapes *rows.Shapes, text []byte) (Geometry, error) {
	n := len(text)
	if cap(text)-n < number.Padding {
		if cap(c.copy) < n+number.Padding {
			c.copy = make([]byte, 2*n+number.Padding)
		}
		text = c.copy[:copy(c.copy[:n], text)]
	}
	behind := &text[:n+1][n]
	was := *behind
	*behind = 0
	defer func() { *behind = was }()
	before := *shapes
	t := &c.text
	t.geom, t.shapes, t.plainRuns = b, shapes, positions.Have
	t.begin(unsafe.Pointer(unsafe.SliceData(text)), c.MaxDepth)
	g, ok := t.only(n)
	if !ok {
		b.Undo()
		*shapes = before
		return Geometry{}, t.cellError(n)
	}
	return g, nil
}

// only reads a text of n bytes that is one geometry, with blanks around it.
func (t *text) only(n int) (Geometry, bool) {
	g, end := t.geometry(t.space(0))
	if end < 0 {
		return g, false
	}
	if end = t.space(end); end < n {
		t.fail(end, "nothing after the geometry")
		return g, false
	}
	return g, true
}

// End ends the row that Read left open.
func End(b *geoarrow.GeometryBuilder, k geoarrow.Kind) {
	if k == geoarrow.GeometryCollection {
		b.EndCollection()
	} else {
		b.End(k)
	}
}

// cellError returns the fault of a text of n bytes.
func (t *text) cellError(n int) error {
	f := t.fault
	e := &CellError{Offset: f.pos, Depth: f.depth, Err: errors.New(f.want)}
	if !f.bare {
		e.Err = fmt.Errorf("want %s, found %s", f.want, found(t.slice(f.pos, n), "text"))
	}
	return e
}
