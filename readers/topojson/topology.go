package topojson

import (
	"context"
	"fmt"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/source"
)

// topology is what all rows of a file share.
type topology struct {
	scaled           bool // there is a transform
	scale, translate [2]float64

	x, y, z []float64 // of all arcs; z is empty if no position has it, NaN where one has not
	ends    []int     // of the arcs, in positions
	deep    []bool    // of each arc: it has a z

	layers        []*layer
	crs           geoarrow.CRS
	foreign       map[string]int64
	deviations    readers.Deviations
	positionLimit int64 // of the rows of a layer
}

// A topology's rows use each arc a few times: twice at borders. A file whose rows repeat their arcs
// very often would make a table of any size, so the positions of a layer are limited to these.
const (
	positionsPerByte = 4 // of the file
	freePositions    = 4 << 20
)

// places are where the values of a topology's members are.
type places struct{ kind, objects, arcs, transform, crs int }

// load reads all of a file but the rows. It returns the number of bytes that it read.
func (c parser) load(ctx context.Context, src *source.File, req readers.Request) (*topology, int64, error) {
	req.Span.Inside = false
	s := c.scanner(req)
	if src.Size > s.Limits.MaxFeatureBytes {
		return nil, 0, &readers.LimitError{
			What: src.Name + ": a topology, which is read whole,", Flag: "--max-feature-bytes",
			Limit: s.Limits.MaxFeatureBytes,
		}
	}
	t := s.topology
	t.foreign = map[string]int64{}
	t.positionLimit = positionsPerByte*src.Size + freePositions
	if !s.Start(ctx, src, 0, src.Size, 0, int(src.Size)) || !s.document() {
		return nil, 0, s.Error()
	}
	t.deviations = s.Sum.Deviations
	return t, s.Window.Read, nil
}

// document reads the topology, all of which is in the window.
func (s *scanner) document() bool {
	p := s.Begin("TopoJSON", "RFC 8259 section 8.1")
	if p < 0 {
		return false
	}
	if s.At(p) != '{' {
		s.Fail(p, "a TopoJSON object")
		return false
	}
	at := places{-1, -1, -1, -1, -1}
	end := s.Root(p, func(name string, p int) int {
		place := at.of(name)
		switch {
		case place == nil && name != "bbox":
			s.topology.foreign[name]++
			fallthrough
		case place == nil:
			return s.SkipMember(p)
		case *place >= 0:
			return s.Wrong(p, "", topologyRule, fmt.Sprintf("a second %s member", name))
		}
		*place = p
		return s.pass(p)
	})
	return end >= 0 && s.members(&at, end) && s.OnlyBlanks(end+1, "the topology")
}

// of returns the place of a member, or nil for one of no meaning.
func (a *places) of(name string) *int {
	switch name {
	case "type":
		return &a.kind
	case "objects":
		return &a.objects
	case "arcs":
		return &a.arcs
	case "transform":
		return &a.transform
	case "crs":
		return &a.crs
	}
	return nil
}

// pass skips a value whose tokens may be malformed: what reads it reports them.
func (s *scanner) pass(p int) int {
	end := s.Skip(p, 1)
	if end >= 0 || s.Fault.Depth {
		return end
	}
	why := s.Fault
	if end = s.LooseSkip(p); end < 0 {
		s.Fault = why
	}
	return end
}

// members reads the members of the topology, whose closing bracket is at end.
func (s *scanner) members(at *places, end int) bool {
	t := s.topology
	switch {
	case at.kind < 0:
		s.Wrong(end, "", topologyRule, `no TopoJSON: an object without "type"`)
	case string(s.TextAt(at.kind, s.LooseSkip(at.kind))) != "Topology":
		s.FailRule(at.kind, topologyRule, `"Topology"`)
	case at.objects < 0 || at.arcs < 0:
		s.Wrong(end, "", topologyRule, `a topology without "objects" or "arcs"`)
	case at.transform >= 0 && s.ReadRoot(at.transform, s.transform) < 0, s.ReadRoot(at.arcs, s.arcs) < 0:
	default:
		if at.crs >= 0 {
			end := s.SkipMember(at.crs)
			if end < 0 {
				return false
			}
			t.crs = s.CRSMember(at.crs, end)
		}
		return s.objects(at.objects) && s.checkOthers()
	}
	return false
}

// transform reads scale and translate.
func (s *scanner) transform(p int) int {
	t := s.topology
	t.scaled = false
	if s.At(p) == 'n' {
		return s.Literal(p, "null")
	}
	if s.At(p) != '{' {
		return s.FailRule(p, topologyRule, "a transform object")
	}
	seen := 0
	end := s.Walk(p, 1, func(name []byte, at int) int {
		switch string(name) {
		case "scale":
			seen |= 1
			return s.two(at, &t.scale)
		case "translate":
			seen |= 2
			return s.two(at, &t.translate)
		}
		return s.Skip(at, 2)
	})
	if end >= 0 && seen != 3 {
		return s.Wrong(end-1, "", topologyRule, "a transform without scale or translate")
	}
	t.scaled = true
	return end
}

// two reads an array of two numbers.
func (s *scanner) two(p int, to *[2]float64) int {
	for i, before := range []byte("[,") {
		if p = s.Space(p); s.At(p) != before {
			return s.FailRule(p, topologyRule, fmt.Sprintf("%q of two numbers", before))
		}
		p = s.Space(p + 1)
		v, end := number.Float(s.Q, p)
		if end < 0 {
			return s.FailNumber(p, end, v, "a number")
		}
		to[i], p = v, end
	}
	if p = s.Space(p); s.At(p) != ']' {
		return s.FailRule(p, topologyRule, `"]" after two numbers`)
	}
	return p + 1
}

// arcs reads the arcs. Their positions are in the builder only for a moment.
func (s *scanner) arcs(p int) int {
	t, b := s.topology, s.Geom
	b.Reset()
	t.ends, t.deep = nil, nil
	if s.At(p) != '[' {
		return s.FailRule(p, arcRule, "an array of arcs")
	}
	end := s.Arrays(p, func(p int) int {
		deep := len(b.Z)
		p = s.Positions(p)
		t.ends, t.deep = append(t.ends, len(b.X)), append(t.deep, len(b.Z) > deep)
		return p
	})
	if end < 0 {
		s.Fault.Field, s.Fault.Rule = "", arcRule
		return -1
	}
	t.x, t.y, t.z = slices.Clone(b.X), slices.Clone(b.Y), slices.Clone(b.Z)
	b.Reset()
	if t.scaled {
		t.decode()
	}
	return end
}

// decode makes positions of the differences between them, in the arithmetic of GDAL. Conversions
// keep the products from being fused.
func (t *topology) decode() {
	from := 0
	for _, to := range t.ends {
		var x, y float64
		for i := from; i < to; i++ {
			x += t.x[i]
			y += t.y[i]
			t.x[i], t.y[i] = t.place(x, y)
		}
		from = to
	}
}

// place returns a quantized position's place.
func (t *topology) place(x, y float64) (float64, float64) {
	return float64(x*t.scale[0]) + t.translate[0], float64(y*t.scale[1]) + t.translate[1]
}
