package kml

import "maps"

// vocabulary is the names of the elements that are read in some element, by their letters in lower
// case.
type vocabulary map[string]string

func words(names ...string) vocabulary {
	v := vocabulary{}
	for _, name := range names {
		var b [maxName]byte
		v[string(lower(&b, []byte(name)))] = name
	}
	return v
}

// maxName is how long a name that counts may be.
const maxName = 24

// lower returns a name with ASCII letters in lower case; nil: it is longer than any that counts.
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
	schemaNames    = words("SimpleField")
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
	schemaDataNames = words("SimpleData")
	iconNames       = words("href")
	boxNames        = words(sides[:]...)

	simpleNames  = words("coordinates", "altitudeMode", "extrude", "tessellate", "drawOrder")
	polygonNames = words("outerBoundaryIs", "innerBoundaryIs", "altitudeMode", "extrude", "tessellate",
		"LinearRing", "coordinates")
	boundaryNames   = words("LinearRing", "coordinates")
	ringNames       = words("coordinates")
	multiNames      = words(geometryNames...)
	trackNames      = words("when", "coord", "altitudeMode", "extrude", "tessellate", "drawOrder")
	multiTrackNames = words("Track", "altitudeMode", "extrude", "tessellate", "drawOrder")
)

// allNames are the names that count somewhere.
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

// strays are names that say a geometry, or a part of one, by their letters in lower case: the
// element as KML spells it, or "" where KML has none.
var strays = func() vocabulary {
	v := words(append(geometryNames[:len(geometryNames):len(geometryNames)], "coordinates", "outerBoundaryIs",
		"innerBoundaryIs")...)
	delete(v, "model")
	for _, name := range []string{"multisurface", "multicurve", "surface", "curve", "polyline", "multipolyline"} {
		v[name] = ""
	}
	return v
}()

// strayRule returns the rule of an element that is not read although its name says a geometry; ""
// for any other.
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

// local returns the local name of the tag that was read. Where defects are repaired, one of the
// vocabulary in other letters is the one that it means.
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

// spelled returns the name of the vocabulary that has the letters of name, some of them in another
// case; "" if none has, and for that name itself.
func (v vocabulary) spelled(name []byte) string {
	var b [maxName]byte
	if right := v[string(lower(&b, name))]; right != string(name) {
		return right
	}
	return ""
}
