package flatgeobuf

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Fields of a feature's table.
const (
	featureGeometry   = 0
	featureProperties = 1
	featureColumns    = 2
)

// lengthBytes is the size of a feature's length.
const lengthBytes = 4

// scanner is one run of the parser.
type scanner struct {
	window.Window
	header *header
	limits readers.Limits
	skip   bool // on_error: skip
	nulls  bool // on_error: null or repair
	emit   func(readers.Chunk) error
	err    error

	sink    *sink
	decoder decoder
	chunk   readers.Span
	sum     readers.Summary

	most    int64 // bytes of a feature
	stop    int64 // features that begin here or later are not read
	stopped bool  // the last reading ended because of stop
	next    int64 // offset after the last chunk: of the next feature, or the end of the file
	row     int64 // number of the current feature
	guess   bool  // which is unknown
}

// use sets the sink that the scanner fills.
func (s *scanner) use(k *sink) {
	s.sink = k
	k.nulls = s.nulls
	s.decoder = decoder{geom: &k.Geom, odd: &k.Shapes, maxDepth: s.limits.MaxDepth}
}

// open moves the scanner to an offset, where feature number row begins.
func (s *scanner) open(ctx context.Context, src *source.File, from, end, row int64, step int) bool {
	s.row, s.chunk, s.err, s.stopped = row, readers.Span{Row: row}, nil, false
	if !s.Open(ctx, src, from, s.stop, end, math.MaxInt64, step) {
		s.err = s.Err
	}
	return s.err == nil
}

// hold reads n bytes from index p on into the window, if the file has them, and returns p's new
// index; or -1 with err set.
func (s *scanner) hold(p, n int) int {
	for p+n > s.N && !s.EOF {
		s.sink.Foresee(s.Base+int64(p)-s.chunk.From, min(s.End, s.stop)-s.chunk.From, s.limits.BatchRows)
		if !s.Fill(p) {
			s.err = s.Err
			return -1
		}
		p = 0
	}
	return p
}

// features reads the features from index p, up to the first that begins at or after stop, or all.
// It returns false with err set.
func (s *scanner) features(p int) bool {
	for {
		if p = s.hold(p, 1); p < 0 {
			return false
		}
		at := s.Base + int64(p)
		if s.sink.Full(&s.limits) {
			s.stop = min(s.stop, at)
		}
		s.stopped = at >= s.stop
		if over := p == s.N; over || s.stopped || s.sink.Rows > 0 && (s.sink.Rows >= s.limits.BatchRows ||
			at-s.chunk.From >= s.limits.BatchBytes) {
			if !s.end(at) {
				return false
			}
			if over || s.stopped {
				return true
			}
		}
		if p = s.feature(p); p < 0 {
			return false
		}
	}
}

// end finishes the chunk whose last feature ends at an offset.
func (s *scanner) end(at int64) bool {
	s.next = at
	s.sink.AddTo(&s.sum)
	s.err = rows.Emit(s.sink, &s.Window, &s.chunk, at, s.limits, s.emit)
	return s.err == nil
}

// feature reads the feature at p as a row, and returns the index of the next; or -1 with err set.
func (s *scanner) feature(p int) int {
	if p = s.hold(p, lengthBytes); p < 0 {
		return -1
	}
	at := s.Base + int64(p)
	n, err := s.length(p, at)
	if err == nil {
		if p = s.hold(p, lengthBytes+n); p < 0 {
			return -1
		}
		body := s.Text(p+lengthBytes, p+lengthBytes+n)
		if f := s.parse(at, body); f != nil {
			err = s.malformed(at, f)
		} else {
			if s.sink.Rows == 0 {
				s.chunk.From = at
			}
			s.sink.Commit(at)
		}
	}
	if err != nil {
		s.err = err
		return -1
	}
	s.row++
	return p + lengthBytes + n
}

// length returns the number of bytes of the feature at p, after its length. A defect of it is one
// of the file, since the start of the next feature is unknown.
func (s *scanner) length(p int, at int64) (int, error) {
	left := s.End - at
	if count := s.header.count; count > 0 && s.row >= count && !s.guess {
		return 0, errorAt(s.Src, at, -1, fmt.Errorf(
			"%d bytes after the last of the %d features that the header says there are", left, count,
		))
	}
	if left < lengthBytes {
		return 0, errorAt(s.Src, at, s.row, fmt.Errorf(
			"the file ends inside of a feature's length: %d bytes are left, expected %d", left, lengthBytes,
		))
	}
	n := int64(binary.LittleEndian.Uint32(s.Text(p, p+lengthBytes)))
	switch {
	case n > left-lengthBytes:
		return 0, errorAt(s.Src, at, s.row, fmt.Errorf(
			"the file ends inside of a feature: it has %d bytes, of which %d are there", n, left-lengthBytes,
		))
	case n > s.most:
		return 0, &readers.LimitError{
			What: fmt.Sprintf("%s: feature %d, of %d bytes,", s.Src.Name, s.row, n),
			Flag: "--max-feature-bytes", Limit: s.most,
		}
	}
	return int(n), nil
}

// parse reads a feature into the current row.
func (s *scanner) parse(at int64, body []byte) *fault {
	if s.sink.nulls {
		return s.lenient(at, body)
	}
	t, f := root(body)
	if f != nil {
		return f
	}
	if f := s.properties(&t); f != nil {
		return f
	}
	s.passed(at)
	return s.geometry(&t) // it comes last: once it has ended, the row can't be undone
}

func (s *scanner) properties(t *table) *fault {
	if t.has(featureColumns) {
		if v, at, f := t.vector(featureColumns, 4); f != nil {
			return f
		} else if len(v) > 0 {
			return faultf(at, "the feature has columns of its own, which are not read: the header says what columns "+
				"there are")
		}
	}
	v, at, f := t.vector(featureProperties, 1)
	if f != nil {
		return f
	}
	s.sink.bad = s.sink.bad[:0]
	return s.sink.properties(v, at)
}

func (s *scanner) geometry(t *table) *fault {
	geometry, there, f := t.child(featureGeometry)
	switch {
	case f != nil:
		return f.in("geometry")
	case there:
		return s.decoder.feature(&geometry, s.header.kind)
	}
	s.sink.Geom.Null()
	return nil
}

// malformed undoes the feature at an offset. It returns an error unless the feature may be skipped.
func (s *scanner) malformed(at int64, f *fault) error {
	s.sink.Rollback()
	e := errorAt(s.Src, at+lengthBytes+int64(f.at), s.row, f)
	var limit *readers.LimitError
	switch {
	case errors.As(f.err, &limit):
		e.Err = nil
		limit.Err = e
		return limit
	case s.skip:
		s.sink.Skip(at)
		return nil
	}
	e.Mode = "null"
	return e
}
