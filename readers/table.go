package readers

import (
	"context"
	"errors"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Table is a whole parsed file. It is immutable and may be read by any number of goroutines.
//
// It is canonical: equal files and options give equal slices on every engine, with any number of
// workers. Every batch has the same columns of the same types and names; every batch but the last
// has Limits.BatchRows rows, or fewer where Limits.BatchBytes ended it. A table without rows has
// one batch of 0 rows, which carries the types.
type Table struct {
	Format  string // the format's name
	Engine  string // "cpu" or "cuda"
	CRS     geoarrow.CRS
	Batches []*geoarrow.Columns
	Starts  []int64             // number of each batch's first row, and Rows at the end
	Spans   []Span              // where each batch stands in the file; no Text
	IDs     []geoarrow.ColumnID // of each attribute, before columns were renamed
	Facts   []geoarrow.Facts    // of each attribute, over all rows; what does not matter for its type may be left out
	Rows    int64
	Bytes   int64 // size of all slices

	// Of a table whose batches lie in a file. A caller that reads the slices of batch i asks
	// Check(i) first, whose error wraps ErrDamaged if they are not what was written. Search gives
	// the rows of batch i whose bounding box meets a box, ascending. Both are nil for a table in
	// memory.
	Check  func(i int) error
	Search func(i int, box [4]float64) (rows []int32, err error)

	// Set by Measure.
	Boxes         []Box       // of each batch
	BBox          *[4]float64 // xmin ymin xmax ymax of all positions that are not NaN; nil if there is none
	GeometryTypes []string    // "Polygon", "Point Z", …: what the file says of its rows, sorted
	Positions     int64       // how many positions all geometries have

	Summary            Summary
	RoundedIntegers    int64 // integers that a float64 column could not hold exactly
	ReplacedCharacters int64 // lone surrogates of a text column that became U+FFFD
	ParseTime          time.Duration
}

// Keeper takes chunks off the hands of Read as they come: a large table need not be in memory as a
// whole. It is not called by two goroutines at a time.
type Keeper interface {
	// Keep gives the rows back, the same in another place or as they are.
	Keep(c *geoarrow.Columns) (*geoarrow.Columns, error)
	// Reserve is called before n bytes of chunks are kept in place of others, because the
	// types of the table are not those of the chunks.
	Reserve(bytes int64) error
}

// Read parses the whole file with a parser of the format. keep may be nil: then the table is in
// memory. Errors are those of the parser, a *ParseError for bad input or a *LimitError, and those
// of keep.
func Read(ctx context.Context, f Format, p Parser, src *source.File, limits Limits, keep Keeper) (*Table, error) {
	began := time.Now()
	limits = limits.WithDefaults()
	j := joiner{ctx: ctx, parser: p, src: src, limits: limits, keep: keep}
	if t, ok := p.(textParser); ok {
		j.forceText(t.columns)
	}
	sum, err := p.Parse(ctx, src, Request{Span: Span{To: -1}, Limits: limits}, j.add)
	if err != nil {
		return nil, err
	}
	sum.layersFrom(src)
	t := &Table{Format: f.Name, Engine: EngineOf(p), CRS: sum.CRS, Summary: sum}
	if err := j.join(t); err != nil {
		return nil, err
	}
	t.ParseTime = time.Since(began)
	return t, nil
}

// Measure fills in Boxes, BBox, GeometryTypes and Positions, which no row needs, with a pass over
// all geometries, on all cores. Its error is that of ctx.
func (t *Table) Measure(ctx context.Context) error {
	found := make([]measure, len(t.Batches))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(t.Batches)) {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(t.Batches)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				found[i] = measured(t.Batches[i].Geometry)
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	types := map[geoarrow.RowKind]struct{}{}
	t.Boxes, t.BBox, t.GeometryTypes, t.Positions = make([]Box, len(t.Batches)), nil, nil, 0
	for i, m := range found {
		t.Boxes[i] = m.box
		t.Positions += m.positions
		maps.Copy(types, m.types)
		if m.box != noBox {
			t.BBox = union(t.BBox, m.box)
		}
	}
	if t.BBox != nil {
		for i := range t.BBox {
			t.BBox[i] += 0 // -0 becomes 0: which of the two came first depends on the batches
		}
	}
	for k := range types {
		t.GeometryTypes = append(t.GeometryTypes, k.String())
	}
	slices.Sort(t.GeometryTypes)
	return nil
}

// measure is what Measure finds in a batch.
type measure struct {
	box       Box
	types     map[geoarrow.RowKind]struct{}
	positions int64
}

func measured(g *geoarrow.Geometry) measure {
	m := measure{box: noBox, types: map[geoarrow.RowKind]struct{}{}}
	if g == nil {
		return m
	}
	m.positions = g.Positions()
	g.AppendTypes(m.types)
	if box, ok := g.TotalBounds(); ok {
		m.box = box
	}
	return m
}

// Box is xmin, ymin, xmax, ymax.
type Box = [4]float64

// noBox is the box of no position: it meets no box.
var noBox = Box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}

// ErrDamaged is the cause of the error when the file of a table does not hold what was written to
// it.
var ErrDamaged = errors.New("the file of the parsed table is damaged")

func union(a *[4]float64, b [4]float64) *[4]float64 {
	if a == nil {
		return &b
	}
	return &[4]float64{min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])}
}
