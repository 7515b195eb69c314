package number

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// Scalars are the single values of a table's columns: strings, numbers, true and false. One column
// lies after the other, each with an element, or a bit, for each row.
//
//	Starts   of the text of each row's value, quotes of strings left out. A row without a value, with null, an
//	         object or an array has an empty span at 0
//	Ends     likewise
//	Valid    Words(rows) words a column: the row has a value, and it is not null
//	Numbers  likewise: it is a number
//	Trues    likewise: it is true
//	Kinds    one element a column: the kinds of all its numbers, as NumberKinds has them
type Scalars struct {
	Starts, Ends          gpu.Buffer[int64]
	Valid, Numbers, Trues kernels.Mask
	Kinds                 gpu.Buffer[uint32]
}

// Some are the columns [from, to) of rows rows.
func (x Scalars) Some(from, to, rows int) Scalars {
	words := kernels.Words(rows)
	return Scalars{
		Starts: x.Starts.Slice(from*rows, to*rows), Ends: x.Ends.Slice(from*rows, to*rows),
		Valid: x.Valid.Slice(from*words, to*words), Numbers: x.Numbers.Slice(from*words, to*words),
		Trues: x.Trues.Slice(from*words, to*words),
		Kinds: x.Kinds.Slice(from, to),
	}
}

// NumberColumn is a column of numbers to be made: one of Int32, Int64 and Float64 has an element
// for each row, and says of which type the column is.
type NumberColumn struct {
	Column  int // its number among the Scalars
	Int32   gpu.Buffer[int32]
	Int64   gpu.Buffer[int64] // also the bits of integers from 2^63 to 2^64-1
	Float64 gpu.Buffer[float64]
}

// As COLUMN_* of scalars.cu.
const (
	columnInt32 = iota
	columnInt64
	columnFloat64
	columnNone
)

// A launch's columns have typeBits bits each for their types, the first one's lowest. noTypes makes
// none of them.
const (
	typeBits = 4
	NoTypes  = columnNone * 0x11111111
)

// out is where the column goes, how long it is, and what its type is.
func (c *NumberColumn) out() (to gpu.Pointer[struct{}], rows int, kind uint32, err error) {
	outs := [...]gpu.Pointer[struct{}]{
		columnInt32:   gpu.Cast[struct{}](c.Int32.Pointer()),
		columnInt64:   gpu.Cast[struct{}](c.Int64.Pointer()),
		columnFloat64: gpu.Cast[struct{}](c.Float64.Pointer()),
	}
	for i, n := range [...]int{columnInt32: c.Int32.Len(), columnInt64: c.Int64.Len(), columnFloat64: c.Float64.Len()} {
		if n > 0 && rows > 0 {
			return gpu.Pointer[struct{}]{}, 0, 0, errors.New("a column of two types")
		}
		if n > 0 {
			to, rows, kind = outs[i], n, uint32(i)
		}
	}
	return to, rows, kind, nil
}

// NumberOutputs are the columns of numbers that a launch makes.
type NumberOutputs struct {
	To     [kernels.ColumnsAtOnce]gpu.Pointer[struct{}]
	Types  uint32
	next   int // place after those that there are
	Floats int // words of undecided bits
}

// Add puts a column of rows rows in place i, behind those that there are.
func (o *NumberOutputs) Add(w *kernels.Call, i int, c *NumberColumn, rows int) {
	to, length, kind, err := c.out()
	w.Fail(err)
	w.Need(length == rows, "a column of %d rows, and one of %d", rows, length)
	w.Need(i >= o.next, "column %d of numbers is not in order", c.Column)
	if w.Err != nil {
		return
	}
	if kind == columnFloat64 {
		o.Floats += kernels.Words(rows)
	}
	o.To[i], o.next = to, i+1
	o.Types ^= (columnNone ^ kind) << (typeBits * i)
}

// ParseNumbers makes columns of numbers. ReadMembers, or NumberKinds, has said that their type
// holds all of them and that none is malformed; what a number that it does not hold becomes is left
// open.
//
//	text       n bytes
//	x          Starts and Ends of the columns; Numbers, or none, and all values are numbers; Trues, or none.
//	           The others are not read
//	columns    where to: all of as many rows
//	undecided  Words(rows) words for each Float64, overwritten: ResolveFloat64 is to read this row's token
//
//	token      7   -0   true   null   18446744073709551615   -0.0   1.5e3
//	Int64      7   0    1      0      -1
//	Float64    7   0    1      0      18446744073709551616   -0.0   1500
//
// A row without a number is 1 for true and else 0. Float64 is bit for bit what ParseFloat64 gives,
// but for the integer -0, which is 0, and for integers of 20 digits, of which none below 2^64 is
// undecided.
//
// One launch for up to 8 columns; reads 16 bytes a row of each and the text under it, and writes 4
// or 8.
func ParseNumbers(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x Scalars, columns []NumberColumn,
	undecided kernels.Mask,
) error {
	w := k.Begin(s, "parse numbers")
	n, all := w.CheckText(text), kernels.CountSpans(w, x.Starts, x.Ends)
	for len(columns) > 0 && w.Err == nil {
		some := columns[:min(kernels.ColumnsAtOnce, len(columns))]
		// The columns of a launch are those whose number is near the first one's: the kernel takes
		// it in 4 bits.
		first := some[0].Column
		for i := range some {
			if some[i].Column < first || some[i].Column >= first+1<<4 {
				some = some[:i]
				break
			}
		}
		undecided = parseNumbers(w, text, n, x, all, some, undecided)
		columns = columns[len(some):]
	}
	w.Need(undecided.Len() == 0, "%d words of undecided bits too many", undecided.Len())
	return w.Done()
}

// scalarsParseArgs is ScalarsParseArgs of scalars.cu.
type scalarsParseArgs struct {
	n, rows      int64
	which, types uint32
	columns      int64
	out          [kernels.ColumnsAtOnce]gpu.Pointer[struct{}]
	undecided    gpu.Pointer[uint64]
}

// parseNumbers is one launch of ParseNumbers, of a text of n bytes and all values in all columns.
// It gives the part of undecided that is left.
func parseNumbers(w *kernels.Call, text gpu.Buffer[byte], n int64, x Scalars, all int64,
	columns []NumberColumn,
	undecided kernels.Mask,
) (left kernels.Mask) {
	outs, which, first := NumberOutputs{Types: NoTypes}, uint32(0), columns[0].Column
	_, rows, _, _ := columns[0].out()
	words := kernels.Words(rows)
	for i := range columns {
		c := &columns[i]
		outs.Add(w, i, c, rows)
		w.Need(c.Column >= 0 && int64(c.Column+1)*int64(rows) <= all, "column %d of %d rows of %d values",
			c.Column, rows, all)
		for _, mask := range []kernels.Mask{x.Numbers, x.Trues} {
			w.Need(mask.Len() == 0 || (c.Column+1)*words <= mask.Len(), "a mask of %d words for column %d of %d rows",
				mask.Len(), c.Column, rows)
		}
		which |= uint32(c.Column-first) << (typeBits * i)
	}
	w.Need(outs.Floats <= undecided.Len(), "%d words of undecided bits, not %d", undecided.Len(), outs.Floats)
	if w.Err != nil || rows == 0 {
		return undecided
	}
	fromFirst := func(mask kernels.Mask) gpu.Arg {
		if mask.Len() == 0 {
			return mask.Arg()
		}
		return mask.Slice(first*words, mask.Len()).Arg()
	}
	args := scalarsParseArgs{
		n: n, rows: int64(rows), which: which, types: outs.Types, columns: int64(len(columns)),
		out: outs.To, undecided: undecided.Pointer(),
	}
	w.Launch("scalars_parse", kernels.Blocks(int64(rows), kernels.Block)*int64(len(columns)), kernels.Block,
		text.Arg(), x.Starts.Slice(first*rows, int(all)).Arg(), x.Ends.Slice(first*rows, int(all)).Arg(),
		fromFirst(x.Numbers), fromFirst(x.Trues), gpu.Struct(&args))
	return undecided.Slice(outs.Floats, undecided.Len())
}
