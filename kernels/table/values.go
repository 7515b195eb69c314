package table

import (
	"errors"
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// What TableKinds says of fields, next to NumberInt32, NumberInt64 with NumberNegative and
// NumberInexact, NumberReal, and NumberUndecided: a field so long, or a number so near to another,
// that a host is to look.
const (
	FieldText  uint32 = 1 << (iota + 10)
	FieldBool         // true and false, in any case
	FieldEmpty        // in quotes, with nothing in them
	FieldWrong        // of TablePoints: an ordinate that is no finite number
	FieldDate         // YYYY-MM-DD or YYYY/MM/DD, of the calendar, with nothing around it
)

// TableType is what the fields of a column become.
type TableType uint8

// As TABLE_* of table_values.cu. Of TableBool a mask is made.
const (
	TableInt32 TableType = iota
	TableInt64
	TableFloat64
	TableBool
)

// TableColumn is a column to be parsed: the buffer of its type has an element for each row, or a
// bit.
type TableColumn struct {
	Column  int
	Type    TableType
	Int32   gpu.Buffer[int32]
	Int64   gpu.Buffer[int64]
	Float64 gpu.Buffer[float64]
	Bool    kernels.Mask
}

// source is what the kernels know the fields by.
func (x *Table) source(w *kernels.Call, text gpu.Buffer[byte]) []gpu.Arg {
	n := w.CheckText(text)
	return []gpu.Arg{text.Arg(), gpu.Int(n), x.Starts.Arg(), x.Stops.Arg(), gpu.Int(x.Rows), gpu.Int(x.quote)}
}

// TableKinds reports which kinds of values the columns of a table have, all rows of each together.
//
//	text   of the table
//	kinds  one element a column, overwritten
//
//	field  5      -7              .5    2.    -0    true  007   1e999  "a"
//	kinds  Int32  Int32 Negative  Real  Real  Real  Bool  Text  Text   Text
//
//	field  ""     (nothing)       nan   2024-02-29   2023-02-29
//	kinds  Empty  0               Real  Date         Text
//
// A number may have blanks around it, and quotes. It is one of GrammarLenient, or nan, inf or -inf
// in any case; but zeros in front, integers beyond int64 and numbers beyond float64 are text, as
// identifiers have them.
//
// One launch; reads 8 bytes and the text of each field.
func TableKinds(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *Table, kinds gpu.Buffer[uint32]) error {
	w := k.Begin(s, "table kinds")
	w.Need(kinds.Len() == x.Columns, "kinds of %d columns, of %d", kinds.Len(), x.Columns)
	if w.Err == nil {
		w.Err = gpu.Fill(s, kinds, 0)
	}
	if x.Rows > 0 {
		w.Launch("table_kinds", kernels.Blocks(int64(x.Rows), kernels.Block)*int64(x.Columns), kernels.Block,
			kernels.JoinArgs(x.source(w, text), gpu.Int(x.Columns), kinds.Arg())...)
	}
	return w.Done()
}

// ParseTable makes columns of numbers and booleans, of which TableKinds has said that their type
// holds all fields.
//
//	text     of the table
//	columns  where to: overwritten. A field without a value is 0
//	valid    Words(rows) words a column, overwritten: the field has a value
//	odd      one element, to which NumberUndecided is added if some float64 is to be found by a host
//
// One launch for up to 8 columns; reads 8 bytes and the text of each field.
func ParseTable(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *Table, columns []TableColumn,
	valid kernels.Mask,
	odd gpu.Buffer[uint32],
) error {
	w := k.Begin(s, "parse table")
	words := kernels.Words(x.Rows)
	w.Need(valid.Len() == words*len(columns), "a mask of %d words for %d columns of %d rows", valid.Len(),
		len(columns), x.Rows)
	w.Need(odd.Len() == 1, "%d elements for what is odd", odd.Len())
	for from := 0; from < len(columns) && x.Rows > 0 && w.Err == nil; from += kernels.ColumnsAtOnce {
		some := columns[from:min(from+kernels.ColumnsAtOnce, len(columns))]
		table := x.columns(w, text, len(some))
		args := tableParseArgs{
			valid: valid.Slice(from*words, (from+len(some))*words).Pointer(), odd: odd.Pointer(),
		}
		for i := range some {
			args.out[i] = some[i].out(w, x)
			table.columns[i] = tableColumnRef{number: uint32(some[i].Column), kind: uint32(some[i].Type)}
		}
		x.launch(w, "table_parse", text, &table, gpu.Struct(&args))
	}
	return w.Done()
}

// out is where the column goes.
func (c *TableColumn) out(w *kernels.Call, x *Table) gpu.Pointer[struct{}] {
	want := x.Rows
	if c.Type == TableBool {
		want = kernels.Words(x.Rows)
	}
	to, have := gpu.Cast[struct{}](c.Bool.Pointer()), c.Bool.Len()
	switch c.Type {
	case TableInt32:
		to, have = gpu.Cast[struct{}](c.Int32.Pointer()), c.Int32.Len()
	case TableInt64:
		to, have = gpu.Cast[struct{}](c.Int64.Pointer()), c.Int64.Len()
	case TableFloat64:
		to, have = gpu.Cast[struct{}](c.Float64.Pointer()), c.Float64.Len()
	}
	w.Need(have == want, "%d elements for a column of %d rows", have, x.Rows)
	w.Need(c.Column >= 0 && c.Column < x.Columns, "column %d of %d", c.Column, x.Columns)
	return to
}

// The structs of values.cu.
type (
	tableColumnRef struct{ number, kind uint32 }
	tableColumns   struct {
		n, rows, quote, count int64
		columns               [kernels.ColumnsAtOnce]tableColumnRef
	}
	tableParseArgs struct {
		out   [kernels.ColumnsAtOnce]gpu.Pointer[struct{}]
		valid gpu.Pointer[uint64]
		odd   gpu.Pointer[uint32]
	}
	tableDatesArgs struct {
		days        gpu.Pointer[int32]
		valid       gpu.Pointer[uint64]
		first, last gpu.Pointer[int32]
	}
	tableTextsArgs struct {
		from, to gpu.Pointer[int64]
		valid    gpu.Pointer[uint64]
	}
)

// TableDates makes columns of dates, of which TableKinds has said that they hold nothing else.
//
//	text     of the table
//	columns  which ones
//	days     an element for each row of each, one column after the other, overwritten: days since 1970-01-01;
//	         0 for a field without a value
//	valid    Words(rows) words a column, overwritten: the field has a value
//	first    an element a column, overwritten: its first day. Of a column without a value it is after last
//	last     likewise
//
// One launch for up to 8 columns; reads 8 bytes and 10 of text a field, and writes 4.
func TableDates(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *Table, columns []int, days gpu.Buffer[int32],
	valid kernels.Mask, first, last gpu.Buffer[int32],
) error {
	w := k.Begin(s, "table dates")
	words, all := kernels.Words(x.Rows), x.Rows*len(columns)
	w.Need(days.Len() == all, "%d days for %d fields", days.Len(), all)
	w.Need(valid.Len() == words*len(columns), "a mask of %d words for %d columns of %d rows", valid.Len(),
		len(columns), x.Rows)
	w.Need(first.Len() == len(columns) && last.Len() == len(columns), "%d first and %d last days of %d columns",
		first.Len(), last.Len(), len(columns))
	if w.Err == nil {
		w.Err = errors.Join(gpu.Fill(s, first, 0x7f), gpu.Fill(s, last, 0x80))
	}
	x.launchColumns(w, "table_dates", text, columns, func(from, end int) gpu.Arg {
		return gpu.Struct(&tableDatesArgs{
			days:  days.Slice(from*x.Rows, end*x.Rows).Pointer(),
			valid: valid.Slice(from*words, end*words).Pointer(),
			first: first.Slice(from, end).Pointer(), last: last.Slice(from, end).Pointer(),
		})
	})
	return w.Done()
}

// TableTexts returns the spans of columns of text, one column after the other, for MeasureStrings.
//
//	text     of the table
//	columns  which ones
//	starts   an element for each row of each; quotes around a field are left out, those in it are doubled
//	ends     likewise
//	valid    Words(rows) words a column, overwritten: the field has bytes, or stands in quotes
//
// One launch for up to 8 columns; reads 8 bytes and two bytes of text a field, and writes 16.
func TableTexts(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *Table, columns []int, starts,
	ends gpu.Buffer[int64], valid kernels.Mask,
) error {
	w := k.Begin(s, "table texts")
	words, all := kernels.Words(x.Rows), x.Rows*len(columns)
	w.Need(starts.Len() == all && ends.Len() == all, "%d starts and %d ends for %d fields", starts.Len(),
		ends.Len(), all)
	w.Need(valid.Len() == words*len(columns), "a mask of %d words for %d columns of %d rows", valid.Len(),
		len(columns), x.Rows)
	x.launchColumns(w, "table_texts", text, columns, func(from, end int) gpu.Arg {
		return gpu.Struct(&tableTextsArgs{
			from:  starts.Slice(from*x.Rows, end*x.Rows).Pointer(),
			to:    ends.Slice(from*x.Rows, end*x.Rows).Pointer(),
			valid: valid.Slice(from*words, end*words).Pointer(),
		})
	})
	return w.Done()
}

// launchColumns launches a kernel for columns, as many at a time as a launch takes. out is where
// those of columns[from:end] go.
func (x *Table) launchColumns(w *kernels.Call, kernel string, text gpu.Buffer[byte], columns []int,
	out func(from, end int) gpu.Arg,
) {
	for from := 0; from < len(columns) && x.Rows > 0 && w.Err == nil; from += kernels.ColumnsAtOnce {
		end := min(from+kernels.ColumnsAtOnce, len(columns))
		table := x.columns(w, text, end-from)
		for i, column := range columns[from:end] {
			w.Need(column >= 0 && column < x.Columns, "column %d of %d", column, x.Columns)
			table.columns[i].number = uint32(column)
		}
		x.launch(w, kernel, text, &table, out(from, end))
	}
}

// columns is the table as kernels take it, with columns to be set.
func (x *Table) columns(w *kernels.Call, text gpu.Buffer[byte], count int) tableColumns {
	return tableColumns{n: w.CheckText(text), rows: int64(x.Rows), quote: int64(x.quote), count: int64(count)}
}

// launch launches a kernel for the columns of a table.
func (x *Table) launch(w *kernels.Call, kernel string, text gpu.Buffer[byte], table *tableColumns, args gpu.Arg) {
	w.Launch(kernel, kernels.Blocks(table.rows, kernels.Block)*table.count, kernels.Block, text.Arg(), x.Starts.Arg(),
		x.Stops.Arg(), gpu.Struct(table), args)
}

// TableOffsets gives each of several columns of text its own offsets.
//
//	offsets  of the texts of all columns, one column after the other, and of all their bytes
//	rows     of each
//	narrow   rows + 1 elements a column, overwritten
//
//	offsets  0 2 5 | 5 9 9     rows 2, columns 2; the 5 is in both
//	         0 2 5 9 9
//	narrow   0 2 5 0 4 4
func TableOffsets(k *kernels.Set, s *gpu.Stream, offsets gpu.Buffer[int64], rows int, narrow gpu.Buffer[int32]) error {
	w := k.Begin(s, "table offsets")
	columns := narrow.Len() / (rows + 1)
	w.Need(columns*(rows+1) == narrow.Len() && columns*rows+1 == offsets.Len(), "%d offsets of %d rows to %d",
		offsets.Len(), rows, narrow.Len())
	w.Need(offsets.Len() <= math.MaxInt32, "%d offsets", offsets.Len())
	w.Launch("table_offsets", kernels.Blocks(int64(narrow.Len()), kernels.Block), kernels.Block, offsets.Arg(),
		gpu.Int(rows),
		gpu.Int(columns), narrow.Arg())
	return w.Done()
}

// TablePoints makes points of two columns.
//
//	text   of the table
//	x, y   columns of ordinates: finite numbers of GrammarLenient, or nothing: an empty field, or one of null,
//	       nan, na, n/a, none, \n, #n/a and -, in any case
//	outX   an element a row, overwritten; 0 if one of the two is nothing
//	outY   likewise
//	valid  Words(rows) words, overwritten: there is a point
//	odd    one element, to which FieldWrong is added if an ordinate is neither, and NumberUndecided if a host
//	       is to look
//
// One launch; reads 16 bytes and the text of two fields a row, and writes 16.
func TablePoints(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], t *Table, x, y int, outX,
	outY gpu.Buffer[float64],
	valid kernels.Mask, odd gpu.Buffer[uint32],
) error {
	w := k.Begin(s, "table points")
	w.Need(x >= 0 && x < t.Columns && y >= 0 && y < t.Columns, "columns %d and %d of %d", x, y, t.Columns)
	w.Need(outX.Len() == t.Rows && outY.Len() == t.Rows, "%d and %d ordinates for %d rows", outX.Len(),
		outY.Len(), t.Rows)
	w.CheckBits("valid", valid, int64(t.Rows))
	w.Need(odd.Len() == 1, "%d elements for what is odd", odd.Len())
	w.Launch("table_points", kernels.Blocks(int64(t.Rows), kernels.Block), kernels.Block,
		kernels.JoinArgs(t.source(w, text), gpu.Int(x),
			gpu.Int(y), outX.Arg(), outY.Arg(), valid.Arg(), odd.Arg())...)
	return w.Done()
}
