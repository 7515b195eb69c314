package parquet

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	mathbits "math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/vibeflight/vibeflight/readers/internal/records"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Limits of encodings. Arrow's own code allocates as many values as an index into a dictionary, or
// the head of packed differences, claims.
const (
	// of indices into a dictionary, however short that is: some writers take a whole number of
	// bytes
	anyIndexBits = 16
	maxBlock     = 1 << 16 // values of a block of differences; writers take 128 to 1,024
	maxIndexBits = 32
	bitPacked    = 4  // for levels alone
	valueBytes   = 24 // of a value of a dictionary in memory, at most
)

// values checks the values of a column's data pages before Arrow's own code reads them.
type values struct {
	src     *source.File
	column  *schema.Column
	packing compress.Compression
	most    int64 // bytes that may be requested

	dictionary       int64 // values of it
	packed, unpacked []byte
}

// check looks at the page whose content is at an offset.
func (v *values) check(p *page, at int64) error {
	if v.packing == compress.Codecs.Uncompressed && p.packed != p.unpacked {
		return fmt.Errorf("%d bytes that are not packed, and %d unpacked", p.packed, p.unpacked)
	}
	if p.kind == pageDictionary {
		// a value takes a byte at least, whatever the header says
		v.dictionary = min(p.of().fields[fieldValues], p.unpacked)
		return nil
	}
	encoding := parquet.Encoding(p.of().fields[encodingField(p)])
	look := v.differences
	switch encoding {
	case parquet.Encodings.PlainDict, parquet.Encodings.RLEDict:
		look = v.indices
	case parquet.Encodings.DeltaBinaryPacked, parquet.Encodings.DeltaLengthByteArray:
	case parquet.Encodings.DeltaByteArray:
		look = v.prefixes
	case parquet.Encodings.Plain, parquet.Encodings.RLE, byteStreamSplit:
		return nil // of which there are as many as there are bytes for
	default:
		return fmt.Errorf("values encoded as %s, which is not read", encodingName(encoding))
	}
	if p.values() == 0 || p.unpacked == p.levelBytes() {
		return nil
	}
	r, err := v.open(p, at)
	if err == nil {
		if _, err := r.Peek(1); errors.Is(err, io.EOF) {
			return nil // all are null, and some writers write nothing then
		}
		err = look(r, p.values())
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it ends within its levels, or the head of its values")
	}
	return err
}

// encodingField returns the field of a page's header that says how its values are encoded.
func encodingField(p *page) int {
	if p.kind == pageDataV2 {
		return fieldEncodingV2
	}
	return fieldEncoding
}

// encodingName returns the name of an encoding, or its number where it has none.
func encodingName(e parquet.Encoding) string {
	if e == bitPacked {
		return "BIT_PACKED"
	}
	return fmt.Sprintf("encoding %d of parquet.thrift", int(e))
}

// open returns the values of a page, unpacked.
func (v *values) open(p *page, at int64) (*bufio.Reader, error) {
	if max(p.packed, p.unpacked) > v.most {
		return nil, &records.RoomError{Asked: max(p.packed, p.unpacked), Most: v.most}
	}
	levels := p.levelBytes()
	v.packed = room(v.packed, p.packed-levels)
	if err := read(v.src, v.packed, at+levels); err != nil {
		return nil, err
	}
	var in io.Reader = bytes.NewReader(v.packed)
	if !p.of().plain || p.kind != pageDataV2 {
		codec, err := compress.GetCodec(v.packing)
		switch {
		case err != nil:
			return nil, err
		case v.packing == compress.Codecs.Gzip || v.packing == compress.Codecs.Brotli:
			// slow ones, of which the first bytes come first
			in = codec.NewReader(in)
		case v.packing != compress.Codecs.Uncompressed:
			v.unpacked = room(v.unpacked, p.unpacked-levels)
			in = bytes.NewReader(codec.Decode(v.unpacked, v.packed))
		}
	}
	r := bufio.NewReader(in)
	if p.kind == pageDataV2 {
		return r, nil
	}
	c := p.of()
	if err := skipLevels(r, c.fields[fieldRepetitionEncoding], v.column.MaxRepetitionLevel(), p.values()); err != nil {
		return nil, err
	}
	return r, skipLevels(r, c.fields[fieldDefinitionEncoding], v.column.MaxDefinitionLevel(), p.values())
}

// room returns n bytes in the place of b.
func room(b []byte, n int64) []byte { return slices.Grow(b[:0], int(n))[:n] }

// skipLevels passes the levels of n values, up to most, of a page of the first version.
func skipLevels(r *bufio.Reader, encoding int64, most int16, values int64) error {
	var size int64
	switch {
	case most == 0:
		return nil
	case parquet.Encoding(encoding) == parquet.Encodings.BitPacked:
		size = (values*int64(mathbits.Len16(uint16(most))) + 7) / 8
	default:
		var length [4]byte
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return io.EOF
		}
		size = int64(binary.LittleEndian.Uint32(length[:]))
	}
	if n, err := r.Discard(int(size)); err != nil || int64(n) < size {
		return io.EOF
	}
	return nil
}

// indices looks at indices into the dictionary: their first byte is how many bits each has.
func (v *values) indices(r *bufio.Reader, _ int64) error {
	width, err := r.ReadByte()
	switch {
	case err != nil || width <= anyIndexBits:
		return err
	case width > maxIndexBits || 1<<(width-1) > 2*v.dictionary:
		return fmt.Errorf("indices of %d bits into a dictionary of %d values", width, v.dictionary)
	case valueBytes<<width > v.most:
		return &records.RoomError{Asked: valueBytes << width, Most: v.most}
	}
	return nil
}

// differences looks at the head of packed differences of no more than n values.
func (v *values) differences(r *bufio.Reader, values int64) error {
	_, err := v.deltaHead(r, values)
	return err
}

// delta is packed differences: blocks of values, each in n small blocks.
type delta struct {
	block, small, values uint64
}

func (v *values) deltaHead(r *bufio.Reader, values int64) (d delta, err error) {
	for _, to := range []*uint64{&d.block, &d.small, &d.values, new(uint64)} { // and the first value
		if *to, err = binary.ReadUvarint(r); err != nil {
			return d, io.EOF
		}
	}
	switch {
	case d.block > maxBlock || d.small == 0 || d.small > d.block:
		err = fmt.Errorf("differences in blocks of %d, of %d each", d.block, d.small)
	case d.values > uint64(values):
		err = fmt.Errorf("differences of %d values where the page has %d", d.values, values)
	case 4*values > v.most:
		err = &records.RoomError{Asked: 4 * values, Most: v.most}
	}
	return d, err
}

// prefixes looks at texts that share prefixes: the lengths of these, and then those of the rest.
func (v *values) prefixes(r *bufio.Reader, values int64) error {
	d, err := v.deltaHead(r, values)
	if err != nil {
		return err
	}
	widths := make([]byte, d.small)
	for left := int64(d.values) - 1; left > 0; {
		if _, err := binary.ReadUvarint(r); err != nil { // the least difference
			return io.EOF
		}
		if _, err := io.ReadFull(r, widths); err != nil {
			return io.EOF
		}
		for _, width := range widths {
			if left <= 0 {
				break
			}
			each := int64(d.block / d.small)
			size := int(each * int64(width) / 8)
			if n, err := r.Discard(size); err != nil || n < size {
				return io.EOF
			}
			left -= each
		}
	}
	return v.differences(r, values)
}
