package fixed

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// FixedRecords are records of a fixed length that lie in a text from its first byte on, such as
// those of a DBF table, and which of them are rows.
type FixedRecords struct {
	Length  int // bytes of a record, of which the first one is the deletion flag
	Records int
	Flags   int // offset in a record of the field whose bits are flags of other fields, if there is one

	// an element for each record, of which Live ones are overwritten: the numbers of those that are
	// rows, ascending
	Rows gpu.Buffer[int64]
	Live gpu.Buffer[int64] // one element: how many rows there are
}

// What FixedRows, FixedValues and FixedTexts say of records and fields that are for a host to read.
const (
	FixedMalformed uint32 = 1 << (iota + 2) // no value of its type
	FixedOverflow                           // a whole number that its type can't hold
	FixedFraction                           // a number with a point or an exponent where whole ones are expected
	FixedUndecided                          // a number of more than 19 digits, very near to the middle of two float64
	FixedFlag                               // an invalid deletion flag
	FixedHigh                               // a text with a byte from 0x80 on that is no character, or may be none
)

// FixedType is what a field of a record becomes.
type FixedType uint8

// As COLUMN_* of fixed_columns.cu. The last two are for FixedTexts, the others for FixedValues.
const (
	FixedAsInt32       FixedType = iota // text, whole numbers
	FixedAsInt64                        // likewise
	FixedAsFloat64                      // text in the lenient grammar, nan, inf and infinity in any case
	FixedAsDate                         // text, YYYYMMDD
	FixedAsLogical                      // a letter among blanks: a mask
	FixedBinaryInt32                    // four bytes, little-endian
	FixedBinaryFloat64                  // eight bytes; any NaN becomes one
	FixedBinaryMoney                    // an int64, which becomes a decimal128
	// two int32, a Julian day and milliseconds of the day, which become an int64 of milliseconds
	// since 1970-01-01
	FixedBinaryTimestamp
	FixedText     // without the blanks around it
	FixedVariable // as long as its last byte says, if a flag says so
)

// FixedNoFlag is the number of no flag.
const FixedNoFlag = 1<<12 - 1

// FixedColumn is a field of each record.
type FixedColumn struct {
	Type          FixedType
	Offset, Width int // in a record, in bytes
	// numbers of flags, or FixedNoFlag: that a value is null, and that the last byte of a text is
	// its length
	Null, Size int
}

// Words is how many elements the values of n rows have in the buffer that FixedValues takes.
func (t FixedType) Words(rows int) int {
	switch t {
	case FixedAsLogical:
		return kernels.Words(rows)
	case FixedAsInt32, FixedAsDate, FixedBinaryInt32:
		return (rows + 1) / 2
	case FixedBinaryMoney:
		return 2 * rows
	}
	return rows
}

// minWidth is the width that a field must have.
func (t FixedType) minWidth() int {
	switch t {
	case FixedBinaryInt32:
		return 4
	case FixedBinaryFloat64, FixedBinaryMoney, FixedBinaryTimestamp:
		return 8
	}
	return 0
}

// FixedRows finds the records that are rows, by their deletion flags.
//
//	text     the records
//	deleted  whether those are rows that are deleted
//	odd      one element, to which FixedFlag is added where a flag is neither a blank, NUL nor an asterisk
//
//	flag  ' '  '*'  NUL  '*'  ' '
//	rows   0         2         4      not deleted
//
// One launch that reads a 32-byte sector a record, and those of Positions; writes 8 bytes a row.
func FixedRows(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *FixedRecords, deleted bool,
	odd gpu.Buffer[uint32],
) error {
	w := k.Begin(s, "fixed rows")
	x.check(w, text, odd)
	live := kernels.Scratch[uint64](w, kernels.Words(x.Records))
	with := 0
	if deleted {
		with = 1
	}
	w.Launch("fixed_live", kernels.Blocks(int64(x.Records), kernels.Block), kernels.Block, text.Arg(),
		gpu.Int(x.Length),
		gpu.Int(x.Records), gpu.Int(with), live.Arg(), odd.Arg())
	if w.Err == nil {
		kernels.Positions(w, live, kernels.CountTiles(w, live, x.Live), 0, x.Rows)
	}
	return w.Done()
}

// FixedValues makes columns of all types but texts, for the rows of FixedRows.
//
//	text     the records
//	columns  eight at most
//	values   Words(records) elements of the type of each, one column after the other. Those of rows are
//	         overwritten: 0 where there is no value
//	valid    Words(records) words a column, overwritten; bits from the number of rows on are 0
//	odd      one element, to which is added what is odd. Fields that are have no value
//
// A field of blanks (spaces, NULs) is null, and so are a number or a date of asterisks alone, a
// date of zeros, a question mark for a logical, binary times of zeros.
//
// One launch; reads the 32-byte sectors that fields lie in, once from memory where they lie next to
// each other, and 8 bytes a field.
func FixedValues(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *FixedRecords, columns []FixedColumn,
	values gpu.Buffer[uint64], valid kernels.Mask, odd gpu.Buffer[uint32],
) error {
	w := k.Begin(s, "fixed values")
	x.check(w, text, odd)
	w.Need(len(columns) >= 1 && len(columns) <= kernels.ColumnsAtOnce, "%d columns", len(columns))
	w.Need(valid.Len() == kernels.Words(x.Records)*len(columns), "a mask of %d words for %d columns of %d records",
		valid.Len(), len(columns), x.Records)
	words := 0
	for _, c := range columns {
		w.Need(c.Type < FixedText, "a column of texts")
		words += c.Type.Words(x.Records)
	}
	w.Need(values.Len() == words, "%d elements for values of %d", values.Len(), words)
	if w.Err != nil {
		return w.Done()
	}
	of := x.columns(w, text, columns)
	w.Launch("fixed_values", kernels.Blocks(int64(x.Records), kernels.Block)*int64(len(columns)), kernels.Block,
		text.Arg(), x.Rows.Arg(), x.Live.Arg(), gpu.Struct(&of), values.Arg(), valid.Arg(), odd.Arg())
	return w.Done()
}

// FixedTexts returns the spans of columns of text, one column after the other, for MeasureStrings.
//
//	text     the records
//	columns  of FixedText and FixedVariable
//	ascii    whether texts with bytes from 0x80 on are odd
//	starts   an element for each record of each column, overwritten; from the number of rows on, empty spans
//	ends     likewise
//	valid    Words(records) words a column, overwritten: the text is not null, as one of blanks is
//	odd      one element, to which is added what is odd
//
// One launch for up to 8 columns; reads the blanks around the texts, or all of them for ascii, and
// writes 16 bytes a field.
func FixedTexts(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *FixedRecords, columns []FixedColumn,
	ascii bool, starts, ends gpu.Buffer[int64], valid kernels.Mask, odd gpu.Buffer[uint32],
) error {
	w := k.Begin(s, "fixed texts")
	x.check(w, text, odd)
	words, all, plain := kernels.Words(x.Records), x.Records*len(columns), 0
	w.Need(starts.Len() == all && ends.Len() == all, "%d starts and %d ends for %d fields", starts.Len(),
		ends.Len(), all)
	w.Need(valid.Len() == words*len(columns), "a mask of %d words for %d columns of %d records", valid.Len(),
		len(columns), x.Records)
	if ascii {
		plain = 1
	}
	for from := 0; from < len(columns) && w.Err == nil; from += kernels.ColumnsAtOnce {
		end := min(from+kernels.ColumnsAtOnce, len(columns))
		some := columns[from:end]
		for _, c := range some {
			w.Need(c.Type == FixedText || c.Type == FixedVariable, "a column of no texts")
		}
		of := x.columns(w, text, some)
		w.Launch("fixed_texts", kernels.Blocks(int64(x.Records), kernels.Block)*int64(len(some)), kernels.Block,
			text.Arg(), x.Rows.Arg(), x.Live.Arg(), gpu.Struct(&of), gpu.Int(plain),
			starts.Slice(from*x.Records, end*x.Records).Arg(), ends.Slice(from*x.Records, end*x.Records).Arg(),
			valid.Slice(from*words, end*words).Arg(), odd.Arg())
	}
	return w.Done()
}

// check checks that all records lie in text and that there is room for rows.
func (x *FixedRecords) check(w *kernels.Call, text gpu.Buffer[byte], odd gpu.Buffer[uint32]) {
	n := w.CheckText(text)
	w.Need(x.Length >= 1 && x.Records >= 1 && int64(x.Records) <= n/int64(max(1, x.Length)),
		"%d records of %d bytes in %d bytes of text", x.Records, x.Length, n)
	w.Need(x.Rows.Len() == x.Records && x.Live.Len() == 1, "room for %d rows of %d records, and %d numbers of them",
		x.Rows.Len(), x.Records, x.Live.Len())
	w.Need(odd.Len() == 1, "%d elements for what is odd", odd.Len())
}

// The structs of columns.cu.
type (
	fixedColumnRef struct{ at, width, kind, null, size uint32 }
	fixedColumns   struct {
		n, length, records, flags, count int64
		columns                          [kernels.ColumnsAtOnce]fixedColumnRef
	}
)

// columns checks columns, and gives them as kernels take them.
func (x *FixedRecords) columns(w *kernels.Call, text gpu.Buffer[byte], columns []FixedColumn) fixedColumns {
	const limit = 1<<16 - 1 // of an offset and a width
	of := fixedColumns{
		n: w.CheckText(text), length: int64(x.Length), records: int64(x.Records), flags: int64(x.Flags),
		count: int64(len(columns)),
	}
	for i, c := range columns {
		w.Need(c.Offset >= 0 && c.Offset <= limit && c.Width >= c.Type.minWidth() && c.Width <= limit &&
			c.Offset+c.Width <= x.Length, "a field of %d bytes at %d in records of %d", c.Width, c.Offset, x.Length)
		for _, flag := range []int{c.Null, c.Size} {
			w.Need(flag == FixedNoFlag || x.Flags >= 0 && flag >= 0 && flag < FixedNoFlag && x.Flags+
				flag/8 < x.Length, "flag %d at %d in records of %d bytes", flag, x.Flags, x.Length)
		}
		of.columns[i] = fixedColumnRef{
			at: uint32(c.Offset), width: uint32(c.Width), kind: uint32(c.Type), null: uint32(c.Null),
			size: uint32(c.Size),
		}
	}
	return of
}
