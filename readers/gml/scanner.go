package gml

import (
	"context"
	"math"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/curve"
	"github.com/vibeflight/vibeflight/readers/internal/xmlfile"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
	"github.com/vibeflight/vibeflight/readers/source"
)

// scanner is one run of the CPU parser. Its methods read one element of the grammar. They return
// false, with X.Fault or Failed set, if they can't.
type scanner struct {
	xmlfile.Scanner
	limits     readers.Limits
	wanted     string  // name of the layer to be read; "": that of the first feature
	schema     *schema // of the .xsd; nil: none
	inside     bool    // a span of rows is read again
	onlyHead   bool    // only the text before all members is read
	skipErrors bool
	linearize  bool // arcs become lines
	tolerance
	emit func(readers.Chunk) error

	sink    *sink
	chunk   readers.Span
	sum     readers.Summary
	row     row      // the current feature
	crs     layerCRS // the system of the layer
	dropped bool     // crs was set by a row that was then found to be malformed
	names   systems  // meanings of srsName
	steps   steps    // elements that hold elements
	// the option geometry: place of the row's own geometry; "": the first one
	main    string
	second  geoarrow.GeometryBuilder // of a geometry that is not the row's own
	ends    curveEnds                // of the curve that was read last
	given   givenPositions
	arcs    curve.Line
	inRing  bool      // the current positions are a LinearRing
	numbers []float64 // of a list
	digits  []byte    // a number in the syntax of package number
	text    []byte    // coordinates that had to be decoded

	frame   frame   // frame of the root's boundedBy
	places  []place // open elements, the root first; in a span that is read again, only those that began in it
	layers  layers
	layer   string // that is read; "" before the first feature
	opening []byte // beginning of its features: "<topp:roads"

	membered bool // a member was met
	wraps    bool // the root is not a collection

	stop      int64       // rows that begin here or later are not read
	headBytes int64       // bytes of rows that are parsed before other workers start; 0: none start
	rest      func() bool // parses the other rows with several workers
	stopped   bool        // a row began at or after stop
	part      bool        // of the file, for a worker
	home      where       // of the first row of the part
	ending    where       // of the row after it
	next      int64       // offset after the last chunk: of the next row, or of the end of the file

	inRow       bool  // a fault is one of a feature
	feature     int64 // its number in the layer
	first       int64 // offset of the chunk's first row, even if it was skipped
	firstNumber int64 // and its number
	firstPlace  where // and what is around it
	firstSystem layerCRS
}

// where is the context of a feature: the state that is needed to continue from there.
type where struct {
	x      xmltext.Scanner // its open elements
	places []place
}

// save makes w the place before the start tag that was just read.
func (w *where) save(s *scanner) {
	s.X.Rewind(s.X.TagMark())
	w.x.ResumeIn(&s.X)
	s.X.Next()
	w.places = append(w.places[:0], s.places...)
}

// same reports whether the same bytes have the same meaning at both places.
func (w *where) same(v *where) bool {
	return slices.Equal(w.places, v.places) && w.x.SameElements(&v.x)
}

// scanner returns a new scanner without a sink.
func (c parser) scanner(req readers.Request) *scanner {
	s := &scanner{limits: req.Limits.WithDefaults(), wanted: c.layout.Layer, stop: math.MaxInt64}
	s.schema, _ = c.layout.Dialect.(*schema)
	s.sum = readers.Summary{Foreign: map[string]int64{}}
	s.skipErrors, s.tolerance = c.layout.Options.SkipErrors(), newTolerance(c.layout.Options)
	s.names.axes = c.layout.Options.Get(optionAxes)
	s.main = c.layout.Options.Get(optionGeometry)
	s.linearize = c.layout.Options.Get(optionLinearize) == yes
	return s
}

// open moves the scanner to an offset, where row number row begins.
func (s *scanner) open(ctx context.Context, src *source.File, from, end, row int64, step int) bool {
	s.feature, s.chunk, s.stopped, s.inRow, s.active = row, readers.Span{Row: row}, false, false, false
	return s.Begin(ctx, src, from, s.stop, end, &s.limits, step)
}

// seek moves to an offset with a place's context.
func (s *scanner) seek(off int64, w *where) bool {
	s.resume(w)
	return s.GoTo(off)
}

// resume starts with a place's context and the next window.
func (s *scanner) resume(w *where) {
	if s.inside {
		s.X.ResumeLoose()
	} else {
		s.X.ResumeIn(&w.x)
	}
	s.places = append(s.places[:0], w.places...)
}

// wrongFile is wrong for a fault of the file, not of the current feature.
func (s *scanner) wrongFile(p int, field, rule, what string) bool {
	s.Wrong(p, field, rule, what)
	s.OfFile = true
	return false
}

// error returns the fault as an error with its position in the file.
func (s *scanner) error() error {
	feature := int64(-1)
	if s.inRow {
		feature = s.feature
	}
	return s.withMode(s.Error(formatName, feature))
}
