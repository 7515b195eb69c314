package gpx

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// place is the place of a position in the file: the numbers of its track or route, of its segment
// in the track, and of itself in the segment or route, from 0. In a part whose beginning is
// unknown, numbers count from the part's first position until the next track or segment.
type place struct{ path, segment, number int64 }

// enter moves to a track or route.
func (p *place) enter() { *p = place{path: p.path + 1, segment: -1, number: -1} }

// enterSegment moves to a segment.
func (p *place) enterSegment() { p.segment, p.number = p.segment+1, -1 }

// run is rows with consecutive numbers of one segment or route.
type run struct {
	row   int   // first one in the chunk
	place place // of it
}

// addRow notes the place of the next row of the chunk.
func (k *sink) addRow(at place) {
	if n := len(k.runs) - 1; n >= 0 {
		if next := k.runs[n].at(k.Rows); next == at {
			return
		}
	}
	k.runs = append(k.runs, run{k.Rows, at})
}

// at returns the place of a row of the run.
func (r *run) at(row int) place {
	p := r.place
	p.number += int64(row - r.row)
	return p
}

// placeOf returns the place of a row.
func placeOf(runs []run, row int) place {
	low, high := 0, len(runs) // the run is in [low, high)
	for high-low > 1 {
		if middle := int(uint(low+high) / 2); runs[middle].row <= row {
			low = middle
		} else {
			high = middle
		}
	}
	return runs[low].at(row)
}

// numberColumns are the columns of the numbers of a place.
var numberColumns = [...]struct {
	column column
	step   int64 // from row to row of a run
	of     func(*place) int64
}{
	{columnPath, 0, func(p *place) int64 { return p.path }},
	{columnSegment, 0, func(p *place) int64 { return p.segment }},
	{columnNumber, 1, func(p *place) int64 { return p.number }},
}

// addNumbers fills the columns of numbers for the rows of the chunk with zeros.
func (k *sink) addNumbers() {
	for _, n := range numberColumns {
		switch c := k.leading[n.column]; {
		case c == nil:
		case c.Unread:
			c.N = k.Rows
		default:
			c.Ints = slices.Grow(c.Ints, k.Rows)[:k.Rows]
			clear(c.Ints)
			c.N = k.Rows
		}
	}
}

// setNumbers sets the columns of numbers of a chunk.
func setNumbers(columns *geoarrow.Columns, runs []run) {
	for i := range columns.Attributes {
		c := &columns.Attributes[i]
		for _, n := range numberColumns {
			if c.Role == role(n.column) && c.Type.ID() != arrow.NULL {
				setNumber(c, columns.Rows, runs, n.step, n.of)
			}
		}
	}
}

// setNumber sets a column of numbers, which has n rows: of integers of 32 bits, or of 64 if they are
// too large.
func setNumber(c *geoarrow.Column, n int, runs []run, step int64, of func(*place) int64) {
	wide := c.Type.ID() == arrow.INT64
	for i := range runs {
		wide = wide || of(&runs[i].place)+int64(n) > math.MaxInt32
	}
	if wide {
		c.Type, c.Values = arrow.PrimitiveTypes.Int64, geoarrow.AsBytes(make([]int64, n))
		c.Facts.Kinds |= geoarrow.FactInt64
	}
	for i := range runs {
		end := n
		if i+1 < len(runs) {
			end = runs[i+1].row
		}
		v := of(&runs[i].place)
		for row := runs[i].row; row < end; row++ {
			if wide {
				geoarrow.View[int64](c.Values)[row] = v
			} else {
				geoarrow.View[int32](c.Values)[row] = int32(v)
			}
			v += step
		}
	}
}

// entries are the numbers of rows before the first track or route, and before the first of these or
// of a segment, that begins in a part; -1: none begins.
type entries struct{ path, any int }

// noteEntry notes that a track, a route or a segment begins.
func (s *scanner) noteEntry() {
	if s.sink == nil {
		return
	}
	if s.entries.any < 0 {
		s.entries.any = s.sink.Rows
	}
	if s.depth == inPath && s.entries.path < 0 {
		s.entries.path = s.sink.Rows
	}
}
