package gml

import (
	"context"
	"math"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/xmlfile"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
	"github.com/vibeflight/vibeflight/readers/source"
)

// scanner is one run of the CPU parser. Its methods read one thing of the grammar and give false
// where they can't: then X.Fault, or Failed, says why.
type scanner struct {
	xmlfile.Scanner
	limits     readers.Limits
	wanted     string  // name of the layer to be read; "": that of the first feature
	schema     *schema // of the .xsd; nil: there is none
	inside     bool    // a span of rows is read again
	onlyHead   bool    // nothing is read but what is before all members
	skipErrors bool
	linearize  bool // arcs become lines
	tolerance
	emit func(readers.Chunk) error

	sink    *sink
	chunk   readers.Span
	sum     readers.Summary
	row     row      // the current feature
	crs     layerCRS // the system of the layer
	dropped bool     // a row had set crs and was then found to be malformed
	names   systems  // what srsName says
	steps   steps    // elements that hold elements
	// the option geometry: where the row's own geometry stands; "": that is the first one
	main    string
	second  geoarrow.GeometryBuilder // of a geometry that is not the row's own
	ends    curveEnds                // of the curve that was read last
	given   givenPositions
	inRing  bool      // the current positions are a LinearRing
	numbers []float64 // of a list
	digits  []byte    // a number as package number wants it
	text    []byte    // coordinates that had to be decoded

	frame   frame   // what boundedBy of the root says
	places  []place // that are open, the root first; of a span that is read again only those that began in it
	layers  layers
	layer   string // that is read; "" before the first feature
	opening []byte // what its features begin with: "<topp:roads"

	membered bool // a member was met
	wraps    bool // the root is not a collection

	stop      int64       // no row that begins here or after is read
	headBytes int64       // how many bytes of rows are parsed before other workers start; 0: none do
	rest      func() bool // parses the other rows with several workers
	stopped   bool        // a row was met that begins behind stop
	part      bool        // of the file, for a worker
	home      where       // of the first row of the part
	ending    where       // of the row after it
	next      int64       // offset after the last chunk: of the next row, or of the end of the file

	inRow       bool  // a fault is one of a feature
	feature     int64 // its number in the layer
	first       int64 // offset of the first one of the chunk, be it left out or not
	firstNumber int64 // and its number
	firstPlace  where // and what is around it
	firstSystem layerCRS
}

// where is what is around a feature: all that reading on from there takes.
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

// same reports whether what is read from either place on, in the same bytes, means the same.
func (w *where) same(v *where) bool {
	return slices.Equal(w.places, v.places) && w.x.SameElements(&v.x)
}

// scanner makes one that has read nothing, and has no sink.
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

// open has the scanner read from an offset on, where row number row begins.
func (s *scanner) open(ctx context.Context, src *source.File, from, end, row int64, step int) bool {
	s.feature, s.chunk, s.stopped, s.inRow, s.active = row, readers.Span{Row: row}, false, false, false
	return s.Begin(ctx, src, from, s.stop, end, &s.limits, step)
}

// seek goes to an offset that is in a place.
func (s *scanner) seek(off int64, w *where) bool {
	s.resume(w)
	return s.GoTo(off)
}

// resume begins in a place with the window to come.
func (s *scanner) resume(w *where) {
	if s.inside {
		s.X.ResumeLoose()
	} else {
		s.X.ResumeIn(&w.x)
	}
	s.places = append(s.places[:0], w.places...)
}

// wrongFile is wrong for what concerns the file, not the feature that it is in.
func (s *scanner) wrongFile(p int, field, rule, what string) bool {
	s.Wrong(p, field, rule, what)
	s.OfFile = true
	return false
}

// error makes what went wrong an error with its place in the file.
func (s *scanner) error() error {
	feature := int64(-1)
	if s.inRow {
		feature = s.feature
	}
	return s.withMode(s.Error(formatName, feature))
}
