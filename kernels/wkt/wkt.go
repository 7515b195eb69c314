// Package wkt has the kernels for WKT.
package wkt

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// WKTStyle is what stands between geometries.
type WKTStyle uint32

const (
	// WKTLines is a file: rows end with line ends or ";", and may begin with an SRID or be NULL.
	WKTLines WKTStyle = iota
	// WKTMembers is the inside of collections: geometries with commas between them, and one after
	// the last of them or not. A comma with nothing before it is a fault.
	WKTMembers
)

// WKT is text of WKT with its rows and its brackets. Free gives its memory back.
type WKT struct {
	Rows int
	// the lowest byte that is not as WKT has it, or that a reader byte by byte is to look at; -1:
	// none. Then there are no lists
	Fault int64
	// of ( and ), and of each EMPTY, whose first letter opens and whose last one closes. Only for
	// CountRings and DepthAt
	Brackets ktext.Depth
	Commas   kernels.Mask

	// Of each row:
	Starts   gpu.Buffer[int64] // its first byte
	Tags     gpu.Buffer[int64] // the first letter of its geometry's name, which nobody has looked at
	From, To gpu.Buffer[int64] // its outermost bracket, and after what closes it; its first byte where it has none
	Valid    kernels.Mask      // a bit a row: it is no NULL
	Body     kernels.Mask      // a bit a row: it has a bracket or EMPTY

	// Found has one element, or none where Rows is 0: what the beginnings of rows say, which
	// ParseWKT does not wait for.
	Found gpu.Buffer[WKTFound]

	masks gpu.Buffer[uint64]
	base  gpu.Buffer[int32]
	lists gpu.Buffer[int64]
	rows  gpu.Buffer[uint64] // memory of Valid and Body
}

// WKTFound is what there is to know of all rows.
type WKTFound struct {
	Fault                    int64 // the first byte of a row that does not begin as one, or -1
	Least                    int64 // SRID that is not 0, or -1: no row has one
	notMax                   int64
	rows, open, close, depth int64
}

// Most is the greatest SRID, or 0.
func (f WKTFound) Most() int64 { return ^f.notMax }

// ParseWKT finds the rows of a text that begins and ends between two of them, and checks all that
// stands outside of names and positions: what is not found at fault is, for each row, blanks, an
// SRID, a name, one pair of outermost brackets and what ends the row; after each closing bracket
// comes another one or a comma, and something stands between each pair of them. It waits for the
// device.
//
//	text   n bytes
//
//	text   S R I D = 5 ; P O I N T ( 1   2 ) \n N U L L \n
//	rows   0                                    17
//	tags                 7                      17
//	from                           12           17
//	to                                       17 17
//	valid  1                                    0
//
// A fault is also a byte that is no printable ASCII, a line end before a row's first bracket, more
// than 256 blanks where something has to follow on a bracket or a row, and 64 of them in an SRID.
//
// Three launches and a scan, then two launches; reads the text and 12/8 of it, and writes 8/8 of it
// and 49 bytes a row.
func ParseWKT(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], style WKTStyle) (*WKT, error) {
	w := k.Begin(s, "parse WKT")
	n := w.CheckText(text)
	w.Need(style <= WKTMembers, "WKT style %d", style)
	x := &WKT{Fault: -1}
	if n > 0 && w.Err == nil {
		x.find(w, text, style)
	}
	if err := w.Done(); err != nil {
		return nil, errors.Join(err, x.Free(s))
	}
	return x, nil
}

// The structs of wkt.cu.
type (
	wktRowsArgs struct {
		n, members          int64
		base                gpu.Pointer[int32]
		begin, enter, leave gpu.Pointer[uint64]
		count               gpu.Pointer[int64]
		result              gpu.Pointer[WKTFound]
	}
	wktHeadsArgs struct {
		n, members, rows int64
		tag, from, to    gpu.Pointer[int64]
		valid, body      gpu.Pointer[uint64]
		result           gpu.Pointer[WKTFound]
	}
)

// find lists the rows of n > 0 bytes of text.
func (x *WKT) find(w *kernels.Call, text gpu.Buffer[byte], style WKTStyle) {
	n, words := int64(text.Len()), kernels.Words(text.Len())
	tiles := kernels.Blocks(n, kernels.TileBytes)
	x.masks, x.base, x.Found = kernels.Result[uint64](w, int64(3*words)), kernels.Result[int32](w, int64(words)),
		kernels.Result[WKTFound](w, 1)
	more, tile, count := kernels.Scratch[uint64](w, 5*words), kernels.Scratch[int64](w, int(tiles)+1),
		kernels.Scratch[int64](w, int(3*tiles))
	if w.Err == nil {
		w.Err = gpu.Fill(w.Stream, x.Found, 0xff)
	}
	if w.Err != nil {
		return
	}
	mask := func(of kernels.Mask, i int) kernels.Mask { return of.Slice(i*words, (i+1)*words) }
	x.Brackets = ktext.Depth{Open: mask(x.masks, 0), Close: mask(x.masks, 1), Base: x.base, N: n}
	x.Commas = mask(x.masks, 2)
	open, closing, comma := x.Brackets.Open.Arg(), x.Brackets.Close.Arg(), x.Commas.Arg()
	blank, stop := mask(more, 0).Arg(), mask(more, 1).Arg()
	begin, enter, leave := mask(more, 2), mask(more, 3), mask(more, 4)
	w.Launch("wkt_masks", tiles, kernels.Block, text.Arg(), gpu.Int(n), gpu.Int(style), open, closing, comma,
		blank, stop, tile.Arg(), x.Found.Arg())
	if w.Err == nil {
		kernels.Scan(w, tile.Slice(0, int(tiles)), tile, gpu.Buffer[int64]{})
	}
	args := wktRowsArgs{
		n: n, members: int64(style), base: x.base.Pointer(), begin: begin.Pointer(), enter: enter.Pointer(),
		leave: leave.Pointer(), count: count.Pointer(), result: x.Found.Pointer(),
	}
	w.Launch("wkt_rows", tiles, kernels.Block, text.Arg(), open, closing, comma, blank, stop, tile.Arg(),
		gpu.Struct(&args))
	w.Launch("wkt_join", 1, kernels.ScanBlock, count.Arg(), gpu.Int(tiles), tile.Arg(), x.Found.Arg())
	found := kernels.ReadOne(w, x.Found)
	switch {
	case w.Err != nil:
		return
	case found.Fault >= 0:
		x.Fault = found.Fault
		return
	case found.depth != 0: // a row goes on after the text
		x.Fault = n
		return
	}
	x.Rows = int(found.rows)
	x.alloc(w)
	first, entered, left := kernels.Scratch[int64](w, x.Rows+1), kernels.Scratch[int64](w, int(found.open)),
		kernels.Scratch[int64](w, int(found.close))
	w.Launch("wkt_emit", tiles, kernels.Block, begin.Arg(), enter.Arg(), leave.Arg(), gpu.Int(words),
		count.Arg(), x.Found.Arg(), x.Starts.Arg(), first.Arg(), entered.Arg(), left.Arg())
	heads := wktHeadsArgs{
		n: n, members: int64(style), rows: int64(x.Rows), tag: x.Tags.Pointer(), from: x.From.Pointer(),
		to: x.To.Pointer(), valid: x.Valid.Pointer(), body: x.Body.Pointer(), result: x.Found.Pointer(),
	}
	w.Launch("wkt_heads", kernels.Blocks(int64(x.Rows), kernels.Block), kernels.Block, text.Arg(), x.Starts.Arg(),
		first.Arg(), entered.Arg(), left.Arg(), gpu.Struct(&heads))
}

// alloc takes the memory for what is told of each row.
func (x *WKT) alloc(w *kernels.Call) {
	words := kernels.Words(x.Rows)
	x.lists, x.rows = kernels.Result[int64](w, int64(4*x.Rows)), kernels.Result[uint64](w, int64(2*words))
	if w.Err != nil {
		return
	}
	list := func(i int) gpu.Buffer[int64] { return x.lists.Slice(i*x.Rows, (i+1)*x.Rows) }
	x.Starts, x.Tags, x.From, x.To = list(0), list(1), list(2), list(3)
	x.Valid, x.Body = x.rows.Slice(0, words), x.rows.Slice(words, 2*words)
}

// Free gives the memory back once the work that s was given before is done.
func (x *WKT) Free(s *gpu.Stream) error {
	return errors.Join(x.masks.Free(s), x.base.Free(s), x.lists.Free(s), x.rows.Free(s), x.Found.Free(s))
}
