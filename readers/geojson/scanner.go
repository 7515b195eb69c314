package geojson

import (
	"context"
	"math"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/positions"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/source"
)

// scanner is one run of the CPU parser. Its methods read one element of the grammar at an index of
// the window and return the index after it, or -1 with fault or err set.
type scanner struct {
	window.Window
	limits readers.Limits
	state
	sequence   bool // the file's name is that of a sequence
	inside     bool // a span of rows is read again
	skipErrors bool
	nulls      bool // on_error: null or repair
	repairs    bool // on_error: repair
	plainRuns  bool // package positions may be used
	emit       func(readers.Chunk) error

	fault    fault
	err      error // of the window, of emit or of a chunk: not a fault of the text, unless faulty
	faulty   bool  // err is from a fault that another scanner found
	stack    []byte
	name     []byte // the last key with escapes
	typeText []byte // the last type with escapes
	loosened int    // the first token skipped by looseSkip that is not JSON, or -1

	sink  *sink
	probe *sink // tries features first, unless on_error is fail
	chunk readers.Span
	sum   readers.Summary

	onlyCRS bool       // the CRS is known: no other may follow
	stop    int64      // rows that begin here or later are not read
	stopped bool       // the last reading ended because of stop
	next    int64      // offset after the last chunk: of the next row, or of what ends the rows
	rest    func() int // continues with several workers after this scanner stopped

	counted      bool  // a row was read and not skipped
	inRow        bool  // a fault is one of a feature
	feature      int64 // its number in the file
	first        int64 // offset of the chunk's first row, even if it was skipped
	firstFeature int64 // and its number
	rowOffset    int64 // and its first byte
	lastKind     geoarrow.Kind
	gaps         [gapNone]gaps // bytes between values in the last features

	passes   bool           // the current feature has a name twice
	replaced map[int64]bool // the values of these that don't count
}

// state is what a span needs to know of the text before it.
type state struct {
	inSequence bool // values one after the other; else an array of Features
	brackets   int  // around the features
}

// pack returns the state in the form of a Span's.
func (t state) pack() uint64 {
	v := uint64(t.brackets) << 1
	if t.inSequence {
		v |= 1
	}
	return v
}

func unpackState(v uint64) state { return state{inSequence: v&1 != 0, brackets: int(v >> 1)} }

// scanner returns a new scanner.
func (c parser) scanner(req readers.Request) *scanner {
	s := &scanner{
		limits: req.Limits.WithDefaults(), sink: newSink(c.layout.Columns), lastKind: geoarrow.Point,
		stop: math.MaxInt64,
	}
	s.sum = readers.Summary{CRS: geoarrow.CRS84, Foreign: map[string]int64{}}
	s.sequence, _ = c.layout.Dialect.(bool)
	s.plainRuns = positions.Have && !c.portable
	opts := c.layout.Options
	s.skipErrors, s.nulls, s.repairs = opts.SkipErrors(), opts.NullErrors(), opts.Repairs()
	if s.skipErrors || s.nulls {
		s.probe = newSink(c.layout.Columns)
	}
	if !req.Span.Inside { // otherwise the rows are known to have few enough columns
		s.bound()
	}
	return s
}

// bound limits the columns of the first rows.
func (s *scanner) bound() {
	s.sink.MaxColumns = s.limits.MaxColumns
	s.sink.Follow(readers.NewColumnSet(s.limits))
	if s.probe != nil {
		s.probe.MaxColumns = s.limits.MaxColumns
	}
}

// open moves the scanner to an offset, where row number row begins.
func (s *scanner) open(ctx context.Context, src *source.File, from, end, row int64, step int) bool {
	s.feature, s.chunk, s.fault, s.err, s.stopped = row, readers.Span{Row: row}, fault{}, nil, false
	if !s.Window.Open(ctx, src, from, s.stop, end, s.limits.MaxFeatureBytes, step) {
		s.err = s.Window.Err
	}
	return s.err == nil
}

// refill reads more of the file after index p, which becomes index 0. It returns -1 with err set if
// it can't.
func (s *scanner) refill(p int) int {
	if !s.Fill(p) {
		s.err = s.Window.Err
		return -1
	}
	return 0
}

// blank skips blanks, and the record separators of a sequence, over any number of windows.
func (s *scanner) blank(p int) int {
	for {
		p = s.space(p)
		if p < s.N {
			if s.At(p) == recordSeparator && s.inSequence {
				p++
				continue
			}
			return p
		}
		if s.EOF {
			return s.N
		}
		if p = s.refill(s.N); p < 0 {
			return -1
		}
	}
}

// unit calls do until the window holds all that it reads.
func (s *scanner) unit(p int, do func(p int) int) int {
	for {
		end := do(p)
		if s.tooLong(p, end) {
			return -1
		}
		if end >= 0 && (end < s.N || s.EOF) {
			return end
		}
		if end < 0 && (s.err != nil || !s.cut()) {
			return -1
		}
		if s.EOF {
			return -1
		}
		if p = s.refill(p); p < 0 {
			return -1
		}
	}
}

// textAt returns the decoded text of the string value from p to end, nil for any other value. It is
// valid until the next one.
func (s *scanner) textAt(p, end int) []byte {
	if s.At(p) != '"' {
		return nil
	}
	text := s.Text(p+1, end-1)
	if slices.Contains(text, '\\') {
		s.typeText, _ = unescape(s.typeText[:0], text)
		return s.typeText
	}
	return text
}

// row reads the feature, or in a sequence the feature or geometry, at p as a row, and counts it.
func (s *scanner) row(p int) int {
	s.inRow = true
	crs := s.sum.CRS
	first := s.lastKind == geoarrow.Point // this row's error must not depend on earlier rows
	for {
		s.rowOffset = s.Base + int64(p)
		repeats := len(s.sink.repeats)
		if s.passes = s.sink.known != nil && s.sink.known[s.rowOffset]; s.passes {
			if p = s.whole(p); p < 0 {
				return -1
			}
			s.findReplaced(p)
		}
		end := s.try(p)
		if s.tooLong(p, end) {
			return -1
		}
		if end >= 0 {
			return s.commit(end)
		}
		s.sum.CRS = crs
		if s.err != nil {
			return -1
		}
		if s.cut() {
			s.sink.repeats = s.sink.repeats[:repeats] // repeated names are known once the window holds the row
			s.sink.Foresee(s.Base+int64(p)-s.chunk.From, min(s.Window.End, s.stop)-s.chunk.From, s.limits.BatchRows)
			if p = s.refill(p); p < 0 {
				return -1
			}
			continue
		}
		if !first { // the error is that of a file with this row as its first
			first, s.lastKind = true, geoarrow.Point
			continue
		}
		if !s.passes { // the malformed value may be one that does not count
			if p = s.whole(p); p < 0 {
				return -1
			}
			if s.findReplaced(p); len(s.replaced) > 0 {
				s.sink.repeats = append(s.sink.repeats, s.rowOffset)
				return -1
			}
		}
		switch {
		case s.fault.depth || s.fault.file:
			return -1
		case s.nulls:
			return s.lenientRow(p)
		case s.skipErrors:
			return s.skipRow(p)
		}
		return -1
	}
}

// commit ends the current row, and returns the index after it.
func (s *scanner) commit(end int) int {
	if s.sink.Rows == 0 {
		s.chunk.From = s.rowOffset
	}
	s.sink.Commit(s.rowOffset)
	s.counted = true
	s.feature++
	s.inRow = false
	return end
}

// tooLong refuses a row at p that is longer than --max-feature-bytes, wherever windows end. The row
// ends at end, or has a fault if end < 0.
func (s *scanner) tooLong(p, end int) bool {
	if end < 0 {
		end = min(s.fault.pos, s.N)
	}
	if s.err != nil || int64(end-p) <= s.Most {
		return false
	}
	s.err = s.Window.TooLong(p)
	return true
}

// whole reads all of the row at p, up to malformed JSON, into the window, and returns its index
// there. It keeps the fault.
func (s *scanner) whole(p int) int {
	why, row, at := s.fault, s.Base+int64(p), s.Base+int64(s.fault.pos)
	s.unit(p, func(p int) int { return s.skip(p, s.brackets) })
	if s.err != nil {
		return -1
	}
	s.fault = why
	s.fault.pos = int(at - s.Base)
	return int(row - s.Base)
}

// try reads the row at p completely or not at all. Under on_error: skip, and in a chunk with a row
// that is read leniently, it reads the row twice, since a malformed row must not affect the types
// of columns.
func (s *scanner) try(p int) int {
	if s.skipErrors || s.sink.careful {
		real := s.sink
		s.sink = s.probe
		end := s.parse(p)
		s.probe.Reset()
		s.sink = real
		if end < 0 {
			return -1
		}
	}
	end := s.parse(p)
	if end < 0 {
		s.sink.Rollback()
	}
	return end
}

func (s *scanner) parse(p int) int {
	if s.inSequence {
		return s.sequenceRow(p)
	}
	return s.readFeature(p)
}

// skipRow skips a malformed row: to its end if its JSON is well-formed, otherwise, in a sequence,
// to the end of its first line.
func (s *scanner) skipRow(p int) int {
	why := s.fault
	off, at := s.Base+int64(p), s.Base+int64(why.pos)
	end := s.unit(p, func(p int) int { return s.skip(p, s.brackets) })
	if p = int(off - s.Base); end < 0 && s.err == nil && !s.fault.depth && (!s.inSequence || s.At(p) == '{') {
		strict, from := s.fault, s.Base
		if end = s.unit(p, s.looseSkip); end < 0 && s.err == nil {
			s.fault = strict
			s.fault.pos -= int(s.Base - from)
		}
	}
	if end < 0 && s.err == nil && s.inSequence {
		end = s.lineEnd(int(off - s.Base))
	}
	if end < 0 {
		if s.err == nil && s.Base+int64(s.fault.pos) > at {
			why.pos = int(at - s.Base)
			s.fault = why
		}
		return -1
	}
	s.sink.Skip(off)
	s.feature++
	s.inRow = false
	return end
}

// lineEnd finds the next line feed or record separator at or after p, or the end of the file.
func (s *scanner) lineEnd(p int) int {
	for {
		for ; p < s.N; p++ {
			if c := s.At(p); c == '\n' || c == recordSeparator {
				return p
			}
		}
		if s.EOF {
			return s.N
		}
		if p = s.refill(s.N); p < 0 {
			return -1
		}
	}
}

// chunkEnds reports whether the current chunk ends before the row, or apparent row, at p.
func (s *scanner) chunkEnds(p int) bool {
	at := s.Base + int64(p)
	if s.sink.Full(&s.limits) {
		s.stop = min(s.stop, at)
	}
	return s.pastStop(p) || s.sink.Rows > 0 && (s.sink.Rows >= s.limits.BatchRows ||
		at-s.chunk.From >= s.limits.BatchBytes)
}

// pastStop reports whether other workers read the row at p. The head scanner hands over only after
// a row, which has what the others need to know.
func (s *scanner) pastStop(p int) bool {
	return s.Base+int64(p) >= s.stop && (s.rest == nil || s.counted)
}

// stops reports whether reading ends at p, where a row begins.
func (s *scanner) stops(p int) bool {
	s.stopped = s.pastStop(p)
	return s.stopped
}

// begin starts a chunk with the row at p, unless one is begun.
func (s *scanner) begin(p int) {
	if s.sink.Rows == 0 && s.sink.Skipped.Count == 0 {
		s.first, s.firstFeature = s.Base+int64(p), s.feature
	}
}

// end finishes the chunk whose last row ended before p. If some of its rows must be read another
// way, it goes back: again is true, and the index is that of its first row.
func (s *scanner) end(p int) (next int, again bool) {
	if again, next := s.again(); again {
		return next, true
	}
	s.next = s.Base + int64(p)
	s.sink.AddTo(&s.sum)
	s.sink.known, s.sink.careful = nil, false
	s.chunk.State = s.state.pack()
	if s.err = rows.Emit(s.sink, &s.Window, &s.chunk, s.next, s.limits, s.emit); s.err != nil {
		return -1, false
	}
	return p, false
}

// again goes back to the start of the chunk if this pass over it found names given twice or columns
// that must be text.
func (s *scanner) again() (bool, int) {
	k := s.sink
	repeats := slices.Clone(k.repeats)
	var text []geoarrow.ColumnID
	if len(repeats) == 0 && !k.restart { // otherwise a value that does not count may have made it text
		text = k.NeedText()
	}
	if len(repeats)+len(text) == 0 && !k.restart {
		return false, 0
	}
	k.careful, k.restart = k.careful || k.restart, false
	if k.known == nil {
		k.known = map[int64]bool{}
	}
	for _, off := range repeats {
		k.known[off] = true
	}
	k.Text = append(k.Text, text...)
	k.Reset()
	s.fault = fault{}
	s.feature = s.firstFeature
	p := s.MoveTo(s.first)
	if p < 0 {
		s.err = s.Window.Err
	}
	return true, p
}
