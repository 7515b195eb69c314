package shapefile

import (
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/dbf"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// partReader reads parts of the file, for one goroutine.
type partReader struct {
	*job
	window window
	index  window // of the .shx, if records were moved
	most   int64  // bytes of one record
	pooled bool   // memory of parts is reused

	guessing bool           // the bytes read may not be a record
	defects  []recordDefect // of the current record
}

// reader returns a reader whose parts keep their memory.
func (j *job) reader() *partReader {
	return &partReader{
		job: j, window: window{ctx: j.ctx, src: j.src, step: j.step}, index: window{
			ctx: j.ctx, src: j.shx,
			step: j.step,
		}, most: j.limits.MaxFeatureBytes,
	}
}

// pooledReader returns a reader whose parts return their memory.
func (j *job) pooledReader() *partReader {
	r := j.reader()
	r.pooled = true
	return r
}

// maxGuessed limits the length of a record at a guessed place.
const maxGuessed = 16 << 20

// Guess reads the records between two offsets, starting with the first apparent one. State has its
// assumed number.
func (r *partReader) Guess(from, stop int64) readers.Part {
	if r.numbers == countedNumbers {
		return readers.Part{Failed: true} // the number of a record is known only from the beginning of the file
	}
	stop = min(stop, r.end)
	at, err := r.find(from, stop)
	if err != nil || at < 0 {
		return readers.Part{Failed: true}
	}
	row, err := r.rowAt(at)
	if err != nil {
		return readers.Part{Failed: true}
	}
	r.most, r.guessing = min(r.limits.MaxFeatureBytes, maxGuessed), true
	part, err := r.Read(at, stop, row)
	r.most, r.guessing = r.limits.MaxFeatureBytes, false
	if err != nil {
		return readers.Part{Failed: true}
	}
	return part
}

// rowAt returns the row number that the record at an offset has.
func (r *partReader) rowAt(at int64) (int64, error) {
	switch {
	case r.order == moved:
		return (at - headerBytes) / indexEntry, nil
	case r.numbers == countedNumbers:
		return r.countedAt(at)
	case r.numbers == indexedNumbers:
		return r.indexedAt(at)
	}
	head, err := r.window.bytes(at, recordHead)
	if err != nil {
		return 0, err
	}
	return numberOf(head) - r.base, nil
}

// Read reads the records between two offsets, the first of which is row number row.
func (r *partReader) Read(from, stop, row int64) (readers.Part, error) {
	s, err := r.takeSink()
	if err != nil {
		return readers.Part{}, ofAttributes(r.src, from, row, err)
	}
	part, err := r.fill(s, from, min(stop, r.end), row)
	if err != nil {
		r.sinks.Give(s)
		return readers.Part{}, err
	}
	part.Release = func() {}
	if r.pooled {
		part.Release = func() { r.sinks.Give(s) }
	}
	return part, nil
}

// ahead lets the windows read ahead to an offset. Moved records may be anywhere, so only a little
// is read at a time.
func (r *partReader) ahead(stop int64) {
	r.window.stop, r.index.stop = stop, stop
	switch {
	case r.order == moved:
		r.window.stop = 0
	case r.numbers == indexedNumbers: // stop is not an offset in the .shx
		r.index.stop = 0
	}
}

// fill reads the records between two offsets into a sink. Of several errors that of the first
// record counts, and in a record that of the shape.
func (r *partReader) fill(s *sink, from, stop, row int64) (readers.Part, error) {
	r.ahead(stop)
	before := r.window.read
	s.first, s.ofTable = row, readers.Deviations{}
	next, broken := r.shapes(s, from, stop, row)
	attributes, err := r.attributesOf(s, row)
	if early := (*endedEarly)(nil); errors.As(err, &early) {
		stop = s.starts[early.row-row]
		s.reset()
		return r.fill(s, from, stop, row)
	}
	if err != nil {
		return readers.Part{}, err
	}
	if broken != nil {
		return readers.Part{}, broken
	}
	if len(s.without) > 0 {
		if _, err := r.shapes(s, from, stop, row); err != nil {
			return readers.Part{}, err
		}
	}
	columns := &geoarrow.Columns{Rows: len(s.starts), Attributes: attributes.Attributes}
	if columns.Geometry, err = s.geom.Finish(); err != nil {
		return readers.Part{}, fmt.Errorf("%s: the records from %d on: %w", r.src.Name, row, err)
	}
	part := readers.Part{
		Start: from, Next: next, To: next, End: next == r.end, Columns: columns, Starts: s.starts,
		Rows: int64(len(s.offsets)), State: uint64(row),
		Summary: readers.Summary{
			BytesRead: r.window.read - before + s.tableBytes, Skipped: s.skipped,
			Deviations: merged(&s.ofShapes, &s.ofTable),
		},
	}
	if len(s.siblingBytes) > 0 {
		part.SiblingBytes = s.siblingBytes
	}
	odd := &s.decoder.odd
	part.Summary.UnclosedRings, part.Summary.ShortRings, part.Summary.ShortLines = odd.unclosedRings,
		odd.shortRings, odd.shortLines
	return part, nil
}

// shapes decodes the shapes of all records except those in s.without, and notes the malformed ones.
func (r *partReader) shapes(s *sink, from, stop, row int64) (next int64, err error) {
	s.geom.Reset()
	s.decoder.odd = oddities{}
	s.ofShapes.Reset()
	s.offsets, s.starts, s.malformed = s.offsets[:0], s.starts[:0], s.malformed[:0]
	without := s.without
	return r.records(from, stop, row, func(start, offset int64, content []byte) {
		i := int64(len(s.offsets))
		s.offsets = append(s.offsets, offset)
		for _, d := range r.defects { // also of a record that is not a row: the file deviates there
			s.ofShapes.Add(readers.Deviation{Offset: offset + d.at, Row: i, Rule: d.rule, Done: d.done})
		}
		if len(without) > 0 && without[0] == row+i {
			without = without[1:]
			return
		}
		s.starts = append(s.starts, start)
		at, err := s.decoder.shape(content)
		if err == nil && s.decoder.surplus == 0 {
			return
		}
		place := offset + recordHead + int64(at)
		switch {
		case err == nil && s.decoder.surplus > 0:
			s.ofShapes.Add(readers.Deviation{
				Offset: offset, Row: i, Field: fieldGeometry, Rule: ruleLongRecord,
				Done: surplusText(s.decoder.surplus),
			})
		case err == nil:
		case r.nulls:
			rule, done := s.decoder.mend(content, r.repair)
			s.ofShapes.Add(readers.Deviation{Offset: place, Row: i, Field: fieldGeometry, Rule: rule, Done: done})
		default:
			s.malformed = append(s.malformed, recordFault{row: row + i, offset: place, err: err})
		}
	})
}

// sink collects the rows of a part; parts reuse its memory.
type sink struct {
	memory  geoarrow.Arena
	geom    geoarrow.GeometryBuilder
	decoder decoder
	table   *dbf.Reader // nil: no attributes

	offsets           []int64       // of all records in the .shp
	starts            []int64       // of the rows, as in a Span
	malformed         []recordFault // ascending
	without           []int64       // records that are not rows, ascending
	siblingBytes      []int64       // as in a Part
	bad               int64         // how many of them are malformed
	badRows           []int64       // the first ones of these
	skipped           readers.SkippedRows
	tableBytes        int64              // read from the .dbf
	first             int64              // number of the first record
	ofShapes, ofTable readers.Deviations // of shapes and of attributes; rows count from the first record
}

// takeSink returns an unused sink.
func (r *partReader) takeSink() (*sink, error) {
	s, ok := r.sinks.Take()
	if !ok {
		s = &sink{}
		s.memory.Lend = r.pooled
		s.geom.Memory, s.geom.Unread = &s.memory, !r.parser.layout.Columns.Geometry()
		s.decoder = decoder{kind: r.kind, geom: &s.geom}
		if r.table != nil {
			var err error
			if s.table, err = r.attributes.NewReader(r.table, r.limits); err != nil {
				return nil, err
			}
		}
	}
	s.reset()
	return s, nil
}

// reset drops the part.
func (s *sink) reset() {
	s.without, s.siblingBytes, s.badRows, s.bad, s.skipped, s.tableBytes = s.without[:0], s.siblingBytes[:0],
		s.badRows[:0], 0, readers.SkippedRows{}, 0
}
