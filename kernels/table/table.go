// Package table has the kernels for rows and fields of delimited text.
package table

import (
	"errors"
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// Table is the fields of a text in rows that all have as many.
type Table struct {
	Rows, Columns int
	Closed        bool               // the last byte of the text ends the last row
	Odd           TableOdd           // if not 0, there are no rows
	Starts        gpu.Buffer[int64]  // the first byte of each row
	Stops         gpu.Buffer[uint32] // after the last byte of each field, quotes included: Rows elements a column

	report gpu.Buffer[int64]
	quote  byte
}

// TableOdd is what a text holds that a Table does not.
type TableOdd uint64

// What may be odd about a text.
const (
	TableOpen   TableOdd = 1 << iota // the text ends inside quotes
	TableStray                       // a quote opens where no field starts, or closes where none ends
	TableRagged                      // a row has more or fewer fields
)

// Of the report of table.cu.
const (
	tableStops = iota
	tableRows
	tableOdd
	tableClosed
	tableReport
)

// AllocTable lists the fields of a text that begins where a row does, or with line ends. It waits
// for the device to count them.
//
//	text     n bytes, fewer than 2^31
//	d        what separates fields, and what is around them; rows end with any number of \n and \r, so that
//	         blank lines are no rows
//	columns  how many fields each row has
//
//	text     a , " b , " \r \n \n c , d
//	Starts   0                    8
//	Stops      1         6          9  11      columns: 1 9, 6 11
//
// Where the text holds what a Table does not, nothing is listed, and Odd says why. Of rows that
// have more and fewer fields by turns only StillOdd knows.
//
// The caller frees the result. The time depends on the bytes and the fields, not on the length of a
// row. Reads text once and three eighths of it twice; writes 4 bytes a field and 8 a row.
func AllocTable(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], d Dialect, columns int) (*Table, error) {
	w := k.Begin(s, "table")
	n := w.CheckText(text)
	w.Need(n < math.MaxInt32, "%d bytes of text", n)
	w.Need(columns > 0 && int64(columns) < math.MaxInt32, "%d columns", columns)
	for _, c := range []byte{'\r', '\n', 0, d.Quote} {
		w.Need(d.Delimiter != c, "the delimiter %q", d.Delimiter)
	}
	w.Need(d.Quote != '\r' && d.Quote != '\n', "the quote %q", d.Quote)
	x := &Table{Columns: columns, Closed: true, quote: d.Quote}
	if w.Err == nil && n > 0 {
		x.find(w, text, d)
	}
	if err := w.Done(); err != nil {
		return nil, errors.Join(err, x.Free(s))
	}
	return x, nil
}

// tableSpansArgs is TableSpansArgs of table.cu.
type tableSpansArgs struct {
	n, rows, columns, closed int64
	starts                   gpu.Pointer[int64]
	stops                    gpu.Pointer[uint32]
	report                   gpu.Pointer[int64]
}

// find lists the fields of n > 0 bytes of text.
func (x *Table) find(w *kernels.Call, text gpu.Buffer[byte], d Dialect) {
	n := int64(text.Len())
	words, tiles := kernels.Words(text.Len()), kernels.Blocks(n, kernels.TileBytes)
	masks, tile := kernels.Scratch[uint64](w, 3*words), kernels.Scratch[ktext.QuoteTile](w, int(tiles))
	counts, before := kernels.Scratch[uint32](w, int(2*tiles)), kernels.Scratch[int64](w, int(2*tiles))
	x.report = kernels.Result[int64](w, tableReport)
	if w.Err != nil {
		return
	}
	w.Fail(gpu.Fill(w.Stream, x.report, 0))
	of := func(i int) gpu.Arg { return masks.Slice(i*words, (i+1)*words).Arg() }
	stops, rows := before.Slice(0, int(tiles)), before.Slice(int(tiles), before.Len())
	w.Launch("table_tiles", tiles, kernels.Block, text.Arg(), gpu.Int(n), gpu.Int(d.Delimiter), gpu.Int(d.Quote),
		of(0), of(1), of(2), tile.Arg())
	ktext.JoinQuotes(w, tile, tiles, gpu.Int(0), gpu.Int(0), gpu.Int(0), gpu.Int(0))
	w.Launch("table_counts", tiles, kernels.Block, of(0), of(1), of(2), gpu.Int(n), tile.Arg(),
		counts.Slice(0, int(tiles)).Arg(), counts.Slice(int(tiles), counts.Len()).Arg(), x.report.Arg())
	kernels.Scan(w, counts.Slice(0, int(tiles)), stops, x.report.Slice(tableStops, tableStops+1))
	kernels.Scan(w, counts.Slice(int(tiles), counts.Len()), rows, x.report.Slice(tableRows, tableRows+1))
	if !x.counted(w) {
		return
	}
	x.Starts, x.Stops = kernels.Result[int64](w, int64(x.Rows)), kernels.Result[uint32](w,
		int64(x.Rows)*int64(x.Columns))
	args := tableSpansArgs{
		n: n, rows: int64(x.Rows), columns: int64(x.Columns), starts: x.Starts.Pointer(), stops: x.Stops.Pointer(),
		report: x.report.Pointer(),
	}
	if x.Closed {
		args.closed = 1
	}
	w.Launch("table_spans", tiles, kernels.Block, of(0), of(1), of(2), tile.Arg(), stops.Arg(), rows.Arg(),
		gpu.Struct(&args))
}

// counted waits for the counts, and reports whether there are rows.
func (x *Table) counted(w *kernels.Call) bool {
	if w.Err != nil {
		return false
	}
	report, err := gpu.Read(w.Stream, x.report)
	if w.Err = err; err != nil {
		return false
	}
	rows, stops := report[tableRows], report[tableStops]
	x.Closed = report[tableClosed] != 0
	if x.Odd = TableOdd(report[tableOdd]); x.Odd&TableOpen == 0 && !x.Closed {
		stops++ // the end of the text ends a field
	}
	if stops != rows*int64(x.Columns) {
		x.Odd |= TableRagged
	}
	if x.Odd != 0 {
		return false
	}
	x.Rows = int(rows)
	return rows > 0
}

// StillOdd is one element that is not 0 if a row has more or fewer fields than it should: then what
// Starts and Stops hold is of no use, although all of it lies in the text. It is there once
// AllocTable's work is done.
func (x *Table) StillOdd() gpu.Buffer[int64] { return x.report.Slice(tableOdd, tableOdd+1) }

// Free gives the memory back once the work that s was given before is done.
func (x *Table) Free(s *gpu.Stream) error {
	return errors.Join(x.Starts.Free(s), x.Stops.Free(s), x.report.Free(s))
}
