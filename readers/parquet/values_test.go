package parquet

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/vibeflight/vibeflight/readers/source"
)

// dataOf returns the header of a page of n values, of an encoding.
func dataOf(kind, encoding, values int64, levels ...int64) page {
	p := page{kind: kind}
	c := p.of()
	c.fields[fieldValues], c.fields[fieldEncoding] = values, encoding
	c.fields[fieldDefinitionEncoding], c.fields[fieldRepetitionEncoding] = 3, 3
	if kind == pageDataV2 {
		c.fields = [fieldIsPacked]int64{fieldValues: values, fieldEncodingV2: encoding, fieldDefinitionBytes: levels[0]}
		c.plain = true
	}
	return p
}

// TestDictionary has pages of indices after dictionaries with a claimed number of values and a
// number of bytes.
func TestDictionary(t *testing.T) {
	for _, c := range []struct {
		says, bytes int64
		bits        byte
		want        string
	}{
		{100_000, 400_000, 17, ""},
		{100_000, 400_000, 18, ""},
		{100_000, 400_000, 19, "indices of 19 bits into a dictionary of 100000 values"},
		{1<<31 - 1, 9, 31, "indices of 31 bits into a dictionary of 9 values"},
		{1 << 30, 1 << 30, 30, "bytes of memory where 16777216 are allowed"},
		{0, 0, 16, ""},
	} {
		v := values{most: 16 << 20}
		p := dataOf(pageDictionary, 0, c.says)
		p.packed, p.unpacked = c.bytes, c.bytes
		if err := v.check(&p, 0); err != nil {
			t.Fatal(err)
		}
		err := v.indices(bufio.NewReader(bytes.NewReader([]byte{c.bits})), 9)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d values in %d bytes, %d bits: got %v, want %q", c.says, c.bytes, c.bits, err, c.want)
		}
	}
}

// TestValues has pages of an optional column that follow a dictionary of 1,000 values.
func TestValues(t *testing.T) {
	const plain, plainDictionary, bitPacked, packed, lengths, prefixes, dictionary = 0, 2, 4, 5, 6, 7, 8
	levels := []byte{2, 0, 0, 0, 18, 1} // nine of them, with their length
	older := dataOf(pageData, dictionary, 9)
	older.of().fields[fieldDefinitionEncoding] = bitPacked
	huge := []byte{0x80, 1, 4, 0xff, 0xff, 0xff, 0xff, 7, 0}
	block := func(widths ...byte) []byte { // 9 values in a block of 128, the first one and the least difference 0
		b := append([]byte{0x80, 1, byte(len(widths)), 9, 0, 0}, widths...)
		return append(b, make([]byte, 128/len(widths)*int(widths[0])/8)...)
	}
	for _, c := range []struct {
		name string
		page page
		text []byte // after the levels
		want string
	}{
		{"values themselves", dataOf(pageData, plain, 9), nil, ""},
		{"indices of 10 bits", dataOf(pageData, dictionary, 9), []byte{10}, ""},
		{"of the older name", dataOf(pageData, plainDictionary, 9), []byte{10}, ""},
		{"of 16 bits, for a short dictionary", dataOf(pageData, dictionary, 9), []byte{16}, ""},
		{
			"of 17 bits", dataOf(pageData, dictionary, 9),
			[]byte{17},
			"indices of 17 bits into a dictionary of 1000 values",
		},
		{"of 31 bits", dataOf(pageData, plainDictionary, 9), []byte{31}, "indices of 31 bits"},
		{"of 64 bits", dataOf(pageData, dictionary, 9), []byte{64}, "indices of 64 bits"},
		{"second version", dataOf(pageDataV2, dictionary, 9, 6), []byte{10}, ""},
		{"second version, of 31 bits", dataOf(pageDataV2, dictionary, 9, 6), []byte{31}, "indices of 31 bits"},
		{"levels of a bit each", older, []byte{31}, "indices of 31 bits"},
		{"nulls, and no index", dataOf(pageData, dictionary, 9), nil, ""},
		{"no value at all", dataOf(pageData, dictionary, 0), nil, ""},
		{"differences", dataOf(pageData, packed, 9), []byte{0x80, 1, 4, 9, 0}, ""},
		{
			"of more values than the page has", dataOf(pageData, packed, 9), huge,
			"differences of 2147483647 values where the page has 9",
		},
		{
			"lengths of more texts than the page has", dataOf(pageData, lengths, 9), huge,
			"differences of 2147483647 values",
		},
		{
			"differences in huge blocks", dataOf(pageData, packed, 9),
			[]byte{0xff, 0xff, 0xff, 0xff, 7, 1, 9, 0},
			"differences in blocks of 2147483647",
		},
		{
			"in small blocks of nothing", dataOf(pageData, packed, 9),
			[]byte{4, 8, 9, 0},
			"differences in blocks of 4, of 8 each",
		},
		{"in no small blocks", dataOf(pageData, packed, 9), []byte{4, 0, 9, 0}, "differences in blocks"},
		{"no head", dataOf(pageData, packed, 9), []byte{0x80}, "ends within"},
		{
			"more values than there is room for", dataOf(pageData, packed, 1<<30),
			[]byte{0x80, 1, 4, 9, 0},
			"bytes of memory where 1048576 are allowed",
		},
		{"prefixes", dataOf(pageData, prefixes, 9), slices.Concat(block(3, 0, 0, 0), []byte{0x80, 1, 4, 9, 0}), ""},
		{"prefixes, in one small block", dataOf(pageData, prefixes, 9), slices.Concat(block(3),
			[]byte{0x80, 1, 4, 9, 0}), ""},
		{
			"prefixes and far more texts", dataOf(pageData, prefixes, 9), slices.Concat(block(3, 0, 0, 0), huge),
			"differences of 2147483647 values",
		},
		{"prefixes and no texts", dataOf(pageData, prefixes, 9), block(3, 0, 0, 0), "ends within"},
		{"prefixes that are cut", dataOf(pageData, prefixes, 9), []byte{0x80, 1, 1, 9, 0, 0, 8, 0}, "ends within"},
	} {
		for _, packing := range []compress.Compression{
			compress.Codecs.Uncompressed, compress.Codecs.Snappy,
			compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd,
		} {
			levels := levels
			if c.page.of().fields[fieldDefinitionEncoding] == bitPacked && c.page.kind == pageData {
				levels = []byte{0xff, 1}
			}
			content, text := c.text, slices.Concat(levels, c.text)
			if c.page.kind == pageDataV2 {
				c.page.of().plain = packing == compress.Codecs.Uncompressed
				c.page.unpacked = int64(len(text))
			} else {
				content, c.page.unpacked = text, int64(len(text))
			}
			if packing != compress.Codecs.Uncompressed {
				codec, err := compress.GetCodec(packing)
				if err != nil {
					t.Fatal(err)
				}
				content = codec.Encode(make([]byte, codec.CompressBound(int64(len(content)))), content)
			}
			if c.page.kind == pageDataV2 {
				content = slices.Concat(levels, content)
			}
			c.page.packed = int64(len(content))
			path := filepath.Join(t.TempDir(), "a.parquet")
			if err := os.WriteFile(path, slices.Concat([]byte("PAR1"), content), 0o600); err != nil {
				t.Fatal(err)
			}
			src, err := source.Open("a.parquet", path)
			if err != nil {
				t.Fatal(err)
			}
			column := schema.NewColumn(schema.NewInt32Node("n", parquet.Repetitions.Optional, -1), 1, 0)
			v := values{src: src, column: column, packing: packing, most: 1 << 20, dictionary: 1000}
			err = v.check(&c.page, 4)
			if err := src.Close(); err != nil {
				t.Fatal(err)
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s, %s: got %v, want %q", c.name, packing, err, c.want)
			}
		}
	}
}
