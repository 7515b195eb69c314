package geoarrow

import (
	"math/rand/v2"
	"testing"
)

// TestFields is what the kinds of the fields of a column make of it, in any order.
func TestFields(t *testing.T) {
	for _, c := range []struct {
		name  string
		kinds []FactKinds
		want  string
	}{
		{"nothing", nil, "utf8"},
		{"booleans", []FactKinds{FactBool}, "bool"},
		{"booleans and integers", []FactKinds{FactBool, FactInt32}, "utf8"},
		{"booleans and floats", []FactKinds{FactBool, FactFloat}, "utf8"},
		{"integers", []FactKinds{FactInt32, FactNegative}, "int32"},
		{"wide integers", []FactKinds{FactInt32, FactInt64}, "int64"},
		{"integers beyond int64", []FactKinds{FactInt32, FactUint64}, "utf8"},
		{"integers beyond uint64", []FactKinds{FactHuge}, "utf8"},
		{"integers and floats", []FactKinds{FactInt64, FactFloat}, "float64"},
		{"integers beyond int64 and floats", []FactKinds{FactUint64, FactFloat}, "utf8"},
		{"numbers and text", []FactKinds{FactFloat, FactString}, "utf8"},
		{"dates", []FactKinds{FactDate}, "date32"},
		{"dates and integers", []FactKinds{FactDate, FactInt32}, "utf8"},
		{"dates and times", []FactKinds{FactDate, FactNaive}, "timestamp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 10 {
				var f Facts
				for _, i := range rand.Perm(len(c.kinds)) {
					f = f.Join(Facts{Kinds: c.kinds[i] | FactField})
				}
				if got := f.Resolve(RoleAttribute); got.Type.Name() != c.want || got.Mixed || got.JSON {
					t.Fatalf("got %+v, want %s", got, c.want)
				}
			}
		})
	}
}

// TestWidenEmptyTexts: what is an empty text in a column of text is a null in any other, and can't
// be told from a null afterwards.
func TestWidenEmptyTexts(t *testing.T) {
	text := Facts{Kinds: FactString | FactField}.Resolve(RoleAttribute)
	ints := Facts{Kinds: FactInt32 | FactField}.Resolve(RoleAttribute)
	empty := Column{Type: text.Type, Offsets: []int32{0, 0, 0}}
	if wide, ok := empty.Widen(ints, 2); !ok || wide.Nulls != 2 {
		t.Errorf("texts of no bytes as integers: %+v, %t", wide, ok)
	}
	nulls := Column{
		Type: ints.Type, Facts: Facts{Kinds: FactInt32 | FactField}, Nulls: 1, Valid: []byte{0},
		Values: make([]byte, 4),
	}
	if _, ok := nulls.Widen(text, 1); ok {
		t.Error("a null among integers may be an empty text")
	}
}
