package gpx

import (
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/temporal"
)

// This file reads positions in the form that programs write, several times faster than the XML
// scanner does:
//
//	<trkpt lat="47.1" lon="8.5"><ele>400.5</ele><time>2025-03-31T13:45:00Z</time></trkpt>
//
// Tags have no blanks, only lat and lon are attributes, numbers are as JSON writes them, and texts
// have no comments and no CDATA sections. All of it is well-formed and valid. A position in any
// other form, or one that the window cuts, is left as it is to the XML scanner.

// tag is an element whose text is the value of a leading column.
type tag struct {
	column column
	open   string // "<ele>"
	close  string // "</ele>"
}

// fast is what is known about positions.
type fast struct {
	open, close string // "<trkpt", "</trkpt>"
	tags        []tag
	guess       [32]uint8 // the tags of the children of the last position, by their number
	refused     int       // positions in a row that had another form
}

// newFast returns what is known about the positions of a layer before the first one.
func newFast(h header, prefix string) *fast {
	name := rowElements[h.layer].name
	switch h.layer {
	case routes:
		name = rowElements[routePoints].name
	case tracks:
		name = rowElements[trackPoints].name
	}
	f := &fast{open: "<" + prefix + name, close: "</" + prefix + name + ">"}
	points := header{layer: trackPoints, v10: true}
	if h.layer.isPoints() {
		points = h
	}
	for c := range leadingColumns {
		if name := leading[c].name; points.has(c) != absent && elementColumn([]byte(name)) == c {
			f.tags = append(f.tags, tag{c, "<" + prefix + name + ">", "</" + prefix + name + ">"})
		}
	}
	return f
}

// maxRefused is the number of positions of another form after which only one in retry is tried.
const (
	maxRefused = 16
	retry      = 32
)

// worthwhile reports whether to try the next position.
func (f *fast) worthwhile() bool {
	if f.refused < maxRefused {
		return true
	}
	f.refused++
	return f.refused%retry == 0
}

// fastRow reads the next row, if it is a position in the usual form. The chunk has a row already.
func (s *scanner) fastRow() bool {
	if s.slow || s.sink == nil || s.sink.Rows == 0 || s.headBytes > 0 || !s.header.layer.isPoints() || s.X.InEmpty() ||
		s.depth != rowElements[s.header.layer].depth || s.counting || s.X.Depth()+2 > s.limits.MaxDepth {
		return false
	}
	p := s.skipBlanks(s.X.P)
	off := s.Base + int64(p)
	if !s.Has(p, s.fast.open) || s.chunkEnds(off) || !s.fast.worthwhile() {
		return false
	}
	s.row.reset()
	x, y, end := s.fastPosition(p, true)
	if end < 0 || int64(end-s.X.P) > s.Most {
		s.fast.refused++
		return false
	}
	s.fast.refused = 0
	g := &s.sink.Geom
	g.X, g.Y = append(g.X, x), append(g.Y, y)
	s.at.number++
	s.X.P = end
	return s.commit(off)
}

// fastVertex reads the next position of a line, if it is in the usual form.
func (s *scanner) fastVertex() bool {
	if s.slow || s.X.InEmpty() || s.X.Depth()+2 > s.limits.MaxDepth {
		return false
	}
	p := s.skipBlanks(s.X.P)
	if !s.Has(p, s.fast.open) || !s.fast.worthwhile() {
		return false
	}
	present := s.row.present
	x, y, end := s.fastPosition(p, false)
	if end < 0 {
		s.fast.refused++
		s.row.present = present
		return false
	}
	s.fast.refused = 0
	g := &s.sink.Geom
	g.X, g.Y = append(g.X, x), append(g.Y, y)
	if s.withZ && s.row.present>>columnEle&1 != 0 {
		g.AddZ(s.row.leading[columnEle].num.Float)
	}
	s.row.present = present
	s.X.P = end
	return true
}

// fastPosition reads the position at index p, whose tag begins with open, and returns the index
// after it; -1: it has another form. Its values become those of the row; without all of them,
// texts are only checked, and the elevation is read if it is the z.
func (s *scanner) fastPosition(p int, all bool) (x, y float64, end int) {
	p += len(s.fast.open)
	var has int
	for s.At(p) == ' ' {
		switch {
		case s.Has(p, ` lat="`) && has&1 == 0:
			if y, p = s.fastDecimal(p + len(` lat="`)); p < 0 || y < -90 || y > 90 {
				return 0, 0, -1
			}
			has |= 1
		case s.Has(p, ` lon="`) && has&2 == 0:
			if x, p = s.fastDecimal(p + len(` lon="`)); p < 0 || x < -180 || x > 180 {
				return 0, 0, -1
			}
			has |= 2
		default:
			return 0, 0, -1
		}
		if s.At(p) != '"' {
			return 0, 0, -1
		}
		p++
	}
	switch {
	case has != 3:
		return 0, 0, -1
	case s.Has(p, "/>"):
		return x, y, p + len("/>")
	case s.At(p) != '>':
		return 0, 0, -1
	}
	p++
	for i := 0; ; i++ {
		p = s.skipBlanks(p)
		if s.Has(p, s.fast.close) {
			return x, y, p + len(s.fast.close)
		}
		t := s.fastTag(p, i)
		if t == nil {
			return 0, 0, -1
		}
		if p = s.fastValue(p+len(t.open), t.column, all); p < 0 || !s.Has(p, t.close) {
			return 0, 0, -1
		}
		p += len(t.close)
	}
}

// fastTag returns the start tag at index p, of the i-th child of a position; nil: it is another one.
func (s *scanner) fastTag(p, i int) *tag {
	f := s.fast
	if s.At(p) != '<' || i >= len(f.guess) {
		return nil
	}
	if t := &f.tags[f.guess[i]]; s.Has(p, t.open) {
		return t
	}
	for k := range f.tags {
		if t := &f.tags[k]; s.Has(p, t.open) {
			f.guess[i] = uint8(k)
			return t
		}
	}
	return nil
}

// fastValue reads the text at index p as the value of a column, and returns the index after it; -1:
// it has another form.
func (s *scanner) fastValue(p int, c column, all bool) int {
	if !all && (c != columnEle || !s.withZ) {
		return s.X.TextEnd(p)
	}
	if s.sink.has[c] == optional && s.sink.leading[c] == nil {
		return -1
	}
	v := &s.row.leading[c]
	end := -1
	switch leading[c].kind {
	case kindText:
		text, after := s.X.TextAt(p)
		if len(text) == 0 {
			return after
		}
		v.text, end = s.keep(text), after
	case kindDecimal:
		v.num.Float, end = s.fastDecimal(p)
	case kindInteger:
		v.num, end = number.Number(s.Q, p)
		if end >= 0 {
			v.text = s.Text(p, end)
			if v.num.Kind > number.Int64 {
				return -1
			}
		}
	case kindTime:
		if end = s.X.TextEnd(p); end < 0 {
			return -1
		}
		var ok bool
		v.text = s.Text(p, end)
		if s.row.time, ok = temporal.Parse(v.text); !ok || !isDateTime(v.text, &s.row.time) {
			return -1
		}
	}
	s.row.present |= 1 << c
	return end
}

// fastDecimal reads the decimal number at index p, and returns the index after it; -1: it is not a number.
func (s *scanner) fastDecimal(p int) (v float64, end int) {
	v, end = number.Float(s.Q, p)
	if end < 0 {
		return 0, -1
	}
	// Of the bytes of a number, only the letter of an exponent has bit 6.
	const letter = 0x40 * ones
	for n := end - p; n > 0; n, p = n-8, p+8 {
		w := s.Word(p)
		if n < 8 {
			w &= 1<<(8*n) - 1
		}
		if w&letter != 0 {
			return 0, -1
		}
	}
	return v, end
}

const ones = 0x0101010101010101

// skipBlanks returns the index of the next byte that is not a blank.
func (s *scanner) skipBlanks(p int) int {
	for isBlank(s.At(p)) {
		p++
	}
	return p
}
