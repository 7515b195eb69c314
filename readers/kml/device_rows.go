package kml

import (
	"errors"
	"math"
	"math/bits"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	kkml "github.com/vibeflight/vibeflight/kernels/kml"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	kxml "github.com/vibeflight/vibeflight/kernels/xml"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// deviceRows reads a chunk of whole Placemarks on a device.
//
//	text -> tags -> dictionary -> Placemarks ─┬─> texts of cells ─┬─> texts -> times, by the host
//	                                          │                   └─> numbers
//	                                          └─> coordinates -> lines of WKT -> geometries
type deviceRows struct {
	*device.Work
	texts   *tagTexts
	names   *deviceNames
	longest int64               // maximum length of a Placemark's text
	asked   readers.Projection  // columns whose values are requested
	forced  []geoarrow.ColumnID // columns that must be text

	known  knownTags
	xml    *kxml.XML
	source kkml.KMLSource
	counts kkml.KMLCounts
	cells  kkml.KMLCells
	rows   int
	first  []uint32 // first tag of each column
}

// reasons are the reasons for leaving Placemarks to the CPU engine.
var reasons = []struct {
	odd kkml.KMLOdd
	why string
}{
	{kkml.KMLNesting, "tags that do not match, or a Placemark that does not end"},
	{kkml.KMLElements, "an element that GPUs do not read"},
	{kkml.KMLText, "elements in a value, or a value that is not as most are"},
	{kkml.KMLTwice, "extended data of one name twice in a Placemark"},
	{kkml.KMLCoordinate, "coordinates that are missing, or not as most are"},
	{kkml.KMLLong, "a Placemark of very many elements"},
	{kkml.KMLBetween, "something else between Placemarks"},
}

// A device has memory for one row for each minRow bytes of text, and at least a few.
const (
	minRow  = 32
	fewRows = 1 << 12
)

// read reads the rows into a part. It frees the memory for cells and coordinates before it reads
// geometries, which need as much.
func (d *deviceRows) read(part *readers.Part) {
	var (
		columns *geoarrow.Columns
		lines   gpu.Buffer[byte]
		checked []uint32
	)
	device.InRoom(d.Work, func(r *device.Scratch) {
		var (
			k    *sink
			made [kkml.MaxKMLColumns]*rows.Column
		)
		device.InRoom(d.Work, func(keys *device.Scratch) {
			d.tags(r, keys)
			foreign, pieces := d.count(r, keys)
			if d.Stopped() {
				return
			}
			part.Summary.Foreign = d.named(foreign)
			k, made = d.list()
			d.write(r, pieces)
		})
		if d.Stopped() {
			return
		}
		var texts, numbers []deviceColumn
		columns, texts, numbers = d.columns(k, made) // while the device writes
		lines, checked = d.lines()
		d.gather(texts)
		d.parse(r, numbers, len(texts))
		part.Starts = d.starts(r)
	})
	if d.Stopped() {
		return
	}
	found := wkt.ReadCells(d.Work, lines, d.rows, &part.Summary)
	if d.Stopped() {
		return
	}
	part.Columns, part.Rows = columns, int64(d.rows)
	if columns.Geometry = found.Geometry; !d.asked.Geometry() {
		columns.Geometry = geoarrow.NullGeometry(d.rows, geoarrow.NoKind, geoarrow.XY)
	}
	d.After(func() {
		d.refuse(checked[0])
		d.Accept(found.Geometry.Dim&geoarrow.HasM == 0, "tuples of four numbers")
		d.checkLengths(part.Starts)
	})
}

// named returns counts by their local names.
func (d *deviceRows) named(counts []uint32) map[string]int64 {
	list := map[string]int64{}
	for i, n := range counts {
		if n > 0 {
			list[d.known.locals[i]] = int64(n)
		}
	}
	return list
}

// refuse leaves unsupported content to the CPU engine.
func (d *deviceRows) refuse(odd uint32) {
	for _, r := range reasons {
		d.Accept(odd&uint32(r.odd) == 0, r.why)
	}
}

// tags lists the tags, and finds each in the dictionary.
func (d *deviceRows) tags(r, keys *device.Scratch) {
	x, err := kxml.AllocXML(d.K, d.S, d.Text)
	if d.Try(err); err != nil {
		return
	}
	r.Until(func() error { return x.Free(d.S) })
	d.xml = x
	d.Accept(x.Fault < 0, oddText)
	d.Accept(x.Tags > 0, "no tag")
	from, to := device.RoomFor[int64](keys, x.Tags), device.RoomFor[int64](keys, x.Tags)
	d.source = kkml.KMLSource{Text: d.Text, XML: x, KeyEnds: to, Fields: device.RoomFor[int32](keys, x.Tags)}
	if d.Stopped() {
		return
	}
	d.Try(kkml.KMLKeys(d.K, d.S, d.Text, x.Starts, x.Ends, from, to))
	listed := device.Result(d.Work, x.Found)
	for round := uint64(0); ; round++ {
		missed := d.match(from, to)
		if d.Await(); d.Stopped() {
			return
		}
		if d.Accept(listed[0].Fault < 0, oddText); d.Stopped() || missed[0] == math.MaxUint32 {
			return
		}
		d.Accept(round < maxRounds, manyTags)
		d.learn(from, to, round)
	}
}

// oddText is the reason for leaving text that XML does not allow, or hardly ever has.
const oddText = "a comment, a character reference, or text that is not as XML has it"

// How many tags are learned from one chunk in a round, and in how many rounds.
const (
	newTags   = 256 // a power of two
	maxRounds = 8
	manyTags  = "very many different tags, or one that is malformed"
)

// match looks the tags up. missed receives the first unknown one, after the next await.
func (d *deviceRows) match(from, to gpu.Buffer[int64]) (missed []uint32) {
	d.known = d.texts.snapshot()
	first := device.Alloc[uint32](d.Work, 1)
	if d.Stopped() {
		return nil
	}
	err := d.names.upload(d.S, d.texts, d.known)
	if errors.Is(err, kjson.ErrFieldNames) {
		d.Accept(false, manyTags)
		return nil
	}
	if d.Try(err); err != nil {
		return nil
	}
	d.source.Table = d.names.table
	d.Try(kjson.MatchAllKeys(d.K, d.S, d.Text, from, to, d.names.fields, d.source.Fields, first))
	return device.Result(d.Work, first)
}

// learn adds unknown tags. It waits for the device, for their places and for their text.
func (d *deviceRows) learn(from, to gpu.Buffer[int64], seed uint64) {
	nobody, spans := device.Alloc[int32](d.Work, d.xml.Tags), device.Alloc[kjson.KeySpan](d.Work, newTags)
	if d.Stopped() {
		return
	}
	d.Try(gpu.Fill(d.S, nobody, 0xff))
	d.Try(kjson.UnknownKeys(d.K, d.S, d.Text, from, to, kjson.MemberLevel{
		Owner: nobody,
		Field: d.source.Fields, Want: -1,
	},
		seed, spans))
	found := device.Read(d.Work, spans)
	var texts [][]byte
	for _, s := range found {
		if s.Start >= 0 {
			texts = append(texts, device.Result(d.Work, d.Text.Slice(int(s.Start), int(s.End))))
		}
	}
	if d.Await(); d.Stopped() {
		return
	}
	d.Accept(len(texts) > 0 && d.texts.learn(texts), manyTags)
}

// count finds the Placemarks, checks them, and counts their contents. It waits for the device.
func (d *deviceRows) count(r, keys *device.Scratch) (foreign []uint32, pieces int) {
	if d.Stopped() {
		return nil, 0
	}
	rows, err := kkml.AllocKMLRows(d.K, d.S, d.source.Fields, d.source.Table)
	if d.Try(err); err != nil {
		return nil, 0
	}
	r.Until(func() error { return rows.Free(d.S) })
	d.rows, d.source.Rows, d.source.Numbers = rows.Len(), rows, d.known.numeric()
	d.Accept(d.rows > 0, "no Placemark")
	d.Accept(d.rows <= max(fewRows, d.Text.Len()/minRow), "Placemarks of hardly any text")
	d.counts = kkml.KMLCounts{
		Pieces: device.RoomFor[int64](keys, d.rows+1), Mixed: device.RoomFor[uint64](keys, kernels.Words(d.rows)),
		First:   device.RoomFor[uint32](keys, kkml.MaxKMLColumns),
		Foreign: device.RoomFor[uint32](keys, len(d.known.locals)), Odd: device.Alloc[uint32](d.Work, 1),
	}
	if d.Stopped() {
		return nil, 0
	}
	d.Try(kkml.CountKML(d.K, d.S, &d.source, d.counts))
	odd, all := device.Result(d.Work, d.counts.Odd), device.Result(d.Work, d.counts.Pieces.Slice(d.rows, d.rows+1))
	foreign, d.first = device.Result(d.Work, d.counts.Foreign), device.Result(d.Work, d.counts.First)
	if d.Await(); d.Stopped() {
		return nil, 0
	}
	d.refuse(odd[0])
	return foreign, int(all[0])
}

// write returns the texts of cells, and pieces of coordinates.
func (d *deviceRows) write(r *device.Scratch, pieces int) {
	columns := bits.OnesCount64(d.cells.Used)
	d.Accept(d.rows*columns <= max(fewRows, d.Text.Len()/8), "more columns than Placemarks have text for")
	d.cells.From, d.cells.To = device.RoomFor[int64](r, columns*d.rows), device.RoomFor[int64](r, columns*d.rows)
	d.cells.Valid = device.RoomFor[uint64](r, columns*kernels.Words(d.rows))
	d.cells.Pieces, d.cells.Offsets = device.RoomFor[kkml.KMLPiece](r, pieces), device.RoomFor[int64](r, pieces+1)
	if !d.Stopped() {
		d.Try(kkml.WriteKML(d.K, d.S, &d.source, d.counts, d.cells))
	}
}

// lines returns the coordinates as lines of WKT, and reports unsupported ones once all work is
// done. It waits for the device for their size.
func (d *deviceRows) lines() (lines gpu.Buffer[byte], odd []uint32) {
	pieces := d.cells.Pieces.Len()
	size := device.Read(d.Work, d.cells.Offsets.Slice(pieces, pieces+1))
	if d.Stopped() {
		return lines, nil
	}
	lines = device.Alloc[byte](d.Work, int(size[0]))
	if d.Stopped() {
		return lines, nil
	}
	d.Try(kkml.KMLLines(d.K, d.S, d.Text, d.cells, lines, d.counts.Odd))
	return lines, device.Result(d.Work, d.counts.Odd)
}

// starts returns where the rows begin.
func (d *deviceRows) starts(r *device.Scratch) []int64 {
	at := device.RoomFor[int64](r, d.rows)
	if d.Stopped() {
		return nil
	}
	d.Try(klist.Gather(d.K, d.S, d.xml.Starts, d.source.Rows, at))
	return device.Result(d.Work, at)
}

// checkLengths refuses Placemarks that the CPU engine would find too long. A Placemark ends before
// the next one begins.
func (d *deviceRows) checkLengths(starts []int64) {
	next := int64(d.Text.Len())
	for i := len(starts) - 1; i >= 0; i-- {
		d.Accept(next-starts[i] <= d.longest, "a Placemark that is too long, or nearly so")
		next = starts[i]
	}
}
