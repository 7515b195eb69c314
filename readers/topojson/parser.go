package topojson

import (
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
	"github.com/vibeflight/vibeflight/readers/internal/positions"
	"github.com/vibeflight/vibeflight/readers/source"
)

const (
	topologyRule = "TopoJSON section 2.1"
	geometryRule = "TopoJSON section 2.2"
	arcRule      = "TopoJSON section 2.1.3"
)

// parser is the CPU engine.
type parser struct {
	layout    readers.Layout
	readBytes int  // bytes read at a time; 0: the usual number
	portable  bool // without optional instructions of the processor
}

// scanner is one run of the parser over the rows of a layer, or over the topology.
type scanner struct {
	jsonrows.Scanner
	topology *topology
	layer    *layer
	row      row
	used     int64 // positions of the rows before the current one
	inRow    int64 // of the current row
	current  int64 // its number
}

// scanner returns a new scanner.
func (c parser) scanner(req readers.Request) *scanner {
	s := &scanner{topology: &topology{}}
	s.Init(jsonrows.Config{
		Dialect: s, Format: formatName, Unit: unit, Row: unit, Members: "properties", Rule: geometryRule,
		Position: s.PositionXYZ, PositionRule: "TopoJSON section 2.1.2", PlainRuns: positions.Have && !c.portable,
		Layout: c.layout, Request: req, Full: s.full,
	})
	return s
}

// Parse reads a layer of the whole file, or a span of its rows that an earlier Parse emitted.
func (c parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	t, read, err := c.load(ctx, src, req)
	if err != nil {
		return readers.Summary{}, err
	}
	s := c.scanner(req)
	s.topology = t
	s.Sum.CRS, s.Sum.Layers, s.Sum.BytesRead, s.Sum.Foreign = t.crs, t.names(), read, t.foreign
	s.Sum.Deviations = t.deviations
	out := s.Output(req, emit)
	if s.layer = t.find(c.layout.Layer); s.layer != nil {
		if !s.read(ctx, src, req, c.readBytes) {
			return readers.Summary{}, s.Error()
		}
		s.Sum.BytesRead += s.Window.Read
	} else if c.layout.Layer != "" {
		return s.Sum, &readers.NoLayerError{Name: src.Name, Layer: c.layout.Layer, Layers: t.names()}
	}
	if err := out.Finish(req.Span, s.noRows); err != nil {
		return readers.Summary{}, err
	}
	return s.Sum, nil
}

// read reads the rows of the layer, or of a span of it.
func (s *scanner) read(ctx context.Context, src *source.File, req readers.Request, step int) bool {
	from, to := s.layer.from, src.Size
	if req.Span.Inside {
		from, to = req.Span.From, req.Span.To
	}
	s.Brackets = s.layer.brackets
	if !s.Start(ctx, src, from, to, req.Span.Row, step) {
		return false
	}
	switch {
	case s.layer.objects != nil:
		return s.Places(s.layer.places(from, to))
	case req.Span.Inside:
		return s.Span()
	}
	return s.Array(0) >= 0
}

// noRows returns the columns of a layer without rows.
func (s *scanner) noRows() (*geoarrow.Columns, error) {
	s.Sink.Reset()
	return s.Sink.Columns(0)
}

// Forget implements jsonrows.Dialect: no row depends on earlier ones.
func (s *scanner) Forget() bool { return false }

// maxPositions is how many positions end a chunk: few bytes of text may be very many.
const maxPositions = 32 << 20

// full reports whether the rows so far end the current chunk.
func (s *scanner) full() bool { return len(s.Geom.X) >= maxPositions }
