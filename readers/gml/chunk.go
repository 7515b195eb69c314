package gml

import (
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// state is what a span needs to know of the text before it.
type state struct {
	encoding xmltext.Encoding
	swapped  bool  // by the root's boundedBy the first axis is north
	size     uint8 // and the number of ordinates of a list's position; 0: unknown
	wraps    bool  // the root is not a collection
	fme      bool  // the file is FME's
	named    bool  // boundedBy of the root names a system
}

// Places of the state's parts in a packed word, from the lowest bit.
const (
	encodingBits = 8
	sizeBits     = 8
	swappedBit   = 1 << (encodingBits + sizeBits)
	wrapsBit     = swappedBit << 1
	fmeBit       = wrapsBit << 1
	namedBit     = fmeBit << 1
)

// pack returns the state in the form of a Span's.
func (t state) pack() uint64 {
	v := uint64(t.size)<<encodingBits | uint64(t.encoding)
	if t.swapped {
		v |= swappedBit
	}
	if t.wraps {
		v |= wrapsBit
	}
	if t.fme {
		v |= fmeBit
	}
	if t.named {
		v |= namedBit
	}
	return v
}

func unpackState(v uint64) state {
	return state{
		encoding: xmltext.Encoding(v & (1<<encodingBits - 1)), size: uint8(v >> encodingBits & (1<<sizeBits - 1)),
		swapped: v&swappedBit != 0, wraps: v&wrapsBit != 0, fme: v&fmeBit != 0, named: v&namedBit != 0,
	}
}

// pack returns the state of the rows that are read.
func (s *scanner) pack() uint64 {
	return state{
		encoding: s.X.Encoding, swapped: s.frame.system.swapped, size: uint8(s.frame.listSize()),
		wraps: s.wraps, fme: s.names.fme, named: s.frame.system.crs != geoarrow.CRS{},
	}.pack()
}

// chunkEnds reports whether the current chunk ends before the row at offset off.
func (s *scanner) chunkEnds(off int64) bool {
	if s.sink.Full(&s.limits) {
		s.stop = min(s.stop, off)
	}
	return off >= s.stop || s.sink.Rows > 0 && (s.sink.Rows >= s.limits.BatchRows ||
		off-s.chunk.From >= s.limits.BatchBytes)
}

// begin starts a chunk with the row at offset off, whose start tag was read, unless one is begun.
func (s *scanner) begin(off int64) {
	if s.sink.Rows == 0 && s.sink.Skipped.Count == 0 {
		s.first, s.firstNumber, s.firstSystem = off, s.feature, s.crs
		s.firstPlace.save(s)
	}
}

// end finishes the chunk whose last row ended before offset off. If a column must be read again as
// text, it goes back, and again is true.
func (s *scanner) end(off int64) (again, ok bool) {
	if text := s.sink.NeedText(); len(text) > 0 {
		s.sink.Text = append(s.sink.Text, text...)
		s.sink.Reset()
		s.feature, s.crs = s.firstNumber, s.firstSystem
		return true, s.seek(s.first, &s.firstPlace)
	}
	s.next = off
	s.sink.addTo(&s.sum)
	s.chunk.State, s.chunk.CRS = s.pack(), s.crs.span()
	s.Failed = rows.Emit(s.sink, &s.Window, &s.chunk, off, s.limits, s.emit)
	return false, s.Failed == nil
}
