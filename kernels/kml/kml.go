// Package kml has the kernels for the Placemarks of KML.
package kml

import (
	"math"
	"math/bits"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kxml "github.com/vibeflight/vibeflight/kernels/xml"
)

// KMLElement is what an element means in a Placemark.
type KMLElement uint8

// As in kml.cuh. KMLRefused is one that a device leaves to a host wherever somebody would read it.
const (
	KMLOther KMLElement = iota
	KMLPlacemark
	KMLName
	KMLDescription
	KMLSnippet
	KMLVisibility
	KMLTimeStamp
	KMLWhen
	KMLExtendedData
	KMLData
	KMLValue
	KMLSchemaData
	KMLSimpleData
	KMLPoint
	KMLLineString
	KMLLinearRing
	KMLPolygon
	KMLMultiGeometry
	KMLOuterBoundary
	KMLInnerBoundary
	KMLCoordinates
	KMLAltitudeMode
	KMLExtrude
	KMLTessellate
	KMLRefused
)

// Columns that every Placemark may have. Those from KMLColumns on, up to MaxKMLColumns, are
// extended data; a SchemaData element has such a number, too, and no cells.
const (
	KMLColumnID = iota
	KMLColumnName
	KMLColumnDescription
	KMLColumnTimestamp
	KMLColumnAltitudeMode
	KMLColumnSnippet
	KMLColumnTessellate
	KMLColumnExtrude
	KMLColumnVisibility

	KMLColumns
	MaxKMLColumns = 64
)

// KMLOdd is why Placemarks are left to a host.
type KMLOdd uint32

// As ODD_* of kml.cuh.
const (
	KMLNesting  KMLOdd = 1 << iota // tags that do not match, or the text ends in a Placemark
	KMLElements                    // an element that a device does not read
	// elements, or a CDATA section next to other text, in a value; one that is not as most are
	KMLText
	KMLTwice      // extended data of a name twice
	KMLCoordinate // coordinates that are missing, or not as most are
	KMLLong       // more than 65,536 tags, or more than 16 elements in each other
	KMLBetween    // something else between Placemarks
)

// KMLTag is what a tag of a dictionary is.
type KMLTag struct {
	Element    KMLElement
	End, Empty bool   // </a>, <a/>
	OpenID     bool   // the tag is without the value of its id
	Column     int    // of KMLData, KMLSchemaData and KMLSimpleData
	Local      uint16 // number of the name without its prefix
	Name       uint16 // number of the name as written
}

// pack returns the tag as kml.cuh has it.
func (t KMLTag) pack() uint64 {
	form := uint64(0)
	switch {
	case t.End:
		form = 1
	case t.Empty:
		form = 2
	}
	if t.OpenID {
		form |= 4
	}
	return form | uint64(t.Element)<<3 | uint64(t.Column)<<8 | uint64(t.Local)<<16 | uint64(t.Name)<<32
}

// AllocKMLTags takes the meaning of the tags of a dictionary to the device. The caller frees it.
func AllocKMLTags(s *gpu.Stream, tags []KMLTag) (gpu.Buffer[uint64], error) {
	packed := make([]uint64, len(tags))
	for i, t := range tags {
		packed[i] = t.pack()
	}
	return gpu.Of(s, packed)
}

// KMLKeys returns the texts by which tags are looked up in a dictionary: what stands between their
// brackets, up to the value of an id if that is all that a tag has.
//
//	text    n bytes
//	starts  of each tag: its '<'
//	ends    likewise: its '>'
//	from    an element a tag, overwritten
//	to      likewise
//
//	text    <Placemark id="p7"><name>
//	key      Placemark id="     name
//
// One launch; reads 16 bytes and the text of each tag, and writes 16.
func KMLKeys(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], starts, ends, from, to gpu.Buffer[int64]) error {
	w := k.Begin(s, "KML keys")
	n, tags := w.CheckText(text), kernels.CountSpans(w, starts, ends)
	w.Need(int64(from.Len()) == tags && int64(to.Len()) == tags, "%d and %d keys for %d tags", from.Len(),
		to.Len(), tags)
	w.Launch("kml_keys", kernels.Blocks(tags, kernels.Block), kernels.Block, text.Arg(), gpu.Int(n),
		starts.Arg(), ends.Arg(),
		gpu.Int(tags), from.Arg(), to.Arg())
	return w.Done()
}

// KMLSource is the tags of a text.
type KMLSource struct {
	Text    gpu.Buffer[byte]
	XML     *kxml.XML          // its tags
	KeyEnds gpu.Buffer[int64]  // of KMLKeys
	Fields  gpu.Buffer[int32]  // number of each tag in the dictionary
	Table   gpu.Buffer[uint64] // what the numbers mean: of AllocKMLTags
	Numbers uint64             // columns that are numbers, a bit each: an empty text is no cell
	Rows    gpu.Buffer[int64]  // of AllocKMLRows
}

// check checks the lists, and gives what the kernels read.
func (x *KMLSource) check(w *kernels.Call) []gpu.Arg {
	w.CheckText(x.Text)
	tags := kernels.CountSpans(w, x.XML.Starts, x.XML.Ends)
	w.Need(int64(x.KeyEnds.Len()) == tags && int64(x.Fields.Len()) == tags, "%d keys and %d fields for %d tags",
		x.KeyEnds.Len(), x.Fields.Len(), tags)
	w.Need(tags < math.MaxUint32, "%d tags", tags)
	return []gpu.Arg{
		x.Text.Arg(), x.XML.Starts.Arg(), x.XML.Ends.Arg(), x.XML.Sections.Arg(), x.KeyEnds.Arg(), x.Fields.Arg(),
		x.Table.Arg(), x.Rows.Arg(),
	}
}

// AllocKMLRows lists the tags that begin Placemarks. The caller frees the list. It waits for the
// device.
//
// Reads 4 bytes a tag and its entry in the table.
func AllocKMLRows(k *kernels.Set, s *gpu.Stream, fields gpu.Buffer[int32], table gpu.Buffer[uint64]) (gpu.Buffer[int64],
	error,
) {
	w := k.Begin(s, "KML rows")
	tags := int64(fields.Len())
	rows := kernels.Scratch[uint64](w, kernels.Words(int(tags)))
	w.Launch("kml_marks", kernels.Blocks(tags, kernels.Block), kernels.Block, fields.Arg(), gpu.Int(tags), table.Arg(),
		gpu.Int(table.Len()), rows.Arg())
	total := kernels.Scratch[int64](w, 1)
	before := kernels.CountTiles(w, rows, total)
	out := kernels.Result[int64](w, kernels.ReadOne(w, total))
	kernels.Positions(w, rows, before, 0, out)
	return kernels.Finish(w, out)
}

// KMLCounts is what CountKML says of Placemarks. All of it is overwritten.
//
//	Pieces   rows + 1 elements: the pieces of coordinates before each row, and of all
//	Mixed    Words(rows) words: bit i says that row i has a MultiGeometry of several kinds
//	First    MaxKMLColumns elements: the first tag that has something of a column, or math.MaxUint32
//	Foreign  an element for each local name: how many elements of it no column holds
//	Odd      one element: KMLOdd. Unless it is 0 all else is of no use
type KMLCounts struct {
	Pieces  gpu.Buffer[int64]
	Mixed   kernels.Mask
	First   gpu.Buffer[uint32]
	Foreign gpu.Buffer[uint32]
	Odd     gpu.Buffer[uint32]
}

// The structs of rows.cu.
type (
	kmlCountArgs struct {
		tags, rows          int64
		numbers             uint64
		pieces              gpu.Pointer[int64]
		mixed               gpu.Pointer[uint64]
		first, foreign, odd gpu.Pointer[uint32]
	}
	kmlWriteOutput struct {
		from, to      gpu.Pointer[int64]
		valid         gpu.Pointer[uint64]
		piece         gpu.Pointer[KMLPiece]
		size          gpu.Pointer[int64]
		used, numbers uint64
		rows          int64
	}
	kmlWriteArgs struct {
		tags int64
		to   kmlWriteOutput
	}
)

// CountKML checks Placemarks, and counts what WriteKML writes. Every tag has a number.
//
// One launch and a scan; reads 4 bytes a tag and its entry in the table, and 16 bytes for each
// text. A thread reads a Placemark.
func CountKML(k *kernels.Set, s *gpu.Stream, x *KMLSource, to KMLCounts) error {
	w := k.Begin(s, "count KML")
	inputs, rows := x.check(w), x.Rows.Len()
	w.Need(to.Pieces.Len() == rows+1, "%d counts for %d rows", to.Pieces.Len(), rows)
	w.CheckBits("mixed", to.Mixed, int64(rows))
	w.Need(to.First.Len() == MaxKMLColumns && to.Odd.Len() == 1, "%d columns and %d elements for what is odd",
		to.First.Len(), to.Odd.Len())
	if w.Err == nil {
		w.Fail(gpu.Fill(s, to.First, 0xff))
		w.Fail(gpu.Fill(s, to.Foreign, 0))
		w.Fail(gpu.Fill(s, to.Odd, 0))
	}
	args := kmlCountArgs{
		tags: int64(x.XML.Starts.Len()), rows: int64(rows), numbers: x.Numbers, pieces: to.Pieces.Pointer(),
		mixed: to.Mixed.Pointer(), first: to.First.Pointer(), foreign: to.Foreign.Pointer(), odd: to.Odd.Pointer(),
	}
	w.Launch("kml_count", kernels.Blocks(int64(rows), kernels.Block), kernels.Block,
		kernels.JoinArgs(inputs, gpu.Struct(&args))...)
	if w.Err == nil {
		kernels.Scan(w, to.Pieces.Slice(0, rows), to.Pieces, gpu.Buffer[int64]{})
	}
	return w.Done()
}

// KMLPiece is KMLPiece of kml.cuh: coordinates with what stands around them in WKT.
type KMLPiece struct {
	From       int64
	Size, Code uint32
}

// KMLCells are the texts of Placemarks in columns, one after the other, those of numbers after
// the others. All of it is overwritten.
//
//	Used      columns, a bit each, that CountKML says to be there; the texts of others are left out
//	From, To  rows elements a column: of each text; 0 and 0 without
//	Valid     Words(rows) words a column
//	Pieces    as many as CountKML says
//	Offsets   an element more: bytes of the pieces before each, and of all
type KMLCells struct {
	Used     uint64
	From, To gpu.Buffer[int64]
	Valid    kernels.Mask
	Pieces   gpu.Buffer[KMLPiece]
	Offsets  gpu.Buffer[int64]
}

// WriteKML writes what CountKML counted.
//
// One launch and a scan; reads what CountKML does, and writes 16 bytes a cell and 24 a piece.
func WriteKML(k *kernels.Set, s *gpu.Stream, x *KMLSource, counts KMLCounts, to KMLCells) error {
	w := k.Begin(s, "write KML")
	inputs, rows, columns, pieces := x.check(w), x.Rows.Len(), bits.OnesCount64(to.Used), to.Pieces.Len()
	w.Need(counts.Pieces.Len() == rows+1, "%d counts for %d rows", counts.Pieces.Len(), rows)
	w.CheckBits("mixed", counts.Mixed, int64(rows))
	w.Need(to.From.Len() == rows*columns && to.To.Len() == rows*columns &&
		to.Valid.Len() == kernels.Words(rows)*columns,
		"%d and %d texts and %d words for %d columns of %d rows", to.From.Len(), to.To.Len(), to.Valid.Len(),
		columns, rows)
	w.Need(to.Offsets.Len() == pieces+1, "%d offsets for %d pieces", to.Offsets.Len(), pieces)
	if w.Err == nil {
		w.Fail(gpu.Fill(s, to.From, 0))
		w.Fail(gpu.Fill(s, to.To, 0))
		w.Fail(gpu.Fill(s, to.Valid, 0))
	}
	args := kmlWriteArgs{
		tags: int64(x.XML.Starts.Len()),
		to: kmlWriteOutput{
			from: to.From.Pointer(), to: to.To.Pointer(), valid: to.Valid.Pointer(), piece: to.Pieces.Pointer(),
			size: to.Offsets.Pointer(), used: to.Used, numbers: x.Numbers, rows: int64(rows),
		},
	}
	w.Launch("kml_write", kernels.Blocks(int64(rows), kernels.Block), kernels.Block,
		kernels.JoinArgs(inputs, counts.Pieces.Arg(), counts.Mixed.Arg(), gpu.Struct(&args))...)
	if w.Err == nil {
		kernels.Scan(w, to.Offsets.Slice(0, pieces), to.Offsets, gpu.Buffer[int64]{})
	}
	return w.Done()
}

// KMLLines writes the pieces of coordinates as lines of WKT.
//
//	text   of the tags
//	x      of WriteKML
//	lines  as many bytes as the last of Offsets says
//	odd    one element, to which KMLCoordinate is added where coordinates have other bytes than tuples do, or
//	       a Point has more than one
//
// One launch; reads the coordinates and 24 bytes a piece, and writes the lines.
func KMLLines(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x KMLCells, lines gpu.Buffer[byte],
	odd gpu.Buffer[uint32],
) error {
	const each = 8 // EACH of kml_lines.cu
	w := k.Begin(s, "KML lines")
	w.CheckText(text)
	room := w.CheckText(lines)
	w.Need(odd.Len() == 1, "%d elements for what is odd", odd.Len())
	w.Launch("kml_lines", kernels.Blocks(room, kernels.Block*each), kernels.Block, text.Arg(), x.Pieces.Arg(),
		x.Offsets.Arg(),
		gpu.Int(x.Pieces.Len()), lines.Arg(), gpu.Int(room), odd.Arg())
	return w.Done()
}
