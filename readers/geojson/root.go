package geojson

import (
	"fmt"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

const collectionRule = "RFC 7946 section 3.3"

// root is what was read of the first object of the file so far.
type root struct {
	start    int64  // its offset
	kind     string // of its type member
	typeOff  int64  // of the type member's value; -1: none
	features bool   // the member was there
}

// isRow reports whether an object of a type is a row, and not a collection of rows.
func isRow(kind string) bool { return kind == "Feature" || kindOfName([]byte(kind)) != geoarrow.NoKind }

// rootObject reads the first object of the file. A FeatureCollection may be of any size, so its
// features are read as they come, even before its type is known. A Feature or a geometry is a row,
// and the first value of a sequence if more follow.
func (s *scanner) rootObject(p int) bool {
	r := root{start: s.Base + int64(p), typeOff: -1}
	s.Brackets = 2
	row := false
	p = s.Root(p, func(name string, at int) int {
		end := s.rootMember(&r, name, at)
		if row = end >= 0 && isRow(r.kind); row {
			return -1
		}
		return end
	})
	switch {
	case row:
		return s.rootValue(r.start)
	case p < 0:
		return false
	}
	return s.rootEnd(&r, p)
}

func (s *scanner) rootMember(r *root, name string, p int) int {
	switch name {
	case "type":
		r.typeOff = s.Base + int64(p)
		end := s.Complete(p, func(p int) int {
			end := s.Skip(p, 1)
			if end >= 0 {
				r.kind = string(s.TextAt(p, end))
			}
			return end
		})
		if end >= 0 && isRow(r.kind) && r.features {
			return s.Wrong(int(r.typeOff-s.Base), "", collectionRule, fmt.Sprintf("a %s with features", r.kind))
		}
		return end
	case "features":
		return s.rootFeatures(r, p)
	case "crs":
		return s.Complete(p, func(p int) int { return s.crs(p, 1) })
	case "bbox":
	default:
		s.Sum.Foreign[name]++
	}
	return s.SkipMember(p)
}

// rootFeatures reads the features of a collection, whose type may still be unknown.
func (s *scanner) rootFeatures(r *root, p int) int {
	switch {
	case r.features:
		return s.Wrong(p, "", "", "a second features member: the rows of the first are on their way")
	case s.Limits.MaxDepth < s.Brackets:
		return s.FailDepth(p)
	case s.At(p) != '[':
		return s.FailRule(p, collectionRule, "an array of Features")
	}
	r.features = true
	end := s.Array(p + 1)
	if end < 0 && (s.Failure == nil || s.Faulty) && r.typeOff >= 0 && r.kind != "FeatureCollection" {
		s.Failure = nil
		return s.failType(r.typeOff) // it comes before the fault of a feature
	}
	return end
}

// rootEnd checks the object that ends at p, and that nothing follows it.
func (s *scanner) rootEnd(r *root, p int) bool {
	switch {
	case r.typeOff < 0:
		s.Wrong(p, "", "RFC 7946 section 3", `no GeoJSON: an object without "type"`)
		return false
	case r.kind != "FeatureCollection":
		s.failType(r.typeOff)
		return false
	case !r.features:
		s.Wrong(p, "", collectionRule, `a FeatureCollection without "features"`)
		return false
	}
	return s.OnlyBlanks(p+1, "the FeatureCollection")
}

// failType sets the fault: the type member's value at off is not a type of a root.
func (s *scanner) failType(off int64) int {
	p := s.MoveTo(off)
	if p < 0 {
		s.Failure = s.Window.Err
		return -1
	}
	s.InRow = false
	s.Fault = unknownType(p, "", "the type of a GeoJSON object")
	return -1
}
