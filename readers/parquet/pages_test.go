package parquet

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/source"
)

// pageHeader returns a PageHeader of small numbers, 0 to 63, in Thrift's compact protocol; contents
// are its fields after those of the sizes.
func pageHeader(kind, unpacked, packed byte, contents ...byte) []byte {
	return slices.Concat([]byte{0x15, 2 * kind, 0x15, 2 * unpacked, 0x15, 2 * packed}, contents, []byte{0})
}

// Contents: fields 5, 7 and 8 of the header, which follow field 3.
func dataPage(values byte) []byte       { return []byte{0x2c, 0x15, 2 * values, 0} }
func dictionaryPage(values byte) []byte { return []byte{0x4c, 0x15, 2 * values, 0} }

func dataPageV2(values, definitions, repetitions byte, packed bool) []byte {
	b := []byte{0x5c, 0x15, 2 * values, 0x45, 2 * definitions, 0x15, 2 * repetitions, 0x12, 0}
	if packed {
		b[7] = 0x11
	}
	return b
}

func TestReadPage(t *testing.T) {
	const content = 20 // bytes that follow the header
	// a text in field 11, after field 3: more than is read at first
	long := append([]byte{0x88, 0xe8, 7}, make([]byte, 1000)...)
	for _, c := range []struct {
		name   string
		head   []byte
		values int64
		want   string
	}{
		{"data", pageHeader(0, 20, 20, dataPage(9)...), 9, ""},
		{"data that are packed", pageHeader(0, 60, 20, dataPage(9)...), 9, ""},
		{"a dictionary", pageHeader(2, 9, 9, dictionaryPage(3)...), 0, ""},
		{"second version", pageHeader(3, 63, 20, dataPageV2(9, 3, 4, true)...), 9, ""},
		{"second version, not packed", pageHeader(3, 20, 20, dataPageV2(9, 3, 4, false)...), 9, ""},
		// field 5, by its number
		{"a long header", pageHeader(0, 20, 20, append(long, 0x0c, 10, 0x15, 8, 0)...), 4, ""},
		// field 8 after field 5
		{
			"what headers of other kinds say", pageHeader(0, 1, 1, append(dataPage(2), 0x3c, 0x15, 60, 0x45, 60, 0)...),
			2, "",
		},
		{"an index", pageHeader(1, 9, 9), 0, "kind 1"},
		{"no kind", []byte{0x25, 2, 0x15, 2, 0}, 0, "kind -1"},
		{"more than there is", pageHeader(0, 9, 21, dataPage(9)...), 0, "21 bytes where the column has 20"},
		{"a negative length", []byte{0x15, 0, 0x15, 1, 0x15, 0, 0}, 0, "a negative length"},
		{
			"levels longer than the page", pageHeader(3, 6, 20, dataPageV2(9, 3, 4, true)...), 0,
			"7 bytes of levels among 6",
		},
		{
			"not packed, of another length", pageHeader(3, 19, 20, dataPageV2(9, 3, 4, false)...), 0,
			"20 bytes that are not packed, and 19 unpacked",
		},
		{"a number of 33 bits", []byte{0x15, 0xff, 0xff, 0xff, 0xff, 0x1f, 0}, 0, "more than 32 bits"},
		{"no end", bytes.Repeat([]byte{0x15, 2}, 10), 0, "no end of its header"},
		{"nothing", nil, 0, "no end of its header"},
	} {
		text := slices.Concat([]byte("PAR1"), c.head, bytes.Repeat([]byte{0x15}, content), []byte("more"))
		end := int64(len(text) - len("more"))
		if c.head == nil {
			end = 4
		}
		path := filepath.Join(t.TempDir(), "a.parquet")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := source.Open("a.parquet", path)
		if err != nil {
			t.Fatal(err)
		}
		p, size, err := readPage(src, 4, end)
		if err := src.Close(); err != nil {
			t.Fatal(err)
		}
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", c.name, err, c.want)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case p.values() != c.values || size != int64(len(c.head))+p.packed:
			t.Errorf("%s: %d values, %d bytes; want %d, %d", c.name, p.values(), size, c.values,
				int64(len(c.head))+p.packed)
		}
	}
}
