package parquet

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/pierrec/lz4/v4"

	"github.com/vibeflight/vibeflight/readers/internal/records"
)

// TestCodecs unpacks a page to as many bytes as it has, to more and to fewer, and what is no page
// at all.
func TestCodecs(t *testing.T) {
	registerCodecs()
	text := bytes.Repeat([]byte("a page of values, "), 1000)
	flipped := func(b []byte) []byte { // the last byte, of a checksum
		b = slices.Clone(b)
		b[len(b)-1] ^= 1
		return b
	}
	type page struct {
		name string
		text []byte
		n    int
		want string
	}
	for _, packing := range []compress.Compression{
		compress.Codecs.Snappy, compress.Codecs.Gzip,
		compress.Codecs.Brotli, compress.Codecs.Zstd, lz4Raw,
	} {
		codec, err := compress.GetCodec(packing)
		if err != nil {
			t.Fatal(err)
		}
		var packed []byte
		if packing == lz4Raw {
			packed = make([]byte, lz4.CompressBlockBound(len(text)))
			n, err := lz4.CompressBlock(text, packed, nil)
			if err != nil {
				t.Fatal(err)
			}
			packed = packed[:n]
		} else {
			packed = codec.Encode(make([]byte, codec.CompressBound(int64(len(text)))), text)
		}
		pages := []page{
			{"as it is", packed, len(text), ""},
			{"one byte more", packed, len(text) + 1, "packed bytes of a page of 18001"},
			{"one byte fewer", packed, len(text) - 1, "packed bytes of a page of 17999"},
			{"to nothing", packed, 0, "packed bytes of a page of 0"},
			{"half of it", packed[:len(packed)/2], len(text), "packed bytes of a page of 18000"},
			{"nothing", nil, len(text), "0 packed bytes of a page of 18000"},
			{"nothing, to nothing", nil, 0, ""},
			{"zeros", make([]byte, 100), len(text), "100 packed bytes"},
		}
		switch packing {
		case compress.Codecs.Gzip:
			pages = append(pages, page{"a wrong checksum", flipped(packed), len(text), "packed bytes"})
		case compress.Codecs.Snappy:
			pages = append(pages, page{
				"a promise of 4 GB", append(binary.AppendUvarint(nil, 1<<32-1), packed[2:]...),
				len(text), "another length",
			})
		case compress.Codecs.Zstd: // a frame of one segment that says its size in 8 bytes
			huge := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0}, binary.LittleEndian.AppendUint64(nil, 1<<40)...)
			pages = append(pages, page{"a promise of 1 TB", append(huge, 1, 0, 0), len(text), "packed bytes"})
			bomb := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x58} // blocks of 128 KiB that repeat a byte, and no size
			for range 100 {
				bomb = append(bomb, 2, 0, 16, 'x')
			}
			pages = append(pages, page{"more and more", bomb, len(text), "packed bytes"})
		}
		for _, p := range pages {
			var got []byte
			err := records.Guard(func() error {
				got = codec.Decode(make([]byte, p.n), p.text)
				return nil
			})
			switch {
			case p.want != "" && (err == nil || !strings.Contains(err.Error(), p.want)):
				t.Errorf("%s, %s: got %v, want %q", packing, p.name, err, p.want)
			case p.want == "" && (err != nil || !bytes.Equal(got, text[:p.n])):
				t.Errorf("%s, %s: %v, %d bytes", packing, p.name, err, len(got))
			}
			if cap(got) > 1<<20 {
				t.Errorf("%s, %s: room for %d bytes", packing, p.name, cap(got))
			}
		}
	}
}
