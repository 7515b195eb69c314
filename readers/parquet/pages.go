package parquet

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/parquet/metadata"

	"github.com/vibeflight/vibeflight/readers/source"
)

// Kinds of pages, and fields of their headers, of parquet.thrift.
const (
	pageData, pageDictionary, pageDataV2 = 0, 2, 3

	fieldKind, fieldUnpacked, fieldPacked                 = 1, 2, 3 // of PageHeader
	fieldDataHeader, fieldDictionaryHeader, fieldHeaderV2 = 5, 7, 8

	fieldValues                                                                = 1          // of each of these
	fieldEncoding, fieldDefinitionEncoding, fieldRepetitionEncoding            = 2, 3, 4    // of DataPageHeader
	fieldEncodingV2, fieldDefinitionBytes, fieldRepetitionBytes, fieldIsPacked = 4, 5, 6, 7 // of DataPageHeaderV2
)

const (
	firstHeaderBytes = 512      // of a page, that are looked at; most have a tenth
	maxHeaderBytes   = 16 << 20 // as Arrow's own code has it
	oldChunkBytes    = 100      // that a column may be longer than its writer said (PARQUET-816)
)

// page is the header of a page.
type page struct {
	kind             int64
	unpacked, packed int64                       // bytes of the page
	contents         [fieldHeaderV2 + 1]contents // by the field that says so
}

// contents is the part of a header that depends on the kind of page.
type contents struct {
	fields [fieldIsPacked]int64 // the numbers, by field
	plain  bool                 // the values of a page of the second version are not packed
}

// checkPages walks from page to page of a column of a row group, up to its last value, before
// Arrow's own code does. If pages end too early, that code repeats the content of its buffer, and
// it treats a page of an unknown kind as empty. It also allocates memory for the counts that
// encodings claim (values.go). most bounds these allocations.
func (f *footer) checkPages(src *source.File, column int, chunk *metadata.ColumnChunkMetaData, most int64) error {
	at, end := chunkBytes(chunk)
	if f.meta.WriterVersion().LessThan(metadata.Parquet816FixedVersion) {
		end += min(oldChunkBytes, src.Size-end)
	}
	v := values{src: src, column: f.meta.Schema.Column(column), packing: chunk.Compression(), most: most}
	for n := int64(0); n < chunk.NumValues(); {
		p, size, err := readPage(src, at, end)
		if err == nil {
			err = v.check(&p, at+size-p.packed)
		}
		if err != nil {
			return fmt.Errorf("the page at byte %d, after %d of %d values: %w", at, n, chunk.NumValues(), err)
		}
		at += size
		n += p.values()
	}
	return nil
}

// chunkBytes returns the bounds of a column's pages by the footer.
func chunkBytes(chunk *metadata.ColumnChunkMetaData) (from, to int64) {
	from = chunk.DataPageOffset()
	if chunk.HasDictionaryPage() && chunk.DictionaryPageOffset() > 0 {
		from = min(from, chunk.DictionaryPageOffset())
	}
	return from, from + chunk.TotalCompressedSize()
}

// readPage reads the header of the page at an offset, and returns the bytes of header and page,
// which end at end or before.
func readPage(src *source.File, at, end int64) (p page, size int64, err error) {
	for n := int64(firstHeaderBytes); ; n *= 2 {
		head := make([]byte, min(n, maxHeaderBytes, end-at))
		if err := read(src, head, at); err != nil {
			return page{}, 0, err
		}
		w := thrift{b: head}
		p, err = w.page()
		switch {
		case errors.Is(err, errEnds) && n < min(maxHeaderBytes, end-at):
			continue
		case errors.Is(err, errEnds):
			err = errors.New("no end of its header")
		case err == nil:
			err = p.check(end - at - int64(w.at))
		}
		return p, int64(w.at) + p.packed, err
	}
}

// page reads a PageHeader.
func (w *thrift) page() (page, error) {
	p := page{kind: -1}
	err := w.fields(0, func(id int, kind byte) (err error) {
		switch {
		case kind == thriftI32 && id == fieldKind:
			p.kind, err = w.i32()
		case kind == thriftI32 && id == fieldUnpacked:
			p.unpacked, err = w.i32()
		case kind == thriftI32 && id == fieldPacked:
			p.packed, err = w.i32()
		case kind == thriftStruct && (id == fieldDataHeader || id == fieldDictionaryHeader || id == fieldHeaderV2):
			p.contents[id], err = w.contents()
		default:
			err = w.skip(kind, 0)
		}
		return err
	})
	return p, err
}

func (w *thrift) contents() (contents, error) {
	var c contents
	err := w.fields(1, func(id int, kind byte) (err error) {
		switch {
		case kind == thriftI32 && id > 0 && id < len(c.fields):
			c.fields[id], err = w.i32()
		case id == fieldIsPacked && (kind == thriftTrue || kind == thriftFalse):
			c.plain = kind == thriftFalse
		default:
			err = w.skip(kind, 1)
		}
		return err
	})
	return c, err
}

// of returns the header of the page's kind; nil if it is not supported.
func (p *page) of() *contents {
	switch p.kind {
	case pageData:
		return &p.contents[fieldDataHeader]
	case pageDictionary:
		return &p.contents[fieldDictionaryHeader]
	case pageDataV2:
		return &p.contents[fieldHeaderV2]
	}
	return nil
}

// values returns how many values of the column the page has.
func (p *page) values() int64 {
	if p.kind == pageDictionary {
		return 0
	}
	return p.of().fields[fieldValues]
}

// levelBytes returns how many bytes of a page of the second version are before its values.
func (p *page) levelBytes() int64 {
	if p.kind != pageDataV2 {
		return 0
	}
	c := p.of()
	return c.fields[fieldDefinitionBytes] + c.fields[fieldRepetitionBytes]
}

// check refuses pages that Arrow's own code would not read correctly. left is the number of bytes
// of the column after the header.
func (p *page) check(left int64) error {
	c := p.of()
	switch {
	case c == nil:
		return fmt.Errorf("kind %d", p.kind)
	case min(p.packed, p.unpacked, c.fields[fieldValues]) < 0, p.kind == pageDataV2 &&
		min(c.fields[fieldDefinitionBytes], c.fields[fieldRepetitionBytes]) < 0:
		return errors.New("a negative length")
	case p.packed > left:
		return fmt.Errorf("%d bytes where the column has %d", p.packed, left)
	case p.levelBytes() > min(p.packed, p.unpacked):
		return fmt.Errorf("%d bytes of levels among %d", p.levelBytes(), min(p.packed, p.unpacked))
	case p.kind == pageDataV2 && c.plain && p.packed != p.unpacked:
		return fmt.Errorf("%d bytes that are not packed, and %d unpacked", p.packed, p.unpacked)
	}
	return nil
}
