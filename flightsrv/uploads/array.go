package uploads

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

var errShort = errors.New("a buffer is too short")

// CheckArray checks an array of any type from Arrow's reader, see checkArray.
func CheckArray(a arrow.Array) error {
	return recoverPanic(func() error { return checkArray(a.Data()) })
}

// checkArray checks that an array from Arrow's reader holds exactly its values: buffers are long
// enough, offsets ascend from 0 to the length of their values, texts are UTF-8, and indices into
// dictionaries and unions are valid.
func checkArray(d arrow.ArrayData) error {
	n := d.Len()
	if d.Offset() != 0 {
		return errors.New("it begins inside of its buffers")
	}
	if err := checkNulls(d); err != nil {
		return err
	}
	t := d.DataType()
	if e, ok := t.(arrow.ExtensionType); ok {
		t = e.StorageType()
	}
	switch t := t.(type) {
	case *arrow.NullType:
		return nil
	case *arrow.StringType, *arrow.BinaryType:
		return checkTexts(d, 4, t.ID() == arrow.STRING)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return checkTexts(d, 8, t.ID() == arrow.LARGE_STRING)
	case *arrow.ListType, *arrow.MapType:
		return checkList(d, 4)
	case *arrow.LargeListType:
		return checkList(d, 8)
	case *arrow.FixedSizeListType:
		if t.Len() < 0 {
			return fmt.Errorf("its lists have %d values", t.Len())
		}
		return checkChildren(d, n*int(t.Len()))
	case *arrow.StructType, *arrow.SparseUnionType:
		if u, ok := t.(arrow.UnionType); ok {
			if err := checkUnion(d, u); err != nil {
				return err
			}
		}
		return checkChildren(d, n)
	case *arrow.DenseUnionType:
		if err := checkUnion(d, t); err != nil {
			return err
		}
		return checkChildren(d, 0)
	case *arrow.DictionaryType:
		return checkDictionary(d, t)
	case arrow.FixedWidthDataType:
		if t.BitWidth() < 0 {
			return fmt.Errorf("its values have %d bits", t.BitWidth())
		}
		return checkLength(d.Buffers()[1], int64(n)*int64(t.BitWidth()))
	}
	return fmt.Errorf("type %v is not read", t)
}

// checkLength checks the length of a buffer in bits.
func checkLength(b *memory.Buffer, bits int64) error {
	if bits > 0 && (b == nil || int64(b.Len()) < bitutil.BytesForBits(bits)) {
		return errShort
	}
	return nil
}

// checkNulls checks the number of nulls.
func checkNulls(d arrow.ArrayData) error {
	if id := d.DataType().ID(); id == arrow.NULL || id == arrow.DENSE_UNION || id == arrow.SPARSE_UNION {
		return nil
	}
	valid := d.Buffers()[0]
	if valid == nil || valid.Len() == 0 {
		if d.NullN() > 0 {
			return fmt.Errorf("%d rows are null, and nothing says which", d.NullN())
		}
		return nil
	}
	if err := checkLength(valid, int64(d.Len())); err != nil {
		return err
	}
	if n := d.Len() - bitutil.CountSetBits(valid.Bytes(), 0, d.Len()); n != d.NullN() {
		return fmt.Errorf("%d rows are null, and %d are said to be", n, d.NullN())
	}
	return nil
}

// checkOffsets checks offsets of width bytes each, and returns the last one.
func checkOffsets(d arrow.ArrayData, width int) (last int64, at func(i int) int64, err error) {
	n := d.Len()
	b := d.Buffers()[1]
	if n == 0 && (b == nil || b.Len() == 0) {
		return 0, nil, nil
	}
	if b == nil || b.Len() < (n+1)*width {
		return 0, nil, errShort
	}
	raw := b.Bytes()
	at = func(i int) int64 { return int64(int32(binary.LittleEndian.Uint32(raw[4*i:]))) }
	if width == 8 {
		at = func(i int) int64 { return int64(binary.LittleEndian.Uint64(raw[8*i:])) }
	}
	if at(0) != 0 {
		return 0, nil, fmt.Errorf("its first offset is %d: send offsets from 0 on", at(0))
	}
	for i := 1; i <= n; i++ {
		if next := at(i); next < last {
			return 0, nil, fmt.Errorf("offset %d is %d, after %d", i, next, last)
		}
		last = at(i)
	}
	return last, at, nil
}

func checkTexts(d arrow.ArrayData, width int, text bool) error {
	last, at, err := checkOffsets(d, width)
	if err != nil || at == nil {
		return err
	}
	if err := checkLength(d.Buffers()[2], 8*last); err != nil || last == 0 || !text {
		return err
	}
	values := d.Buffers()[2].Bytes()[:last]
	whole := utf8.Valid(values)
	for i := range d.Len() {
		// If all bytes are UTF-8, a text is UTF-8 unless it begins inside of a character.
		if from, to := at(i), at(i+1); from < to && (!whole && !utf8.Valid(values[from:to]) || whole &&
			!utf8.RuneStart(values[from])) {
			return fmt.Errorf("row %d is not UTF-8", i)
		}
	}
	return nil
}

func checkList(d arrow.ArrayData, width int) error {
	last, _, err := checkOffsets(d, width)
	if err != nil {
		return err
	}
	return checkChildren(d, int(last))
}

// checkChildren checks the children of an array, which have at least n values.
func checkChildren(d arrow.ArrayData, n int) error {
	for i, c := range d.Children() {
		if c.Len() < n {
			return fmt.Errorf("its part %d has %d values, not %d", i, c.Len(), n)
		}
		if err := checkArray(c); err != nil {
			return fmt.Errorf("its part %d: %w", i, err)
		}
	}
	return nil
}

// checkUnion checks the member and the offset of each row of a union.
func checkUnion(d arrow.ArrayData, u arrow.UnionType) error {
	n := d.Len()
	if err := checkLength(d.Buffers()[1], 8*int64(n)); err != nil || n == 0 {
		return err
	}
	dense := u.Mode() == arrow.DenseMode
	if dense {
		if err := checkLength(d.Buffers()[2], 32*int64(n)); err != nil {
			return err
		}
	}
	ids := u.ChildIDs()
	for i, code := range d.Buffers()[1].Bytes()[:n] {
		if code > 127 || ids[code] == arrow.InvalidUnionChildID || ids[code] >= len(d.Children()) {
			return fmt.Errorf("row %d is of member %d, which there is not", i, code)
		}
		if !dense {
			continue
		}
		at := int32(binary.LittleEndian.Uint32(d.Buffers()[2].Bytes()[4*i:]))
		if at < 0 || int(at) >= d.Children()[ids[code]].Len() {
			return fmt.Errorf("row %d is value %d of member %d, which has %d", i, at, code,
				d.Children()[ids[code]].Len())
		}
	}
	return nil
}

// checkDictionary checks that each row that is not null is a valid index.
func checkDictionary(d arrow.ArrayData, t *arrow.DictionaryType) error {
	width, ok := t.IndexType.(arrow.FixedWidthDataType)
	if !ok || d.Dictionary() == nil {
		return errors.New("it has no dictionary")
	}
	if err := checkLength(d.Buffers()[1], int64(d.Len())*int64(width.BitWidth())); err != nil {
		return err
	}
	if err := checkArray(d.Dictionary()); err != nil {
		return fmt.Errorf("its dictionary: %w", err)
	}
	signed := arrow.IsSignedInteger(t.IndexType.ID())
	valid := d.Buffers()[0]
	for i := range d.Len() {
		if valid != nil && valid.Len() > 0 && !bitutil.BitIsSet(valid.Bytes(), i) {
			continue
		}
		if v := index(d.Buffers()[1].Bytes(), i, width.BitWidth()/8, signed); v >= uint64(d.Dictionary().Len()) {
			return fmt.Errorf("row %d is value %d of a dictionary of %d", i, int64(v), d.Dictionary().Len())
		}
	}
	return nil
}

// index returns number i of width bytes each. A negative one exceeds any length.
func index(b []byte, i, width int, signed bool) uint64 {
	var word [8]byte
	copy(word[:], b[i*width:(i+1)*width])
	v := binary.LittleEndian.Uint64(word[:])
	if shift := 64 - 8*width; signed {
		return uint64(int64(v<<shift) >> shift)
	}
	return v
}
