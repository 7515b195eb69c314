package frame

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"google.golang.org/protobuf/proto"
)

// TestFrame checks that a frame is a FlightData as the stock codec writes it, and that its body is
// the record's own memory.
func TestFrame(t *testing.T) {
	values := []float64{1, 2, 3}
	raw := arrow.Float64Traits.CastToBytes(values)
	data := array.NewData(arrow.PrimitiveTypes.Float64, 3, []*memory.Buffer{nil, memory.NewBufferBytes(raw)}, nil, 0, 0)
	schema := arrow.NewSchema([]arrow.Field{{Name: "v", Type: arrow.PrimitiveTypes.Float64}}, nil)
	rec := array.NewRecord(schema, []arrow.Array{array.NewFloat64Data(data)}, 3)
	f, err := newPayloadWriter(schema).frame(rec)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.body) == 0 || &f.body[0][0] != &raw[0] {
		t.Error("the body was copied")
	}
	out, err := NewCodec().Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	wire := out.Materialize()
	if len(wire) != f.Size() {
		t.Errorf("%d bytes, size says %d", len(wire), f.Size())
	}
	var d flight.FlightData
	if err := proto.Unmarshal(wire, &d); err != nil || !bytes.Equal(d.DataBody, raw) || d.FlightDescriptor != nil ||
		d.AppMetadata != nil {
		t.Errorf("got %v, %v", &d, err)
	}
	stock, err := NewCodec().Marshal(&flight.FlightData{DataHeader: d.DataHeader, DataBody: d.DataBody})
	if err != nil || !bytes.Equal(stock.Materialize(), wire) {
		t.Errorf("the stock codec writes %d bytes, %v", stock.Len(), err)
	}
	if err := NewCodec().Unmarshal(out, &Frame{}); err == nil {
		t.Error("a frame was received")
	}
}
