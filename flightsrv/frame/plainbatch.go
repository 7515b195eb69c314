package frame

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
)

// Numbers of Message.fbs of Arrow's columnar format, and its alignment. Arrow's own constants are
// internal.
const (
	metadataV5        = 4
	headerRecordBatch = 3
	pairBytes         = 16 // of a FieldNode and of a Buffer: two int64
	arrowAlignment    = 64 // to which a buffer may be padded

	metadataBytes = 1024 // initially: enough for a table with some columns
)

// plainBatch makes frames of records whose buffers are sent unchanged: those of whole batches of a
// table. Each frame has the same bytes as that of Arrow's writer. The writer is slower: it rebuilds
// every array to look for dictionaries, and allocates its metadata in small steps.
type plainBatch struct {
	schema  *arrow.Schema
	builder *flatbuffers.Builder
	nodes   [][2]int64 // length, nulls
	buffers [][]byte   // nil: left out
	parts   [][]byte   // of the last body, reused
}

func newPlainBatch(schema *arrow.Schema) *plainBatch {
	return &plainBatch{schema: schema, builder: flatbuffers.NewBuilder(metadataBytes)}
}

// frame encodes a record whose schema is the same pointer. The next call reuses the list of its
// parts. It returns nil if the record needs more than its buffers.
func (p *plainBatch) frame(rec arrow.Record) *Frame {
	p.nodes, p.buffers = p.nodes[:0], p.buffers[:0]
	if rec.Schema() != p.schema {
		return nil
	}
	for _, column := range rec.Columns() {
		if !p.array(column.Data(), false) {
			return nil
		}
	}
	f := &Frame{body: p.parts[:0]}
	for _, b := range p.buffers {
		if len(b) > 0 {
			_, _ = f.Write(b) // never an error
			if n := padding(len(b)); n > 0 {
				_, _ = f.Write(zeros[:n])
			}
		}
	}
	f.setHead(p.metadata(rec.NumRows(), int64(f.bytes)))
	p.parts = f.body
	return f
}

var zeros [8]byte

// padding returns the number of bytes to the next multiple of 8.
func padding(n int) int { return -n & 7 }

// array adds the nodes and buffers of an array and its children. It reports false if they can't be
// sent unchanged. inList means that Arrow's writer counts nulls again.
func (p *plainBatch) array(d arrow.ArrayData, inList bool) bool {
	n, nulls, buffers := d.Len(), d.NullN(), d.Buffers()
	if n == 0 || d.Offset() != 0 || nulls < 0 || nulls == n || inList && nulls > 0 || len(buffers) == 0 {
		return false
	}
	p.nodes = append(p.nodes, [2]int64{int64(n), int64(nulls)})
	switch {
	case nulls == 0:
		p.buffers = append(p.buffers, nil)
	case !p.fixed(buffers[0], (n+7)/8):
		return false
	}
	children := d.Children()
	switch t := d.DataType().(type) {
	case *arrow.BooleanType:
		return p.fixed(buffers[1], (n+7)/8)
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type, *arrow.Uint8Type,
		*arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type,
		*arrow.Float32Type, *arrow.Float64Type, *arrow.Date32Type, *arrow.Date64Type, *arrow.Time32Type,
		*arrow.Time64Type, *arrow.TimestampType:
		return p.fixed(buffers[1], n*t.(arrow.FixedWidthDataType).Bytes())
	case *arrow.StringType, *arrow.BinaryType:
		end, ok := p.offsets(buffers[1], n)
		if !ok || buffers[2] == nil || buffers[2].Len() != end {
			return false
		}
		p.buffers = append(p.buffers, buffers[2].Bytes())
		return true
	case *arrow.ListType:
		end, ok := p.offsets(buffers[1], n)
		return ok && children[0].Len() == end && p.array(children[0], true)
	case *arrow.StructType:
		for _, c := range children {
			if c.Len() != n || !p.array(c, inList) {
				return false
			}
		}
		return true
	}
	return false
}

// fixed adds a buffer of the given length, which may have padding.
func (p *plainBatch) fixed(b *memory.Buffer, bytes int) bool {
	if b == nil || b.Len() < bytes || b.Len() > (bytes+arrowAlignment-1)/arrowAlignment*arrowAlignment {
		return false
	}
	p.buffers = append(p.buffers, b.Bytes())
	return true
}

// offsets adds n+1 offsets that begin with 0, and returns the last one.
func (p *plainBatch) offsets(b *memory.Buffer, n int) (end int, ok bool) {
	if b == nil || b.Len() != arrow.Int32Traits.BytesRequired(n+1) {
		return 0, false
	}
	v := arrow.Int32Traits.CastFromBytes(b.Bytes())
	p.buffers = append(p.buffers, b.Bytes())
	return int(v[n]), v[0] == 0
}

// metadata builds the Message of the nodes and buffers. It is valid until the next call.
func (p *plainBatch) metadata(rows, bytes int64) []byte {
	b := p.builder
	b.Reset()
	b.StartVector(pairBytes, len(p.nodes), 8)
	for i := len(p.nodes) - 1; i >= 0; i-- {
		twoInt64(b, p.nodes[i][0], p.nodes[i][1])
	}
	nodes := b.EndVector(len(p.nodes))
	b.StartVector(pairBytes, len(p.buffers), 8)
	end := bytes
	for i := len(p.buffers) - 1; i >= 0; i-- {
		n := len(p.buffers[i])
		end -= int64(n + padding(n))
		twoInt64(b, end, int64(n))
	}
	buffers := b.EndVector(len(p.buffers))

	b.StartObject(5)
	b.PrependInt64Slot(0, rows, 0)
	b.PrependUOffsetTSlot(1, nodes, 0)
	b.PrependUOffsetTSlot(2, buffers, 0)
	batch := b.EndObject()

	b.StartObject(5)
	b.PrependInt16Slot(0, metadataV5, 0)
	b.PrependByteSlot(1, headerRecordBatch, 0)
	b.PrependUOffsetTSlot(2, batch, 0)
	b.PrependInt64Slot(3, bytes, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

func twoInt64(b *flatbuffers.Builder, first, second int64) {
	b.Prep(8, pairBytes)
	b.PrependInt64(second)
	b.PrependInt64(first)
}
