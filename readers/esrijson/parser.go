package esrijson

import (
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/curve"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
	"github.com/vibeflight/vibeflight/readers/internal/nesting"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/internal/positions"
	"github.com/vibeflight/vibeflight/readers/source"
)

const (
	formatTitle = "Esri JSON"
	utf8Rule    = "RFC 8259 section 8.1"

	setRule      = "ArcGIS REST API, feature set"
	featureRule  = "ArcGIS REST API, feature object"
	geometryRule = "ArcGIS REST API, geometry objects"
)

// parser is the CPU engine.
type parser struct {
	layout    readers.Layout
	readBytes int  // bytes read at a time; 0: the usual number
	portable  bool // without optional instructions of the processor
}

// scanner is one run of the parser.
type scanner struct {
	jsonrows.Scanner
	header *header // from open; nothing of it changes
	set    header  // what was read of the set's members so far
	hasZ   bool    // of the set
	hasM   bool

	linearize bool       // curves become lines
	arcs      curve.Line // adds the positions of curves

	crsText []byte // the last spatial reference of a geometry
	row     feature
	geom    geometry
	ends    []int // of the rings of a polygon, in positions of the builder
	nest    nesting.Nesting
	z, m    []float64 // of a polygon whose rings are arranged
}

// scanner returns a new scanner.
func (c parser) scanner(req readers.Request) *scanner {
	s := &scanner{}
	if s.header, _ = c.layout.Dialect.(*header); s.header == nil {
		s.header = &header{}
	}
	s.Init(jsonrows.Config{
		Dialect: s, Format: formatName, Unit: unit, Row: unit, Members: "attributes", Rule: featureRule,
		Position: s.position, PositionRule: geometryRule, PlainRuns: positions.Have && !c.portable,
		Declare: s.header.declare, Layout: c.layout, Request: req,
	})
	s.Sum.CRS = s.header.crs
	s.linearize = c.layout.Options.Get(optionCurves) == curvesLinearize
	s.arcs.Add = s.addComputed
	return s
}

// Parse reads the whole file, or a span of rows that an earlier Parse emitted.
func (c parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	if req.Span.To < 0 {
		req.Span.To = src.Size
	}
	s := c.scanner(req)
	out := s.Output(req, emit)
	var w *jsonrows.Workers
	if parallel.Worthwhile(req.Span, &s.Limits) {
		w = jsonrows.NewWorkers(ctx, src, &s.Scanner, jsonrows.WorkersConfig{
			Parser: c, ReadBytes: c.readBytes,
			New: func() *jsonrows.Scanner { return &c.scanner(req).Scanner },
		})
		defer w.Close()
	}
	ok := s.Start(ctx, src, req.Span.From, req.Span.To, req.Span.Row, c.readBytes)
	switch {
	case !ok:
	case req.Span.Inside:
		ok = s.Span()
	default:
		ok = s.document()
	}
	if !ok {
		return readers.Summary{}, s.Error()
	}
	if w != nil {
		if err := w.Finish(); err != nil {
			return readers.Summary{}, err
		}
	}
	if err := out.Finish(req.Span, s.noRows); err != nil {
		return readers.Summary{}, err
	}
	s.Sum.BytesRead += s.Window.Read
	return s.Sum, nil
}

// noRows returns the columns of a file without rows.
func (s *scanner) noRows() (*geoarrow.Columns, error) {
	s.Sink.Reset()
	return s.Sink.Columns(0)
}

// Forget implements jsonrows.Dialect: no row depends on earlier ones.
func (s *scanner) Forget() bool { return false }
