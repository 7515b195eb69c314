package esrijson

import "github.com/vibeflight/vibeflight/readers/geoarrow"

// document reads a whole file: a feature set, or features and geometries one after the other.
func (s *scanner) document() bool {
	p := s.Begin(formatTitle, utf8Rule)
	if p < 0 {
		return false
	}
	if s.At(p) != '{' {
		s.Fail(p, "an Esri JSON object")
		return false
	}
	start := s.Base + int64(p)
	s.Brackets = 2
	features, row := false, false
	p = s.Root(p, func(name string, at int) int {
		switch {
		case name == "features":
			if features {
				return s.Wrong(at, "", "", "a second features member: the rows of the first are on their way")
			}
			features = true
			return s.features(at)
		case !features && isRowMember(name):
			row = true
			return -1
		case name == "exceededTransferLimit" && s.At(at) == 't':
			s.Sum.Foreign[name]++ // the server has more features
		case !isSetMember(name):
			s.Sum.Foreign[name]++
		}
		return s.setMember(name, at)
	})
	switch {
	case row:
		return s.rootRow(start)
	case p < 0:
		return false
	case !features:
		s.Wrong(p, "", setRule, `no Esri JSON: an object without "features", "attributes" or a geometry`)
		return false
	case s.set.thirdM != s.header.thirdM:
		s.Wrong(p, "", setRule, "hasM or hasZ after the features")
		return false
	}
	return s.OnlyBlanks(p+1, "the feature set")
}

// features reads the features of a set.
func (s *scanner) features(p int) int {
	switch {
	case s.Limits.MaxDepth < s.Brackets:
		return s.FailDepth(p)
	case s.At(p) != '[':
		return s.FailRule(p, setRule, "an array of features")
	}
	return s.Array(p + 1)
}

// rootRow starts again with the feature or geometry at off, which is the whole file or the first of
// several.
func (s *scanner) rootRow(off int64) bool {
	p := s.MoveTo(off)
	if p < 0 {
		s.Failure = s.Window.Err
		return false
	}
	clear(s.Sum.Foreign)
	s.Brackets, s.InSequence = 0, true
	s.Sum.CRS = s.header.crs
	return s.Sequence(p, false)
}

// isSetMember reports whether a feature set may have a member that no column holds.
func isSetMember(name string) bool {
	switch name {
	case "fields", "fieldAliases", "spatialReference", "hasZ", "hasM", "transform", "geometryType", "displayFieldName",
		"objectIdFieldName", "globalIdFieldName", "uniqueIdField", "exceededTransferLimit", "geometryProperties":
		return true
	}
	return false
}

// isRowMember reports whether an object with a member is a feature or a geometry.
func isRowMember(name string) bool {
	return name == "attributes" || name == "geometry" || shapeOf([]byte(name)) != noShape
}

// endGeometry ends the geometry of a row; NoKind is null.
func (s *scanner) endGeometry(k geoarrow.Kind) {
	if k == geoarrow.NoKind {
		s.Geom.Null()
	} else {
		s.Geom.End(k)
	}
}
