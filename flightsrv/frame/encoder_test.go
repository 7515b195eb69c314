package frame

import (
	"bytes"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// TestCheckPacked takes frames of a record whose buffers pack well, not at all, and are empty, and
// changes them as a compressor that fails would leave them.
func TestCheckPacked(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String},
		{Name: "empty", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range 1000 {
		b.Field(0).(*array.Int64Builder).Append(7)
		b.Field(1).(*array.StringBuilder).Append(string(rune('a' + i*i%26)))
		b.Field(2).(*array.StringBuilder).Append("")
	}
	b.Field(0).(*array.Int64Builder).AppendNull()
	b.Field(1).(*array.StringBuilder).Append("z")
	b.Field(2).(*array.StringBuilder).Append("")
	rec := b.NewRecord()
	plain, err := newPayloadWriter(schema).frame(rec)
	if err != nil {
		t.Fatal(err)
	}
	for name, option := range map[string]ipc.Option{"lz4": ipc.WithLZ4(), "zstd": ipc.WithZstd()} {
		packed, err := newPayloadWriter(schema, option).frame(rec)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkCompressed(plain, packed); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if packed.Size() >= plain.Size() {
			t.Errorf("%s: %d bytes of %d", name, packed.Size(), plain.Size())
		}
		for i, at := range packed.body {
			if bytes.Count(at, []byte{0}) == len(at) {
				continue // padding
			}
			left := *packed
			left.body = slices.Clone(packed.body)
			left.body[i] = append(bytes.Repeat([]byte{7}, 8), at[8:]...) // its length is not what it begins with
			if err := checkCompressed(plain, &left); err == nil {
				t.Errorf("%s: part %d was left as it is, and nobody saw it", name, i)
			}
			left.body = slices.Delete(left.body, i, i+1)
			if err := checkCompressed(plain, &left); err == nil {
				t.Errorf("%s: part %d is missing, and nobody saw it", name, i)
			}
		}
	}
	if err := checkCompressed(plain, plain); err == nil {
		t.Error("nothing was packed, and nobody saw it")
	}
}
