package kml

import (
	"context"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
	"github.com/vibeflight/vibeflight/readers/source"
)

// scanner is one run of the CPU parser. Its methods read one thing of the grammar and give false where they can't: then x.Fault, or err, says why.
type scanner struct {
	window.Window
	x          xmltext.Scanner
	limits     readers.Limits
	stem       string // of the file's name
	wanted     string // name of the layer to be read; "": the first one
	inside     bool   // a span of rows is read again
	headerOnly bool   // only Schemas are read
	skipErrors bool
	emit       func(readers.Chunk) error

	field string // that a fault concerns
	err   error  // of the window, of emit, of a chunk or of another scanner: no fault of the text here

	sink   *sink
	chunk  readers.Span
	sum    readers.Summary
	digits []byte // a number as package number wants it
	row    row    // the feature at hand
	text   []byte // coordinates that had to be decoded

	containers []container // that are open, the root first; in a part, the one whose rows are read first
	layers     layers
	found      bool            // the layer that is wanted has begun
	home       xmltext.Scanner // in its container, as every row is
	opening    []byte          // what its rows begin with: "<Placemark"
	schemas    schemas
	header     int64 // end of the last Schema that counts; 0: there is none

	stop    int64       // no row that begins here or behind is read
	lead    int64       // how many bytes of rows are read before others help; 0: nobody does
	rest    func() bool // reads the other rows with several workers
	stopped bool        // a row was met that begins behind stop
	part    bool        // no more than the container of the rows is read, of which the beginning is unknown
	next    int64       // offset behind the last chunk: of the next row, or of what ends the rows

	inRow       bool  // a fault is one of a feature
	feature     int64 // its number in the layer
	first       int64 // offset of the first one of the chunk, be it left out or not
	firstNumber int64 // and its number
	firstLayer  int   // and how many layers were known before it
}

// state is what a span must know of the text before it.
type state struct {
	encoding xmltext.Encoding
	depth    int   // open elements around the features
	header   int64 // end of the last Schema that counts
}

const (
	encodingBits = 2
	depthBits    = 20
)

// pack gives the state as a Span carries it: header, depth and encoding from the highest bit to the lowest.
func (t state) pack() uint64 {
	return uint64(t.header)<<(depthBits+encodingBits) | uint64(min(t.depth, 1<<depthBits-1))<<encodingBits | uint64(t.encoding)
}

func unpackState(v uint64) state {
	return state{
		encoding: xmltext.Encoding(v & (1<<encodingBits - 1)),
		depth:    int(v >> encodingBits & (1<<depthBits - 1)),
		header:   int64(v >> (depthBits + encodingBits)),
	}
}

// scanner makes one that has read nothing.
func (c cpu) scanner(src *source.File, req readers.Request) *scanner {
	s := &scanner{limits: req.Limits.WithDefaults(), wanted: c.layout.Layer, sink: newSink(c.layout.Columns), stop: math.MaxInt64}
	s.sum = readers.Summary{CRS: geoarrow.CRS84, Foreign: map[string]int64{}}
	s.skipErrors = c.layout.Options.SkipErrors()
	base := path.Base(src.Name)
	s.stem = strings.TrimSuffix(base, path.Ext(base))
	return s
}

// open has the scanner read from an offset on, where row number row begins.
func (s *scanner) open(ctx context.Context, src *source.File, from, end, row int64, step int) bool {
	s.feature, s.chunk, s.err, s.stopped, s.inRow = row, readers.Span{Row: row}, nil, false, false
	if !s.Open(ctx, src, from, s.stop, end, s.limits.MaxFeatureBytes, step) {
		s.err = s.Err
		return false
	}
	s.x.MaxDepth, s.x.Most = s.limits.MaxDepth, int(s.limits.MaxFeatureBytes)
	s.show()
	return true
}

// show gives the window to the XML scanner.
func (s *scanner) show() { s.x.Window(s.Q, s.N, s.Base, s.EOF) }

// refill brings more of the file behind index keep, which becomes index 0.
func (s *scanner) refill(keep int) bool {
	if !s.Fill(keep) {
		s.err = s.Err
		return false
	}
	s.show()
	return true
}

// seek goes to an offset in the container of the rows.
func (s *scanner) seek(off int64) bool {
	p := s.MoveTo(off)
	if p < 0 {
		s.err = s.Err
		return false
	}
	s.x.ResumeIn(&s.home)
	s.show()
	s.x.P = p
	return true
}

// token reads the next tag, over any number of windows.
func (s *scanner) token() xmltext.Token {
	for {
		t := s.x.Next()
		if t != xmltext.Fault || !s.x.Cut() || !s.refill(s.x.P) {
			return t
		}
	}
}

// pass reads on until so many elements are open, over any number of windows.
func (s *scanner) pass(depth int) bool {
	for !s.x.Pass(depth) {
		if !s.x.Cut() || !s.refill(s.x.P) {
			return false
		}
	}
	return true
}

// unit reads the element whose start tag was read with do, once the window holds all of it.
func (s *scanner) unit(do func() bool) bool {
	m := s.x.TagMark()
	for {
		ok := do()
		if s.tooLong(m, ok, do) {
			return false
		}
		if ok || s.err != nil || !s.x.Cut() {
			return ok
		}
		if !s.again(m) {
			return false
		}
	}
}

// again fills the window from a start tag on, and reads that once more.
func (s *scanner) again(m xmltext.Mark) bool {
	if !s.refill(m.Index(&s.x)) {
		return false
	}
	s.x.Rewind(m)
	return s.x.Next() == xmltext.Start || s.x.Cut() && s.again(m)
}

// tooLong refuses the element at m if it is longer than --max-feature-bytes, wherever windows end: one that do read, or in which it met a fault.
func (s *scanner) tooLong(m xmltext.Mark, read bool, do func() bool) bool {
	at, end := m.Index(&s.x), s.x.P
	if !read {
		end = s.N
	}
	if s.err != nil || int64(end-at) <= s.Most {
		return false
	}
	if !read && !s.x.Cut() && !s.x.Fault.Long && s.withinMost(at, m, do) {
		return false
	}
	s.err = s.TooLong(at)
	return true
}

// withinMost reports whether a fault of the element at m, whose index is at, shows within the bytes that it may have: do meets it again in a window of no more.
func (s *scanner) withinMost(at int, m xmltext.Mark, do func() bool) bool {
	fault, field, n, eof := s.x.Fault, s.field, s.N, s.EOF
	s.N, s.EOF = at+int(s.Most), false
	behind := s.Text(s.N, s.N+xmltext.Padding)
	kept := slices.Clone(behind)
	clear(behind)
	s.show()
	s.x.Rewind(m)
	shows := s.x.Next() == xmltext.Start && !do() && !s.x.Cut()
	copy(behind, kept)
	s.N, s.EOF = n, eof
	s.show()
	s.x.Fault, s.field = fault, field
	return shows
}

// chunkEnds reports whether the chunk at hand ends before the row at offset off.
func (s *scanner) chunkEnds(off int64) bool {
	if s.sink.Full(&s.limits) {
		s.stop = min(s.stop, off)
	}
	return off >= s.stop || s.sink.Rows > 0 && (s.sink.Rows >= s.limits.BatchRows || off-s.chunk.From >= s.limits.BatchBytes)
}

// begin starts a chunk with the row at offset off, unless one is begun.
func (s *scanner) begin(off int64) {
	if s.sink.Rows == 0 && s.sink.Skipped.Count == 0 {
		s.first, s.firstNumber, s.firstLayer = off, s.feature, len(s.layers.raw)
	}
}

// end finishes the chunk whose last row ended before offset off. If its rows showed that a column must be read as text, it goes back, and again is true.
func (s *scanner) end(off int64) (again, ok bool) {
	if text := s.sink.NeedText(); len(text) > 0 {
		s.sink.Text = append(s.sink.Text, text...)
		s.sink.Reset()
		s.feature = s.firstNumber
		s.layers.truncate(s.firstLayer)
		return true, s.seek(s.first)
	}
	s.next = off
	s.sink.addTo(&s.sum)
	s.chunk.State = s.pack()
	s.err = rows.Emit(s.sink, &s.Window, &s.chunk, off, s.limits, s.emit)
	return false, s.err == nil
}

// pack is the state of the rows that are read.
func (s *scanner) pack() uint64 {
	return state{encoding: s.x.Encoding, depth: s.home.Depth(), header: s.header}.pack()
}
