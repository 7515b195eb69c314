package shapefile

import (
	"fmt"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Rules of deviations; docs/formats/shapefile.md describes them. Attributes have those of package
// dbf.
const (
	ruleLongRecord   = "long-record"
	ruleShape        = "bad-shape"
	ruleShapeType    = "shape-type"
	rulePartIndex    = "part-index"
	ruleRecordLength = "record-length"
	ruleRecordNumber = "record-number"
	ruleNoAttributes = "no-attributes"
	ruleNoShape      = "no-shape"
)

// Values of on_error that an error may name.
const (
	modeNull   = "null"
	modeRepair = "repair"
)

const fieldGeometry = "geometry"

func surplusText(bytes int) string {
	return fmt.Sprintf("the %d bytes after the shape are not read", bytes)
}

// merged merges deviations of shapes and of attributes by row, those of shapes first.
func merged(shapes, attributes *readers.Deviations) readers.Deviations {
	if attributes.IsEmpty() {
		return *shapes
	}
	all := readers.Deviations{Count: shapes.Count, Rules: shapes.Rules}
	all.Append(&readers.Deviations{Count: attributes.Count, Rules: attributes.Rules})
	all.First = slices.Concat(shapes.First, attributes.First)
	slices.SortStableFunc(all.First, func(a, b readers.Deviation) int { return int(a.Row - b.Row) })
	all.First = all.First[:min(len(all.First), readers.MaxDeviations)]
	return all
}

// noteAttributes adds deviations of attributes, whose rows count from record from, at the offsets
// of their records in the .shp.
func (s *sink) noteAttributes(d *readers.Deviations, from int64) {
	if d.IsEmpty() {
		return
	}
	more := readers.Deviations{Count: d.Count, Rules: d.Rules, First: slices.Clone(d.First)}
	more.Shift(from - s.first)
	for i := range more.First {
		more.First[i].Offset = s.offsets[more.First[i].Row]
	}
	s.ofTable.Append(&more)
}

// nullAttributes adds null attributes for the records from end to all, which the .dbf does not
// have. The first of the records is row.
func (s *sink) nullAttributes(columns *geoarrow.Columns, row, end, all int64) (*geoarrow.Columns, error) {
	none := &geoarrow.Columns{Rows: int(all - end), Attributes: slices.Clone(columns.Attributes)}
	for i := range none.Attributes {
		a := &none.Attributes[i]
		a.Nulls, a.Rounded, a.Replaced = none.Rows, 0, 0
	}
	for i := end; i < all; i++ {
		s.ofTable.Add(readers.Deviation{
			Offset: s.offsets[i-row], Row: i - row, Rule: ruleNoAttributes,
			Done: "attributes are null",
		})
		if n := len(s.siblingBytes); n > 0 {
			s.siblingBytes = append(s.siblingBytes, s.siblingBytes[n-1])
		}
	}
	return concat([]*geoarrow.Columns{columns, none})
}

// noteHeader counts the deviations from the header of the .dbf.
func (j *job) noteHeader(sum *readers.Summary) {
	if j.attributes == nil {
		return
	}
	d := j.attributes.Deviations()
	all := readers.Deviations{Count: d.Count, Rules: d.Rules, First: slices.Clone(d.First)}
	for i := range all.First {
		all.First[i].Offset = 0
	}
	sum.Deviations.Append(&all)
}

// noteLeft counts records of the .dbf without a shape, starting with number row.
func (j *job) noteLeft(d *readers.Deviations, row, n int64) {
	d.Add(readers.Deviation{
		Offset: j.src.Size, Row: row, Rule: ruleNoShape,
		Done: fmt.Sprintf("%d records of %s have no shape and are left out", n, j.table.Name),
	})
	d.Count += n - 1
	d.Rules[ruleNoShape] += n - 1
}
