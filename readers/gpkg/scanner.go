package gpkg

import (
	"context"
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/sqlite"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/source"
)

// fieldGeometry is the name of the geometry in errors.
const fieldGeometry = "geometry"

// scanner is one run of the parser. Offsets of rows are places of sqlite.Cursor.
type scanner struct {
	ctx       context.Context
	src       *source.File
	db        *sqlite.Database
	table     *table
	cursor    *sqlite.Cursor
	limits    readers.Limits
	skip      bool // on_error: skip
	nulls     bool // on_error: null or repair
	linearize bool // curves: linearize
	emit      func(readers.Chunk) error
	err       error

	sink    *sink
	decoder geoarrow.WKBDecoder
	lines   linearizer
	// class of the current row's geometry, and its bytes in the payload
	shapeClass       sqlite.Class
	shapeAt, shapeTo int
	current          sqlite.Row
	chunk            readers.Span
	sum              readers.Summary

	stop     int64 // rows at this place or later are not read
	stopped  bool  // the last reading ended because of stop
	next     int64 // place after the last chunk
	row      int64 // number of the current row
	overflow int64 // bytes of the overflow pages of the rows so far
	before   int64 // the same, of the rows before the chunk
	otherSRS bool  // the current geometry has another srs_id than its column
}

// maxOverflow bounds the overflow pages of the rows of a part.
const maxOverflow = 32 << 20

// use sets the sink that the scanner fills.
func (s *scanner) use(k *sink) { s.sink = k }

// open moves the scanner to a place, where row number row begins.
func (s *scanner) open(from, stop, row int64) bool {
	s.row, s.chunk, s.stopped, s.stop = row, readers.Span{Row: row}, false, stop
	s.before = s.overflow
	s.fail(s.cursor.MoveTo(from, stop))
	return s.err == nil
}

// fail sets the error for a fault of the database.
func (s *scanner) fail(err error) {
	var large *sqlite.TooLarge
	if errors.As(err, &large) {
		s.err = &readers.LimitError{
			What: fmt.Sprintf("%s: row %d, of %d bytes,", s.src.Name, s.row, large.Bytes),
			Flag: "--max-feature-bytes", Limit: s.limits.MaxFeatureBytes,
		}
		return
	}
	s.err = faultOf(s.src, s.row, err)
}

// rows reads the rows up to the first at stop or after it, or all. It returns false with err set.
func (s *scanner) rows() bool {
	for n := 0; ; n++ {
		if n&1023 == 0 && s.ctx.Err() != nil {
			s.err = s.ctx.Err()
			return false
		}
		k, at := s.sink, s.cursor.Place()
		if k.Full(&s.limits) || k.Pooled() && s.overflow-s.before >= maxOverflow {
			s.stop = min(s.stop, at)
		}
		s.stopped = at >= s.stop
		over := at >= s.cursor.End()
		if over || s.stopped || k.Rows > 0 && (k.Rows >= s.limits.BatchRows ||
			at-s.chunk.From+s.overflow-s.before >= s.limits.BatchBytes) {
			if !s.end(at) {
				return false
			}
			if over || s.stopped {
				return true
			}
		}
		more, err := s.cursor.Next(&s.current)
		if err != nil || !more {
			s.fail(err)
			return err == nil
		}
		if !s.add() {
			return false
		}
	}
}

// end finishes the chunk whose last row ends at a place.
func (s *scanner) end(at int64) bool {
	s.next = at
	s.sink.AddTo(&s.sum)
	w := window.Window{Src: s.src, End: s.cursor.End()}
	s.err = rows.Emit(s.sink, &w, &s.chunk, at, s.limits, s.emit)
	s.before = s.overflow
	return s.err == nil
}

// add reads the current row. It returns false with err set.
func (s *scanner) add() bool {
	r, k := &s.current, s.sink
	if int64(len(r.Payload)) > s.limits.MaxFeatureBytes {
		s.fail(&sqlite.TooLarge{Bytes: int64(len(r.Payload))})
		return false
	}
	e := s.values()
	switch {
	case e == nil:
		if k.Rows == 0 {
			s.chunk.From = r.At
		}
		k.Commit(r.At)
		if s.overflow += r.Overflow; s.overflow > int64(s.db.Pages)*int64(s.db.PageSize) {
			s.err = errorAt(s.src, r.Offset, s.row, errShared)
			return false
		}
		if k.Pooled() {
			k.SiblingBytes = append(k.SiblingBytes, s.overflow-s.before)
		}
	case s.skip:
		k.Rollback()
		k.Skip(r.Offset)
	default:
		s.err = e
		return false
	}
	s.row++
	return true
}

var errShared = errors.New("the rows so far have more overflow pages than the file: several rows share some")

// values reads the values of the current row. The geometry comes last: once it has ended, the row
// can't be undone.
func (s *scanner) values() error {
	k := s.sink
	var r sqlite.Record
	var v sqlite.Value
	s.shapeClass = sqlite.Null
	fields := k.fields
	i, err := 0, r.Open(s.current.Payload)
	for err == nil {
		if i = s.common(&r, i); !r.More() {
			break
		}
		if i == len(fields) {
			err = fmt.Errorf("the record has more values than the table has columns: %d", i)
			break
		}
		if err = r.Next(&v); err != nil {
			break
		}
		f := &fields[i]
		switch {
		case v.Class == sqlite.Null:
		case f.store == storeGeometry:
			s.shapeClass, s.shapeAt, s.shapeTo = v.Class, v.At, v.At+len(v.Bytes)
		default:
			if bad := s.value(f, &v); bad != nil {
				return bad
			}
		}
		i++
	}
	if err != nil {
		if bad := s.deviate(0, "", ruleRecord, "the values from here on are null", err); bad != nil {
			return bad
		}
	} else {
		for ; i < len(fields); i++ {
			if bad := s.missing(&fields[i]); bad != nil {
				return bad
			}
		}
	}
	if s.table.rowid >= 0 {
		s.rowid(k.fields[s.table.rowid].to)
	}
	if s.table.geometry < 0 {
		return nil
	}
	return s.shape()
}

// value appends a value that is not null.
func (s *scanner) value(f *field, v *sqlite.Value) error {
	if f.store == storeRowid {
		return nil // the rowid is not among the values
	}
	f.to.Pad(s.sink.Rows)
	if err := f.append(s.db, f.to, v); err != nil {
		return s.deviate(v.At, f.name, ruleValue, "value is null", err)
	}
	return nil
}

// missing appends the default value of a column of which the record has no value.
func (s *scanner) missing(d *field) error {
	if d.store == storeGeometry || d.store == storeRowid {
		return nil
	}
	if d.broken != nil {
		return s.deviate(0, d.name, ruleValue, "value is null", d.broken)
	}
	if d.missing.Class == sqlite.Null {
		return nil
	}
	d.to.Pad(s.sink.Rows)
	if err := d.defaultTo(d.to); err != nil {
		return s.deviate(0, d.name, ruleValue, "value is null", err)
	}
	return nil
}

// rowid appends the rowid.
func (s *scanner) rowid(c *rows.Column) {
	if c.Unread {
		c.Pass()
		return
	}
	c.Ints = append(c.Ints, s.current.ID)
	c.Filled()
}

// shape appends the geometry.
func (s *scanner) shape() error {
	k := s.sink
	s.otherSRS = false
	f := s.geometry()
	if s.otherSRS {
		k.Deviate(readers.Deviation{
			Offset: s.offset(s.shapeAt + 4), Row: s.row, Field: fieldGeometry, Rule: ruleSRS,
			Done: "the srs_id of the column is used",
		})
	}
	if f == nil {
		return nil
	}
	if err := s.deviate(s.shapeAt+f.at, fieldGeometry, ruleGeometry, "geometry is null", f.err); err != nil {
		return err
	}
	k.Geom.Undo()
	k.Geom.Null()
	return nil
}

// offset returns the offset in the file of a byte of the current payload, or of the row if the byte
// may be in an overflow page.
func (s *scanner) offset(at int) int64 {
	if s.current.Overflow > 0 {
		return min(s.current.Offset, s.src.Size)
	}
	return min(s.current.Start+int64(at), s.src.Size)
}
