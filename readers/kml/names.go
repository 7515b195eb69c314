package kml

import "maps"

// vocabulary is the names of the elements that are read inside of some element, by their lower-case
// form.
type vocabulary map[string]string

func words(names ...string) vocabulary {
	v := vocabulary{}
	for _, name := range names {
		var b [maxName]byte
		v[string(lower(&b, []byte(name)))] = name
	}
	return v
}

// maxName is the length of the longest known name.
const maxName = 24

// lower returns a name with ASCII letters in lower case; nil: it is longer than any known name.
func lower(b *[maxName]byte, name []byte) []byte {
	if len(name) > maxName {
		return nil
	}
	for i, c := range name {
		if c-'A' < 26 {
			c |= 0x20
		}
		b[i] = c
	}
	return b[:len(name)]
}

var (
	rootNames      = words("kml")
	containerNames = words("Document", "Folder", "name", "Schema", "Placemark", "GroundOverlay", "NetworkLink")
	schemaNames    = words("SimpleField", "SimpleArrayField")
	linkNames      = words("Link", "Url", "href")

	geometryNames = []string{
		"Point", "LineString", "LinearRing", "Polygon", "MultiGeometry", "Track", "MultiTrack", "Model",
		"MultiPoint", "MultiLineString", "MultiPolygon",
		"GeometryCollection",
	}
	featureNames   = []string{"name", "description", "visibility", "TimeStamp", "TimeSpan", "ExtendedData"}
	placemarkNames = words(append(featureNames[:len(featureNames):len(featureNames)], geometryNames...)...)
	overlayNames   = words(append(featureNames[:len(featureNames):len(featureNames)], "drawOrder",
		"altitudeMode", "Icon", "LatLonBox", "LatLonQuad")...)

	timeStampNames  = words("when")
	timeSpanNames   = words("begin", "end")
	extendedNames   = words("Data", "SchemaData")
	dataNames       = words("value")
	schemaDataNames = words("SimpleData", "SimpleArrayData")
	arrayNames      = words("value")
	iconNames       = words("href")
	boxNames        = words(sides[:]...)

	simpleNames  = words("coordinates", "altitudeMode", "extrude", "tessellate", "drawOrder")
	polygonNames = words("outerBoundaryIs", "innerBoundaryIs", "altitudeMode", "extrude", "tessellate",
		"LinearRing", "coordinates")
	boundaryNames   = words("LinearRing", "coordinates")
	ringNames       = words("coordinates")
	multiNames      = words(geometryNames...)
	trackNames      = words("when", "coord", "ExtendedData", "altitudeMode", "extrude", "tessellate", "drawOrder")
	multiTrackNames = words("Track", "altitudeMode", "extrude", "tessellate", "drawOrder")
)

// allNames are all known names.
var allNames = func() vocabulary {
	all := vocabulary{}
	for _, v := range []vocabulary{
		containerNames, placemarkNames, overlayNames, timeStampNames, timeSpanNames, extendedNames,
		dataNames, schemaDataNames, iconNames, boxNames, simpleNames,
		polygonNames, trackNames,
	} {
		maps.Copy(all, v)
	}
	return all
}()

// strays maps lower-case names of geometries, or of their parts, to KML's spelling, or "" if KML
// has no such element.
var strays = func() vocabulary {
	v := words(append(geometryNames[:len(geometryNames):len(geometryNames)], "coordinates", "outerBoundaryIs",
		"innerBoundaryIs")...)
	delete(v, "model")
	for _, name := range []string{"multisurface", "multicurve", "surface", "curve", "polyline", "multipolyline"} {
		v[name] = ""
	}
	return v
}()

// strayRule returns the rule for an element with the name of a geometry that is not read; "" for
// others.
func strayRule(name []byte) string {
	var b [maxName]byte
	switch right, known := strays[string(lower(&b, name))]; {
	case !known:
		return ""
	case right == "":
		return ruleUnknown
	case right == string(name):
		return ruleMisplaced
	}
	return ruleCase
}

// local returns the local name of the tag that was read. If defects are repaired, a name of the
// vocabulary in other case is corrected.
func (s *scanner) local(names vocabulary) []byte {
	name := s.X.Local()
	if s.repairs {
		if right := names.spelled(name); right != "" {
			s.deviate(s.X.At, "", ruleCase, "read as "+right)
			return []byte(right)
		}
	}
	return name
}

// spelled returns the name of the vocabulary that equals name except for case; "" if there is none,
// and for that name itself.
func (v vocabulary) spelled(name []byte) string {
	var b [maxName]byte
	if right := v[string(lower(&b, name))]; right != string(name) {
		return right
	}
	return ""
}
