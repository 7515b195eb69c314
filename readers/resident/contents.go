package resident

import (
	"errors"
	"fmt"

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
	Batches []Batch    // usually one; more where the offsets of one do not fit 32 bits
	Kept    int64      // bytes that never were on the host
	Copied  int64      // bytes that came from the host

	event  *gpu.Event
	memory []*gpu.SharedMemory // of Slabs
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
	// Its arrays begin at offset 0 of their buffers.
	Read func(from, to int64) (arrow.Record, error)
}

// Complete returns the contents of the table, which has the rows of h. The first call joins the parts
// that are on the GPU and copies the rest from the host. The table is in use. Errors are those of the
// device and of h.Read; ErrFull.
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
	w := &completer{t: t, dev: c, host: h, out: &Contents{Device: c.device().Info(), Schema: h.Schema}}
	if err := w.complete(parts); err != nil {
		return nil, errors.Join(err, w.undo())
	}
	t.mu.Lock()
	old := t.slabs
	t.complete, t.parts, t.slabs = w.out, nil, nil
	t.mu.Unlock()
	t.store.freeLater(t, old)
	return w.out, nil
}

// home returns the table's dev: the one with the most room, if no part has columns.
func (t *Table) home() (*deviceMemory, error) {
	s := t.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.at == nil || len(s.devices) == 0 {
		return nil, ErrFull
	}
	if t.dev == nil {
		t.dev = s.devices[0]
		for _, c := range s.devices[1:] {
			if c.budget-c.used > t.dev.budget-t.dev.used {
				t.dev = c
			}
		}
	}
	return t.dev, nil
}

// completer makes the contents of a table.
type completer struct {
	t    *Table
	dev  *deviceMemory
	host Host
	out  *Contents
}

func (w *completer) complete(parts []Part) error {
	g := newGroup(w.host.Schema)
	defer g.release()
	from := int64(0)
	for i := range parts {
		p := &parts[i]
		if p.Rows == 0 {
			continue
		}
		arrays, record, err := w.arrays(p, from)
		if err != nil {
			return err
		}
		if !g.fits(arrays) {
			if err := w.join(g); err != nil {
				if record != nil {
					record.Release()
				}
				return err
			}
			g.release()
		}
		g.add(p.Rows, arrays, record)
		from += int64(p.Rows)
	}
	if g.rows > 0 {
		if err := w.join(g); err != nil {
			return err
		}
	}
	var err error
	if w.out.event, w.out.Event, err = w.dev.device().NewSharedEvent(); err != nil {
		return err
	}
	return w.dev.stream.Record(w.out.event)
}

// undo frees what the contents have so far, after an error.
func (w *completer) undo() error {
	err := w.dev.stream.Synchronize() // copies may be under way
	if w.out.event != nil {
		err = errors.Join(err, w.out.event.Close())
	}
	s := w.t.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range w.out.memory {
		w.dev.used -= m.Bytes()
		err = errors.Join(err, m.Free())
	}
	return err
}

// arrays returns the arrays of a part, which begins at row from of the table. record is that of the
// host, if a column needs it.
func (w *completer) arrays(p *Part, from int64) (arrays []piece, record arrow.Record, err error) {
	defer func() {
		if err != nil && record != nil {
			record.Release()
			record = nil
		}
	}()
	for i, f := range w.host.Schema.Fields() {
		if kept := w.kept(p, i, f.Type); kept != nil {
			for _, n := range kept.nodes {
				arrays = append(arrays, piece{length: n.Length, nulls: n.Nulls, valid: n.Valid, kept: n.Buffers})
			}
			continue
		}
		if record == nil {
			if record, err = w.host.Read(from, from+int64(p.Rows)); err != nil {
				return nil, nil, err
			}
			if record.NumRows() != int64(p.Rows) {
				return nil, record, fmt.Errorf("%d rows on the host, %d on the GPU", record.NumRows(), p.Rows)
			}
		}
		arrays = appendPieces(arrays, record.Column(i).Data())
	}
	return arrays, record, nil
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

// grow adds a slab to the contents.
func (w *completer) grow(bytes int64) error {
	m, err := w.t.store.alloc(w.dev, bytes)
	if err != nil {
		return err
	}
	w.out.memory = append(w.out.memory, m)
	w.out.Slabs = append(w.out.Slabs, Slab{m.Handle(), m.Bytes()})
	return nil
}

// Bytes returns the bytes of a place of the contents, for comparisons. The table is in use.
func (t *Table) Bytes(p Place) ([]byte, error) {
	c, err := t.home()
	if err != nil || p.Bytes == 0 {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.mu.Lock()
	m := t.complete.memory[p.Slab]
	t.mu.Unlock()
	return gpu.Read(c.stream, m.Slice(p.Offset, p.Bytes))
}
