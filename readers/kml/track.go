package kml

import (
	"bytes"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/internal/number"
)

const trackRule = "KML 2.3, gx:Track"

// track reads a gx:Track: a line of the positions of its coord elements. The times of its when
// elements are kept as a list. The first and the last of them are begin and end, unless there is a
// TimeSpan. Extended data in it are extended data of the feature.
func (s *scanner) track() bool {
	before, whens := len(s.sink.Geom.X), len(s.row.whens)
	ok := s.children(trackNames, func(name []byte) bool {
		switch string(name) {
		case "when":
			b, _, ok := s.X.Value()
			if ok {
				s.row.whens = append(s.row.whens, s.keep(bytes.TrimSpace(b)).text)
			}
			return ok
		case "coord":
			return s.coord()
		case "ExtendedData":
			return s.children(extendedNames, s.extended)
		case "altitudeMode", "extrude", "tessellate", "drawOrder":
			return s.attribute(name)
		}
		return s.foreign()
	})
	s.countLine(before)
	if r := &s.row; ok && !r.spanned && len(r.whens) > whens {
		if whens == 0 {
			s.setTime(columnBegin, value{kind: text, text: r.whens[0]})
		}
		s.setTime(columnEnd, value{kind: text, text: r.whens[len(r.whens)-1]})
	}
	return ok
}

// coord reads one position: two or three numbers separated by blanks. An empty one is a position of
// NaN: the place at that time is unknown.
func (s *scanner) coord() bool {
	start := s.X.P
	b, _, ok := s.X.Value()
	if !ok {
		return false
	}
	offset := func(p int) int {
		if !s.X.InWindow(b) { // decoded: only its beginning has an offset in the file
			return start
		}
		return start + p
	}
	s.text = append(append(s.text[:0], b...), make([]byte, number.Padding)...)
	if s.repairs && bytes.Count(b, []byte(",")) == 2 && bytes.IndexByte(bytes.TrimSpace(b), ' ') < 0 {
		s.deviate(start, fieldGeometry, ruleTrack, "read as a position")
		for i, c := range s.text {
			if c == ',' {
				s.text[i] = ' '
			}
		}
	}
	q, g := unsafe.Pointer(unsafe.SliceData(s.text)), &s.sink.Geom
	p := space(q, 0)
	if p == len(b) {
		g.X, g.Y = append(g.X, canonicalNaN), append(g.Y, canonicalNaN)
		return true
	}
	for i := 0; i < 3 && p < len(b); i++ {
		v, end := s.ordinate(q, p)
		if end < 0 {
			return s.Expect(offset(p), fieldGeometry, trackRule, "a number within the range of float64")
		}
		next := space(q, end)
		switch {
		case next == end && end < len(b):
			return s.Expect(offset(end), fieldGeometry, trackRule, "a blank after a number")
		case i == 0 && next == len(b):
			return s.Expect(offset(next), fieldGeometry, trackRule, "a second number of a position")
		case i == 0:
			g.X = append(g.X, v)
		case i == 1:
			g.Y = append(g.Y, v)
		default:
			g.AddZ(v)
		}
		p = next
	}
	if p < len(b) {
		return s.Expect(offset(p), fieldGeometry, trackRule, "the end of a position, which has two or three numbers")
	}
	return true
}

// multiTrack reads a gx:MultiTrack: the line of each of its tracks.
func (s *scanner) multiTrack() bool {
	return s.children(multiTrackNames, func(name []byte) bool {
		if string(name) != "Track" {
			return s.attribute(name)
		}
		ok := s.track()
		s.sink.Geom.EndRing()
		return ok
	})
}
