//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"io"
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"
	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// If the columns of a result are numbers, texts and the like, the values in DuckDB's chunks are
// copied to the record directly. A chunk may have few rows after a filter, and a record for each
// chunk is slower.

// columnBuilder is a column of a record that is being built.
type columnBuilder struct {
	dataType arrow.DataType
	width    int // of a value in bits, as in Arrow; 0: texts and bytes, whose ends are in offsets
	rows     int
	nulls    int
	valid    []byte // a bit per row; unused while there is no null
	offsets  []int32
	values   []byte
}

// sameLayout are the types whose values DuckDB and Arrow store in the same way.
var sameLayout = map[duckdb.Type]bool{
	duckdb.TypeTinyInt: true, duckdb.TypeSmallInt: true, duckdb.TypeInteger: true, duckdb.TypeBigInt: true,
	duckdb.TypeUTinyInt: true, duckdb.TypeUSmallInt: true, duckdb.TypeUInteger: true, duckdb.TypeUBigInt: true,
	duckdb.TypeFloat: true, duckdb.TypeDouble: true, duckdb.TypeDate: true, duckdb.TypeTime: true,
	duckdb.TypeTimestamp: true, duckdb.TypeTimestampS: true, duckdb.TypeTimestampMS: true,
	duckdb.TypeTimestampNS: true, duckdb.TypeTimestampTZ: true,
}

// columnBuilders returns builders for the columns of a result; nil if DuckDB has to convert one of
// them.
func columnBuilders(types []duckdb.LogicalType, schema *arrow.Schema) []columnBuilder {
	columns := make([]columnBuilder, len(types))
	for i, t := range types {
		of := schema.Field(i).Type
		columns[i].dataType = of
		switch id := duckdb.GetTypeId(t); {
		case sameLayout[id] || id == duckdb.TypeBoolean:
			fixed, ok := of.(arrow.FixedWidthDataType)
			if !ok {
				return nil
			}
			columns[i].width = fixed.BitWidth()
		case id == duckdb.TypeVarchar && of.ID() == arrow.STRING,
			id == duckdb.TypeBlob && of.ID() == arrow.BINARY,
			id == duckdb.TypeGeometry && of.ID() == arrow.BINARY:
		default:
			return nil
		}
	}
	return columns
}

// build builds the next record from DuckDB's chunks.
func (r *Rows) build() (arrow.Record, error) {
	for i := range r.builders {
		r.builders[i].reset()
	}
	var rows, bytes int
	for rows < recordRows && bytes < recordBytes {
		chunk, err := r.chunk()
		if err != nil {
			return nil, err
		}
		if chunk.Ptr == nil {
			r.ended = true
			break
		}
		n := int(duckdb.DataChunkGetSize(chunk))
		rows, bytes = rows+n, 0
		for i := range r.builders {
			g := &r.builders[i]
			if err == nil {
				err = g.add(duckdb.DataChunkGetVector(chunk, duckdb.IdxT(i)), n)
			}
			bytes += len(g.values)
		}
		duckdb.DestroyDataChunk(&chunk)
		if err != nil {
			return nil, err
		}
	}
	if rows == 0 {
		return nil, io.EOF
	}
	columns := make([]arrow.Array, len(r.builders))
	for i := range columns {
		columns[i] = r.builders[i].array()
		defer columns[i].Release()
	}
	return array.NewRecord(r.schema, columns, int64(rows)), nil
}

// reset empties the column. It allocates as much as the last record needed.
func (g *columnBuilder) reset() {
	g.rows, g.nulls, g.valid = 0, 0, nil
	g.values = make([]byte, 0, len(g.values))
	if g.width == 0 {
		g.offsets = append(make([]int32, 0, len(g.offsets)+1), 0)
	}
}

// add copies n rows of a vector.
func (g *columnBuilder) add(vector duckdb.Vector, n int) error {
	valid := (*uint64)(duckdb.VectorGetValidity(vector))
	data := duckdb.VectorGetData(vector)
	switch g.width {
	case 0:
		if err := g.addTexts(unsafe.Slice((*stringT)(data), n), valid); err != nil {
			return err
		}
	case 1:
		g.addBits(unsafe.Slice((*byte)(data), n))
	default:
		g.values = append(g.values, unsafe.Slice((*byte)(data), n*g.width/8)...)
	}
	g.clearNulls(valid, n)
	g.addValid(valid, n)
	g.rows += n
	return nil
}

// stringT is DuckDB's string_t:
//
//	length, uint32 | up to 12 bytes of text
//	length, uint32 | first 4 bytes | pointer to the text
type stringT [2]uint64

const inlineText = 12

func (t *stringT) bytes() []byte {
	n := *(*uint32)(unsafe.Pointer(t))
	if n <= inlineText {
		return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(t), 4)), n)
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&t[1])), n)
}

func (g *columnBuilder) addTexts(texts []stringT, valid *uint64) error {
	for i := range texts {
		if valid == nil || isValid(valid, i) {
			g.values = append(g.values, texts[i].bytes()...)
		}
		g.offsets = append(g.offsets, int32(len(g.values)))
	}
	if len(g.values) > math.MaxInt32 {
		return badValue("a column of type %s has more than 2 GiB in one batch of rows", g.dataType)
	}
	return nil
}

func (g *columnBuilder) addBits(values []byte) {
	g.values = growBits(g.values, g.rows+len(values))
	for i, v := range values {
		bitutil.SetBitTo(g.values, g.rows+i, v != 0)
	}
}

// addValid records which of n more rows are null. A nil valid means that none is. Otherwise there
// may still be no null.
func (g *columnBuilder) addValid(valid *uint64, n int) {
	before := g.nulls
	if valid != nil {
		for i := range n {
			if !isValid(valid, i) {
				g.nulls++
			}
		}
	}
	if g.nulls == 0 {
		return
	}
	if before == 0 {
		g.valid = growBits(nil, g.rows)
		bitutil.SetBitsTo(g.valid, 0, int64(g.rows), true)
	}
	g.valid = growBits(g.valid, g.rows+n)
	if g.nulls == before {
		bitutil.SetBitsTo(g.valid, int64(g.rows), int64(n), true)
		return
	}
	for i := range n {
		bitutil.SetBitTo(g.valid, g.rows+i, isValid(valid, i))
	}
}

func isValid(valid *uint64, i int) bool {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(valid), i/64*8))>>(i%64)&1 != 0
}

// growBits extends bits to n of them.
func growBits(bits []byte, n int) []byte {
	return append(bits, make([]byte, int(bitutil.BytesForBits(int64(n)))-len(bits))...)
}

// array returns the column. Its memory is on Go's heap.
func (g *columnBuilder) array() arrow.Array {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(g.values)}
	if g.nulls > 0 {
		buffers[0] = memory.NewBufferBytes(g.valid)
	}
	if g.width == 0 {
		buffers = []*memory.Buffer{
			buffers[0], memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(g.offsets)),
			buffers[1],
		}
	}
	data := array.NewData(g.dataType, g.rows, buffers, nil, g.nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}
