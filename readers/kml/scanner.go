package kml

import (
	"context"
	"math"
	"path"
	"strings"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/xmlfile"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
	"github.com/vibeflight/vibeflight/readers/source"
)

// scanner is one run of the CPU parser. Its methods read one element of the grammar. They return
// false, with X.Fault or Failed set, if they can't.
type scanner struct {
	xmlfile.Scanner
	limits     readers.Limits
	stem       string // of the file's name
	wanted     string // name of the layer to be read; "": the first one
	inside     bool   // a span of rows is read again
	headerOnly bool   // only Schemas are read
	skipErrors bool
	nulls      bool // a value that is malformed is null
	repairs    bool // a defect that has one obvious reading is read that way
	emit       func(readers.Chunk) error

	sink   *sink
	chunk  readers.Span
	sum    readers.Summary
	digits []byte // a number in the syntax of package number
	row    row    // the current feature
	text   []byte // coordinates that had to be decoded

	containers []container // that are open, the root first; in a part, the one whose rows are read first
	layers     layers
	found      bool            // the layer that is wanted has begun
	home       xmltext.Scanner // in its container, as every row is
	opening    []byte          // beginning of its rows: "<Placemark"
	schemas    schemas
	header     int64 // end of the last Schema that counts; 0: none

	stop      int64       // rows that begin here or later are not read
	headBytes int64       // bytes of rows that are parsed before other workers start; 0: none start
	rest      func() bool // parses the other rows with several workers
	stopped   bool        // a row began at or after stop
	part      bool        // only the container of the rows is read, whose beginning is unknown
	next      int64       // offset after the last chunk: of the next row, or of what ends the rows

	asides      asides
	quiet       bool  // text is read again: its deviations are already counted
	inRow       bool  // a fault is one of a feature
	feature     int64 // its number in the layer
	first       int64 // offset of the chunk's first row, even if it was skipped
	firstNumber int64 // and its number
	firstLayer  int   // and the number of layers known before it
	firstAsides asides
}

// state is what a span needs to know of the text before it.
type state struct {
	encoding xmltext.Encoding
	depth    int   // open elements around the features
	header   int64 // end of the last Schema that counts
}

const (
	encodingBits = 2
	depthBits    = 20
)

// pack returns the state in the form of a Span's: header, depth and encoding from the highest bit
// to the lowest.
func (t state) pack() uint64 {
	return uint64(t.header)<<(depthBits+encodingBits) | uint64(min(t.depth, 1<<depthBits-1))<<encodingBits |
		uint64(t.encoding)
}

func unpackState(v uint64) state {
	return state{
		encoding: xmltext.Encoding(v & (1<<encodingBits - 1)),
		depth:    int(v >> encodingBits & (1<<depthBits - 1)),
		header:   int64(v >> (depthBits + encodingBits)),
	}
}

// scanner returns a new scanner.
func (c parser) scanner(src *source.File, req readers.Request) *scanner {
	s := &scanner{
		limits: req.Limits.WithDefaults(), wanted: c.layout.Layer, sink: newSink(c.layout.Columns),
		stop: math.MaxInt64,
	}
	s.sum = readers.Summary{CRS: geoarrow.CRS84, Foreign: map[string]int64{}}
	o := c.layout.Options
	s.skipErrors, s.nulls, s.repairs = o.SkipErrors(), o.NullErrors(), o.Repairs()
	base := path.Base(src.Name)
	s.stem = strings.TrimSuffix(base, path.Ext(base))
	return s
}

// open moves the scanner to an offset, where row number row begins.
func (s *scanner) open(ctx context.Context, src *source.File, from, end, row int64, step int) bool {
	s.feature, s.chunk, s.stopped, s.inRow = row, readers.Span{Row: row}, false, false
	return s.Begin(ctx, src, from, s.stop, end, &s.limits, step)
}

// seek moves to an offset in the container of the rows.
func (s *scanner) seek(off int64) bool {
	s.X.ResumeIn(&s.home)
	return s.GoTo(off)
}

// chunkEnds reports whether the current chunk ends before the row at offset off.
func (s *scanner) chunkEnds(off int64) bool {
	if s.sink.Full(&s.limits) {
		s.stop = min(s.stop, off)
	}
	return off >= s.stop || s.sink.Rows > 0 && (s.sink.Rows >= s.limits.BatchRows ||
		off-s.chunk.From >= s.limits.BatchBytes)
}

// begin starts a chunk with the row at offset off, unless one is begun.
func (s *scanner) begin(off int64) {
	if s.sink.Rows == 0 && s.sink.Skipped.Count == 0 {
		s.first, s.firstNumber, s.firstLayer, s.firstAsides = off, s.feature, len(s.layers.raw), s.asides
	}
}

// end finishes the chunk whose last row ended before offset off. If a column must be read again as
// text, it goes back, and again is true.
func (s *scanner) end(off int64) (again, ok bool) {
	if text := s.sink.NeedText(); len(text) > 0 {
		s.sink.Text = append(s.sink.Text, text...)
		s.sink.Reset()
		s.feature = s.firstNumber
		s.layers.truncate(s.firstLayer)
		s.asides.truncate(&s.firstAsides)
		return true, s.seek(s.first)
	}
	s.next = off
	s.sink.addTo(&s.sum)
	s.chunk.State = s.pack()
	s.Failed = rows.Emit(s.sink, &s.Window, &s.chunk, off, s.limits, s.emit)
	return false, s.Failed == nil
}

// pack returns the state of the rows that are read.
func (s *scanner) pack() uint64 {
	return state{encoding: s.X.Encoding, depth: s.home.Depth(), header: s.header}.pack()
}
