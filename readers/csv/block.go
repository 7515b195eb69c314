package csv

import (
	"math"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/fields"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// A block is a group of records whose fields package fields has found. It is read a column at a
// time, since the ends of fields are known and columns do not depend on each other. Records are
// checked first, so that no row of a block has to be removed: the number of fields and the quotes
// when the block is found, then the encoding, then the geometry. A record outside of blocks is read
// by itself, and returns the error if it is malformed.

// maxMisses bounds the number of records that are read by themselves before a block is tried again.
const maxMisses = 64

// block reads the records at p that form a block, and returns the index after them: p if there are
// none.
func (s *scanner) block(p int) int {
	if s.single > 0 {
		s.single--
		return p
	}
	n := s.find(p)
	if n > 0 && s.index.High && (s.charset != nil || !utf8.Valid(s.Text(p, p+s.index.End))) {
		n = 0
	}
	if n > 0 {
		n = s.geometries(p, n)
	}
	if n == 0 {
		s.misses = min(2*s.misses+1, maxMisses)
		s.single = s.misses
		return p
	}
	s.misses = 0
	for i, u := range s.sink.uses {
		if u&useAttribute != 0 {
			s.column(s.sink.columns[i], i, p, n)
		}
	}
	at := s.Base + int64(p)
	if s.sink.Rows == 0 {
		s.chunk.From = at
	}
	x := s.index
	for _, first := range x.Records[:n] {
		s.sink.Commit(at + int64(x.Starts[first]))
	}
	s.row += int64(n)
	s.closed = true
	return p + int(x.Starts[int(x.Records[n-1])+len(s.fields)])
}

// find finds the records of the block at p that fit the current chunk, and returns their number.
func (s *scanner) find(p int) int {
	at := s.Base + int64(p)
	room := min(int64(s.N-p), s.stop-at, s.Most, fields.Most)
	if s.sink.Rows == 0 {
		room = min(room, s.limits.BatchBytes)
	} else {
		room = min(room, s.limits.BatchBytes-(at-s.chunk.From))
	}
	if room <= 0 {
		return 0
	}
	if s.index == nil {
		s.index = &fields.Index{}
	}
	s.index.Find(unsafe.Add(s.Q, p), int(room), s.delimiter, s.quote, len(s.fields))
	n := min(len(s.index.Records), s.limits.BatchRows-s.sink.Rows)
	if s.sink.FullWith(&s.limits, n) {
		return 0
	}
	return n
}

// span returns where field i of record r begins and ends, quotes included, in the block at p.
func (s *scanner) span(p, r, i int) (from, end int) {
	x := s.index
	k := int(x.Records[r]) + i
	return p + int(x.Starts[k]), p + int(x.Starts[k+1]) - 1
}

// geometries reads the geometries of the first n records of the block at p, and returns how many
// are valid, up to the first that is not.
func (s *scanner) geometries(p, n int) int {
	switch s.geometry {
	case noGeometry:
		return n
	case points:
		return s.points(p, n)
	}
	i := s.shape[0]
	for r := range n {
		from, end := s.span(p, r, i)
		field := cell{from: from, to: end}
		if s.class[s.At(from)] == classQuote {
			field = cell{from: from + 1, to: end - 1, quoted: true, doubled: s.quotes(from-p, end-p)}
		}
		before := s.sink.Shapes
		if !s.readGeometry(field) || !s.endShape() {
			s.sink.Geom.Undo()
			s.sink.Shapes = before
			return r
		}
	}
	return n
}

// quotes reports whether a quoted field of the block has quotes, doubled.
func (s *scanner) quotes(from, end int) bool {
	k, _ := slices.BinarySearch(s.index.Doubled, uint32(from))
	return s.index.Doubled[k] < uint32(end)
}

// group is how many values of a column are read before they are counted: one bit each of a word.
const group = 64

// points returns geometries of two columns.
func (s *scanner) points(p, n int) int {
	var column [2]int
	for i, u := range s.fields {
		if u&useX != 0 {
			column[0] = i
		}
		if u&useY != 0 {
			column[1] = i
		}
	}
	var v [2][group]float64
	for r := 0; r < n; {
		want := min(group, n-r)
		got, valid := want, ^uint64(0)
		for axis, i := range column {
			var there uint64
			got, there = s.ordinates(&v[axis], i, p, r, got)
			valid &= there
		}
		if whole := uint64(1)<<got - 1; valid&whole == whole {
			s.sink.Geom.Points(v[0][:got], v[1][:got])
		} else {
			for k := range got {
				if valid>>k&1 == 0 {
					s.sink.Geom.Null()
				} else {
					s.sink.Geom.Points(v[0][k:k+1], v[1][k:k+1])
				}
			}
		}
		if r += got; got < want {
			return r
		}
	}
	return n
}

// ordinates reads field i of n records from r, up to the first that is not an ordinate. It returns
// their number, and a bit for each that is not null.
func (s *scanner) ordinates(v *[group]float64, i, p, r, want int) (n int, valid uint64) {
	for n < want {
		if !s.comma && !s.commaPoints {
			got, there := s.decimals(v[n:want], i, p, r+n)
			valid |= there << n
			if n += got; n == want {
				break
			}
		}
		var o ordinate
		from, _ := s.span(p, r+n, i)
		if s.ordinate(&o, from) < 0 {
			break
		}
		if !o.null {
			v[n] = o.v
			valid |= 1 << n
		}
		n++
	}
	return n, valid
}

// decimals reads field i of records from r, as long as they are plain numbers or empty.
func (s *scanner) decimals(v []float64, i, p, r int) (n int, valid uint64) {
	return number.Decimals(v, unsafe.Add(s.Q, p), s.index.Starts[i:], s.index.Records[r:])
}

// column reads field i of n records of the block at p, which is an attribute.
func (s *scanner) column(c *rows.Column, i, p, n int) {
	if c.Unread {
		return
	}
	for r := 0; r < n; {
		row := s.sink.Rows + r
		c.Pad(row)
		want, got := min(group, n-r), 0
		switch {
		case c.Store == rows.StoreInt:
			got = s.integers(c, i, p, r, want)
		case c.Store == rows.StoreFloat && !s.comma:
			got = s.floats(c, i, p, r, want)
		case c.Store == rows.StoreText && c.Kinds&geoarrow.FactString != 0:
			s.texts(c, i, p, r, want)
			got = want
		}
		if r += got; got < want {
			from, _ := s.span(p, r, i)
			s.attribute(c, row+got, from)
			r++
		}
	}
}

// integers reads values of a column of integers, up to one that is not an integer or of another
// kind than those before, and returns their number.
func (s *scanner) integers(c *rows.Column, i, p, r, most int) int {
	before := len(c.Ints)
	c.Ints = slices.Grow(c.Ints, most)[:before+most]
	low, high := kindsRange(c.Kinds)
	x := s.index
	n, valid := number.Integers(c.Ints[before:], unsafe.Add(s.Q, p), x.Starts[i:], x.Records[r:], low, high)
	c.Ints = c.Ints[:before+n]
	c.FilledMany(n, valid)
	return n
}

// kindsRange returns a range of integers whose kinds the column already has. If it has only wide
// ones, it is the range of the positive ones.
func kindsRange(k geoarrow.FactKinds) (low, high int64) {
	switch k & (geoarrow.FactInt32 | geoarrow.FactInt64) {
	case geoarrow.FactInt32:
		high = math.MaxInt32
	case geoarrow.FactInt64:
		return math.MaxInt32 + 1, math.MaxInt64
	case geoarrow.FactInt32 | geoarrow.FactInt64:
		high = math.MaxInt64
	default:
		return 1, 0
	}
	if k&geoarrow.FactNegative != 0 {
		low = -high - 1
	}
	return low, high
}

// floats is integers for a column of floats.
func (s *scanner) floats(c *rows.Column, i, p, r, most int) int {
	before := len(c.Floats)
	c.Floats = slices.Grow(c.Floats, most)[:before+most]
	n, valid := s.decimals(c.Floats[before:], i, p, r)
	c.Floats = c.Floats[:before+n]
	c.FilledMany(n, valid)
	return n
}

// texts reads values of a column of texts.
func (s *scanner) texts(c *rows.Column, i, p, r, most int) {
	x := s.index
	starts, records := x.Starts[i:], x.Records[r:r+most]
	k, _ := slices.BinarySearch(x.Doubled, starts[records[0]])
	doubled := x.Doubled[k:]
	before := len(c.Ends)
	c.Ends = slices.Grow(c.Ends, most)[:before+most]
	text, ends := c.Text, c.Ends[before:]
	var valid uint64
	for n, first := range records {
		from, end := starts[first], starts[first+1]-1
		if from < end {
			valid |= 1 << n
			for doubled[0] < from {
				doubled = doubled[1:]
			}
			at := p + int(from)
			quotes := int(s.class[s.At(at)] / classQuote)
			size := int(end-from) - 2*quotes
			field := s.Text(at+quotes, at+quotes+size+number.Padding)[:size]
			if doubled[0] < end {
				field = s.undouble(field)
			}
			text = appendShort(text, field)
		}
		ends[n] = int32(len(text))
	}
	c.Text = text
	c.FilledMany(most, valid)
}
