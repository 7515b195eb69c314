package parquet

import (
	"bytes"
	"strings"
	"testing"
)

// element returns a SchemaElement with n fields below it, 0 to 63: field 5, i32, zigzag.
func element(children byte) []byte { return []byte{0x55, 2 * children, 0} }

func TestCheckFooter(t *testing.T) {
	schema := func(n int, elements ...[]byte) []byte { // field 2, a list of structs
		return append(append([]byte{0x29, 0xfc, byte(n&127 | 128), byte(n >> 7 & 127)}, bytes.Join(elements, nil)...),
			0)
	}
	chain := func(n int) []byte {
		return schema(n, append(bytes.Split(bytes.Repeat(append(element(1), '|'), n-1), []byte("|"))[:n-1],
			element(0))...)
	}
	for _, c := range []struct {
		name   string
		footer []byte
		want   string
	}{
		{"no field", []byte{0}, ""},
		{"groups in groups", chain(64), ""},
		{"deeper", chain(67), "groups are nested deeper than 64"},
		{"many side by side", schema(100, append([][]byte{element(63)},
			bytes.Split(bytes.Repeat(append(element(0), '|'), 99), []byte("|"))[:99]...)...), ""},
		{
			"a list longer than the footer",
			[]byte{0x49, 0xfc, 0xff, 0xff, 0xff, 0xff, 7, 0},
			"a list of 2147483647 elements",
		},
		{"lists in lists", bytes.Repeat([]byte{0x49, 0x19}, 100), "nested deeper"},
		{"structs in structs", bytes.Repeat([]byte{0x1c}, 100), "structs are nested deeper"},
		{"a text beyond the end", []byte{0x68, 100, 0}, "ends within a value"},
		{"a map", []byte{0x7b, 2, 0x88, 1, 'a', 1, 'b', 1, 'c', 1, 'd', 0}, ""},
		{"no end", []byte{0x15, 2}, "ends within a value"},
		{"an unknown type", []byte{0x1f, 0}, "a value of type 15"},
	} {
		_, err := checkFooter(c.footer)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, % x: got %v, want %q", c.name, c.footer, err, c.want)
		}
	}
}
