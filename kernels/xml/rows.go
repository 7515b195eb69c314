package xml

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// XMLRows is the rows of a text. Free gives its memory back.
type XMLRows struct {
	Rows, Columns int
	Starts        gpu.Buffer[int64] // the first byte of each row

	// The text of values, one column after the other, with the blanks around it. It begins where
	// it ends if it is empty, and at -1 where a row has no such element.
	From, To gpu.Buffer[int64]

	First gpu.Buffer[uint32] // the tag at which a column first appears, of each; all ones where it never does

	rows       gpu.Buffer[int64]
	gap, patch gpu.Buffer[uint8]
}

// AllocXMLRows finds the rows of a text whose tags were matched, which begins where a row does and
// ends before one, or after all that is around its last one. It waits for the device to count
// them.
//
//	text     of x
//	d        the dictionary
//	columns  more than any column of the dictionary's tags
//
//	text    <f><a>1</a><b/></f> <f><b>x</b></f>       columns a, b
//	Starts  0                   20
//	From      6   |  -1 ; 0 |  26
//	To        7   |  -1 ; 0 |  27
//
// Faults are: a tag in a place where its class may not stand; an end tag of another element; more
// than one value of a column, or geometry, in a row; text at the beginning of a geometry; shapes in
// another order than their roles say; a CDATA section that is part of a text; rows of more than 15
// elements in each other, or of more than 1024 tags; a shape whose tag is shorter than its word and
// two bytes.
//
// A few launches; reads 18 bytes a tag, and writes 2 of them and 16 a value.
func AllocXMLRows(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *XML, d *XMLDictionary,
	columns int,
) (*XMLRows, error) {
	w := k.Begin(s, "XML rows")
	r := &XMLRows{Columns: columns}
	w.Need(w.CheckText(text) == x.n, "%d bytes of text for tags of %d", text.Len(), x.n)
	w.Need(x.kinds.Len() == x.Tags && x.Tags > 0, "%d tags of which %d were matched", x.Tags, x.kinds.Len())
	w.Need(columns >= d.columns && columns <= MaxXMLColumns, "%d columns, at least %d", columns, d.columns)
	if w.Err == nil {
		r.walk(w, text, x, d)
	}
	if err := w.Done(); err != nil {
		return nil, errors.Join(err, r.Free(s))
	}
	return r, nil
}

// walk lists the rows and goes through each.
func (r *XMLRows) walk(w *kernels.Call, text gpu.Buffer[byte], x *XML, d *XMLDictionary) {
	total := kernels.Scratch[int64](w, 1)
	before := kernels.CountTiles(w, x.rows, total)
	r.rows = kernels.Result[int64](w, kernels.ReadOne(w, total))
	kernels.Positions(w, x.rows, before, 0, r.rows)
	r.Rows = r.rows.Len()
	if w.Err != nil || r.Rows == 0 {
		return
	}
	cells := int64(r.Rows) * int64(r.Columns)
	r.Starts, r.From, r.To = kernels.Result[int64](w, int64(r.Rows)), kernels.Result[int64](w, cells),
		kernels.Result[int64](w, cells)
	r.First, r.gap, r.patch = kernels.Result[uint32](w, int64(r.Columns)), kernels.Result[uint8](w, int64(x.Tags)),
		kernels.Result[uint8](w, int64(x.Tags))
	if w.Err == nil {
		w.Err = errors.Join(gpu.Fill(w.Stream, r.First, 0xff), gpu.Fill(w.Stream, r.gap, 0),
			gpu.Fill(w.Stream, r.patch, 0))
	}
	args := xmlRowsArgs{
		n: x.n, tags: int64(x.Tags), entries: int64(d.tags), columns: int64(r.Columns), rowStart: r.Starts.Pointer(),
		to: xmlRowOutput{
			from: r.From.Pointer(), to: r.To.Pointer(), first: r.First.Pointer(), gap: r.gap.Pointer(),
			patch: r.patch.Pointer(), rows: int64(r.Rows),
		},
		found: x.Found.Pointer(),
	}
	w.Launch("xml_rows", kernels.Blocks(int64(r.Rows), kernels.Block), kernels.Block, text.Arg(), x.Starts.Arg(),
		x.Ends.Arg(), x.kinds.Arg(), d.entry.Arg(), d.texts.Arg(), x.Sections.Arg(), r.rows.Arg(), gpu.Struct(&args))
}

// Free gives the memory back once the work that s was given before is done.
func (r *XMLRows) Free(s *gpu.Stream) error {
	return errors.Join(r.Starts.Free(s), r.From.Free(s), r.To.Free(s), r.First.Free(s), r.rows.Free(s),
		r.gap.Free(s), r.patch.Free(s))
}

// The structs of rows.cu and lines.cu.
type (
	xmlRowOutput struct {
		from, to   gpu.Pointer[int64]
		first      gpu.Pointer[uint32]
		gap, patch gpu.Pointer[byte]
		rows       int64
	}
	xmlRowsArgs struct {
		n, tags, entries, columns int64
		rowStart                  gpu.Pointer[int64]
		to                        xmlRowOutput
		found                     gpu.Pointer[XMLFound]
	}
	xmlLineWriteArgs struct {
		n, words, tiles, tags, size int64
		lines                       gpu.Pointer[byte]
		found                       gpu.Pointer[XMLFound]
	}
)

// XMLLines writes the geometries of rows as well-known text, a line each: NULL where there is none.
// Lines without anything stand between them.
//
//	text       of x
//	ordinates  how many a position has where blanks alone part all of them: XMLPositions
//	lines      as long as text, overwritten
//
//	text   <f><Point><pos>1 2</pos></Point><n>x</n></f>
//	lines  ···  POINT(     1 2      )··················      a dot is a line feed
//
// Faults are bytes that are no part of numbers, list of positions that end in the middle of one,
// and commas with blanks next to them.
//
// Two launches and a scan, then one; reads 3/8 of the text and that of positions twice, and writes
// all of it.
func XMLLines(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *XML, r *XMLRows, ordinates int,
	lines gpu.Buffer[byte],
) error {
	w := k.Begin(s, "XML lines")
	w.Need(w.CheckText(text) == x.n && lines.Len() == text.Len(), "%d bytes of text and %d of lines for tags of %d",
		text.Len(), lines.Len(), x.n)
	w.Need(ordinates >= 2, "positions of %d ordinates", ordinates)
	words, tiles := kernels.Words(text.Len()), kernels.Blocks(x.n, kernels.TileBytes)
	count, before := kernels.Scratch[uint32](w, int(tiles)), kernels.Scratch[int64](w, int(tiles))
	w.Launch("xml_line_counts", tiles, kernels.Block, text.Arg(), gpu.Int(x.n), x.less.Arg(), x.greater.Arg(),
		gpu.Int(words), x.before.Arg(), gpu.Int(tiles), gpu.Int(x.Tags), r.gap.Arg(), count.Arg())
	if w.Err == nil {
		kernels.Scan(w, count, before, gpu.Buffer[int64]{})
	}
	args := xmlLineWriteArgs{
		n: x.n, words: int64(words), tiles: tiles, tags: int64(x.Tags), size: int64(ordinates),
		lines: lines.Pointer(), found: x.Found.Pointer(),
	}
	w.Launch("xml_line_write", tiles, kernels.Block, text.Arg(), x.less.Arg(), x.greater.Arg(), x.before.Arg(),
		r.gap.Arg(), before.Arg(), gpu.Struct(&args))
	w.Launch("xml_line_patches", kernels.Blocks(int64(x.Tags), kernels.Block), kernels.Block, gpu.Int(x.n),
		x.Starts.Arg(),
		x.Ends.Arg(), gpu.Int(x.Tags), r.patch.Arg(), lines.Arg())
	return w.Done()
}
