package dbf

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Header is the header of a table. It is immutable.
//
//	byte   0        version
//	       1..3     date of the last change
//	       4..7     number of records
//	       8..9     length of the header: where the records begin
//	      10..11    length of a record, its deletion flag included
//	      15        encrypted, if not 0
//	      29        language driver: the code page
//	      32..      fields of 32 bytes each, until a byte 0x0D
//	                Visual FoxPro: 263 bytes with the path of the database after that
//
// All numbers are little-endian.
type Header struct {
	Version byte
	// in the table, including deleted ones: under on_error: skip, those in the file if the header
	// claims more
	Records      int64
	Start        int64 // offset of the first record
	RecordLength int
	Fields       []Field // in their order; without the hidden one in which Visual FoxPro keeps nulls
	Encoding     string  // name of the code page of texts

	page     *codePage
	options  options
	columns  readers.Projection
	nullFrom int // offset of the hidden field in a record
	nullBits int // number of its bits; 0: no such field
	missing  readers.SkippedRows

	deviations readers.Deviations
}

const (
	headBytes     = 32
	fieldBytes    = 32
	nameBytes     = 11
	terminator    = 0x0D
	endMark       = 0x1A
	backlinkBytes = 263
)

// visualFoxPro reports whether the version is one of Visual FoxPro.
func visualFoxPro(version byte) bool { return version >= 0x30 && version <= 0x32 }

// foxPro reports whether memos of the version are in an .fpt file.
func foxPro(version byte) bool { return visualFoxPro(version) || version == 0xF5 || version == 0xFB }

// ReadHeader reads the header of the table in a file and finds its code page, also from the .cpg
// file next to it. opts are checked options that include Options. Errors: a *readers.ParseError for
// a file that is not a table, a *readers.OptionError for an unknown encoding, and those of reading.
func ReadHeader(ctx context.Context, src *source.File, opts readers.Options) (*Header, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h := &Header{options: optionsOf(opts)}
	text, err := h.read(src)
	if err != nil {
		return nil, err
	}
	h.page, err = pageOf(src, opts.Get("encoding"), text[29])
	if errors.Is(err, errNoPage) {
		if h.options.repair {
			h.deviate(29, ruleCodePage, "texts in ASCII are read")
			h.page, err = unknownPage(), nil
		} else {
			err = h.errorAt(src, 29, noRecord, "", modeRepair, err)
		}
	}
	if err != nil {
		return nil, err
	}
	h.Encoding = h.page.name
	if err := h.fields(src, text); err != nil {
		return nil, err
	}
	return h, h.count(src, int64(binary.LittleEndian.Uint32(text[4:])))
}

// noRecord is the record number in an error outside of records.
const noRecord = -1

// read reads the bytes of the header and checks its first fields.
func (h *Header) read(src *source.File) ([]byte, error) {
	fixed, err := src.Head(headBytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Name, err)
	}
	if len(fixed) < headBytes {
		return nil, h.errorAt(src, src.Size, noRecord, "", "", errors.New("the file ends inside of the header"))
	}
	h.Version = fixed[0]
	h.Start = int64(binary.LittleEndian.Uint16(fixed[8:]))
	h.RecordLength = int(binary.LittleEndian.Uint16(fixed[10:]))
	switch {
	case h.Start <= headBytes:
		return nil, h.errorAt(src, 8, noRecord, "", "",
			fmt.Errorf("the header says that it is %d bytes long, which leaves no room for a field%s",
				h.Start, h.otherLayout()))
	case h.Start > src.Size:
		return nil, h.errorAt(src, 8, noRecord, "", "",
			fmt.Errorf("the header says that it is %d bytes long, the file has %d%s", h.Start, src.Size,
				h.otherLayout()))
	case h.RecordLength == 0:
		return nil, h.errorAt(src, 10, noRecord, "", "", errors.New("the header says that a record has no bytes"))
	case fixed[15] != 0:
		return nil, h.errorAt(src, 15, noRecord, "", "",
			errors.New("the table is encrypted; save it without encryption"))
	}
	text := make([]byte, h.Start)
	if n, err := src.ReadAt(text, 0); n < len(text) {
		return nil, cutShort(src, int64(n), err)
	}
	return text, nil
}

// otherLayout returns the message for an invalid header whose version has another layout.
func (h *Header) otherLayout() string {
	switch h.Version {
	case 0x02:
		return "; tables of dBASE II and FoxBASE are not read, save it as dBASE III"
	case 0x04, 0x8C:
		return "; tables of dBASE 7 are not read, save it as dBASE 5"
	}
	return ""
}

// count checks the number of records against the size of the file.
func (h *Header) count(src *source.File, promised int64) error {
	there := (src.Size - h.Start) / int64(h.RecordLength)
	h.Records = promised
	if promised <= there {
		return nil
	}
	whole := h.endsWhole(src, there)
	switch {
	case h.options.skip:
	case h.options.repair && whole:
		h.deviate(4, ruleCount, fmt.Sprintf("the %d records that there are, of %d", there, promised))
		h.Records = there
		return nil
	default:
		mode := ""
		if whole {
			mode = modeRepair
		}
		return h.errorAt(src, 4, noRecord, "", mode,
			fmt.Errorf("the header promises %d records of %d bytes, the file has room for %d", promised,
				h.RecordLength, there))
	}
	h.Records = there
	h.missing = readers.SkippedRows{Count: promised - there, First: []int64{h.offset(there)}}
	return nil
}

// endsWhole reports whether the file ends after n records, apart from the end mark.
func (h *Header) endsWhole(src *source.File, records int64) bool {
	left := src.Size - h.offset(records)
	if left != 1 {
		return left == 0
	}
	var mark [1]byte
	_, err := src.ReadAt(mark[:], src.Size-1)
	return err == nil && mark[0] == endMark
}

// Deviations returns the places where the header was not followed.
func (h *Header) Deviations() *readers.Deviations { return &h.deviations }

// deviate notes one.
func (h *Header) deviate(offset int64, rule, done string) {
	h.deviations.Add(readers.Deviation{Offset: offset, Row: noRecord, Rule: rule, Done: done})
}

// Missing returns the records that the header claims and the file lacks, under on_error: skip. The
// first offset is where they would begin.
func (h *Header) Missing() readers.SkippedRows { return h.missing }

// Project returns the header for a request of some columns. The fields of the others are checked,
// and become columns without values.
func (h *Header) Project(columns readers.Projection) *Header {
	projected := *h
	projected.columns = columns
	return &projected
}

// reads reports whether a field is requested.
func (h *Header) reads(f *Field) bool { return h.columns.Has(f.id()) }

// offset returns where a record begins in the file.
func (h *Header) offset(record int64) int64 { return h.Start + record*int64(h.RecordLength) }

// fields reads the field descriptors.
//
//	byte  0..10  name, ends at a NUL
//	      11     type
//	      16     length in bytes
//	      17     digits after the point; of a C, in files of Clipper and FoxPro, the length's high byte
//	      18     Visual FoxPro: 1 hidden, 2 may be null
func (h *Header) fields(src *source.File, text []byte) error {
	end := len(text)
	if visualFoxPro(h.Version) && bytes.IndexByte(text[headBytes:], terminator) < 0 {
		end = max(headBytes, end-backlinkBytes)
	}
	var raw [][]byte
	for p := headBytes; p+fieldBytes <= end && text[p] != terminator; p += fieldBytes {
		if d := text[p : p+fieldBytes]; d[0] != 0 || d[11] != 0 {
			raw = append(raw, d)
			continue
		}
		break
	}
	if len(raw) == 0 && text[headBytes] != terminator {
		return h.noField(src)
	}
	long := h.longTexts(raw)
	names := fieldNames(raw, h.page)
	at, bits := 1, 0
	for i, d := range raw {
		f := Field{
			Name: names[i], Type: d[11], Offset: at, Length: int(d[16]), Decimals: int(d[17]),
			nullBit: noBit, sizeBit: noBit,
		}
		if f.Type == 'C' && long {
			f.Length += f.Decimals << 8
		}
		at += f.Length
		if visualFoxPro(h.Version) {
			if f.Type == '0' {
				h.nullFrom, h.nullBits = f.Offset, 8*f.Length
				continue
			}
			bits = f.takeBits(bits, d[18])
		}
		if err := f.decide(h.Version); err != nil {
			return h.errorAt(src, int64(headBytes+i*fieldBytes+nameBytes), noRecord, f.Name, "", err)
		}
		h.Fields = append(h.Fields, f)
	}
	if empty := h.emptyFields(); empty > h.RecordLength {
		return h.errorAt(src, 10, noRecord, "", "",
			fmt.Errorf("%d fields have no bytes, more than records of %d bytes may have", empty, h.RecordLength))
	}
	if at > h.RecordLength {
		return h.errorAt(src, 10, noRecord, "", "",
			fmt.Errorf("the fields take %d bytes with the deletion flag, the header says that a record has %d%s",
				at, h.RecordLength, h.otherLayout()))
	}
	if bits > h.nullBits {
		h.forgetBits()
	}
	return nil
}

// noField returns the error of a table without fields. Next to a shapefile it tells which records
// are deleted; by itself it is not a table.
func (h *Header) noField(src *source.File) error {
	return h.errorAt(src, headBytes, noRecord, "", "", fmt.Errorf("the header has no field%s", h.otherLayout()))
}

// longTexts reports whether the second byte of a C field's length counts: only then do the fields
// fill a record. Otherwise it is ignored.
func (h *Header) longTexts(raw [][]byte) bool {
	sum, high := 1, 0
	for _, d := range raw {
		sum += int(d[16])
		if d[11] == 'C' {
			high += int(d[17]) << 8
		}
	}
	return high > 0 && sum+high == h.RecordLength
}

// emptyFields counts the fields without bytes. Each is a column of nulls, so that many of them
// would make a large table of a small file.
func (h *Header) emptyFields() int {
	n := 0
	for i := range h.Fields {
		if h.Fields[i].Length == 0 {
			n++
		}
	}
	return n
}

// forgetBits handles a table with nullable fields whose hidden field is too small for their bits.
func (h *Header) forgetBits() {
	for i := range h.Fields {
		h.Fields[i].nullBit, h.Fields[i].sizeBit = noBit, noBit
	}
}

// errorAt returns the error for a defect at an offset of the table. The record may be noRecord.
// mode is the value of on_error that would read the rest, or empty.
func (h *Header) errorAt(src *source.File, offset, record int64, field, mode string, what error) error {
	return &readers.ParseError{
		Name: src.Name, Format: formatName, Offset: offset, Row: record, Unit: unit,
		Field: field, Mode: mode, Err: what,
	}
}

// cutShort returns the error for a file that ends before its size.
func cutShort(src *source.File, at int64, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		err = source.ErrChanged
	}
	return fmt.Errorf("%s: %w: it ends at byte %d", src.Name, err, at)
}
