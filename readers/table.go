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
// has Limits.BatchRows rows, or fewer if Limits.BatchBytes ended it. A table without rows has one
// batch of 0 rows, which has the types.
type Table struct {
	Format  string // the format's name
	Engine  string // "cpu" or "cuda"
	CRS     geoarrow.CRS
	Batches []*geoarrow.Columns
	Starts  []int64             // number of each batch's first row, and Rows at the end
	Spans   []Span              // place of each batch in the file; no Text
	IDs     []geoarrow.ColumnID // of each attribute, before columns were renamed
	Facts   []geoarrow.Facts    // of each attribute, over all rows; facts that do not affect its type may be missing
	Rows    int64
	Bytes   int64 // size of all slices

	// These are set for a table whose batches are in a file, and nil for one in memory. Check(i) is
	// called before the slices of batch i are read; its error wraps ErrDamaged if they are not what
	// was written. Search returns the rows of batch i whose bounding box meets a box, ascending.
	Check  func(i int) error
	Search func(i int, box [4]float64) (rows []int32, err error)

	// Set by Measure.
	Boxes         []Box       // of each batch
	BBox          *[4]float64 // xmin ymin xmax ymax of all positions that are not NaN; nil if there is none
	GeometryTypes []string    // "Polygon", "Point Z", …: as the rows are in the file, sorted
	Positions     int64       // positions of all geometries

	Summary            Summary
	RoundedIntegers    int64 // integers that a float64 column could not hold exactly
	ReplacedCharacters int64 // lone surrogates of a text column that became U+FFFD
	ParseTime          time.Duration
}

// Keeper stores chunks elsewhere while Read runs, so that a large table need not fit in memory. It
// is called by one goroutine at a time.
type Keeper interface {
	// Keep returns the rows, moved to another place or unchanged.
	Keep(c *geoarrow.Columns) (*geoarrow.Columns, error)
	// Reserve is called before n bytes of chunks replace others, because the table's types are
	// wider than the chunks'.
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
	sum, err := p.Parse(ctx, src, Request{Span: Span{To: -1}, Limits: limits, Keep: true}, j.add)
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

// Measure sets Boxes, BBox, GeometryTypes and Positions in a pass over all geometries, on all
// cores. Its error is that of ctx.
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
			t.BBox[i] += 0 // -0 becomes 0, since which of the two comes first depends on the batches
		}
	}
	for k := range types {
		t.GeometryTypes = append(t.GeometryTypes, k.String())
	}
	slices.Sort(t.GeometryTypes)
	return nil
}

// measure is the result of Measure for one batch.
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

// noBox is the box of an empty set of positions: it meets no box.
var noBox = Box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}

// ErrDamaged is the cause of the error if the file of a table does not have the bytes that were
// written to it.
var ErrDamaged = errors.New("the file of the parsed table is damaged")

func union(a *[4]float64, b [4]float64) *[4]float64 {
	if a == nil {
		return &b
	}
	return &[4]float64{min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])}
}
