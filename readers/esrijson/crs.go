package esrijson

import (
	"bytes"
	"fmt"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// crsOf returns the system of the valid spatial reference at p: by its latestWkid, else its wkid,
// else its text. Vertical systems are ignored.
func (s *scanner) crsOf(p int) (c geoarrow.CRS) {
	if s.At(p) != '{' {
		return c
	}
	at := s.LastMembers(p)
	for _, name := range []string{"latestWkid", "wkid"} {
		if v, ok := at[name]; ok {
			if n, end := number.Number(s.Q, v); end >= 0 && n.Kind == number.Int32 && !n.Negative && n.Int > 0 {
				return geoarrow.CRSOfSRID(int32(n.Int))
			}
		}
	}
	for _, name := range []string{"wkt2", "wkt"} {
		if v, ok := at[name]; ok {
			if text := s.TextAt(v, s.LooseSkip(v)); len(text) > 0 {
				return geoarrow.CRSOfWKT(string(text))
			}
		}
	}
	return c
}

// setCRS reads the spatial reference of a feature set. The geometries before it must agree.
func (s *scanner) setCRS(p int) int {
	end := s.Skip(p, 1)
	if end < 0 {
		return -1
	}
	c := s.crsOf(p)
	if s.Counted && s.header.hasCRS && c != s.header.crs {
		return s.secondCRS(p, c)
	}
	if s.At(p) == '{' {
		s.set.crs, s.set.hasCRS = c, true
	}
	s.Sum.CRS = c
	return end
}

// geometryCRS reads the spatial reference of a geometry, which must be that of the set, or of the
// first geometry.
func (s *scanner) geometryCRS(p, open int) int {
	end := s.Skip(p, open)
	if end < 0 || s.Inside || s.At(p) != '{' {
		return end
	}
	text := s.Text(p, end)
	if bytes.Equal(text, s.crsText) {
		return end
	}
	c := s.crsOf(p)
	if c != s.header.crs {
		s.secondCRS(p, c)
		s.Fault.Field = "geometry"
		return -1
	}
	s.crsText = append(s.crsText[:0], text...)
	return end
}

func (s *scanner) secondCRS(p int, c geoarrow.CRS) int {
	s.Wrong(p, "spatialReference", "", fmt.Sprintf("a second CRS, %q next to %q", c, s.header.crs))
	s.Fault.File = true
	return -1
}
