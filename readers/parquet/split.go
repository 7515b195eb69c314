package parquet

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/vibeflight/vibeflight/readers/internal/records"
	"github.com/vibeflight/vibeflight/readers/source"
)

// This file reads BYTE_STREAM_SPLIT (parquet-format, Encodings.md), which Arrow's own code does
// not: such columns are rewritten with plain, uncompressed values, which that code finds after the
// end of the file.
//
//	values             a0 a1 a2 a3  b0 b1 b2 b3
//	BYTE_STREAM_SPLIT  a0 b0  a1 b1  a2 b2  a3 b3

// byteStreamSplit is the encoding's number.
const byteStreamSplit parquet.Encoding = 9

// splicedFile is a file with more bytes after its end.
type splicedFile struct {
	*source.File
	more []byte
	meta *metadata.FileMetaData
}

// ReadAt is that of io.ReaderAt.
func (f *splicedFile) ReadAt(p []byte, at int64) (int, error) {
	if at < f.Size {
		return f.File.ReadAt(p, at)
	}
	return bytes.NewReader(f.more).ReadAt(p, at-f.Size)
}

// open is Arrow's own reader of the file.
func (f *splicedFile) open(props *parquet.ReaderProperties, room *records.Allocator) (*pqarrow.FileReader, error) {
	all := io.NewSectionReader(f, 0, f.Size+int64(len(f.more)))
	r, err := file.NewParquetReader(all, file.WithMetadata(f.meta), file.WithReadProps(props))
	if err != nil {
		return nil, err
	}
	return pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, room)
}

// plain returns the file with plain values for the split columns of a row group.
func (p project) plain(src *source.File, number int, room *records.Allocator) (*splicedFile, error) {
	in := &splicedFile{File: src, meta: p.meta}
	for _, i := range p.fields {
		for _, leaf := range leaves(&p.manifest.Fields[i]) {
			chunk, err := p.meta.RowGroup(number).ColumnChunk(leaf.ColIndex)
			if err != nil {
				return nil, err
			}
			if chunk.CryptoMetadata() != nil || !slices.Contains(chunk.Encodings(), byteStreamSplit) {
				continue
			}
			at := src.Size + int64(len(in.more))
			s := splitColumn{values: values{
				src: src, column: p.meta.Schema.Column(leaf.ColIndex),
				packing: chunk.Compression(), most: room.Most,
			}}
			if err := s.rewrite(chunk, &in.more); err != nil {
				return nil, &records.FieldError{Field: p.path(leaf.ColIndex), Err: err}
			}
			in.meta = moved(in.meta, number, leaf.ColIndex, at, src.Size+int64(len(in.more))-at)
		}
	}
	return in, nil
}

// moved returns the footer with the pages of a column at another place, plain and uncompressed.
func moved(meta *metadata.FileMetaData, number, column int, at, size int64) *metadata.FileMetaData {
	out, file := *meta, *meta.FileMetaData
	group := *file.RowGroups[number]
	chunk := *group.Columns[column]
	data := *chunk.MetaData
	data.Codec, data.DictionaryPageOffset, data.IndexPageOffset = 0, nil, nil
	data.DataPageOffset, data.TotalCompressedSize, data.TotalUncompressedSize = at, size, size
	chunk.MetaData, chunk.FileOffset = &data, at
	group.Columns = slices.Clone(group.Columns)
	group.Columns[column] = &chunk
	file.RowGroups = slices.Clone(file.RowGroups)
	file.RowGroups[number] = &group
	out.FileMetaData = &file
	return &out
}

// splitColumn rewrites the pages of a column.
type splitColumn struct{ values }

// rewrite appends the pages, up to the last value.
func (s *splitColumn) rewrite(chunk *metadata.ColumnChunkMetaData, dst *[]byte) error {
	at, end := chunkBytes(chunk)
	for n := int64(0); n < chunk.NumValues(); {
		p, size, err := readPage(s.src, at, end)
		if err == nil {
			err = s.page(&p, at+size-p.packed, dst)
		}
		if err != nil {
			return fmt.Errorf("the page at byte %d: %w", at, err)
		}
		at += size
		n += p.values()
	}
	return nil
}

// page appends a page whose content is at an offset.
func (s *splitColumn) page(p *page, at int64, dst *[]byte) error {
	if most := int64(len(*dst)) + max(p.packed, p.unpacked); most > s.most {
		return &records.RoomError{Asked: most, Most: s.most}
	}
	packed := make([]byte, p.packed)
	if err := read(s.src, packed, at); err != nil {
		return err
	}
	body, levels := packed, p.levelBytes()
	if s.packing != compress.Codecs.Uncompressed && (p.kind != pageDataV2 || !p.of().plain) {
		codec, err := compress.GetCodec(s.packing)
		if err != nil {
			return err
		}
		body = append(slices.Clone(packed[:levels]), codec.Decode(make([]byte, p.unpacked-levels), packed[levels:])...)
	}
	if p.kind == pageData {
		var err error
		if levels, err = s.levels(p, body); err != nil {
			return err
		}
	}
	encoding := encodingField(p)
	if p.kind != pageDictionary && parquet.Encoding(p.of().fields[encoding]) == byteStreamSplit {
		plain, err := joinBytes(body[levels:], valueWidth(s.column))
		if err != nil {
			return err
		}
		body = append(slices.Clone(body[:levels]), plain...)
		p.of().fields[encoding] = int64(parquet.Encodings.Plain)
	}
	*dst = append(appendHeader(*dst, p, len(body)), body...)
	return nil
}

// levels returns how many bytes of a page of the first version are before its values.
func (s *splitColumn) levels(p *page, body []byte) (int64, error) {
	in := bytes.NewReader(body)
	r, c := bufio.NewReader(in), p.of()
	err := skipLevels(r, c.fields[fieldRepetitionEncoding], s.column.MaxRepetitionLevel(), p.values())
	if err == nil {
		err = skipLevels(r, c.fields[fieldDefinitionEncoding], s.column.MaxDefinitionLevel(), p.values())
	}
	if err != nil {
		return 0, errors.New("it ends within its levels")
	}
	return int64(len(body) - in.Len() - r.Buffered()), nil
}

// valueWidth returns how many bytes a value of a column has; 0 where they differ.
func valueWidth(c *schema.Column) int {
	switch c.PhysicalType() {
	case parquet.Types.Int32, parquet.Types.Float:
		return 4
	case parquet.Types.Int64, parquet.Types.Double:
		return 8
	case parquet.Types.FixedLenByteArray:
		return c.TypeLength()
	}
	return 0
}

// joinBytes returns plain values of split ones.
func joinBytes(split []byte, width int) ([]byte, error) {
	if width <= 0 || len(split)%width != 0 {
		return nil, fmt.Errorf("%d bytes of BYTE_STREAM_SPLIT for values of %d", len(split), width)
	}
	plain, n := make([]byte, len(split)), len(split)/width
	for k := range width {
		for i, b := range split[k*n : (k+1)*n] {
			plain[i*width+k] = b
		}
	}
	return plain, nil
}

// appendHeader writes the PageHeader of a page that is not packed.
func appendHeader(dst []byte, p *page, size int) []byte {
	number := func(v int64) {
		dst = binary.AppendVarint(append(dst, 1<<4|thriftI32), v)
	}
	number(p.kind)
	number(int64(size))
	number(int64(size))
	field := map[int64]byte{
		pageData: fieldDataHeader, pageDictionary: fieldDictionaryHeader,
		pageDataV2: fieldHeaderV2,
	}[p.kind]
	last := map[int64]int{
		pageData: fieldRepetitionEncoding, pageDictionary: fieldEncoding,
		pageDataV2: fieldRepetitionBytes,
	}[p.kind]
	dst = append(dst, (field-fieldPacked)<<4|thriftStruct)
	for id := 1; id <= last; id++ {
		number(p.of().fields[id])
	}
	if p.kind == pageDataV2 {
		dst = append(dst, 1<<4|thriftFalse) // not packed
	}
	return append(dst, thriftStop, thriftStop)
}
