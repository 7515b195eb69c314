package resident

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Contents is a complete table on a GPU.
type Contents struct {
	Device  gpu.Info
	Schema  *arrow.Schema
	Slabs   []Slab
	Event   gpu.Handle // happens when all bytes are there
	Batches []Batch
	Kept    int64 // bytes that never were on the host
	Copied  int64 // bytes that came from the host

	event *gpu.Event
}

// Slab is an allocation of a table.
type Slab struct {
	Handle gpu.Handle
	Bytes  int64
}

// Batch is consecutive rows of a table.
type Batch struct {
	Rows  int
	Nodes []Field
}

// Field is an array, with its buffers in the order of a RecordBatch message: the validity first.
type Field struct {
	Length, Nulls int
	Buffers       []Place // without bytes: absent
}

// Host is a table on the host.
type Host struct {
	Schema *arrow.Schema
	IDs    []geoarrow.ColumnID // of each field but the geometry, which is the last one if there is one
	Rows   int64
	Starts []int64 // of its batches, and Rows at the end

	// Read returns rows [from, to) of the table as a record of the schema, which the caller releases.
	Read func(from, to int64) (arrow.Record, error)
}

// Complete returns the contents of the table, which has the rows of h. The first call copies to the
// GPU what is not there. The table is in use. Errors are those of the device and of h.Read; ErrFull.
func (t *Table) Complete(h Host) (*Contents, error) {
	c, err := t.home()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.mu.Lock()
	done, parts := t.complete, t.parts
	t.mu.Unlock()
	if done != nil {
		return done, nil
	}
	var rows int64
	for i := range parts {
		rows += int64(parts[i].Rows)
	}
	if rows != h.Rows { // they are not of this parse
		parts = nil
		for i := range len(h.Starts) - 1 {
			parts = append(parts, Part{Rows: int(h.Starts[i+1] - h.Starts[i])})
		}
	}
	w := &completer{t: t, card: c, host: h, out: &Contents{Device: c.device.Info(), Schema: h.Schema}}
	return w.complete(parts)
}

// home returns the table's card: the one with the most room, if no part has columns.
func (t *Table) home() (*card, error) {
	s := t.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.at == nil || len(s.cards) == 0 {
		return nil, ErrFull
	}
	if t.card == nil {
		t.card = s.cards[0]
		for _, c := range s.cards[1:] {
			if c.budget-c.used > t.card.budget-t.card.used {
				t.card = c
			}
		}
	}
	return t.card, nil
}

// completer makes the contents of a table.
type completer struct {
	t    *Table
	card *card
	host Host
	out  *Contents
}

func (w *completer) complete(parts []Part) (*Contents, error) {
	from := int64(0)
	for i := range parts {
		b, err := w.batch(&parts[i], from)
		if err != nil {
			return nil, err
		}
		w.out.Batches = append(w.out.Batches, b)
		from += int64(parts[i].Rows)
	}
	var err error
	if w.out.event, w.out.Event, err = w.card.device.NewSharedEvent(); err != nil {
		return nil, err
	}
	if err := w.card.stream.Record(w.out.event); err != nil {
		_ = w.out.event.Close() // the first error says more
		return nil, err
	}
	t := w.t
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.slabs {
		w.out.Slabs = append(w.out.Slabs, Slab{m.Handle(), m.Bytes()})
	}
	t.complete, t.parts = w.out, nil
	return w.out, nil
}

// batch returns the rows of a part, which begin at row from of the table.
func (w *completer) batch(p *Part, from int64) (Batch, error) {
	b := Batch{Rows: p.Rows}
	var record arrow.Record // of the host, if a column needs it
	defer func() {
		if record != nil {
			record.Release()
		}
	}()
	for i, f := range w.host.Schema.Fields() {
		if kept := w.kept(p, i, f.Type); kept != nil {
			fields, err := w.own(kept.nodes)
			if err != nil {
				return b, err
			}
			b.Nodes = append(b.Nodes, fields...)
			continue
		}
		if record == nil {
			var err error
			if record, err = w.host.Read(from, from+int64(p.Rows)); err != nil {
				return b, err
			}
			if record.NumRows() != int64(p.Rows) {
				return b, fmt.Errorf("%d rows on the host, %d on the GPU", record.NumRows(), p.Rows)
			}
		}
		var err error
		if b.Nodes, err = w.copied(b.Nodes, record.Column(i).Data()); err != nil {
			return b, err
		}
	}
	return b, nil
}

// kept returns column i of a part, if it is on the GPU in the table's type.
func (w *completer) kept(p *Part, i int, want arrow.DataType) *column {
	c := p.geometry
	if i < len(w.host.IDs) {
		of, ok := p.columns[w.host.IDs[i]]
		if !ok {
			return nil
		}
		c = &of
	}
	if c == nil || !arrow.TypeEqual(c.of, want) {
		return nil
	}
	return c
}

// own returns the fields of a column that is on the GPU but for its validity.
func (w *completer) own(nodes []Node) ([]Field, error) {
	out := make([]Field, 0, len(nodes))
	for _, n := range nodes {
		f := Field{Length: n.Length, Nulls: n.Nulls, Buffers: slices.Clone(n.Buffers)}
		if len(n.Valid) > 0 {
			var err error
			if f.Buffers[0], err = w.upload(n.Valid); err != nil {
				return nil, err
			}
		}
		for _, b := range n.Buffers {
			w.out.Kept += b.Bytes
		}
		out = append(out, f)
	}
	return out, nil
}

// copied appends an array of the host and its children.
func (w *completer) copied(to []Field, d arrow.ArrayData) ([]Field, error) {
	f := Field{Length: d.Len(), Nulls: d.NullN()}
	for _, b := range buffersOf(d) {
		at, err := w.upload(b)
		if err != nil {
			return nil, err
		}
		f.Buffers = append(f.Buffers, at)
	}
	to = append(to, f)
	for _, child := range d.Children() {
		var err error
		if to, err = w.copied(to, child); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// upload copies bytes of the host to the table's memory.
func (w *completer) upload(b []byte) (Place, error) {
	at, err := w.t.take(w.card, int64(len(b)))
	if err != nil || len(b) == 0 {
		return at, err
	}
	w.out.Copied += int64(len(b))
	return at, gpu.Upload(w.card.stream, w.t.memory(at), b)
}

// Bytes returns the bytes of a place, for comparisons. The table is in use.
func (t *Table) Bytes(p Place) ([]byte, error) {
	c, err := t.home()
	if err != nil || p.Bytes == 0 {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return gpu.Read(c.stream, t.memory(p))
}
