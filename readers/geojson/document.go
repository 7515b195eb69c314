package geojson

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/window"
)

const recordSeparator = 0x1E // RFC 8142 section 2

// document reads a whole file.
func (s *scanner) document() bool {
	p := 0
	const mark = 3 // bytes of a byte order mark, which a window must not cut
	for s.N < mark && !s.EOF {
		if s.refill(0) < 0 {
			return false
		}
	}
	if s.Has(p, "\xEF\xBB\xBF") {
		p = 3
	}
	if s.utf16() {
		s.wrong(0, "", "RFC 7946 section 11", "the file is UTF-16; GeoJSON is UTF-8")
		return false
	}
	if p = s.blank(p); p < 0 {
		return false
	}
	if s.At(p) == recordSeparator {
		s.inSequence = true
		if p = s.blank(p); p < 0 {
			return false
		}
	}
	switch c := s.At(p); {
	case s.inSequence && p < s.N:
		return s.sequenceFrom(p, true)
	case c == '[':
		s.brackets = 1
		if q := s.blank(p + 1); q >= 0 && s.At(q) == ']' {
			s.wrong(q, "", "", "an array without a Feature")
			return false
		} else if p = q; p < 0 {
			return false
		}
		return s.onlyBlanks(s.array(p), "the array")
	case c == '{':
		return s.rootObject(p)
	}
	s.fail(p, "a GeoJSON object")
	return false
}

// utf16 reports whether the file begins with a byte order mark of UTF-16, or with a first character
// in UTF-16.
func (s *scanner) utf16() bool {
	if s.N < 2 {
		return false
	}
	a, b := s.At(0), s.At(1)
	return a == 0xFF && b == 0xFE || a == 0xFE && b == 0xFF || a == 0 && b != 0 || a != 0 && b == 0
}

// onlyBlanks reads the rest of the file after p.
func (s *scanner) onlyBlanks(p int, after string) bool {
	if p < 0 {
		return false
	}
	if p = s.blank(p); p < 0 {
		return false
	}
	if p < s.N {
		s.wrong(p, "", "RFC 8259 section 2", "bytes after "+after)
		return false
	}
	return true
}

// Where an array of features is being read.
const (
	arrayStart   = iota // before the first feature, or the end
	arrayFeature        // before a feature
	arrayComma          // before a comma, or the end
)

// array reads features from p, after the opening bracket, through the closing one.
func (s *scanner) array(p int) int {
	if p = s.features(p, arrayStart); s.stopped {
		return s.rest()
	}
	return p
}

// features reads features from p through the closing bracket of their array, or up to a feature at
// which to stop.
func (s *scanner) features(p, state int) int {
	for {
		if p = s.blank(p); p < 0 {
			return -1
		}
		closed := s.At(p) == ']' && (state != arrayFeature || s.repairs)
		switch {
		case state == arrayComma && s.At(p) == ',':
			state = arrayFeature
			p++
			continue
		case closed, state != arrayStart && s.spanEnds(p), state != arrayComma && s.chunkEnds(p):
			next, again := s.end(p)
			switch {
			case again:
				p, state = next, arrayFeature
				continue
			case next < 0:
				return -1
			case closed:
				if state == arrayFeature {
					s.sum.Deviations.Add(readers.Deviation{
						Offset: s.Base + int64(p), Row: s.feature,
						Rule: ruleComma, Done: "left out",
					})
				}
				return p + 1
			case s.stops(p) || s.spanEnds(p):
				return p
			}
		case state == arrayComma:
			if again, first := s.again(); again && s.err == nil { // an earlier row may still turn out to be malformed
				p, state = first, arrayFeature
				continue
			}
			return s.fail(p, `"," or "]" after a Feature`)
		}
		s.begin(p)
		next := s.row(p)
		if next >= 0 {
			p, state = next, arrayComma
			continue
		}
		again, first := s.again()
		if !again || s.err != nil {
			return -1
		}
		p, state = first, arrayFeature
	}
}

// spanEnds reports whether a span that is read again ends here.
func (s *scanner) spanEnds(p int) bool { return s.inside && p >= s.N && s.EOF }

// rootValue starts again with the Feature or geometry at off, which is the whole file or the first
// value of a sequence.
func (s *scanner) rootValue(off int64) bool {
	p := s.MoveTo(off)
	if p < 0 {
		s.err = s.Window.Err
		return false
	}
	clear(s.sum.Foreign)
	s.brackets, s.inSequence = 0, true
	s.sum.CRS = geoarrow.CRS84
	return s.sequenceFrom(p, s.sequence)
}

// sequenceFrom reads Features and geometries from p to the end of the file.
func (s *scanner) sequenceFrom(p int, sequence bool) bool {
	ok := s.values(p, sequence)
	if s.stopped {
		return s.rest() >= 0
	}
	return ok
}

// values reads Features and geometries from p to the end of the file, or up to one at which to
// stop. Unless sequence is set, the second one must be on a new line or after a record separator.
func (s *scanner) values(p int, sequence bool) bool {
	for {
		before := s.Base + int64(p)
		if p = s.blank(p); p < 0 {
			return false
		}
		last := p >= s.N
		if !last && !sequence && s.feature > 0 {
			if sequence = s.separated(before, s.Base+int64(p)); !sequence {
				if again, first := s.again(); again && s.err == nil {
					p = first
					continue
				}
				s.wrong(p, "", "RFC 8259 section 2", "a second root value on the line of the first")
				return false
			}
		}
		if last || s.chunkEnds(p) {
			next, again := s.end(p)
			switch {
			case again:
				p = next
				continue
			case next < 0:
				return false
			case last || s.stops(p):
				return true
			}
		}
		s.begin(p)
		next := s.row(p)
		if next >= 0 {
			p = next
			continue
		}
		again, first := s.again()
		if !again || s.err != nil {
			return false
		}
		p = first
	}
}

// separated reports whether the blanks of the file from offset a to b have a line feed, a carriage
// return or a record separator.
func (s *scanner) separated(a, b int64) bool {
	buf := make([]byte, min(b-a, window.Bytes))
	for ; a < b; a += int64(len(buf)) {
		buf = buf[:min(b-a, int64(len(buf)))]
		if n, err := s.Src.ReadAt(buf, a); n < len(buf) {
			s.err = err
			return false
		}
		if slices.ContainsFunc(buf, func(c byte) bool { return c == '\n' || c == '\r' || c == recordSeparator }) {
			return true
		}
	}
	return false
}

// sequenceRow reads the Feature or geometry at p.
func (s *scanner) sequenceRow(p int) int {
	if g := s.known(&s.gaps[gapStart], p, p); g != nil && g.hasType && !s.passes {
		return s.readFeature(p)
	}
	if s.At(p) != '{' {
		return s.failRule(p, "RFC 8142 section 2", "a Feature or a geometry")
	}
	kind, at, end := s.typeOf(p)
	switch {
	case end < 0:
		// The defect may not be one of JSON itself: the reader of the value reports it with its
		// position.
		first := s.fault
		if s.cut() || kind != "Feature" && kindOfName([]byte(kind)) == geoarrow.NoKind {
			return -1
		}
		if s.readValue(kind, p) < 0 && s.fault.pos > first.pos {
			s.fault = first
		}
		return -1
	case at < 0:
		return s.wrong(end-1, "", "RFC 7946 section 3", `no GeoJSON: an object without "type"`)
	case kind == "Feature", kindOfName([]byte(kind)) != geoarrow.NoKind:
		return s.readValue(kind, p)
	}
	s.fault = unknownType(at, "", "a Feature or a geometry")
	return -1
}

func (s *scanner) readValue(kind string, p int) int {
	if kind == "Feature" {
		return s.readFeature(p)
	}
	k, end := s.geometry(p, 0)
	if end >= 0 {
		s.endGeometry(k)
	}
	return end
}

// typeOf finds the type member of the object at p. It returns its text, its place, and the end of
// the object.
func (s *scanner) typeOf(p int) (kind string, at, end int) {
	at = -1
	p = s.space(p + 1)
	for first := true; s.At(p) != '}'; first = false {
		if !first {
			if s.At(p) != ',' {
				return kind, at, s.fail(p, `"," or "}"`)
			}
			p = s.space(p + 1)
		}
		name, value := s.key(p)
		if value < 0 {
			return kind, at, -1
		}
		isType := string(name) == "type"
		if p = s.skip(value, anyDepth); p < 0 { // the reader of the value counts brackets
			return kind, at, -1
		}
		if isType {
			kind, at = string(s.textAt(value, p)), value
		}
		p = s.space(p)
	}
	return kind, at, p + 1
}

// crs reads the crs member of the 2008 specification. The last one counts, except that all of a
// sequence must agree.
func (s *scanner) crs(p, open int) int {
	end := s.skip(p, open)
	if end < 0 {
		return -1
	}
	var member struct {
		Type       string
		Properties struct {
			Name string
			Code any
		}
	}
	var crs geoarrow.CRS
	if err := json.Unmarshal(s.Text(p, end), &member); err == nil {
		name := member.Properties.Name
		if member.Properties.Code != nil {
			name = fmt.Sprintf("%s:%v", member.Type, member.Properties.Code)
		}
		var known bool
		if crs, known = geoarrow.ParseCRS(name); !known {
			crs = geoarrow.CRS{Text: name}
		}
	}
	if s.inside { // the first parse saw it
		return end
	}
	if s.inSequence && (s.onlyCRS || s.counted) && crs != s.sum.CRS {
		s.wrong(p, "crs", "", fmt.Sprintf("a second CRS, %q next to %q", crs, s.sum.CRS))
		s.fault.file = true
		return -1
	}
	s.sum.CRS = crs
	return end
}
