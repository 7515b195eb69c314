// Package fixed has the kernels for fields of fixed width, as in DBF.
package fixed

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
)

// FixedField is one field of records of fixed length, such as a column of a DBF table.
//
//	text   | header | record 0      | record 1      | ...
//	                ^ First         ^ First + Stride
//	                | ...| Width |  |
//	                ^ Offset
type FixedField struct {
	First   int64 // the first byte of record 0
	Stride  int64 // bytes of a record
	Offset  int64 // of the field in its record
	Width   int   // bytes of the field
	Records int
}

// maxFixedWidth is the widest field, in bytes. DBF's are of 255 at most.
const maxFixedWidth = kernels.MaxNumberBytes

// FixedFloat64 reads a field of decimal numbers, as ParseFloat64 reads tokens in the lenient
// grammar.
//
//	to         overwritten; ResolveFloat64, with the spans of FixedSpans, reads what stays undecided
//	malformed  Words(records) words, overwritten: fields that are neither a number within the range of float64
//	           nor null
//
//	field      "  -1.50"   "        "   "********"   "N/A"   "1,5"
//	out        -1.5        NaN          NaN          NaN     NaN
//	valid      1           .            .            .       .
//	malformed  .           .            .            1       1
//
// A field of blanks (spaces, NULs) is null, and so is one of asterisks alone. One launch; reads a
// record's 32-byte sectors that the field lies in, one or two for a field of up to 32 bytes, and
// writes 8 bytes and 3 bits.
func FixedFloat64(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], f FixedField, to knumber.Float64s,
	malformed kernels.Mask,
) error {
	w := k.Begin(s, "fixed float64")
	to.Check(w, int64(f.Records))
	w.CheckBits("malformed", malformed, int64(f.Records))
	args := f.args(w, text)
	fixed(w, "fixed_float64", f, kernels.JoinArgs(args, to.Out.Arg(), to.Valid.Arg(), malformed.Arg(),
		to.Undecided.Arg())...)
	return w.Done()
}

// FixedSpans returns the field of each record without the blanks around it; a field of blanks is an
// empty span in the text.
func FixedSpans(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], f FixedField, starts,
	ends gpu.Buffer[int64],
) error {
	w := k.Begin(s, "fixed spans")
	w.Need(starts.Len() == f.Records && ends.Len() == f.Records, "%d starts and %d ends for %d records",
		starts.Len(), ends.Len(), f.Records)
	args := f.args(w, text)
	fixed(w, "fixed_spans", f, kernels.JoinArgs(args, starts.Arg(), ends.Arg())...)
	return w.Done()
}

// FixedInt64s are the results of FixedInt64. Masks have Words(records) words. A field that is in no
// mask is null.
type FixedInt64s struct {
	Out       gpu.Buffer[int64] // one element a record, 0 where it is not valid
	Valid     kernels.Mask
	Malformed kernels.Mask // neither a number nor null
	Overflow  kernels.Mask // a whole number beyond int64
	Fraction  kernels.Mask // a number with digits after a point, or with an exponent: for FixedFloat64
}

// FixedInt64 reads a field of whole numbers, nulls as in FixedFloat64. A point with nothing after
// it is allowed.
//
//	field     "   12"   " +7."   "1.5"      "9223372036854775808"   "12 3"
//	          12        7        fraction   overflow                malformed
//
// One launch; reads as FixedFloat64, writes 8 bytes and 4 bits a record.
func FixedInt64(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], f FixedField, to FixedInt64s) error {
	w := k.Begin(s, "fixed int64")
	w.Need(to.Out.Len() == f.Records, "%d values for %d records", to.Out.Len(), f.Records)
	w.CheckBits("valid", to.Valid, int64(f.Records))
	w.CheckBits("malformed", to.Malformed, int64(f.Records))
	w.CheckBits("overflow", to.Overflow, int64(f.Records))
	w.CheckBits("fraction", to.Fraction, int64(f.Records))
	args := f.args(w, text)
	fixed(w, "fixed_int64", f, kernels.JoinArgs(args, to.Out.Arg(), to.Valid.Arg(), to.Malformed.Arg(),
		to.Overflow.Arg(),
		to.Fraction.Arg())...)
	return w.Done()
}

// FixedDate reads a field of 8 bytes, YYYYMMDD, as Arrow's date32.
//
//	days       since 1970-01-01 in the proleptic Gregorian calendar, one element a record, 0 where it is not valid
//	valid      Words(records) words, overwritten
//	malformed  likewise: neither a date of the calendar nor null
//
//	field      "20261121"   "00000000"   "        "   "20261399"   "2026-3-6"
//	days       20778        0            0            0            0
//	malformed  .            .            .            1            1
//
// One launch; reads as FixedFloat64, writes 4 bytes and 2 bits a record.
func FixedDate(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], f FixedField, days gpu.Buffer[int32], valid,
	malformed kernels.Mask,
) error {
	w := k.Begin(s, "fixed date")
	w.Need(f.Width == 8, "dates of %d bytes", f.Width)
	w.Need(days.Len() == f.Records, "%d days for %d records", days.Len(), f.Records)
	w.CheckBits("valid", valid, int64(f.Records))
	w.CheckBits("malformed", malformed, int64(f.Records))
	args := f.args(w, text)
	fixed(w, "fixed_date", f, args[0], args[1], args[2], args[3], args[5], days.Arg(), valid.Arg(), malformed.Arg())
	return w.Done()
}

// FixedLogical reads a field of one byte: T, t, Y and y are true, F, f, N and n false, and ?, * and
// blanks null.
//
//	out        Words(records) words, overwritten: a bit a record, 0 where it is not valid
//	valid      likewise
//	malformed  likewise: another byte
//
// One launch; reads one 32-byte sector a record, writes 3 bits.
func FixedLogical(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], f FixedField, out, valid,
	malformed kernels.Mask,
) error {
	w := k.Begin(s, "fixed logical")
	w.Need(f.Width == 1, "logicals of %d bytes", f.Width)
	w.CheckBits("values", out, int64(f.Records))
	w.CheckBits("valid", valid, int64(f.Records))
	w.CheckBits("malformed", malformed, int64(f.Records))
	args := f.args(w, text)
	fixed(w, "fixed_logical", f, args[0], args[2], args[3], args[5], out.Arg(), valid.Arg(), malformed.Arg())
	return w.Done()
}

// FixedDeleted finds the records that are deleted: their flag, a field of one byte, is an asterisk.
//
//	deleted  Words(records) words, overwritten
//
// One launch; reads one 32-byte sector a record, writes a bit.
func FixedDeleted(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], f FixedField, deleted kernels.Mask) error {
	w := k.Begin(s, "fixed deleted")
	w.Need(f.Width == 1, "flags of %d bytes", f.Width)
	w.CheckBits("deleted", deleted, int64(f.Records))
	args := f.args(w, text)
	fixed(w, "fixed_equal", f, args[0], args[2], args[3], args[5], gpu.Int(byte('*')), deleted.Arg())
	return w.Done()
}

// args checks that every record's field lies in text and gives what kernels take: text, n, the
// first field, stride, width, records.
func (f FixedField) args(w *kernels.Call, text gpu.Buffer[byte]) []gpu.Arg {
	n := w.CheckText(text)
	w.Need(f.Records >= 0, "%d records", f.Records)
	w.Need(f.Width >= 1 && f.Width <= maxFixedWidth, "a field of %d bytes", f.Width)
	w.Need(f.Offset >= 0 && f.Offset <= f.Stride-int64(f.Width), "a field of %d bytes at %d in records of %d",
		f.Width, f.Offset, f.Stride)
	w.Need(f.First >= 0, "records from byte %d on", f.First)
	// The last record may end with this field. Quotients, since a header's numbers may be anything.
	if w.Err == nil && f.Records > 0 {
		room := n - f.First - f.Offset - int64(f.Width)
		w.Need(f.First <= n && f.Offset <= n && room >= 0 && int64(f.Records-1) <= room/f.Stride,
			"%d records of %d bytes from byte %d on in %d bytes of text", f.Records, f.Stride, f.First, n)
	}
	return []gpu.Arg{
		text.Arg(), gpu.Int(n), gpu.Int(f.First + f.Offset), gpu.Int(f.Stride), gpu.Int(f.Width),
		gpu.Int(f.Records),
	}
}

// fixed launches a thread a record.
func fixed(w *kernels.Call, name string, f FixedField, args ...gpu.Arg) {
	w.Launch(name, kernels.Blocks(int64(f.Records), kernels.Block), kernels.Block, args...)
}
