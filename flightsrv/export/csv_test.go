package export

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Nothing is null, "" is an empty text, and what would break a line or a cell is in quotes.
func TestCSV(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "a,b", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, v := range []string{"", "x", "two\nlines", `he said "so"`, " ; "} {
		b.Field(0).(*array.StringBuilder).Append(v)
		b.Field(1).(*array.Int32Builder).Append(int32(len(v)))
	}
	b.Field(0).AppendNull()
	b.Field(1).AppendNull()
	rec := b.NewRecord()
	defer rec.Release()

	var out bytes.Buffer
	w, err := NewCSV(&out, schema)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const want = "\"a,b\",n\r\n\"\",0\r\nx,1\r\n\"two\nlines\",9\r\n\"he said \"\"so\"\"\",12\r\n ; ,3\r\n,\r\n"
	if got := out.String(); got != want {
		t.Errorf("CSV of %v:\ngot  %q\nwant %q", rec, got, want)
	}
}
