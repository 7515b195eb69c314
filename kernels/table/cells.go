package table

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// CellLine is how many bytes the line of a field has in addition to those of the field: NULL, or as many
// blanks, and a line feed.
const CellLine = 5

// CellsReport is what CheckCells says of lines.
type CellsReport struct {
	Odd        uint64 // not 0: in some line not exactly one row begins, or a quote stands
	SRIDs      int64  // rows that begin with an s, in any case
	Semicolons int64
}

// CellSpans returns the fields of one column as strings, for MeasureStrings: those that are empty, or
// one of null, nan, na, n/a, none, \n, #n/a and - in any case, with blanks around or not, are empty
// and not valid.
//
//	text    of the table
//	starts  an element a row, overwritten; quotes around a field are left out
//	ends    likewise
//	valid   Words(rows) words, overwritten
//
// One launch; reads 8 bytes and the ends of a field a row, and writes 16.
func CellSpans(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *Table, column int, starts,
	ends gpu.Buffer[int64],
	valid kernels.Mask,
) error {
	w := k.Begin(s, "cell spans")
	w.Need(column >= 0 && column < x.Columns, "column %d of %d", column, x.Columns)
	w.Need(starts.Len() == x.Rows && ends.Len() == x.Rows, "%d starts and %d ends for %d rows", starts.Len(),
		ends.Len(), x.Rows)
	w.CheckBits("valid", valid, int64(x.Rows))
	w.Launch("cells_spans", kernels.Blocks(int64(x.Rows), kernels.Block), kernels.Block,
		kernels.JoinArgs(x.source(w, text), gpu.Int(column),
			starts.Arg(), ends.Arg(), valid.Arg())...)
	return w.Done()
}

// CellLines makes a line of each field of a column: its bytes, blanks and a line feed, or NULL and
// a line feed.
//
//	x        the fields of CellSpans, measured
//	offsets  those of MeasureStrings
//	valid    of CellSpans
//	moved    as many elements as offsets, overwritten: where each line begins, and where the last one ends
//	text     offsets' last, and CellLine bytes a row more; overwritten
//
// Two launches; reads the fields and 24 bytes each, and writes the fields and 13.
func CellLines(k *kernels.Set, s *gpu.Stream, x *ktext.Strings, offsets gpu.Buffer[int64], valid kernels.Mask,
	moved gpu.Buffer[int64],
	text gpu.Buffer[byte],
) error {
	w := k.Begin(s, "cell lines")
	rows := int64(offsets.Len()) - 1
	w.Need(rows >= 0 && moved.Len() == offsets.Len(), "%d places for %d offsets", moved.Len(), offsets.Len())
	w.Need(int64(text.Len()) >= rows*CellLine, "%d bytes for %d lines", text.Len(), rows)
	w.CheckBits("valid", valid, rows)
	w.Launch("cells_lines", kernels.Blocks(rows+1, kernels.Block), kernels.Block, offsets.Arg(), valid.Arg(),
		gpu.Int(rows),
		moved.Arg(), text.Arg())
	if w.Err == nil {
		w.Err = ktext.GatherStrings(k, s, x.At(moved), text, gpu.Buffer[int32]{})
	}
	return w.Done()
}

// CheckCells reports whether rows that were found in lines are one for each field.
//
//	text    the lines of CellLines
//	moved   of CellLines
//	first   the first byte of each row that is no blank, as many as there are lines
//	report  one element, overwritten
//
// Two launches; reads the text and 16 bytes a row.
func CheckCells(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], moved, first gpu.Buffer[int64],
	report gpu.Buffer[CellsReport],
) error {
	w := k.Begin(s, "check cells")
	n := w.CheckText(text)
	w.Need(moved.Len() == first.Len()+1, "%d rows in %d lines", first.Len(), moved.Len()-1)
	w.Need(report.Len() == 1, "%d reports", report.Len())
	if w.Err == nil {
		w.Err = gpu.Fill(s, report, 0)
	}
	w.Launch("cells_rows", kernels.Blocks(int64(first.Len()), kernels.Block), kernels.Block, text.Arg(),
		gpu.Int(n), moved.Arg(),
		first.Arg(), gpu.Int(first.Len()), report.Arg())
	w.Launch("cells_marks", kernels.Blocks(n, kernels.TileBytes), kernels.Block, text.Arg(), gpu.Int(n), report.Arg())
	return w.Done()
}
