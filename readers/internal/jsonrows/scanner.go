package jsonrows

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Dialect is the grammar of one format's rows. Its methods read a row of the scanner's window into
// its Sink, and return the index after it, or -1 with Fault or Failure set.
type Dialect interface {
	// ReadRow reads the row at index p by the rules of the format.
	ReadRow(p int) int
	// ReadLenient reads the row at p, which ReadRow refused and LooseSkip accepts, under on_error: null
	// and repair.
	ReadLenient(p int) int
	// Forget drops what earlier rows taught about the next ones. It reports whether there was
	// anything: then the row is read again, since its error must not depend on earlier rows.
	Forget() bool
}

// Config is what a Scanner is made with.
type Config struct {
	Dialect      Dialect
	Format       string          // name, of errors
	Unit         string          // what the format calls a row
	Row          string          // what the standard calls a row
	Members      string          // the member of a row whose members are columns
	Rule         string          // of the standard, about rows
	PositionRule string          // of the standard, about positions
	Position     func(p int) int // reads a position other than two plain numbers
	PlainRuns    bool            // package positions may be used
	Layout       readers.Layout  // its options and columns
	Request      readers.Request // limits and span
	Declare      func(*Sink)     // adds the columns that a chunk has in any case; may be nil
	Full         func() bool     // whether the rows so far end the current chunk; may be nil
}

// Scanner is one run of a parser. Its methods read one element of the grammar at an index of
// the window and return the index after it, or -1 with Fault or Failure set.
type Scanner struct {
	window.Window
	State
	Config
	Limits  readers.Limits
	Inside  bool // a span of rows is read again
	Repairs bool // on_error: repair
	Emit    func(readers.Chunk) error

	Fault    Fault
	Failure  error // of the window, of Emit or of a chunk: not a fault of the text, unless Faulty
	Faulty   bool  // Failure is from a fault that another scanner found
	Loosened int   // the first token skipped by LooseSkip that is not JSON, or -1

	Sink   *Sink
	Geom   *geoarrow.GeometryBuilder // of the Sink
	Shapes *rows.Shapes              // of the Sink
	Sum    readers.Summary
	gaps   [Places]gaps // bytes between values in the last rows, by where they begin

	Stopped   bool       // the last reading ended because other workers read the next row
	Rest      func() int // continues with several workers after this scanner stopped
	Counted   bool       // a row was read and not skipped
	InRow     bool       // a fault is one of a row
	RowNumber int64      // of the current row in the file
	RowOffset int64      // of its first byte
	Passes    bool       // the current row has a name twice

	skipErrors bool
	nulls      bool  // on_error: null or repair
	probe      *Sink // tries rows first, unless on_error is fail
	chunk      readers.Span
	stack      []byte
	name       []byte         // the last key with escapes
	textAt     []byte         // the last text with escapes
	stop       int64          // rows that begin here or later are not read
	rowsEnd    int64          // offset after the last row of Places
	next       int64          // offset after the last chunk: of the next row, or of what ends the rows
	first      int64          // offset of the chunk's first row, even if it was skipped
	firstRow   int64          // and its number
	replaced   map[int64]bool // the values of the current row that don't count
}

// State is what a span needs to know of the text before it.
type State struct {
	InSequence bool // values one after the other; else an array of rows
	Brackets   int  // around the rows
}

// Pack returns the state in the form of a Span's.
func (t State) Pack() uint64 {
	v := uint64(t.Brackets) << 1
	if t.InSequence {
		v |= 1
	}
	return v
}

// UnpackState is the inverse of Pack.
func UnpackState(v uint64) State { return State{InSequence: v&1 != 0, Brackets: int(v >> 1)} }

// Init makes a new scanner of the zero value.
func (s *Scanner) Init(c Config) {
	s.Config, s.Limits, s.stop = c, c.Request.Limits.WithDefaults(), math.MaxInt64
	s.use(NewSink(c))
	s.Sum = readers.Summary{Foreign: map[string]int64{}}
	opts := c.Layout.Options
	s.skipErrors, s.nulls, s.Repairs = opts.SkipErrors(), opts.NullErrors(), opts.Repairs()
	if s.skipErrors || s.nulls {
		s.probe = NewSink(c)
	}
	if !c.Request.Span.Inside { // otherwise the rows are known to have few enough columns
		s.bound()
	}
}

// use makes a sink the one that rows go to.
func (s *Scanner) use(k *Sink) { s.Sink, s.Geom, s.Shapes = k, &k.Geom, &k.Shapes }

// bound limits the columns of the first rows.
func (s *Scanner) bound() {
	s.Sink.MaxColumns = s.Limits.MaxColumns
	s.Sink.Follow(readers.NewColumnSet(s.Limits))
	if s.probe != nil {
		s.probe.MaxColumns = s.Limits.MaxColumns
	}
}

// Start moves the scanner to an offset, where row number row begins.
func (s *Scanner) Start(ctx context.Context, src *source.File, from, end, row int64, step int) bool {
	s.RowNumber, s.chunk, s.Fault, s.Failure, s.Stopped = row, readers.Span{Row: row}, Fault{}, nil, false
	if !s.Window.Open(ctx, src, from, s.stop, end, s.Limits.MaxFeatureBytes, cmp.Or(step, window.Bytes)) {
		s.Failure = s.Window.Err
	}
	return s.Failure == nil
}

// Refill reads more of the file after index p, which becomes index 0. It returns -1 with err set if
// it can't.
func (s *Scanner) Refill(p int) int {
	if !s.Fill(p) {
		s.Failure = s.Window.Err
		return -1
	}
	return 0
}

// Blank skips blanks, and the record separators of a sequence, over any number of windows.
func (s *Scanner) Blank(p int) int {
	for {
		p = s.Space(p)
		if p < s.N {
			if s.At(p) == RecordSeparator && s.InSequence {
				p++
				continue
			}
			return p
		}
		if s.EOF {
			return s.N
		}
		if p = s.Refill(s.N); p < 0 {
			return -1
		}
	}
}

// Complete calls do until the window holds all that it reads.
func (s *Scanner) Complete(p int, do func(p int) int) int {
	for {
		end := do(p)
		if s.tooLong(p, end) {
			return -1
		}
		if end >= 0 && (end < s.N || s.EOF) {
			return end
		}
		if end < 0 && (s.Failure != nil || !s.Cut()) {
			return -1
		}
		if s.EOF {
			return -1
		}
		if p = s.Refill(p); p < 0 {
			return -1
		}
	}
}

// TextAt returns the decoded text of the string value from p to end, nil for any other value. It is
// valid until the next one.
func (s *Scanner) TextAt(p, end int) []byte {
	if s.At(p) != '"' {
		return nil
	}
	text := s.Text(p+1, end-1)
	if slices.Contains(text, '\\') {
		s.textAt, _ = Unescape(s.textAt[:0], text)
		return s.textAt
	}
	return text
}

// row reads the row at p, and counts it.
func (s *Scanner) row(p int) int {
	s.InRow = true
	crs := s.Sum.CRS
	first := false // the dialect knows nothing of earlier rows
	for {
		s.RowOffset = s.Base + int64(p)
		repeats := len(s.Sink.repeats)
		if s.Passes = s.Sink.known != nil && s.Sink.known[s.RowOffset]; s.Passes {
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
		s.Sum.CRS = crs
		if s.Failure != nil {
			return -1
		}
		if s.Cut() {
			s.Sink.repeats = s.Sink.repeats[:repeats] // repeated names are known once the window holds the row
			s.Sink.Foresee(s.Base+int64(p)-s.chunk.From, min(s.Window.End, s.stop)-s.chunk.From, s.Limits.BatchRows)
			if p = s.Refill(p); p < 0 {
				return -1
			}
			continue
		}
		if !first && s.Dialect.Forget() { // the error is that of a file with this row as its first
			first = true
			continue
		}
		if !s.Passes { // the malformed value may be one that does not count
			if p = s.whole(p); p < 0 {
				return -1
			}
			if s.findReplaced(p); len(s.replaced) > 0 {
				s.Sink.repeats = append(s.Sink.repeats, s.RowOffset)
				return -1
			}
		}
		switch {
		case s.Fault.Depth || s.Fault.File:
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
func (s *Scanner) commit(end int) int {
	if s.Sink.Rows == 0 {
		s.chunk.From = s.RowOffset
	}
	s.Sink.Commit(s.RowOffset)
	s.Counted = true
	s.RowNumber++
	s.InRow = false
	return end
}

// tooLong refuses a row at p that is longer than --max-feature-bytes, wherever windows end. The row
// ends at end, or has a fault if end < 0.
func (s *Scanner) tooLong(p, end int) bool {
	if end < 0 {
		end = min(s.Fault.Pos, s.N)
	}
	if s.Failure != nil || int64(end-p) <= s.Most {
		return false
	}
	s.Failure = s.Window.TooLong(p)
	return true
}

// whole reads all of the row at p, up to malformed JSON, into the window, and returns its index
// there. It keeps the fault.
func (s *Scanner) whole(p int) int {
	why, row, at := s.Fault, s.Base+int64(p), s.Base+int64(s.Fault.Pos)
	s.Complete(p, func(p int) int { return s.Skip(p, s.Brackets) })
	if s.Failure != nil {
		return -1
	}
	s.Fault = why
	s.Fault.Pos = int(at - s.Base)
	return int(row - s.Base)
}

// try reads the row at p completely or not at all. Under on_error: skip, and in a chunk with a row
// that is read leniently, it reads the row twice, since a malformed row must not affect the types
// of columns.
func (s *Scanner) try(p int) int {
	if s.skipErrors || s.Sink.careful {
		real := s.Sink
		s.use(s.probe)
		end := s.Dialect.ReadRow(p)
		s.probe.Reset()
		s.use(real)
		if end < 0 {
			return -1
		}
	}
	end := s.Dialect.ReadRow(p)
	if end < 0 {
		s.Sink.Rollback()
	}
	return end
}

// skipRow skips a malformed row: to its end if its JSON is well-formed, otherwise, in a sequence,
// to the end of its first line.
func (s *Scanner) skipRow(p int) int {
	why := s.Fault
	off, at := s.Base+int64(p), s.Base+int64(why.Pos)
	end := s.Complete(p, func(p int) int { return s.Skip(p, s.Brackets) })
	if p = int(off - s.Base); end < 0 && s.Failure == nil && !s.Fault.Depth && (!s.InSequence || s.At(p) == '{') {
		strict, from := s.Fault, s.Base
		if end = s.Complete(p, s.LooseSkip); end < 0 && s.Failure == nil {
			s.Fault = strict
			s.Fault.Pos -= int(s.Base - from)
		}
	}
	if end < 0 && s.Failure == nil && s.InSequence {
		end = s.lineEnd(int(off - s.Base))
	}
	if end < 0 {
		if s.Failure == nil && s.Base+int64(s.Fault.Pos) > at {
			why.Pos = int(at - s.Base)
			s.Fault = why
		}
		return -1
	}
	s.Sink.Skip(off)
	s.RowNumber++
	s.InRow = false
	return end
}

// lineEnd finds the next line feed or record separator at or after p, or the end of the file.
func (s *Scanner) lineEnd(p int) int {
	for {
		for ; p < s.N; p++ {
			if c := s.At(p); c == '\n' || c == RecordSeparator {
				return p
			}
		}
		if s.EOF {
			return s.N
		}
		if p = s.Refill(s.N); p < 0 {
			return -1
		}
	}
}

// chunkEnds reports whether the current chunk ends before the row, or apparent row, at p.
func (s *Scanner) chunkEnds(p int) bool {
	at := s.Base + int64(p)
	if s.Sink.Full(&s.Limits) {
		s.stop = min(s.stop, at)
	}
	return s.pastStop(p) || s.Sink.Rows > 0 && (s.Sink.Rows >= s.Limits.BatchRows ||
		at-s.chunk.From >= s.Limits.BatchBytes || s.Full != nil && s.Full())
}

// pastStop reports whether other workers read the row at p. The head scanner hands over only after
// a row, which has what the others need to know.
func (s *Scanner) pastStop(p int) bool {
	return s.Base+int64(p) >= s.stop && (s.Rest == nil || s.Counted)
}

// stops reports whether reading ends at p, where a row begins.
func (s *Scanner) stops(p int) bool {
	s.Stopped = s.pastStop(p)
	return s.Stopped
}

// begin starts a chunk with the row at p, unless one is begun.
func (s *Scanner) begin(p int) {
	if s.Sink.Rows == 0 && s.Sink.Skipped.Count == 0 {
		s.first, s.firstRow = s.Base+int64(p), s.RowNumber
	}
}

// end finishes the chunk whose last row ended before p. If some of its rows must be read another
// way, it goes back: again is true, and the index is that of its first row.
func (s *Scanner) end(p int) (next int, again bool) {
	if again, next := s.again(); again {
		return next, true
	}
	s.next = s.Base + int64(p)
	s.Sink.AddTo(&s.Sum)
	s.Sink.known, s.Sink.careful = nil, false
	s.chunk.State = s.State.Pack()
	if s.Failure = rows.Emit(s.Sink, &s.Window, &s.chunk, s.next, s.Limits, s.Emit); s.Failure != nil {
		return -1, false
	}
	return p, false
}

// again goes back to the start of the chunk if this pass over it found names given twice or columns
// that must be text.
func (s *Scanner) again() (bool, int) {
	k := s.Sink
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
	s.Fault = Fault{}
	s.RowNumber = s.firstRow
	p := s.MoveTo(s.first)
	if p < 0 {
		s.Failure = s.Window.Err
	}
	return true, p
}

// Output prepares the scanner for a request, and returns where its chunks go.
func (s *Scanner) Output(req readers.Request, emit func(readers.Chunk) error) *parallel.Output {
	s.Sink.Text = slices.Clone(req.Span.Text)
	s.Sink.Reset()
	out := parallel.NewOutput(emit)
	s.Emit = out.Emit
	return out
}
