package table

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// Dialect says which bytes separate fields and quote them. Rows end with \n, \r\n or \r.
type Dialect struct {
	Delimiter byte
	Quote     byte // 0: none
}

// RowCarry is what the text before a chunk says of its first byte. The zero value is the start of a
// file.
type RowCarry struct {
	Bits uint32 // 1: no field starts there; 2: the byte before closes a quote
}

// RowMasks are the masks of text in rows.
type RowMasks struct {
	Ends       kernels.Mask // the last byte of each line end: \n, or an \r that no \n follows
	Delimiters kernels.Mask
	// quotes that open where no field starts or close where none ends; none where quotes are none
	Stray kernels.Mask
}

// EndOfFile is the byte after the last chunk.
const EndOfFile = -1

// Rows finds rows and fields outside quotes.
//
//	text    n bytes
//	inside  QuoteParity's mask of doubled quotes, or none: then quotes are bytes like others
//	next    the byte after text, or EndOfFile: an \r at the end of text is a line end unless next is \n
//	m       Words(n) words each, overwritten. Stray may be none
//	carry   one element or none
//
//	text        a , " b , c " \r \n 5 " , x
//	inside      . . 1 1 1 1 . .  .  . 1 1 1
//	Ends        . . . . . . . .  1  . . . .
//	Delimiters  . 1 . . . . . .  .  . . . .
//	Stray       . . . . . . . .  .  . 1 . .
//
// A quote is stray in a field that did not start with one (5"), and after the closing quote of a
// field that goes on ("5"x). From the first stray quote on, inside and what follows of it may not
// mean what the writer meant: the rows from there on are for a reader that goes byte by byte.
//
// A reader that does not know next puts what follows the last line end in front of the next
// chunk, and gives '\n'.
//
// Reads text and an eighth of it, and writes an eighth of it for each mask.
func Rows(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], inside kernels.Mask, d Dialect, next int, m RowMasks,
	carries gpu.Buffer[RowCarry],
) error {
	w := k.Begin(s, "rows")
	n := w.CheckText(text)
	w.CheckMask("ends", m.Ends, n)
	w.CheckMask("delimiters", m.Delimiters, n)
	if inside.Len() > 0 {
		w.CheckMask("inside", inside, n)
	}
	if m.Stray.Len() > 0 {
		w.CheckMask("stray", m.Stray, n)
		w.Need(d.Quote != 0 && inside.Len() > 0, "stray quotes where no quotes are")
	}
	for _, c := range []byte{'\r', '\n', 0, d.Quote} {
		w.Need(d.Delimiter != c, "the delimiter %q", d.Delimiter)
	}
	w.Need(d.Quote != '\r' && d.Quote != '\n', "the quote %q", d.Quote)
	w.Need(next >= EndOfFile && next < 256, "a byte of %d behind the text", next)
	kernels.CheckCarry(w, carries)
	w.Launch("rows_masks", kernels.Blocks(n, kernels.TileBytes), kernels.Block, text.Arg(), gpu.Int(n), inside.Arg(),
		gpu.Int(d.Delimiter), gpu.Int(d.Quote), gpu.Int(next), carries.Arg(), m.Ends.Arg(), m.Delimiters.Arg(),
		m.Stray.Arg())
	if n > 0 && carries.Len() > 0 {
		w.Launch("rows_carry", 1, 1, text.Arg(), gpu.Int(n), inside.Arg(), gpu.Int(d.Delimiter),
			gpu.Int(d.Quote), carries.Arg())
	}
	return w.Done()
}

// RowSpans are the rows of a chunk of text and their fields.
type RowSpans struct {
	Starts gpu.Buffer[int64] // the first byte of each row
	Stops  gpu.Buffer[int64] // after its last byte, the line end left out
	First  gpu.Buffer[int64] // delimiters before each row, and before the end of the last
	Fields gpu.Buffer[int32] // of each row; a blank line has 0. Saturates at 2^31-1
}

// AllocRowSpans lists the rows of a chunk that starts where a row does. It waits for the device to
// count them.
//
//	text   n bytes
//	m      Ends and Delimiters
//	final  what follows the last line end is a row too, if it is not empty; otherwise it is none, and
//	       the next chunk starts with it
//
//	text        a , b \n , \r \n \n c
//	Starts      0        4       7  8
//	Stops             3    5     7    9
//	First       0        1       2  2 2
//	Fields      2        2       0  1
//
// The caller frees the result. The time depends on the bytes and the rows, not on the length of
// one. Reads the masks twice, writes 28 bytes a row.
func AllocRowSpans(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], m RowMasks, final bool) (*RowSpans, error) {
	w := k.Begin(s, "row spans")
	n := w.CheckText(text)
	w.CheckMask("ends", m.Ends, n)
	w.CheckMask("delimiters", m.Delimiters, n)
	x := &RowSpans{}
	if w.Err == nil && n > 0 {
		x.find(w, text, m, final)
	}
	if err := w.Done(); err != nil {
		return nil, errors.Join(err, x.Free(s))
	}
	return x, nil
}

// find lists the rows of n > 0 bytes of text.
func (x *RowSpans) find(w *kernels.Call, text gpu.Buffer[byte], m RowMasks, final bool) {
	n := int64(text.Len())
	tiles := kernels.Blocks(n, kernels.TileBytes)
	counts, before := kernels.Scratch[uint32](w, int(2*tiles)), kernels.Scratch[int64](w, int(2*(tiles+1)))
	if w.Err != nil {
		return
	}
	ends, delimiters := before.Slice(0, int(tiles+1)), before.Slice(int(tiles+1), before.Len())
	w.Launch("rows_counts", tiles, kernels.Block, m.Ends.Arg(), m.Delimiters.Arg(), gpu.Int(m.Ends.Len()),
		counts.Arg(), counts.Slice(int(tiles), counts.Len()).Arg())
	kernels.Scan(w, counts.Slice(0, int(tiles)), ends, gpu.Buffer[int64]{})
	kernels.Scan(w, counts.Slice(int(tiles), counts.Len()), delimiters, gpu.Buffer[int64]{})
	rows := kernels.ReadOne(w, ends.Slice(int(tiles), int(tiles+1)))
	last := kernels.ReadOne(w, m.Ends.Slice(m.Ends.Len()-1, m.Ends.Len()))
	var rest int64
	if final && last>>((n-1)%kernels.WordBytes)&1 == 0 {
		rest = 1
		rows++
	}
	x.Starts, x.Stops, x.First = kernels.Result[int64](w, rows), kernels.Result[int64](w, rows),
		kernels.Result[int64](w, rows+1)
	x.Fields = kernels.Result[int32](w, rows)
	w.Launch("rows_spans", tiles, kernels.Block, text.Arg(), gpu.Int(n), m.Ends.Arg(), m.Delimiters.Arg(),
		ends.Arg(), delimiters.Arg(), gpu.Int(rest), gpu.Int(rows), x.Starts.Arg(), x.Stops.Arg(), x.First.Arg())
	w.Launch("rows_fields", kernels.Blocks(rows, kernels.Block), kernels.Block, x.Starts.Arg(), x.Stops.Arg(),
		x.First.Arg(),
		gpu.Int(rows), x.Fields.Arg())
}

// Free gives the memory back once the work that s was given before is done.
func (x *RowSpans) Free(s *gpu.Stream) error {
	return errors.Join(x.Starts.Free(s), x.Stops.Free(s), x.First.Free(s), x.Fields.Free(s))
}

// Column is one field of each row: spans of text without the quotes around them.
type Column struct {
	Starts, Ends gpu.Buffer[int64] // an element a row; 0 and 0 where the row has too few fields
	Present      kernels.Mask      // a bit a row: it has the field
	Quoted       kernels.Mask      // a bit a row: the field stood in quotes, of which those inside are doubled
}

// rowsColumnArgs is RowsColumnArgs of rows.cu.
type rowsColumnArgs struct {
	rows, count, column, quote int64
	from, to                   gpu.Pointer[int64]
	present, quoted            gpu.Pointer[uint32]
}

// FieldSpans returns one column of all rows.
//
//	text        n bytes
//	x           the rows of text
//	delimiters  the positions of all delimiters, as Positions lists them with base 0
//	column      from 0
//	quote       around fields; 0: none
//	out         as many elements as rows, and Words(rows) words; overwritten
//
// Reads 28 bytes, a delimiter or two and two bytes of text a row, writes 16 bytes and 2 bits.
func FieldSpans(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *RowSpans, delimiters gpu.Buffer[int64],
	column int, quote byte, out Column,
) error {
	const none = 256
	w := k.Begin(s, "field spans")
	rows := int64(x.Starts.Len())
	w.Need(column >= 0 && column < 1<<31, "column %d", column)
	w.Need(int64(out.Starts.Len()) == rows && int64(out.Ends.Len()) == rows, "%d starts and %d ends for %d rows",
		out.Starts.Len(), out.Ends.Len(), rows)
	w.CheckBits("present", out.Present, rows)
	w.CheckBits("quoted", out.Quoted, rows)
	around := int64(quote)
	if quote == 0 {
		around = none
	}
	args := rowsColumnArgs{
		rows: rows, count: int64(delimiters.Len()), column: int64(column), quote: around,
		from: out.Starts.Pointer(), to: out.Ends.Pointer(),
		present: gpu.Cast[uint32](out.Present.Pointer()), quoted: gpu.Cast[uint32](out.Quoted.Pointer()),
	}
	w.Launch("rows_column", kernels.Blocks(rows, kernels.Block), kernels.Block, text.Arg(), x.Starts.Arg(),
		x.Stops.Arg(), x.First.Arg(), x.Fields.Arg(), delimiters.Arg(), gpu.Struct(&args))
	return w.Done()
}
