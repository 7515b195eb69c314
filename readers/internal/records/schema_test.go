package records

import (
	"strings"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
)

// schemaMessage returns a message with a schema of one field, whose type holds the one below it n
// times, down to a depth.
func schemaMessage(depth, times int) []byte {
	b := flatbuffers.NewBuilder(0)
	name := b.CreateString("f")
	var below flatbuffers.UOffsetT
	for range depth {
		children := flatbuffers.UOffsetT(0)
		if below != 0 {
			tables := make([]flatbuffers.UOffsetT, times)
			for i := range tables {
				tables[i] = below
			}
			children = b.CreateVectorOfTables(tables)
		}
		b.StartObject(7)
		b.PrependUOffsetTSlot(slotName, name, 0)
		b.PrependUOffsetTSlot(slotChildren, children, 0)
		below = b.EndObject()
	}
	fields := b.CreateVectorOfTables([]flatbuffers.UOffsetT{below})
	b.StartObject(4)
	b.PrependUOffsetTSlot(slotFields, fields, 0)
	schema := b.EndObject()
	b.StartObject(5)
	b.PrependByteSlot(slotHeaderType, 1, 0)
	b.PrependUOffsetTSlot(slotHeader, schema, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

func TestCheckSchema(t *testing.T) {
	for _, c := range []struct {
		name         string
		depth, times int
		want         string
	}{
		{"a field", 1, 0, ""},
		{"a list of a list", 3, 1, ""},
		{"as deep as may be", maxDepth + 1, 1, ""},
		{"deeper", maxDepth + 2, 1, "types are nested deeper than 64"},
		{"a table in two places of each above it: 2^60 fields", 60, 2, "more fields than the message has room for"},
	} {
		err := CheckSchema(schemaMessage(c.depth, c.times))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestRoom(t *testing.T) {
	r := &Allocator{Most: 100}
	for _, c := range []struct {
		n    int
		want string
	}{
		{60, ""},
		{60, "120 bytes of memory where 100 are allowed"},
		{-1, "malformed: a length of -1 bytes"},
		{1 << 50, "are allowed"},
	} {
		err := Guard(func() error {
			r.Allocate(c.n)
			return nil
		})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d bytes: got %v, want %q", c.n, err, c.want)
		}
	}
	r.Reset()
	if err := Guard(func() error { _ = r.Reallocate(90, r.Allocate(10)); return nil }); err != nil || r.Used() != 100 {
		t.Errorf("after Reset: %v, %d bytes used", err, r.Used())
	}
}
