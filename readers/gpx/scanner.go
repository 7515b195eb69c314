package gpx

import (
	"context"
	"math"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/xmlfile"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
	"github.com/vibeflight/vibeflight/readers/source"
)

// crsWGS84 is the reference system that GPX prescribes. GDAL names it the same, and has the
// longitude first, too.
var crsWGS84 = geoarrow.CRS{Authority: "EPSG", Code: "4326"}

// scanner is one run of the CPU parser. Its methods read one element of the grammar. They return
// false, with X.Fault or Failed set, if they can't.
type scanner struct {
	xmlfile.Scanner
	limits     readers.Limits
	skipErrors bool
	nulls      bool // a malformed value is null
	repairs    bool // a defect that has one obvious reading is read that way
	withZ      bool // the elevation is the z of a position
	leaves     bool // elements of extensions that have no elements have columns
	counting   bool // rows are only counted
	slow       bool // the XML scanner reads all positions
	emit       func(readers.Chunk) error

	header  header
	first   layer  // of the first wpt, rte or trk
	wanted  string // name of the layer to be read; "": the first one
	prefix  []byte // of the root; the elements of GPX have it
	sink    *sink
	fast    *fast
	chunk   readers.Span
	sum     readers.Summary
	digits  []byte // a number in the syntax of package number
	row     row    // the current one
	depth   int    // open elements around the rows: inRoot, inPath, inSegment
	at      place  // of the last position
	ending  around // the row where the scanner stopped
	opening []byte // beginning of a row: "<trkpt"

	stop      int64       // rows that begin here or later are not read
	headBytes int64       // bytes of rows that are parsed before other workers start; 0: none start
	rest      func() bool // parses the other rows with several workers
	begin     func()      // is called once the layer is known
	stopped   bool        // a row began at or after stop
	inside    bool        // a span of rows is read again
	prefixed  bool        // prefix is known
	next      int64       // offset after the last chunk: of the next row, or of what ends the rows
	entries   entries     // of a part

	inRow   bool  // a fault is one of a feature
	feature int64 // its number in the layer

	// the first row of the chunk, even if it was skipped
	firstAt     int64
	firstNumber int64
	firstIn     around
	firstState  uint64
}

// around is what is around a row: the open elements and its place in the file.
type around struct {
	x     xmltext.Scanner
	depth int
	at    place
}

// note sets a to what is around the row whose start tag is the next one.
func (a *around) note(s *scanner) {
	a.x.ResumeIn(&s.X)
	a.depth, a.at = s.depth, s.at
}

// resume begins at a row.
func (s *scanner) resume(a *around) {
	if s.inside {
		s.X.ResumeLoose()
	} else {
		s.X.ResumeIn(&a.x)
	}
	s.depth, s.at = a.depth, a.at
}

// scanner returns a new scanner.
func (c parser) scanner(req readers.Request) *scanner {
	s := &scanner{limits: req.Limits.WithDefaults(), wanted: c.layout.Layer, stop: math.MaxInt64}
	s.sum = newSummary()
	s.first = noLayer
	s.header.layer = noLayer
	o := c.layout.Options
	s.skipErrors, s.nulls, s.repairs = o.SkipErrors(), o.NullErrors(), o.Repairs()
	s.withZ, s.leaves = o.Get(optionElevation) == elevationZ, o.Get(optionExtensions) == extensionValues
	s.at, s.slow = place{-1, -1, -1}, c.slow
	return s
}

func newSummary() readers.Summary {
	return readers.Summary{CRS: crsWGS84, Foreign: map[string]int64{}}
}

// open moves the scanner to an offset, where row number row begins.
func (s *scanner) open(ctx context.Context, src *source.File, from, end, row int64, step int) bool {
	s.feature, s.chunk, s.stopped, s.inRow = row, readers.Span{Row: row}, false, false
	return s.Begin(ctx, src, from, s.stop, end, &s.limits, step)
}

// chunkEnds reports whether the current chunk ends before the row at offset off.
func (s *scanner) chunkEnds(off int64) bool {
	if s.sink.Full(&s.limits) {
		s.stop = min(s.stop, off)
	}
	return off >= s.stop || s.sink.Rows > 0 && (s.sink.Rows >= s.limits.BatchRows ||
		off-s.chunk.From >= s.limits.BatchBytes)
}

// beginChunk begins a chunk with the row at offset off, unless one is begun. The row's start tag
// was read.
func (s *scanner) beginChunk(off int64) {
	if s.sink.Rows > 0 || s.sink.Skipped.Count > 0 {
		return
	}
	s.firstAt, s.firstNumber = off, s.feature
	m := s.X.TagMark()
	s.X.Rewind(m)
	s.firstIn.note(s)
	s.X.Next()
}

// end finishes the chunk whose last row ended before offset off. If a column must be read again as
// text, it goes back, and again is true.
func (s *scanner) end(off int64) (again, ok bool) {
	if text := s.sink.NeedText(); len(text) > 0 {
		s.sink.Text = append(s.sink.Text, text...)
		s.sink.Reset()
		s.feature = s.firstNumber
		s.resume(&s.firstIn)
		return true, s.GoTo(s.firstAt)
	}
	s.next = off
	s.sink.addTo(&s.sum)
	s.chunk.State = s.firstState
	s.Failed = rows.Emit(s.sink, &s.Window, &s.chunk, off, s.limits, s.emit)
	return false, s.Failed == nil
}

// state returns the packed state of a row at a place.
func (s *scanner) state(at place) uint64 {
	t := state{encoding: s.X.Encoding, header: s.header}
	if s.header.layer.isNumbered() {
		t.place = at
	}
	return t.pack()
}
