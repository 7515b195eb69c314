package parquet

import (
	"math"

	"github.com/apache/arrow/go/v17/parquet/metadata"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/records"
	"github.com/vibeflight/vibeflight/readers/source"
)

// cover describes the table of a file whose footer has bounding boxes: GeoParquet 1.1, "Bounding
// box covering". The box of a row group is that of the statistics of its columns, as Overture's
// files have them. Batches are those that a parse gives; the box of one is that of all row groups
// that it has rows of.
func cover(l readers.Layout, src *source.File, limits readers.Limits) (t *readers.Table, ok bool) {
	f := l.Dialect.(*footer)
	if f.plan.Cover == nil {
		return nil, false
	}
	err := records.Guard(func() (err error) {
		t, ok, err = f.cover(src, limits.WithDefaults())
		return err
	})
	return t, ok && err == nil
}

func (f *footer) cover(src *source.File, limits readers.Limits) (*readers.Table, bool, error) {
	columns, ok := f.coverColumns()
	if !ok {
		return nil, false, nil
	}
	p := project{footer: f, most: maxGroupRows}
	for i := range f.manifest.Fields {
		p.fields = append(p.fields, i)
	}
	shape := f.plan.Shape()
	shape.BatchRows = limits.BatchRows
	t := &coverTable{batch: int64(limits.BatchRows)}
	for i := range f.meta.RowGroups {
		g, err := p.group(src, i)
		if err != nil {
			return nil, false, err
		}
		box, err := f.groupBox(i, g.rows, columns)
		if err != nil {
			return nil, false, err
		}
		t.add(g, box)
	}
	if t.rows == 0 {
		return nil, false, nil
	}
	shape.Starts = append(t.starts, t.rows)
	out := shape.Table()
	out.Format, out.Engine, out.Spans, out.Boxes = formatName, readers.EngineCPU, t.spans, t.boxes
	out.GeometryTypes, out.Bytes = f.plan.Cover.Types, t.bytes
	for _, box := range t.boxes {
		out.BBox = grown(out.BBox, box)
	}
	return out, true, nil
}

// grown returns the box around two; nil is around nothing.
func grown(a *readers.Box, b readers.Box) *readers.Box {
	if b[0] > b[2] {
		return a
	}
	if a == nil {
		return &b
	}
	return &readers.Box{min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])}
}

// coverTable collects the batches of row groups.
type coverTable struct {
	batch  int64 // rows of a batch
	rows   int64
	bytes  int64
	starts []int64
	spans  []readers.Span
	boxes  []readers.Box
}

// noBox is the box of rows without positions.
var noBox = readers.Box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}

// add adds a row group to the batches that have rows of it.
func (t *coverTable) add(g group, box readers.Box) {
	t.bytes += g.bytes
	for end := t.rows + g.rows; t.rows < end; {
		i := int(t.rows / t.batch)
		if i == len(t.starts) {
			t.starts = append(t.starts, t.rows)
			t.spans = append(t.spans, readers.Span{From: g.from, To: g.to, Row: t.rows, Inside: true})
			t.boxes = append(t.boxes, noBox)
		}
		t.spans[i].From, t.spans[i].To = min(t.spans[i].From, g.from), max(t.spans[i].To, g.to)
		b := &t.boxes[i]
		*b = readers.Box{min(b[0], box[0]), min(b[1], box[1]), max(b[2], box[2]), max(b[3], box[3])}
		t.rows = min(end, t.starts[i]+t.batch)
	}
}

// coverColumns returns the numbers of the columns of xmin, ymin, xmax and ymax.
func (f *footer) coverColumns() (columns [4]int, ok bool) {
	c := f.plan.Cover
	found := 0
	for i := range f.manifest.Fields {
		s := &f.manifest.Fields[i]
		if s.Field.Name != c.Field {
			continue
		}
		for k := range s.Children {
			for m, name := range c.Members {
				if child := &s.Children[k]; child.Field.Name == name && isLeaf(child) {
					columns[m] = child.ColIndex
					found++
				}
			}
		}
	}
	return columns, found == len(columns)
}

// groupBox returns the box of a row group: everything if it has no statistics.
func (f *footer) groupBox(number int, rows int64, columns [4]int) (box readers.Box, err error) {
	everything := readers.Box{math.Inf(-1), math.Inf(-1), math.Inf(1), math.Inf(1)}
	meta := f.meta.RowGroup(number)
	for k, column := range columns {
		chunk, err := meta.ColumnChunk(column)
		if err != nil {
			return box, err
		}
		if set, err := chunk.StatsSet(); err != nil || !set {
			return everything, err
		}
		stats, err := chunk.Statistics()
		if err != nil {
			return everything, err
		}
		switch low, high, ok := bounds(stats); {
		case stats.HasNullCount() && stats.NullCount() == rows:
			return noBox, nil
		case !ok || math.IsNaN(low) || math.IsNaN(high):
			return everything, nil
		case k < 2:
			box[k] = low
		default:
			box[k] = high
		}
	}
	if box[0] > box[2] || box[1] > box[3] { // boxes that cross the antimeridian are written so
		return everything, nil
	}
	return box, nil
}

// bounds returns the least and the greatest value of a column. Those of float32 were rounded by
// their writer, perhaps inwards.
func bounds(stats metadata.TypedStatistics) (low, high float64, ok bool) {
	switch s := stats.(type) {
	case *metadata.Float32Statistics:
		negative, positive := float32(math.Inf(-1)), float32(math.Inf(1))
		return float64(math.Nextafter32(s.Min(), negative)), float64(math.Nextafter32(s.Max(), positive)), s.HasMinMax()
	case *metadata.Float64Statistics:
		return s.Min(), s.Max(), s.HasMinMax()
	}
	return 0, 0, false
}
