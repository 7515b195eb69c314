package esrijson

import (
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// header is what a feature set says about all of its features.
type header struct {
	fields []field
	found  bool // "fields" was there
	after  bool // it comes after the features
	thirdM bool // a third ordinate is m, unless the geometry says otherwise
	crs    geoarrow.CRS
	hasCRS bool
}

// maxSearched is how many bytes of features are searched for a spatial reference.
const maxSearched = 1 << 20

// open reads the members of a feature set that concern its features. Those after the features are
// only read if the fields are not before them.
//
// A malformed file is no error here: the parse finds it, and the row that it is in.
func open(ctx context.Context, src *source.File, opts readers.Options) (readers.Layout, error) {
	s := parser{layout: readers.Layout{Options: opts}}.scanner(readers.Request{})
	h := &s.set
	l := readers.Layout{Options: opts, Dialect: h}
	if !s.Start(ctx, src, 0, src.Size, 0, 0) {
		return l, s.Failure
	}
	p := s.Begin(formatTitle, utf8Rule)
	if p < 0 || s.At(p) != '{' {
		return l, s.Failure
	}
	s.Brackets = 2
	s.Root(p, func(name string, at int) int {
		switch name {
		case "features":
		case "geometry":
			return s.Complete(at, s.passGeometry)
		default:
			return s.setMember(name, at)
		}
		if h.found && h.hasCRS {
			return -1
		}
		return s.passFeatures(at)
	})
	if s.Failure != nil {
		return l, s.Failure
	}
	return l, nil
}

// passFeatures skips the array of features at p. It notes the spatial reference of the first
// geometry if the set has none. With the fields known, it ends there.
func (s *scanner) passFeatures(p int) int {
	if s.At(p) != '[' {
		return -1
	}
	first := s.Base + int64(p)
	p = s.Blank(p + 1)
	for p >= 0 && s.At(p) != ']' {
		searching := !s.set.hasCRS && s.Base+int64(p)-first < maxSearched
		if s.set.found && !searching {
			return -1
		}
		p = s.Complete(p, func(p int) int {
			end := s.LooseSkip(p)
			if searching && end >= 0 && s.Loosened < 0 && s.At(p) == '{' {
				s.findCRS(p)
			}
			return end
		})
		if p < 0 {
			return -1
		}
		if p = s.Blank(p); p >= 0 && s.At(p) == ',' {
			p = s.Blank(p + 1)
		}
		if p >= s.N {
			return -1
		}
	}
	s.set.after = true
	return p + 1
}

// findCRS notes the spatial reference of the geometry of the valid feature at p.
func (s *scanner) findCRS(p int) {
	geometry, ok := s.LastMembers(p)["geometry"]
	if !ok || s.At(geometry) != '{' {
		return
	}
	s.geometryHasCRS(geometry)
}

// passGeometry skips the geometry of a feature, and notes its spatial reference.
func (s *scanner) passGeometry(p int) int {
	end := s.LooseSkip(p)
	if end >= 0 && s.Loosened < 0 && s.At(p) == '{' {
		s.geometryHasCRS(p)
	}
	return end
}

// geometryHasCRS notes the spatial reference of the valid geometry at p, if it has one.
func (s *scanner) geometryHasCRS(p int) {
	if at, ok := s.LastMembers(p)["spatialReference"]; ok && s.At(at) == '{' {
		s.set.crs, s.set.hasCRS = s.crsOf(at), true
	}
}

// setMember reads a member of a feature set other than its features.
func (s *scanner) setMember(name string, p int) int {
	h := &s.set
	switch name {
	case "fields":
		if h.found {
			return s.Wrong(p, "", setRule, "a second fields member")
		}
		return s.ReadRoot(p, s.readFields)
	case "fieldAliases":
		return s.ReadRoot(p, s.readAliases)
	case "spatialReference":
		return s.ReadRoot(p, s.setCRS)
	case "hasZ", "hasM":
		return s.ReadRoot(p, func(p int) int {
			v, end := s.flag(p)
			if name == "hasZ" {
				s.hasZ = v
			} else {
				s.hasM = v
			}
			h.thirdM = s.hasM && !s.hasZ
			return end
		})
	case "transform":
		if s.At(p) != 'n' {
			return s.Wrong(p, "", setRule, "quantized coordinates, which are not read")
		}
	}
	return s.SkipMember(p)
}

// flag reads a boolean, or null, which is false.
func (s *scanner) flag(p int) (v bool, end int) {
	switch s.At(p) {
	case 't', 'f':
		b, end := s.Boolean(p)
		return b == 1, end
	case 'n':
		return false, s.Literal(p, "null")
	}
	return false, s.Fail(p, "true or false")
}
