package filegdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// table is a table of the geodatabase: its fields, and where its rows are.
type table struct {
	file         *source.File // .gdbtable
	index        *source.File // .gdbtablx; nil: there are no rows
	fields       []field
	geometry     int // index of the geometry field, or -1
	nullable     int // fields
	geometryKind uint8
	utf8         bool // texts are UTF-8, else UTF-16

	slots      int64    // offsets of rows in the .gdbtablx, those of rows that are gone too
	offsetSize int      // bytes of each
	blocks     []uint32 // numbers of the blocks of 1,024 slots that are there; nil: all are, in order
}

const (
	headerBytes     = 40
	indexHeader     = 16
	blockSlots      = 1024
	maxFieldBytes   = 10 << 20
	maxBitmapBytes  = 16 << 20
	bitmapV4        = 32768
	bitmapV4Section = 22 + bitmapV4 + 52
)

// tableName returns the name of a file of a table.
func tableName(number int64, extension string) string {
	return fmt.Sprintf("a%08x%s", number, extension)
}

// openTable opens the table of a number.
//
//	header      version (4) 3 or 4, rows (4; of version 4 at byte 16, 8 bytes), …, offset of the fields (8) at byte 32
func openTable(src *source.File, number int64) (*table, error) {
	t := &table{geometry: -1}
	var err error
	if t.file, err = member(src, tableName(number, ".gdbtable")); err != nil {
		return nil, err
	}
	head, err := readAt(t.file, 0, headerBytes)
	if err != nil {
		return nil, err
	}
	version, rows := binary.LittleEndian.Uint32(head), int64(int32(binary.LittleEndian.Uint32(head[4:])))
	switch version {
	case 3:
	case 4:
		rows = int64(binary.LittleEndian.Uint64(head[16:]))
	default:
		return nil, errorAt(t.file, 0, -1, fmt.Errorf("a table of version %d, expected 3 or 4", version))
	}
	if rows < 0 {
		return nil, errorAt(t.file, 4, -1, fmt.Errorf("%d rows", rows))
	}
	at := binary.LittleEndian.Uint64(head[32:])
	if err := t.openFields(at); err != nil {
		return nil, err
	}
	if rows > 0 {
		if t.index, err = member(src, tableName(number, ".gdbtablx")); err != nil {
			return nil, err
		}
		return t, t.openIndex(version)
	}
	return t, nil
}

// member opens a file of the geodatabase.
func member(src *source.File, name string) (*source.File, error) {
	f, err := src.Member(name)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, errorAt(src, 0, -1, fmt.Errorf("the geodatabase has no file %s", name))
	}
	return f, nil
}

func (t *table) openFields(at uint64) error {
	if at > uint64(t.file.Size) {
		return errorAt(t.file, 32, -1, fmt.Errorf("the fields are at byte %d, after the end of the file", at))
	}
	head, err := readAt(t.file, int64(at), 4)
	if err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(head))
	if n > maxFieldBytes || n > t.file.Size-int64(at)-4 {
		return errorAt(t.file, int64(at), -1, fmt.Errorf("field descriptions of %d bytes, of which %d are there", n,
			t.file.Size-int64(at)-4))
	}
	b, err := readAt(t.file, int64(at)+4, int(n))
	if err != nil {
		return err
	}
	if f := t.parseFields(b); f != nil {
		return errorAt(t.file, int64(at)+4+int64(f.at), -1, f)
	}
	return nil
}

// openIndex reads the header and the trailer of the .gdbtablx, and sets slots.
//
//	version 3   3 (4), blocks (4), rows with those that are gone (4), bytes of an offset (4)
//	            offsets; words of the bitmap (4), blocks with those that are not there (4), blocks (4), … (4), bitmap
//	version 4   4 (4), blocks (8), bytes of an offset (4)
//	            offsets; rows with those that are gone (8), bytes of the bitmap's section (4), section
func (t *table) openIndex(version uint32) error {
	head, err := readAt(t.index, 0, indexHeader)
	if err != nil {
		return err
	}
	if v := binary.LittleEndian.Uint32(head); v != version {
		return errorAt(t.index, 0, -1, fmt.Errorf("an index of version %d for a table of version %d", v, version))
	}
	blocks := uint64(binary.LittleEndian.Uint32(head[4:]))
	if version == 4 {
		blocks = binary.LittleEndian.Uint64(head[4:])
	}
	t.offsetSize = int(binary.LittleEndian.Uint32(head[12:]))
	if t.offsetSize < 4 || t.offsetSize > 6 {
		return errorAt(t.index, 12, -1, fmt.Errorf("offsets of %d bytes, expected 4 to 6", t.offsetSize))
	}
	if room := uint64(t.index.Size-indexHeader) / uint64(blockSlots*t.offsetSize); blocks > room {
		return errorAt(t.index, 4, -1, fmt.Errorf("%d blocks of offsets, of which %d are there", blocks, room))
	}
	if blocks == 0 {
		return nil
	}
	trailer := int64(indexHeader) + int64(blocks)*blockSlots*int64(t.offsetSize)
	total := int64(int32(binary.LittleEndian.Uint32(head[8:]))) // of version 3
	if version == 3 {
		if total < 0 {
			return errorAt(t.index, 8, -1, fmt.Errorf("%d rows", total))
		}
		err = t.bitmapV3(trailer, int64(blocks))
	} else {
		total, err = t.bitmapV4(trailer, int64(blocks))
	}
	if err != nil {
		return err
	}
	last := int64(blocks) - 1 // number of the last block
	if t.blocks != nil {
		last = int64(t.blocks[len(t.blocks)-1])
	}
	t.slots = (int64(blocks)-1)*blockSlots + max(0, min(blockSlots, total-last*blockSlots))
	return nil
}

// bitmapV3 reads which blocks are there.
func (t *table) bitmapV3(at, blocks int64) error {
	b, err := readAt(t.index, at, 16)
	if err != nil {
		return err
	}
	words, all := binary.LittleEndian.Uint32(b), int64(binary.LittleEndian.Uint32(b[4:]))
	if again := int64(binary.LittleEndian.Uint32(b[8:])); again != blocks {
		return errorAt(t.index, at+8, -1, fmt.Errorf("%d blocks of offsets, and %d at the beginning", again, blocks))
	}
	if words == 0 {
		return nil
	}
	n := (all + 7) / 8
	if n > maxBitmapBytes {
		return errorAt(t.index, at+4, -1, fmt.Errorf("a bitmap of %d blocks", all))
	}
	bitmap, err := readAt(t.index, at+16, int(n))
	if err != nil {
		return err
	}
	return t.setBlocks(at+16, bitmap, blocks)
}

// bitmapV4 reads how many rows there were, and which blocks are there. Other sections than the usual
// one are not understood: then the numbers of rows in errors are those of rows without gaps.
func (t *table) bitmapV4(at, blocks int64) (total int64, err error) {
	b, err := readAt(t.index, at, 12)
	if err != nil {
		return 0, err
	}
	if total = int64(binary.LittleEndian.Uint64(b)); total < 0 {
		return 0, errorAt(t.index, at, -1, fmt.Errorf("%d rows", total))
	}
	switch n := binary.LittleEndian.Uint32(b[8:]); {
	case n == 0:
		return total, nil
	case n != bitmapV4Section || total > bitmapV4*blockSlots*8:
		return blocks * blockSlots, nil
	}
	section, err := readAt(t.index, at+12, bitmapV4Section)
	if err != nil {
		return 0, err
	}
	bitmap := section[22 : 22+bitmapV4]
	if string(section[:6]) != "\x01\x00\x01\x00\x00\x00" ||
		string(section[22+bitmapV4:][:12]) != "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" {
		return blocks * blockSlots, nil
	}
	return total, t.setBlocks(at+12+22, bitmap, blocks)
}

// setBlocks sets the numbers of the blocks from a bit for each.
func (t *table) setBlocks(at int64, bitmap []byte, blocks int64) error {
	t.blocks = make([]uint32, 0, blocks)
	for i, b := range bitmap {
		for ; b != 0; b &= b - 1 {
			t.blocks = append(t.blocks, uint32(8*i+bits.TrailingZeros8(b)))
		}
	}
	if int64(len(t.blocks)) != blocks {
		return errorAt(t.index, at, -1, fmt.Errorf("a bitmap with %d blocks of %d", len(t.blocks), blocks))
	}
	return nil
}

// objectID returns the OBJECTID of the row of a slot.
func (t *table) objectID(slot int64) int64 {
	if t.blocks == nil {
		return slot + 1
	}
	return int64(t.blocks[slot/blockSlots])*blockSlots + slot%blockSlots + 1
}

// readAt reads n bytes at an offset.
func readAt(f *source.File, at int64, n int) ([]byte, error) {
	if int64(n) > f.Size-at {
		return nil, errorAt(f, f.Size, -1, fmt.Errorf("the file ends: %d bytes from byte %d on are not there", n, at))
	}
	b := make([]byte, n)
	return b, fill(f, b, at)
}

// fill reads all of b, which the file had when it was opened.
func fill(f *source.File, b []byte, at int64) error {
	got, err := f.ReadAt(b, at)
	if got == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w: it ends at byte %d, not %d", f.Name, source.ErrChanged, at+int64(got), f.Size)
	}
	return fmt.Errorf("%s: %w", f.Name, err)
}

// errorAt returns the error for a defect at an offset of a file; row is -1 outside of rows.
func errorAt(f *source.File, offset, row int64, what error) *readers.ParseError {
	e := &readers.ParseError{
		Name: f.Name, Format: formatName, Offset: min(offset, f.Size), Row: row, Unit: unit, Err: what,
	}
	var defect *fault
	if errors.As(what, &defect) {
		e.Field, e.Err = defect.field, defect.err
	}
	return e
}
