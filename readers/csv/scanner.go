package csv

import (
	"context"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/internal/fields"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/source"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// scanner is one run of the CPU parser.
type scanner struct {
	text
	limits readers.Limits
	emit   func(readers.Chunk) error
	err    error // of the window, of emit or of a chunk: not a fault of the text

	sink  *sink
	probe *sink // tries records first under on_error: skip
	chunk readers.Span
	sum   readers.Summary

	stop     int64 // records that begin here or later are not read
	stopped  bool  // the last reading ended because of stop
	next     int64 // offset after the last chunk: of the next record, or the end of the file
	closed   bool  // the last record ends with a line end
	row      int64 // number of the current record
	first    int64 // offset of the chunk's first record, even if it was skipped
	firstRow int64 // and its number

	index  *fields.Index // of the current block
	single int           // how many records are read one by one before the next block
	misses int           // blocks in a row that had no record

	reached int  // number of fields begun in the current record
	reveal  bool // a value of the current record is not the guessed geometry

	x, y  ordinate      // of the current record
	kind  geoarrow.Kind // of its geometry in a cell
	own   int32         // SRID of the current record, 0 if it has none
	ownAt int           // and the index of its cell
	wkt   wkt.Cell
	json  geojson.Cell
	wkb   geoarrow.WKBDecoder
	hex   []byte // bytes of a WKB
	srid  int32  // of the records so far, 0 if they have none
}

// open moves the scanner to an offset, where record number row begins.
func (s *scanner) open(ctx context.Context, src *source.File, from, end, row int64, step int) bool {
	s.row, s.chunk, s.fault, s.err, s.stopped, s.closed = row, readers.Span{Row: row}, fault{}, nil, false, true
	if !s.Open(ctx, src, from, s.stop, end, s.limits.MaxFeatureBytes, step) {
		s.err = s.Err
	}
	return s.err == nil
}

// failure returns the reason why the scanner stopped.
func (s *scanner) failure() error {
	if s.err != nil {
		return s.err
	}
	return s.error(s.row, s.limits)
}

// refill reads more of the file after index p, which becomes index 0. It returns -1 with err set if
// it can't.
func (s *scanner) refill(p int) int {
	if !s.Fill(p) {
		s.err = s.Err
		return -1
	}
	return 0
}

// records reads the records from index p, up to the first that begins at or after stop, or all. It
// returns false with err or fault set.
func (s *scanner) records(p int) bool {
	for {
		if p = s.lineEnds(p); p < 0 {
			s.err = s.Err
			return false
		}
		at := s.Base + int64(p)
		if s.sink.Full(&s.limits) {
			s.stop = min(s.stop, at)
		}
		s.stopped = at >= s.stop
		if over := p == s.N; over || s.stopped || s.sink.Rows > 0 && (s.sink.Rows >= s.limits.BatchRows ||
			at-s.chunk.From >= s.limits.BatchBytes) {
			next, again := s.end(p)
			if next < 0 {
				return false
			}
			if again {
				p = next
				continue
			}
			if over || s.stopped {
				return true
			}
		}
		if s.sink.Rows == 0 && s.sink.Skipped.Count == 0 {
			s.first, s.firstRow = at, s.row
		}
		if end := s.block(p); end > p {
			p = end
		} else if p = s.record(p); p < 0 {
			return false
		}
	}
}

// record reads the record at p as a row, and counts it.
func (s *scanner) record(p int) int {
	for {
		end := s.try(p)
		if s.tooLong(p, end) {
			return -1
		}
		if end >= 0 {
			at := s.Base + int64(p)
			if s.sink.Rows == 0 {
				s.chunk.From = at
			}
			s.sink.Commit(at)
			if s.reveal {
				s.sink.reveal()
			}
			s.closed = end < s.N
			s.row++
			return end
		}
		switch {
		case s.err != nil:
			return -1
		case s.fault.cut:
			s.sink.Foresee(s.Base+int64(p)-s.chunk.From, min(s.End, s.stop)-s.chunk.From, s.limits.BatchRows)
			if p = s.refill(p); p < 0 {
				return -1
			}
		case !s.skipErrors || s.fault.depth || s.fault.file:
			return -1
		default:
			return s.skip(p)
		}
	}
}

// tooLong refuses a record at p that is longer than --max-feature-bytes, wherever windows end: one
// that ends at end, or that has a fault if end < 0.
func (s *scanner) tooLong(p, end int) bool {
	if end < 0 {
		end = max(s.fault.pos, s.fault.seen)
	}
	if s.err != nil || int64(end-p) <= s.Most {
		return false
	}
	s.err = s.TooLong(p)
	return true
}

// try reads the record at p completely or not at all. Under on_error: skip it reads the record
// twice, since a malformed one must not affect the types of columns.
func (s *scanner) try(p int) int {
	if s.skipErrors {
		srid, real := s.srid, s.sink
		s.sink = s.probe
		end := s.parse(p)
		s.probe.RollbackFirst(s.reached)
		s.sink, s.srid = real, srid
		if end < 0 {
			return -1
		}
	}
	end := s.parse(p)
	if end < 0 {
		s.sink.RollbackFirst(s.reached)
	}
	return end
}

// skip skips the malformed record at p.
func (s *scanner) skip(p int) int {
	at := s.Base + int64(p)
	for {
		end := s.pass(p)
		if s.tooLong(p, end) {
			return -1
		}
		if end >= 0 {
			s.sink.Skip(at)
			s.closed = end < s.N
			s.row++
			return end
		}
		if !s.fault.cut { // a quote that is not closed
			return -1
		}
		if p = s.refill(p); p < 0 {
			return -1
		}
	}
}

// end finishes the chunk whose last record ended before p. If some columns must be read again as
// text, it goes back: again is true, and the index is that of its first record.
func (s *scanner) end(p int) (next int, again bool) {
	if text := s.sink.NeedText(); len(text) > 0 {
		s.sink.Text = append(slices.Clip(s.sink.Text), text...)
		s.sink.Reset()
		s.row = s.firstRow
		if next = s.MoveTo(s.first); next < 0 {
			s.err = s.Err
		}
		return next, true
	}
	s.next = s.Base + int64(p)
	s.sink.AddTo(&s.sum)
	if s.err = rows.Emit(s.sink, &s.Window, &s.chunk, s.next, s.limits, s.emit); s.err != nil {
		return -1, false
	}
	return p, false
}
