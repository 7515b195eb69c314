// Package rows collects the rows of a chunk from a text parser, and finishes them as columns of the
// narrowest types.
//
// It combines values of different kinds in a column, undoes rows, and reuses memory from chunk to
// chunk. It knows no format: the parser decides which text is a number, a time or a null.
package rows

import (
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Sink holds the rows of the current chunk. Chunks reuse its slices; a finished chunk is a copy of
// the exact size, unless the sink is lent.
//
// For each row the parser appends the geometry to Geom and each value to its column, and then calls
// Commit or Rollback. Columns that a row does not have need nothing.
type Sink struct {
	Fields bool // values are geoarrow.FactField; set before the first Column
	Bare   bool // rows have no geometry; set before the first chunk ends
	Rows   int
	Geom   geoarrow.GeometryBuilder
	Order  []*Column // of the chunk, in order of first appearance
	Starts []int64   // offsets of the rows, if the chunk is lent
	// bytes outside of the run that Starts are in, of the rows up to and including each one, if the
	// chunk is lent and the parser counts them: see readers.Part
	SiblingBytes []int64
	Text         []geoarrow.ColumnID // columns to be read as text, from the next Reset on
	Shapes       Shapes              // of the rows of this chunk and the current one
	Skipped      readers.SkippedRows

	Deviations readers.Deviations // of the rows of this chunk

	MaxColumns int // of the table; 0: any number

	read     readers.Projection // columns that are requested
	memory   geoarrow.Arena
	forced   []geoarrow.ColumnID // the Text that columns know of
	isForced map[geoarrow.ColumnID]bool
	byID     map[geoarrow.ColumnID]*Column
	alloc    func() *Column
	saved    Shapes              // of the rows before the current one
	pending  []readers.Deviation // of the current row, at most readers.MaxDeviations
	further  []uint8             // the others of that row, as indices of rules
	rules    []string            // of further
	foreseen bool                // memory was allocated for the first chunk
	known    *readers.ColumnSet  // columns of the chunks before
	fresh    int                 // columns of this chunk that those do not have
	over     bool                // a column was refused
}

// Shapes counts valid but unusual geometries, which are kept; see readers.Summary.
type Shapes struct{ IgnoredOrdinates, UnclosedRings, ShortRings, ShortLines int64 }

// NewSink returns an empty sink.
func NewSink() *Sink {
	k := &Sink{}
	k.Init(func() *Column { return &Column{} })
	return k
}

// Init makes an empty sink of the zero value. alloc returns its columns, each a part of a larger
// value that the parser finds by its Index.
func (k *Sink) Init(alloc func() *Column) {
	k.byID, k.alloc = map[geoarrow.ColumnID]*Column{}, alloc
	k.Geom.Memory = &k.memory
	k.Reset()
}

// Project sets the requested columns, before there is any column. It does not change rows: values
// of other columns are checked as well.
func (k *Sink) Project(columns readers.Projection) {
	k.read, k.Geom.Unread = columns, !columns.Geometry()
}

// Reset drops the rows of the chunk, not what is known about it.
func (k *Sink) Reset() {
	for _, c := range k.Order { // the others are unchanged: a file may have very many columns, and a row few
		c.reset()
	}
	k.Rows, k.Order, k.Starts, k.SiblingBytes = 0, k.Order[:0], k.Starts[:0], k.SiblingBytes[:0]
	k.fresh, k.over = 0, false
	k.Geom.Reset()
	k.forceText()
	k.Shapes, k.saved = Shapes{}, Shapes{}
	k.Skipped = readers.SkippedRows{}
	k.Deviations.Reset()
	k.Forget(0)
}

// forceText sets which columns must be text, if that changed. A file may have
// many thousands of columns, all of them text.
func (k *Sink) forceText() {
	if len(k.Text) == len(k.forced) && (len(k.Text) == 0 || &k.Text[0] == &k.forced[0]) {
		return
	}
	k.forced, k.isForced = k.Text, make(map[geoarrow.ColumnID]bool, len(k.Text))
	for _, id := range k.Text {
		k.isForced[id] = true
	}
	for id, c := range k.byID {
		c.forced = k.isForced[id]
		c.reset()
	}
}

// Follow sets the columns of earlier rows, which count for MaxColumns.
func (k *Sink) Follow(known *readers.ColumnSet) {
	k.known, k.fresh = known, 0
	for _, c := range k.Order {
		if !known.Has(c.ID) {
			k.fresh++
		}
	}
	k.over = k.over || k.beyond()
}

func (k *Sink) beyond() bool {
	return k.MaxColumns > 0 && k.known.Len()+k.fresh > k.MaxColumns
}

// Refused reports, once, whether Column refused one beyond MaxColumns: the current row is then
// invalid.
func (k *Sink) Refused() bool {
	over := k.over
	k.over = false
	return over
}

// Column finds or makes the column of a name, and moves it to its place in order. It is the same
// column in all chunks. One beyond MaxColumns is refused: it is in no chunk.
func (k *Sink) Column(role geoarrow.Role, name []byte) *Column {
	c, ok := k.byID[geoarrow.ColumnID{Role: role, Name: string(name)}]
	if !ok {
		c = k.add(geoarrow.ColumnID{Role: role, Name: string(name)})
	}
	if !c.listed {
		if !k.known.Has(c.ID) {
			if k.fresh++; k.beyond() {
				k.fresh--
				k.over = true
				return c
			}
		}
		c.listed = true
		k.Order = append(k.Order, c)
	}
	return c
}

func (k *Sink) add(id geoarrow.ColumnID) *Column {
	c := k.alloc()
	c.ID, c.Index, c.field, c.forced, c.Unread = id, len(k.byID), k.Fields, k.isForced[id], !k.read.Has(id)
	c.reset()
	k.byID[id] = c
	return c
}

// IsText reports whether a column must be text.
func (k *Sink) IsText(id geoarrow.ColumnID) bool { return k.isForced[id] }

// NeedText returns the columns of the chunk that must be read again as text.
func (k *Sink) NeedText() []geoarrow.ColumnID {
	var text []geoarrow.ColumnID
	for _, c := range k.Order {
		if c.NeedText {
			text = append(text, c.ID)
		}
	}
	return text
}

// Commit ends the current row, which began at an offset.
func (k *Sink) Commit(at int64) {
	k.Rows++
	if k.memory.Lend {
		k.Starts = append(k.Starts, at)
	}
	k.saved = k.Shapes
	if len(k.pending) > 0 {
		for _, d := range k.pending {
			k.Deviations.Add(d)
		}
		for _, i := range k.further {
			k.Deviations.Add(readers.Deviation{Rule: k.rules[i]}) // only counted: First is full
		}
		k.Forget(0)
	}
}

// Deviate notes a deviation of the current row. Commit counts it, Rollback drops it. A row may have
// one for every few bytes, so most take only one byte.
func (k *Sink) Deviate(d readers.Deviation) {
	if len(k.pending) < readers.MaxDeviations {
		k.pending = append(k.pending, d)
		return
	}
	i := slices.Index(k.rules, d.Rule)
	if i < 0 {
		i = len(k.rules)
		k.rules = append(k.rules, d.Rule)
	}
	k.further = append(k.further, uint8(i))
}

// Deviating returns the number of deviations of the current row.
func (k *Sink) Deviating() int { return len(k.pending) + len(k.further) }

// Forget drops all deviations of the current row except the first n, since their text is read
// again.
func (k *Sink) Forget(n int) {
	k.further = k.further[:max(0, n-len(k.pending))]
	k.pending = k.pending[:min(n, len(k.pending))]
}

// Rollback drops the current row.
func (k *Sink) Rollback() { k.RollbackFirst(len(k.Order)) }

// RollbackFirst is Rollback for a row with values in at most the first n columns of Order.
func (k *Sink) RollbackFirst(n int) {
	k.Geom.Undo()
	for _, c := range k.Order[:min(n, len(k.Order))] {
		c.truncate(k.Rows)
	}
	k.Shapes = k.saved
	k.Forget(0)
}

// Skip counts a skipped row, which began at an offset.
func (k *Sink) Skip(at int64) {
	k.Skipped.Count++
	if len(k.Skipped.First) < readers.MaxSkippedOffsets {
		k.Skipped.First = append(k.Skipped.First, at)
	}
}

// AddTo adds the counts of a finished chunk.
func (k *Sink) AddTo(sum *readers.Summary) {
	sum.IgnoredOrdinates += k.Shapes.IgnoredOrdinates
	sum.UnclosedRings += k.Shapes.UnclosedRings
	sum.ShortRings += k.Shapes.ShortRings
	sum.ShortLines += k.Shapes.ShortLines
	sum.Deviations.Append(&k.Deviations)
	sum.Skipped.Count += k.Skipped.Count
	room := min(len(k.Skipped.First), readers.MaxSkippedOffsets-len(sum.Skipped.First))
	sum.Skipped.First = append(sum.Skipped.First, k.Skipped.First[:room]...)
}

// Columns returns the chunk with the narrowest types that its values allow, leading columns first.
// The next chunk's size is a fraction of it, 0 if none follows. More than 2^31-1 bytes of WKB give
// geoarrow.ErrBatchTooLarge.
func (k *Sink) Columns(next float64) (*geoarrow.Columns, error) {
	k.memory.Next = next
	out := &geoarrow.Columns{Rows: k.Rows}
	slices.SortStableFunc(k.Order, func(a, b *Column) int { return int(b.ID.Role) - int(a.ID.Role) })
	for _, c := range k.Order {
		c.Pad(k.Rows)
		out.Attributes = append(out.Attributes, c.finish(&k.memory))
	}
	if k.Bare {
		return out, nil
	}
	var err error
	out.Geometry, err = k.Geom.Finish()
	return out, err
}
