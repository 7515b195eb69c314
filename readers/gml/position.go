package gml

import (
	"fmt"
	"slices"
	"strconv"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

const positionRule = "OGC 07-036 section 10.1.4"

// maxSize bounds srsDimension: ordinates of a position.
const maxSize = 16

// point reads what a Point holds, up to its end: one position, or none, which is an empty point.
func (s *scanner) point(c frame) bool {
	first := len(s.sink.Geom.X)
	if !s.positions(c) {
		return false
	}
	if n := len(s.sink.Geom.X) - first; n > 1 {
		return s.Wrong(s.X.At, fieldGeometry, positionRule, fmt.Sprintf("a Point of %d positions", n))
	}
	return true
}

// positions reads the positions in the element whose start tag was read, up to its end, in any
// notation of GML.
func (s *scanner) positions(c frame) bool {
	first := len(s.sink.Geom.X)
	for {
		switch s.X.Next() {
		case xmltext.End:
			return s.applyAxes(c, first)
		case xmltext.Start:
		default:
			return false
		}
		if !s.somePositions(&c, &first) {
			return false
		}
	}
}

// somePositions reads an element with positions, whose start tag was read, up to its end. Those
// from first on are in the order of the file's axes.
func (s *scanner) somePositions(c *frame, first *int) bool {
	switch string(s.X.Local()) {
	case "posList":
		return s.sized(c) && s.list(c.listSize(), false)
	case "pos":
		return s.sized(c) && s.list(c.size, true)
	case "coordinates":
		return s.tuples()
	case "coord":
		return s.coord()
	case "pointProperty", "pointRep":
		ok := s.applyAxes(*c, *first) && s.each(*c, (*scanner).controlPoint)
		*first = len(s.sink.Geom.X)
		return ok
	}
	return s.aside()
}

// controlPoint reads a Point that is a position of a line.
func (s *scanner) controlPoint(c frame) bool {
	if string(s.X.Local()) != "Point" {
		return s.refuse("a position")
	}
	return s.named(&c) && s.point(c)
}

// applyAxes converts the positions from first on, which are in the order of the file's axes, to x
// and y.
func (s *scanner) applyAxes(c frame, first int) bool {
	g := &s.sink.Geom
	if first == len(g.X) {
		return true
	}
	s.warn(c.system)
	if c.system.swapped {
		xs, ys := g.X[first:], g.Y[first:]
		for i := range xs {
			xs[i], ys[i] = ys[i], xs[i]
		}
	}
	return c.system == s.crs.last || s.establish(c.system, s.X.At)
}

// list reads the text of a posList, of positions of n ordinates, or of a pos, which is one
// position, up to its end. n is 0 if unknown.
func (s *scanner) list(size int, one bool) bool {
	g := &s.sink.Geom
	if size == 2 || one && size < 2 {
		start, first := s.X.P, len(g.X)
		if s.pairs() {
			if !one || len(g.X) == first+1 {
				return s.closes()
			}
			s.X.P, g.X, g.Y = start, g.X[:first], g.Y[:first]
		}
	}
	text, ok := s.flat()
	if !ok {
		return false
	}
	s.numbers = s.numbers[:0]
	for p := text.space(0); p < text.n; {
		v, end := s.ordinate(text.q, p, text.n)
		if end < 0 {
			return s.Expect(text.at(p), fieldGeometry, positionRule, wantNumber(^end))
		}
		s.numbers = append(s.numbers, v)
		p = text.space(end)
	}
	n := len(s.numbers)
	switch {
	case !one:
		if size = s.sizeOf(text.at(text.n), size); size == 0 {
			return false
		}
	case n == 1:
		return s.Expect(text.at(text.n), fieldGeometry, positionRule, "a second ordinate of a position")
	default:
		size = max(n, 2)
	}
	for i, v := range s.numbers {
		s.add(i%size, v)
	}
	return s.closes()
}

// sizeOf returns the number of ordinates of a position of the list in numbers, which ends at a
// place. It is size if that is known. Otherwise the count of numbers may allow only 2 or 3, or only
// one of these closes a ring. It returns 0 with the fault set if neither does.
func (s *scanner) sizeOf(at, size int) int {
	n := len(s.numbers)
	two, three := n%2 == 0, n%3 == 0
	switch {
	case size > 0 && n%size == 0, n == 0:
		return max(size, 2)
	case size > 0:
		s.Wrong(at, fieldGeometry, positionRule,
			fmt.Sprintf("%d ordinates, which are no positions of %d, as srsDimension or the reference system says, "+
				"or 2 where neither does", n, size))
	case two && three && s.inRing && s.closesBy(2) != s.closesBy(3):
		two = s.closesBy(2)
		fallthrough
	case two != three:
		if two {
			return 2
		}
		return 3
	case two:
		s.Wrong(at, fieldGeometry, positionRule,
			fmt.Sprintf("%d ordinates, which are positions of 2 or of 3: no srsDimension says which, and the "+
				"reference system is not known", n))
	default:
		s.Wrong(at, fieldGeometry, positionRule, fmt.Sprintf("%d ordinates, which are no positions of 2 or 3", n))
		return 0
	}
	if !two {
		return 0
	}
	s.mode = modeRepair
	if !s.active || !s.repairs {
		return 0
	}
	s.deviate(ruleDimension, "read as positions of 2")
	s.tolerate()
	return 2
}

// closesBy reports whether the list in numbers, of positions of n ordinates, ends where it
// begins.
func (s *scanner) closesBy(size int) bool {
	n := len(s.numbers)
	return n > size && slices.Equal(s.numbers[:size], s.numbers[n-size:])
}

// add adds ordinate i of a position to the builder: x, y, z; further ones are ignored.
func (s *scanner) add(i int, v float64) {
	g := &s.sink.Geom
	switch i {
	case 0:
		g.X, g.Y = append(g.X, v), append(g.Y, nan)
	case 1:
		g.Y[len(g.Y)-1] = v
	case 2:
		g.AddZ(v)
	default:
		s.sink.Shapes.IgnoredOrdinates++
	}
}

// closes reads the end tag after a text.
func (s *scanner) closes() bool {
	switch s.X.Next() {
	case xmltext.End:
		return true
	case xmltext.Start:
		return s.refuse("text")
	}
	return false
}

// pairs reads positions of two ordinates from the content of the current element, and goes to the
// '<' after them. It returns false, with nothing read, unless they have the usual syntax.
func (s *scanner) pairs() bool {
	if s.At(s.X.P-2) == '/' { // <posList/>
		return false
	}
	g := &s.sink.Geom
	q, p, first := s.Q, s.X.P, len(g.X)
	for {
		for isBlank(byteAt(q, p)) {
			p++
		}
		x, end := number.Float(q, p)
		if end < 0 || !isBlank(byteAt(q, end)) {
			break
		}
		p = end + 1
		for isBlank(byteAt(q, p)) {
			p++
		}
		y, end := number.Float(q, p)
		if end < 0 {
			break
		}
		switch c := byteAt(q, end); {
		case isBlank(c):
		case c == '<' && byteAt(q, end+1) == '/':
			g.X, g.Y = append(g.X, x), append(g.Y, y)
			s.X.P = end
			return true
		default:
			g.X, g.Y = g.X[:first], g.Y[:first]
			return false
		}
		g.X, g.Y = append(g.X, x), append(g.Y, y)
		p = end + 1
	}
	if byteAt(q, p) == '<' && byteAt(q, p+1) == '/' && len(g.X) > first {
		s.X.P = p
		return true
	}
	g.X, g.Y = g.X[:first], g.Y[:first]
	return false
}

// plainText is the text of an element with padding of package number after it.
type plainText struct {
	q     unsafe.Pointer
	n     int
	start int  // index in the window
	moved bool // the text was decoded: all of it has one index
}

// at returns the index in the window of a byte of the text.
func (t plainText) at(p int) int {
	if t.moved {
		return t.start
	}
	return t.start + p
}

// space skips blanks.
func (t plainText) space(p int) int {
	for p < t.n && isBlank(byteAt(t.q, p)) {
		p++
	}
	return p
}

// flat returns the text of the element whose start tag was read.
func (s *scanner) flat() (plainText, bool) {
	start := s.X.P
	text, ok := s.X.Text()
	if !ok {
		return plainText{}, false
	}
	if len(text) > 0 && s.X.InWindow(text) {
		q := unsafe.Pointer(unsafe.SliceData(text))
		return plainText{q: q, n: len(text), start: int(uintptr(q) - uintptr(s.Q))}, true
	}
	s.text = append(append(s.text[:0], text...), make([]byte, number.Padding)...)
	return plainText{q: unsafe.Pointer(unsafe.SliceData(s.text)), n: len(text), start: start, moved: true}, true
}

// coord reads the content of a coord, up to its end: X, Y and Z, of GML 2.
func (s *scanner) coord() bool {
	const rule = "OGC 02-069 section 4.3.2"
	names := [...]string{"X", "Y", "Z"}
	for n := 0; ; n++ {
		switch s.X.Next() {
		case xmltext.End:
			if n < 2 {
				return s.Wrong(s.X.At, fieldGeometry, rule, "a coord without X and Y")
			}
			return true
		case xmltext.Start:
		default:
			return false
		}
		if n == len(names) || string(s.X.Local()) != names[n] {
			return s.Wrong(s.X.At, fieldGeometry, rule, "a coord holds X, then Y, then Z")
		}
		text, ok := s.flat()
		if !ok {
			return false
		}
		p := text.space(0)
		v, end := s.ordinate(text.q, p, text.n)
		if end < 0 {
			return s.Expect(text.at(p), fieldGeometry, rule, wantNumber(^end))
		}
		if p = text.space(end); p < text.n {
			return s.Expect(text.at(p), fieldGeometry, rule, "one number")
		}
		s.add(n, v)
		if !s.closes() {
			return false
		}
	}
}

// sized puts srsDimension of the start tag into the context. Drafts of GML 3 call it
// dimension.
func (s *scanner) sized(c *frame) bool {
	for i := range s.X.Attrs() {
		_, local := s.X.AttrName(i)
		if string(local) != "srsDimension" && string(local) != "dimension" {
			continue
		}
		n, err := strconv.Atoi(string(trim(s.X.AttrValue(i))))
		if err != nil || n < 2 || n > maxSize {
			return s.Expect(int(s.X.AttrOffset(i)-s.Base), fieldGeometry, positionRule,
				fmt.Sprintf("a number of ordinates from 2 to %d", maxSize))
		}
		c.size = n
	}
	return true
}
