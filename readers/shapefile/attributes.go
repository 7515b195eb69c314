package shapefile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// recordFault is the fault of a record with a malformed shape or without attributes.
type recordFault struct {
	row, offset int64
	err         error
	lacking     bool // the attributes are missing
}

// error returns the fault as an error.
func (m *recordFault) error(r *partReader) error {
	e := errorAt(r.src, m.offset, m.row, m.err)
	if !m.lacking {
		e.Rule, e.Field = rule, fieldGeometry
	}
	e.Mode = modeNull
	return e
}

// attributesOf reads the attributes of the records whose shapes were decoded, starting with row,
// and finds the records that are not rows: s.without, and those skipped. Its error is that of the
// first malformed record, preferably of its shape.
func (r *partReader) attributesOf(s *sink, row int64) (*geoarrow.Columns, error) {
	end := row + int64(len(s.offsets))
	all := end
	if r.table != nil && r.attributes.Records < end {
		end = max(row, r.attributes.Records)
		if !r.nulls {
			s.lack(row, end, fmt.Errorf("the shape has no attributes: %s has %d records", r.table.Name,
				r.attributes.Records))
		}
	}
	columns, err := r.attributesFrom(s, row, end)
	if err != nil {
		return nil, r.first(s, row, err)
	}
	// Deleted records were not checked.
	s.malformed = slices.DeleteFunc(s.malformed, func(m recordFault) bool { return isIn(s.without, m.row) })
	switch {
	case r.nulls && end < all:
		return s.nullAttributes(columns, row, end, all)
	case len(s.malformed) == 0:
		s.skip(row)
		return columns, nil
	case !r.skip:
		return nil, s.malformed[0].error(r)
	}
	columns, err = r.attributesAround(s, row, end)
	s.skip(row)
	return columns, err
}

// lack marks the records without attributes, from row end on, as malformed; the first of all
// records is row.
func (s *sink) lack(row, end int64, err error) {
	s.malformed = slices.DeleteFunc(s.malformed, func(m recordFault) bool { return m.row >= end })
	for i := end - row; i < int64(len(s.offsets)); i++ {
		s.malformed = append(s.malformed, recordFault{row + i, s.offsets[i], err, true})
	}
}

func isIn(rows []int64, row int64) bool {
	_, found := slices.BinarySearch(rows, row)
	return found
}

// endedEarly notes that the attributes of the records before one have n bytes of memos, so that
// the part ends there.
type endedEarly struct{ row int64 }

func (e *endedEarly) Error() string {
	return fmt.Sprintf("the memos of the records before %d are long", e.row)
}

// attributesFrom reads the attributes of the records [from, to), and adds records that are not rows
// to s.without.
func (r *partReader) attributesFrom(s *sink, from, to int64) (*geoarrow.Columns, error) {
	if r.table == nil {
		return &geoarrow.Columns{Rows: int(to - from)}, nil
	}
	read := s.table.Read
	if r.pooled {
		read = s.table.ReadSome
	}
	run, err := read(r.ctx, from, to)
	if err != nil {
		return nil, err
	}
	if run.To < to {
		return nil, &endedEarly{run.To}
	}
	var before int64
	if n := len(s.siblingBytes); n > 0 {
		before = s.siblingBytes[n-1]
	}
	for _, bytes := range run.SiblingBytes {
		s.siblingBytes = append(s.siblingBytes, before+bytes)
	}
	s.without = append(s.without, run.Left...)
	s.noteAttributes(&run.Deviations, from)
	s.bad += run.Skipped.Count
	for _, offset := range run.Skipped.First {
		s.badRows = append(s.badRows, (offset-r.attributes.Start)/int64(r.attributes.RecordLength))
	}
	s.tableBytes += run.Bytes
	return run.Columns, nil
}

// first returns the error of the first malformed record, given the attributes' error err. Within a
// record, that of the shape comes first.
func (r *partReader) first(s *sink, row int64, err error) error {
	from := row
	for _, m := range s.malformed {
		if r.skip || m.lacking {
			break // err is not skipped, or comes before the missing attributes
		}
		if _, before := r.attributesFrom(s, from, m.row); before != nil {
			err = before
			break
		}
		// tells whether it is deleted, or has an error itself, as only rows do
		_, here := r.attributesFrom(s, m.row, m.row+1)
		if (here == nil || ofRecord(here)) && !isIn(s.without, m.row) {
			return m.error(r)
		}
		from = m.row + 1
	}
	var parse *readers.ParseError
	if !errors.As(err, &parse) || parse.Row < row {
		return err
	}
	return ofAttributes(r.src, s.offsets[parse.Row-row], parse.Row, err)
}

// ofRecord reports whether err is a fault of a record.
func ofRecord(err error) bool {
	var parse *readers.ParseError
	var limit *readers.LimitError
	return errors.As(err, &parse) || errors.As(err, &limit)
}

// attributesAround reads the attributes of the records [from, to) that have valid shapes: other
// records must not affect types.
func (r *partReader) attributesAround(s *sink, from, to int64) (*geoarrow.Columns, error) {
	s.without, s.siblingBytes, s.badRows = s.without[:0], s.siblingBytes[:0], s.badRows[:0]
	s.bad = int64(len(s.malformed))
	var pieces []*geoarrow.Columns
	read := func(from, to int64) error {
		if from == to {
			return nil
		}
		columns, err := r.attributesFrom(s, from, to)
		if err != nil {
			return err
		}
		copied := geoarrow.Concatenation{Memory: &geoarrow.Arena{}} // the next run overwrites it
		err = copied.Append(columns, 0, columns.Rows)
		pieces = append(pieces, copied.Columns())
		return err
	}
	for _, m := range s.malformed {
		if err := read(from, min(m.row, to)); err != nil {
			return nil, err
		}
		s.without, s.badRows = append(s.without, m.row), append(s.badRows, m.row)
		from = min(m.row+1, to)
	}
	if err := read(from, to); err != nil {
		return nil, err
	}
	if len(pieces) == 0 {
		return r.attributesFrom(s, from, from)
	}
	return concat(pieces)
}

// concat returns the rows of all pieces, with types that hold all of them.
func concat(pieces []*geoarrow.Columns) (*geoarrow.Columns, error) {
	first := pieces[0]
	for i := range first.Attributes {
		facts := first.Attributes[i].Facts
		for _, p := range pieces[1:] {
			facts = facts.Join(p.Attributes[i].Facts)
		}
		to := facts.Resolve(geoarrow.RoleAttribute)
		for _, p := range pieces {
			wide, ok := p.Attributes[i].Widen(to, p.Rows)
			if !ok {
				panic("shapefile: attributes that only text holds") // dbf.Run has none
			}
			p.Attributes[i] = wide
		}
	}
	return geoarrow.Concat(&geoarrow.Arena{}, pieces)
}

// skip counts the malformed records.
func (s *sink) skip(row int64) {
	slices.Sort(s.badRows)
	s.skipped.Count = s.bad
	for _, bad := range s.badRows[:min(len(s.badRows), readers.MaxSkippedOffsets)] {
		s.skipped.First = append(s.skipped.First, s.offsets[bad-row])
	}
	slices.Sort(s.without)
}
