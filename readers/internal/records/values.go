package records

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/bitutil"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// rows is a run of rows of an array.
type rows struct {
	data     arrow.ArrayData
	from, to int // without data.Offset()
}

// at returns where row i of the array is in its buffers.
func (r rows) at(i int) int { return r.data.Offset() + r.from + i }

func (r rows) len() int { return r.to - r.from }

var errUTF8 = errors.New("a string that is not UTF-8")

var errShort = errors.New("a buffer is shorter than the rows that it is for")

// buffer returns buffer i, or nil.
func (r rows) buffer(i int) []byte {
	b := r.data.Buffers()
	if i >= len(b) || b[i] == nil {
		return nil
	}
	return b[i].Bytes()
}

// validity returns the canonical bitmap of the rows, and how many are null.
func (r rows) validity() (valid []byte, nulls int, err error) {
	b, n := r.buffer(0), r.len()
	if b == nil || r.data.NullN() == 0 {
		if r.data.NullN() > 0 {
			return nil, 0, errors.New("nulls without a bitmap")
		}
		return nil, 0, nil
	}
	if len(b) < (r.at(n)+7)/8 {
		return nil, 0, errShort
	}
	if nulls = n - bitutil.CountSetBits(b, r.at(0), n); nulls == 0 {
		return nil, 0, nil
	}
	return bitsOf(b, r.at(0), n), nulls, nil
}

// bitsOf copies n bits from bit at on to bit 0; those after them are zero.
func bitsOf(b []byte, at, n int) []byte {
	out := make([]byte, (n+7)/8)
	bitutil.CopyBitmap(b, at, n, out, 0)
	if n&7 != 0 {
		out[len(out)-1] &= 1<<(n&7) - 1
	}
	return out
}

func has(valid []byte, i int) bool { return valid == nil || valid[i>>3]>>(i&7)&1 == 1 }

// fixed returns values of a fixed width. Unchanged slices are shared with the array.
func (r rows) fixed(t arrow.FixedWidthDataType) (geoarrow.Column, error) {
	c := geoarrow.Column{Type: t}
	var err error
	if c.Valid, c.Nulls, err = r.validity(); err != nil {
		return c, err
	}
	n, b := r.len(), r.buffer(1)
	if t.ID() == arrow.BOOL {
		if len(b) < (r.at(n)+7)/8 {
			return c, errShort
		}
		c.Values = bitsOf(b, r.at(0), n)
		for i := range c.Valid {
			c.Values[i] &= c.Valid[i]
		}
		return c, nil
	}
	width := t.BitWidth() / 8
	if len(b)/width < r.at(n) {
		return c, errShort
	}
	c.Values = b[r.at(0)*width : r.at(n)*width : r.at(n)*width]
	if n == 0 {
		c.Values = nil
	}
	if c.Nulls > 0 {
		c.Values = append([]byte(nil), c.Values...)
		for i := range n {
			if !has(c.Valid, i) {
				clear(c.Values[i*width : (i+1)*width])
			}
		}
	}
	c.Values = canonicalNaN(c.Values, t, c.Nulls > 0)
	return c, nil
}

// canonicalNaN replaces every NaN by the positive quiet one without payload. own: the values may be
// modified.
func canonicalNaN(b []byte, t arrow.DataType, own bool) []byte {
	switch t.ID() {
	case arrow.FLOAT64:
		return setNaN(b, 8, own, func(p []byte) bool {
			v := math.Float64frombits(le64(p))
			return v != v
		}, []byte{6: 0xf8, 7: 0x7f})
	case arrow.FLOAT32:
		return setNaN(b, 4, own, func(p []byte) bool {
			v := math.Float32frombits(le32(p))
			return v != v
		}, []byte{2: 0xc0, 3: 0x7f})
	}
	return b
}

func setNaN(b []byte, width int, own bool, isNaN func([]byte) bool, nan []byte) []byte {
	for at := 0; at < len(b); at += width {
		p := b[at : at+width]
		if !isNaN(p) || string(p) == string(nan) {
			continue
		}
		if !own {
			b, own = append([]byte(nil), b...), true
		}
		copy(b[at:], nan)
	}
	return b
}

func le32(p []byte) uint32 {
	return uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16 | uint32(p[3])<<24
}

func le64(p []byte) uint64 { return uint64(le32(p)) | uint64(le32(p[4:]))<<32 }

// offset reads offset i of a buffer of offsets of n bytes.
func offset(b []byte, width, i int) int64 {
	if width == 4 {
		return int64(int32(le32(b[4*i:])))
	}
	return int64(le64(b[8*i:]))
}

// spans returns where the elements of rows are, of lists and texts: ends[i] and ends[i+1] bound
// those of row i. There are at most most elements.
func (r rows) spans(width int, most int64) (ends []int64, err error) {
	b, n := r.buffer(1), r.len()
	if n == 0 {
		return make([]int64, 1), nil
	}
	if len(b)/width < r.at(n)+1 {
		return nil, errShort
	}
	ends = make([]int64, n+1)
	for i := range ends {
		ends[i] = offset(b, width, r.at(i))
		if ends[i] < 0 || i > 0 && ends[i] < ends[i-1] {
			return nil, fmt.Errorf("offset %d of row %d: offsets begin at 0 and never fall", ends[i], i)
		}
	}
	if ends[n] > most {
		return nil, fmt.Errorf("offset %d is beyond the %d elements that there are", ends[n], most)
	}
	return ends, nil
}

// offsetWidth returns the width of an Arrow type's offsets.
func offsetWidth(id arrow.Type) int {
	switch id {
	case arrow.LARGE_STRING, arrow.LARGE_BINARY, arrow.LARGE_LIST:
		return 8
	}
	return 4
}

// texts returns strings or bytes, whose offsets have 32 bits or 64.
func (r rows) texts(t arrow.DataType) (geoarrow.Column, error) {
	c := geoarrow.Column{Type: t}
	var err error
	if c.Valid, c.Nulls, err = r.validity(); err != nil {
		return c, err
	}
	values := r.buffer(2)
	ends, err := r.spans(offsetWidth(r.data.DataType().ID()), int64(len(values)))
	if err != nil {
		return c, err
	}
	n := r.len()
	c.Offsets = make([]int32, n+1)
	var size int64
	compact := true // nulls have no bytes
	for i := range n {
		if has(c.Valid, i) {
			size += ends[i+1] - ends[i]
		} else if ends[i+1] > ends[i] {
			compact = false
		}
		if size > math.MaxInt32 {
			return c, geoarrow.ErrBatchTooLarge
		}
		c.Offsets[i+1] = int32(size)
	}
	if size > 0 && compact {
		c.Values = values[ends[0]:ends[n]:ends[n]]
	} else if size > 0 {
		c.Values = make([]byte, 0, size)
		for i := range n {
			if has(c.Valid, i) {
				c.Values = append(c.Values, values[ends[i]:ends[i+1]]...)
			}
		}
	}
	return c, checkText(&c, n)
}

// rowError is an error of one row of a run.
type rowError struct {
	row int
	err error
}

func (e *rowError) Error() string { return e.err.Error() }

func (e *rowError) Unwrap() error { return e.err }

// checkText checks that each row of a column of strings is UTF-8.
func checkText(c *geoarrow.Column, n int) error {
	if c.Type.ID() != arrow.STRING {
		return nil
	}
	whole := utf8.Valid(c.Values)
	for i := range n {
		text := c.Values[c.Offsets[i]:c.Offsets[i+1]]
		if whole && (len(text) == 0 || utf8.RuneStart(text[0])) {
			continue
		}
		if !utf8.Valid(text) || whole { // otherwise it begins within a character
			return &rowError{i, errUTF8}
		}
	}
	return nil
}

// pick returns rows of a column by their numbers, which may repeat; -1 is a null. Strings beyond 2
// GiB give geoarrow.ErrBatchTooLarge.
func pick(c *geoarrow.Column, numbers []int) (geoarrow.Column, error) {
	n := len(numbers)
	out := geoarrow.Column{Type: c.Type}
	valid := make([]byte, (n+7)/8)
	for i, k := range numbers {
		if k >= 0 && has(c.Valid, k) {
			valid[i>>3] |= 1 << (i & 7)
		}
	}
	for _, b := range valid {
		out.Nulls += bits.OnesCount8(b)
	}
	if out.Nulls = n - out.Nulls; out.Nulls > 0 {
		out.Valid = valid
	}
	switch t := c.Type.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		return out, pickTexts(&out, c, numbers)
	case *arrow.BooleanType:
		out.Values = make([]byte, (n+7)/8)
		for i, k := range numbers {
			if k >= 0 {
				out.Values[i>>3] |= c.Values[k>>3] >> (k & 7) & 1 << (i & 7)
			}
		}
	case arrow.FixedWidthDataType:
		width := t.BitWidth() / 8
		out.Values = make([]byte, n*width)
		for i, k := range numbers {
			if k >= 0 {
				copy(out.Values[i*width:(i+1)*width], c.Values[k*width:])
			}
		}
	default:
		return out, fmt.Errorf("%v in a dictionary", c.Type)
	}
	return out, nil
}

func pickTexts(out, c *geoarrow.Column, numbers []int) error {
	var size int64
	out.Offsets = make([]int32, len(numbers)+1)
	for i, k := range numbers {
		if k >= 0 {
			size += int64(c.Offsets[k+1] - c.Offsets[k])
		}
		if size > math.MaxInt32 {
			return geoarrow.ErrBatchTooLarge
		}
		out.Offsets[i+1] = int32(size)
	}
	if size > 0 {
		out.Values = make([]byte, 0, size)
		for _, k := range numbers {
			if k >= 0 {
				out.Values = append(out.Values, c.Values[c.Offsets[k]:c.Offsets[k+1]]...)
			}
		}
	}
	return nil
}
