package parquet

import (
	"bytes"
	"testing"

	"github.com/vibeflight/vibeflight/readers/internal/records"
)

// leafElement returns a SchemaElement without children that has a logical type: field 10, a union
// of one member.
func leafElement(logical ...byte) []byte {
	return append(append([]byte{0x15, 12, 0x9c}, logical...), 0, 0) // type BYTE_ARRAY
}

func TestLogicalTypes(t *testing.T) {
	for _, c := range []struct {
		name    string
		logical []byte
		hidden  bool
		want    string // metadata of the extension
	}{
		{"STRING", []byte{0x1c, 0}, false, ""},
		{"FLOAT16", []byte{0xfc, 0}, false, ""},
		{"VARIANT", []byte{0x0c, 32, 0}, true, ""},
		{"2555, which no version has", []byte{0x0c, 0xf6, 0x27, 0}, true, ""},
		{"no member", nil, true, ""},
		{"GEOMETRY", []byte{0x0c, 34, 0}, true, `{"crs":"OGC:CRS84"}`},
		{
			"GEOMETRY with a code",
			[]byte{0x0c, 34, 0x18, 9, 'E', 'P', 'S', 'G', ':', '3', '8', '5', '7', 0},
			true, `{"crs":"EPSG:3857"}`,
		},
		{
			"GEOMETRY with an SRID",
			[]byte{0x0c, 34, 0x18, 9, 's', 'r', 'i', 'd', ':', '3', '8', '5', '7', 0},
			true, `{"crs":"EPSG:3857"}`,
		},
		{"GEOMETRY without a system", []byte{0x0c, 34, 0x18, 6, 's', 'r', 'i', 'd', ':', '0', 0}, true, `{"crs":null}`},
		{
			"GEOMETRY with a property",
			[]byte{0x0c, 34, 0x18, 10, 'p', 'r', 'o', 'j', 'j', 's', 'o', 'n', ':', 'k', 0},
			true, `{"crs":{"type":"GeographicCRS"}}`,
		},
		{"GEOGRAPHY", []byte{0x0c, 36, 0}, true, `{"crs":"OGC:CRS84","edges":"spherical"}`},
		{"GEOGRAPHY of Karney", []byte{0x0c, 36, 0x25, 8, 0}, true, `{"crs":"OGC:CRS84","edges":"karney"}`},
		{
			"GEOGRAPHY of a later algorithm",
			[]byte{0x0c, 36, 0x25, 80, 0},
			true,
			`{"crs":"OGC:CRS84","edges":"spherical"}`,
		},
	} {
		root, leaf := element(1), leafElement(c.logical...)
		footer := append(append(append([]byte{0x29, 0x2c}, root...), leaf...), 0)
		before := bytes.Clone(footer)
		logical, err := checkFooter(footer)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		at := 2 + len(root) + 2 // of the head of field 10
		if hidden := footer[at] == before[at]+1<<4; hidden != c.hidden {
			t.Errorf("%s: head % x was % x, want hidden: %v", c.name, footer[at], before[at], c.hidden)
		}
		got := ""
		if l := logical[0]; l != nil {
			m := l.metadata(func(name string) (string, bool) { return `{"type": "GeographicCRS"}`, name == "k" })
			got, _ = m.GetValue(records.ExtensionMetadata)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
