package gml

import (
	"context"
	"math"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
	"github.com/vibeflight/vibeflight/readers/source"
)

// scanner is one run of the CPU parser. Its methods read one thing of the grammar and give false where they can't: then x.Fault, or err, says why.
type scanner struct {
	window.Window
	x          xmltext.Scanner
	limits     readers.Limits
	wanted     string  // name of the layer to be read; "": that of the first feature
	axes       string  // the option axis_order
	schema     *schema // of the .xsd; nil: there is none
	inside     bool    // a span of rows is read again
	skipErrors bool
	emit       func(readers.Chunk) error

	field  string // that a fault concerns
	ofFile bool   // a fault is one of the file: on_error: skip does not pass it
	err    error  // of the window, of emit, of a chunk or of another scanner: no fault of the text here

	sink   *sink
	chunk  readers.Span
	sum    readers.Summary
	row    row         // the feature at hand
	crs    established // the system of the layer
	names  systems     // what srsName says
	digits []byte      // a number as package number wants it
	text   []byte      // coordinates that had to be decoded

	frame   frame   // what boundedBy of the root says
	places  []place // that are open, the root first; of a span that is read again only those that began in it
	layers  layers
	layer   string // that is read; "" before the first feature
	opening []byte // what its features begin with: "<topp:roads"

	membered bool // a member was met

	stop    int64       // no row that begins here or behind is read
	lead    int64       // how many bytes of rows are read before others help; 0: nobody does
	rest    func() bool // reads the other rows with several workers
	stopped bool        // a row was met that begins behind stop
	part    bool        // of the file, for a worker
	home    where       // of the first row of the part
	ending  where       // of the row behind it
	next    int64       // offset behind the last chunk: of the next row, or of the end of the file

	inRow       bool  // a fault is one of a feature
	feature     int64 // its number in the layer
	first       int64 // offset of the first one of the chunk, be it left out or not
	firstNumber int64 // and its number
	firstPlace  where // and what is around it
}

// where is what is around a feature: all that reading on from there takes.
type where struct {
	x      xmltext.Scanner // its open elements
	places []place
}

// save makes w the place before the start tag that was just read.
func (w *where) save(s *scanner) {
	s.x.Rewind(s.x.TagMark())
	w.x.ResumeIn(&s.x)
	s.x.Next()
	w.places = append(w.places[:0], s.places...)
}

// same reports whether what is read from either place on, in the same bytes, means the same.
func (w *where) same(v *where) bool {
	return slices.Equal(w.places, v.places) && w.x.SameElements(&v.x)
}

// scanner makes one that has read nothing, and has no sink.
func (c cpu) scanner(req readers.Request) *scanner {
	s := &scanner{limits: req.Limits.WithDefaults(), wanted: c.layout.Layer, axes: c.layout.Options.Get(optionAxes), stop: math.MaxInt64}
	s.schema, _ = c.layout.Dialect.(*schema)
	s.sum = readers.Summary{Foreign: map[string]int64{}}
	s.skipErrors = c.layout.Options.SkipErrors()
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

// seek goes to an offset that is in a place.
func (s *scanner) seek(off int64, w *where) bool {
	p := s.MoveTo(off)
	if p < 0 {
		s.err = s.Err
		return false
	}
	s.resume(w)
	s.show()
	s.x.P = p
	return true
}

// resume begins in a place with the window to come.
func (s *scanner) resume(w *where) {
	if s.inside {
		s.x.ResumeLoose()
	} else {
		s.x.ResumeIn(&w.x)
	}
	s.places = append(s.places[:0], w.places...)
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
	fault, field, ofFile, n, eof := s.x.Fault, s.field, s.ofFile, s.N, s.EOF
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
	s.x.Fault, s.field, s.ofFile = fault, field, ofFile
	return shows
}
