package resident

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/bitutil"

	"github.com/vibeflight/vibeflight/gpu"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// piece is an array of one part of a table. Arrays of several parts become one array.
//
//	parts   lists  0 2 5    elements  a b c d e        lists  0 1    elements  f
//	joined  lists  0 2 5 6  elements  a b c d e f
type piece struct {
	length, nulls int
	valid         []byte   // validity bitmap on the host; nil: no nulls
	kept          []Place  // buffers on the GPU, that of the validity left out; nil: on the host
	host          [][]byte // buffers on the host, the validity first
}

// appendPieces appends an array of the host and its children.
func appendPieces(to []piece, d arrow.ArrayData) []piece {
	p := piece{length: d.Len(), nulls: d.NullN(), host: buffersOf(d)}
	if len(p.host) > 0 {
		p.valid = p.host[0]
	}
	to = append(to, p)
	for _, child := range d.Children() {
		to = appendPieces(to, child)
	}
	return to
}

// size returns the bytes of a buffer.
func (p *piece) size(buffer int) int64 {
	if p.kept != nil {
		return p.kept[buffer].Bytes
	}
	return int64(len(p.host[buffer]))
}

// below returns how many elements or bytes the offsets of an array count, given the pieces from it
// on: its child's length, or the bytes of its texts.
func below(of arrow.DataType, pieces []piece) int64 {
	switch of.ID() {
	case arrow.LIST:
		return int64(pieces[1].length)
	case arrow.STRING, arrow.BINARY:
		return pieces[0].size(2)
	}
	return 0
}

// group is parts that become one batch.
type group struct {
	types   []arrow.DataType // of the arrays, each parent followed by its children
	rows    int
	parts   [][]piece // for each part, its arrays
	total   []int64   // of below, for each array
	records []arrow.Record
}

func newGroup(s *arrow.Schema) *group {
	g := &group{}
	for _, f := range s.Fields() {
		g.types = appendTypes(g.types, f.Type)
	}
	g.total = make([]int64, len(g.types))
	return g
}

func appendTypes(to []arrow.DataType, t arrow.DataType) []arrow.DataType {
	to = append(to, t)
	if nested, ok := t.(arrow.NestedType); ok {
		for _, f := range nested.Fields() {
			to = appendTypes(to, f.Type)
		}
	}
	return to
}

// fits reports whether all offsets fit 32 bits with another part.
func (g *group) fits(arrays []piece) bool {
	for i, t := range g.types {
		if g.total[i]+below(t, arrays[i:]) > math.MaxInt32 {
			return g.rows == 0
		}
	}
	return true
}

// add adds a part, and takes its record.
func (g *group) add(rows int, arrays []piece, record arrow.Record) {
	g.rows += rows
	g.parts = append(g.parts, arrays)
	for i, t := range g.types {
		g.total[i] += below(t, arrays[i:])
	}
	if record != nil {
		g.records = append(g.records, record)
	}
}

// release empties the group.
func (g *group) release() {
	for _, r := range g.records {
		r.Release()
	}
	g.rows, g.parts, g.records = 0, nil, nil
	clear(g.total)
}

// join adds the batch of a group to the contents, in a slab of its own.
func (w *completer) join(g *group) error {
	b := Batch{Rows: g.rows}
	at, slab := int64(0), len(w.out.Slabs)
	place := func(bytes int64) Place {
		if bytes == 0 {
			return Place{}
		}
		p := Place{slab, at, bytes}
		at += (bytes + align - 1) / align * align
		return p
	}
	for i, t := range g.types {
		b.Nodes = append(b.Nodes, g.field(i, t, place))
	}
	if at > 0 {
		if err := w.grow((at + minSlab - 1) / minSlab * minSlab); err != nil {
			return err
		}
	}
	for i, t := range g.types {
		if err := w.fill(g, i, t, b.Nodes[i]); err != nil {
			return err
		}
	}
	w.out.Batches = append(w.out.Batches, b)
	return nil
}

// field returns array i of the group's batch, whose buffers are not filled.
func (g *group) field(i int, t arrow.DataType, place func(int64) Place) Field {
	var f Field
	for _, part := range g.parts {
		f.Length, f.Nulls = f.Length+part[i].length, f.Nulls+part[i].nulls
	}
	if t.ID() == arrow.NULL {
		return f
	}
	bits := int64(f.Length+7) / 8
	valid := Place{}
	if f.Nulls > 0 {
		valid = place(bits)
	}
	f.Buffers = append(f.Buffers, valid)
	switch t.ID() {
	case arrow.STRUCT:
	case arrow.LIST, arrow.STRING, arrow.BINARY:
		offsets := place(4 * int64(f.Length+1)) // one without lists too: consumers read the first
		if f.Buffers = append(f.Buffers, offsets); t.ID() != arrow.LIST {
			f.Buffers = append(f.Buffers, place(g.total[i]))
		}
	case arrow.BOOL:
		f.Buffers = append(f.Buffers, place(bits))
	default:
		f.Buffers = append(f.Buffers, place(int64(f.Length)*widthOf(t)))
	}
	return f
}

// widthOf returns the bytes of a value.
func widthOf(t arrow.DataType) int64 { return int64(t.(arrow.FixedWidthDataType).Bytes()) }

// fill fills the buffers of array i.
func (w *completer) fill(g *group, i int, t arrow.DataType, f Field) error {
	if len(f.Buffers) == 0 {
		return nil
	}
	if f.Buffers[0].Bytes > 0 {
		if err := w.upload(f.Buffers[0], 0, g.bits(i, 0, f.Length)); err != nil {
			return err
		}
	}
	switch t.ID() {
	case arrow.STRUCT:
		return nil
	case arrow.BOOL: // their bits begin anywhere in a byte; no part keeps them on the GPU
		return w.upload(f.Buffers[1], 0, g.bits(i, 1, f.Length))
	case arrow.LIST, arrow.STRING, arrow.BINARY:
		if f.Length == 0 {
			return w.upload(f.Buffers[1], 0, make([]byte, 4))
		}
		if err := w.offsets(g, i, t, f.Buffers[1]); err != nil || t.ID() == arrow.LIST {
			return err
		}
		return w.bytes(g, i, 2, func(p *piece) int64 { return p.size(2) }, f.Buffers[2])
	}
	return w.bytes(g, i, 1, func(p *piece) int64 { return int64(p.length) * widthOf(t) }, f.Buffers[1])
}

// bits joins bitmaps of all parts, on the host. A part without one has ones.
func (g *group) bits(i, buffer, n int) []byte {
	out := make([]byte, (n+7)/8)
	at := 0
	for _, part := range g.parts {
		p := &part[i]
		b := p.valid
		if buffer > 0 {
			b = p.host[buffer]
		}
		if b != nil {
			geoarrow.CopyBits(out, at, b, 0, p.length)
		} else {
			bitutil.SetBitsTo(out, int64(at), int64(p.length), true)
		}
		at += p.length
	}
	return out
}

// offsets joins the offsets of all parts.
func (w *completer) offsets(g *group, i int, t arrow.DataType, to Place) error {
	rows, base := int64(0), int64(0)
	for _, part := range g.parts {
		p := &part[i]
		if p.length > 0 {
			dst := Place{to.Slab, to.Offset + 4*rows, 4 * int64(p.length+1)}
			if err := w.shift(p, int32(base), dst); err != nil {
				return err
			}
		}
		rows, base = rows+int64(p.length), base+below(t, part[i:])
	}
	return nil
}

// shift copies the offsets of a part, and adds base to each.
func (w *completer) shift(p *piece, base int32, to Place) error {
	if p.kept != nil {
		w.out.Kept += to.Bytes
		from := p.kept[1]
		from.Bytes = to.Bytes
		return klist.ShiftOffsets(w.dev.k, w.dev.stream, gpu.View[int32](w.t.memory(from)), base,
			gpu.View[int32](w.memory(to)))
	}
	shifted := append([]int32(nil), geoarrow.View[int32](p.host[1])[:p.length+1]...)
	for k := range shifted {
		shifted[k] += base
	}
	return w.upload(to, 0, geoarrow.AsBytes(shifted))
}

// bytes joins buffers of all parts.
func (w *completer) bytes(g *group, i, buffer int, size func(*piece) int64, to Place) error {
	at := int64(0)
	for _, part := range g.parts {
		p := &part[i]
		n := size(p)
		if n == 0 {
			continue
		}
		if p.kept == nil {
			if err := w.upload(to, at, p.host[buffer][:n]); err != nil {
				return err
			}
		} else {
			from := p.kept[buffer]
			from.Bytes = n
			w.out.Kept += n
			dst := w.memory(Place{to.Slab, to.Offset + at, n})
			if err := gpu.Copy(w.dev.stream, dst, w.t.memory(from)); err != nil {
				return err
			}
		}
		at += n
	}
	return nil
}

// upload copies bytes of the host to a place, from byte at of it on.
func (w *completer) upload(to Place, at int64, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	w.out.Copied += int64(len(b))
	return gpu.Upload(w.dev.stream, w.memory(Place{to.Slab, to.Offset + at, int64(len(b))}), b)
}

// memory returns a place of the contents.
func (w *completer) memory(p Place) gpu.Buffer[byte] {
	return w.out.memory[p.Slab].Slice(p.Offset, p.Bytes)
}
