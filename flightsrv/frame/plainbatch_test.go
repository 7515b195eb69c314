package frame

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// plainTypes are those that go out as they are.
var plainTypes = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16,
	arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float32,
	arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Date32, arrow.FixedWidthTypes.Timestamp_us,
	arrow.FixedWidthTypes.Time64us, arrow.BinaryTypes.String,
	arrow.BinaryTypes.Binary, arrow.ListOf(arrow.BinaryTypes.String),
	arrow.ListOf(arrow.ListOf(arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Float64},
		arrow.Field{Name: "y", Type: arrow.PrimitiveTypes.Float64}))),
	arrow.StructOf(arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		arrow.Field{Name: "s", Type: arrow.BinaryTypes.String}),
}

// fill appends a value, or null once in null times; 0: never.
func fill(b array.Builder, random *rand.Rand, null int) {
	if null > 0 && random.IntN(null) == 0 {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.ListBuilder:
		b.Append(true)
		for range random.IntN(4) {
			fill(b.ValueBuilder(), random, null)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			fill(b.FieldBuilder(i), random, null)
		}
	case *array.StringBuilder:
		b.Append("ninety bytes"[:random.IntN(12)])
	case *array.BinaryBuilder:
		b.Append([]byte("ninety bytes")[:random.IntN(12)])
	default:
		if err := b.AppendValueFromString(literal(b.Type(), random)); err != nil {
			panic(err)
		}
	}
}

func literal(t arrow.DataType, random *rand.Rand) string {
	switch t.ID() {
	case arrow.BOOL:
		return fmt.Sprint(random.IntN(2) == 0)
	case arrow.DATE32:
		return "2026-11-23"
	case arrow.TIMESTAMP:
		return "2026-11-23T03:04:05Z"
	case arrow.TIME64:
		return "03:04:05"
	}
	return fmt.Sprint(random.IntN(100))
}

// shrunk is the record with each buffer as long as it has to be, as those of a table are.
func shrunk(rec arrow.Record) arrow.Record {
	var data func(d arrow.ArrayData) *array.Data
	data = func(d arrow.ArrayData) *array.Data {
		var buffers []*memory.Buffer
		for i, b := range d.Buffers() {
			if b == nil {
				buffers = append(buffers, nil)
				continue
			}
			n := b.Len()
			switch d.DataType().ID() {
			case arrow.STRING, arrow.BINARY, arrow.LIST:
				if i == 1 {
					n = 4 * (d.Len() + 1)
				}
			}
			buffers = append(buffers, memory.NewBufferBytes(slices.Clone(b.Bytes()[:n])))
		}
		var children []arrow.ArrayData
		for _, c := range d.Children() {
			children = append(children, data(c))
		}
		return array.NewData(d.DataType(), d.Len(), buffers, children, d.NullN(), d.Offset())
	}
	var columns []arrow.Array
	for _, c := range rec.Columns() {
		columns = append(columns, array.MakeFromData(data(c.Data())))
	}
	return array.NewRecord(rec.Schema(), columns, rec.NumRows())
}

// same compares a frame with what Arrow's writer makes of the record.
func same(t *testing.T, what string, rec arrow.Record, got *Frame) {
	t.Helper()
	want, err := newPayloadWriter(rec.Schema()).frame(rec)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.head, want.head) || !bytes.Equal(got.header, want.header) || got.bytes != want.bytes {
		t.Errorf("%s: head\n%x, body %d bytes, want\n%x, %d", what, got.head, got.bytes, want.head, want.bytes)
	}
	if !bytes.Equal(slices.Concat(got.body...), slices.Concat(want.body...)) {
		t.Errorf("%s: another body", what)
	}
	if len(got.buffers()) != len(want.buffers()) {
		t.Errorf("%s: %d buffers, want %d", what, len(got.buffers()), len(want.buffers()))
	}
}

// TestPlainBatch compares frames of records of all types, whole and in slices, with those of
// Arrow's writer.
func TestPlainBatch(t *testing.T) {
	for _, columns := range [][]arrow.DataType{
		plainTypes, plainTypes[5:6], plainTypes[9:10], plainTypes[12:13],
		{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString},
	} {
		var fields []arrow.Field
		for i, c := range columns {
			fields = append(fields, arrow.Field{Name: fmt.Sprint(i), Type: c, Nullable: true})
		}
		schema := arrow.NewSchema(fields, nil)
		p := newPlainBatch(schema) // one for all, as in a stream
		made := 0
		for seed := range uint64(60) {
			random := rand.New(rand.NewPCG(seed, 2))
			null := int(seed % 3)
			if null > 0 {
				null = 1 + random.IntN(9)
			}
			b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
			for range random.IntN(200) {
				for i := range fields {
					if b.Field(i).Type().ID() == arrow.LARGE_STRING {
						b.Field(i).(*array.LargeStringBuilder).Append("large")
						continue
					}
					fill(b.Field(i), random, null)
				}
			}
			rec := shrunk(b.NewRecord())
			from := random.Int64N(rec.NumRows() + 1)
			for _, r := range []arrow.Record{rec, rec.NewSlice(from, rec.NumRows()), rec.NewSlice(0, from)} {
				if f := p.frame(r); f != nil {
					made++
					same(t, fmt.Sprintf("seed %d, %d rows of %v", seed, r.NumRows(), columns), r, f)
				}
			}
		}
		if large := columns[len(columns)-1].ID() == arrow.LARGE_STRING; large != (made == 0) || !large && made < 15 {
			t.Errorf("%v: %d records are plain", columns, made)
		}
	}
}

// TestPlainBatchSchema leaves a record of another schema to Arrow's writer, which refuses it.
func TestPlainBatchSchema(t *testing.T) {
	of := func(name string) *arrow.Schema {
		return arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.PrimitiveTypes.Float64}}, nil)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, of("a"))
	b.Field(0).(*array.Float64Builder).Append(1)
	if err := NewEncoder(of("b"), ticket.NoCompression, nil, 1<<20).Encode(b.NewRecord(), 0, func(*Frame) error {
		return nil
	}); err == nil {
		t.Error("a record of another schema was sent")
	}
}

// BenchmarkPlainBatch measures a batch of polygons without its body.
func BenchmarkPlainBatch(b *testing.B) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "geometry", Type: plainTypes[12]}}, nil)
	random := rand.New(rand.NewPCG(1, 1))
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for range 1000 {
		fill(builder.Field(0), random, 0)
	}
	rec := shrunk(builder.NewRecord())
	p := newPlainBatch(schema)
	b.ReportAllocs()
	for b.Loop() {
		f := p.frame(rec)
		if f == nil {
			b.Fatal("not plain")
		}
		b.SetBytes(int64(f.Size()))
	}
}
