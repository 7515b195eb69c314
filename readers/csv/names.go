package csv

import (
	"slices"
	"strings"
	"unicode"
)

// Names of columns that may be the geometry, in any case. Earlier ones are preferred.
var (
	cellNames = [...]string{
		"wkt", "geom", "geometry", "the_geom", "wkb", "wkb_geometry", "geojson", "geo_shape", "geo shape",
	}
	xNames = [...]string{"lon", "lng", "long", "longitude"}
	yNames = [...]string{"lat", "latitude"}
)

// axisWords are words of a name that tell which ordinate the column holds. A name with an x word is
// paired with the name that has the y word of the same index in its place.
var axisWords = [...]struct {
	x, y   string
	metres bool // may be metres: any number will do
	widths bool // also length and width: values must look like degrees
}{
	{x: "longitude", y: "latitude"},
	{x: "lon", y: "lat"},
	{x: "lng", y: "lat"},
	{x: "long", y: "lat"},
	{x: "longitude", y: "lat"},
	{x: "lon", y: "latitude"},
	{x: "lng", y: "latitude"},
	{x: "long", y: "latitude"},
	{x: "longitud", y: "latitud"},       // Spanish
	{x: "longitudine", y: "latitudine"}, // Italian
	{x: "längengrad", y: "breitengrad"}, // German
	{x: "laengengrad", y: "breitengrad"},
	{x: "länge", y: "breite", widths: true},
	{x: "laenge", y: "breite", widths: true},
	{x: "lengtegraad", y: "breedtegraad"}, // Dutch
	{x: "intptlon", y: "intptlat"},        // US Census
	{x: "intptlong", y: "intptlat"},
	{x: "centlon", y: "centlat"},
	{x: "easting", y: "northing", metres: true},
	{x: "eastings", y: "northings", metres: true},
	{x: "rechtswert", y: "hochwert", metres: true},
	{x: "ostwert", y: "nordwert", metres: true},
}

// xyNames are names of columns of x; names of y have a y for each x.
var xyNames = [...]string{
	"x coord", "coord x", "x coordinate", "coordinate x", "xcoord", "xcoordinate", "coordx", "point x",
	"x wgs 84", "wgs 84 x",
	"coordonnee x", "coordonnée x", "coordenada x", "koordinate x", "x koordinate", "geo x", "gps x",
}

// neutralWords are words of an ordinate's name that are ignored, such as its unit or datum.
var neutralWords = []string{
	"deg", "degree", "degrees", "grad", "d", "dd", "dec", "decimal", "wgs", "84", "wgs84", "epsg", "4326",
	"4258", "etrs", "89", "gps", "coord", "coordinate", "x", "y",
}

// otherWords change the meaning of a name with the word of an axis: a corner, a part, an error.
var otherWords = []string{
	"min", "max", "minute", "minutes", "minuten", "sec", "second", "seconds", "sekunden", "error", "err",
	"accuracy", "acc", "std", "sd", "rmse", "uncertainty",
	"precision", "delta", "diff", "dir", "direction", "hemisphere", "count", "index", "id", "code", "zone",
	"rad", "radian", "radians", "dms", "verbatim",
}

// cellWords are words of a name that make a column a candidate for a geometry in one cell; its
// values decide. Earlier ones are preferred.
var cellWords = [...]string{
	"geometry", "geom", "wkt", "location", "georeference", "geocoded", "geography", "geog", "shape",
	"coordinates", "point", "points", "polygon", "multipolygon", "linestring",
	"geometrie", "geometria", "wkb", "geopoint", "latlon", "latlng", "latlong",
}

// latLonWords are the cellWords whose cells may hold a latitude and a longitude.
var latLonWords = []string{"location", "georeference", "geocoded", "geopoint", "latlon", "latlng", "latlong"}

// words returns the words of a column's name in lower case, without what is in brackets:
//
//	"Latitude (deg)"     latitude
//	"decimalLatitude"    decimal latitude
//	"INTPTLAT20"         intptlat 20
func words(name []byte) []string {
	var list []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			list = append(list, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	depth, before := 0, ' '
	for _, r := range string(name) {
		switch {
		case r == '(' || r == '[':
			depth++
			end()
		case r == ')' || r == ']':
			depth = max(0, depth-1)
		case depth > 0:
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		default:
			if unicode.IsUpper(r) && unicode.IsLower(before) || unicode.IsDigit(r) != unicode.IsDigit(before) {
				end()
			}
			word.WriteRune(r)
		}
		before = r
	}
	end()
	return list
}

// axisName is a column's name with the word of an axis.
type axisName struct {
	column int
	word   string
	rest   string // the other words without neutral ones, with a * for that word
	exact  bool   // the name says decimal degrees
	whole  bool   // the name says degrees, which may be combined with minutes
}

// axisNameOf finds the word of an axis in a name. A name with several has none.
func axisNameOf(column int, list []string, isAxis func(string) bool) (axisName, bool) {
	a := axisName{column: column}
	var rest []string
	for _, w := range list {
		switch {
		case isAxis(w) && a.word != "":
			return a, false
		case isAxis(w):
			a.word = w
			rest = append(rest, "*")
		case slices.Contains(otherWords, w):
			return a, false
		case slices.Contains(neutralWords, w):
			a.exact = a.exact || w == "dec" || w == "decimal" || w == "dd"
			a.whole = a.whole || strings.HasPrefix(w, "deg") || w == "grad" || w == "d"
		default:
			rest = append(rest, w)
		}
	}
	a.rest = strings.Join(rest, " ")
	return a, a.word != ""
}

// moreCandidates returns further candidates: cells by the words of their names, then pairs. Pairs
// of decimal degrees come first, then names of only the word of an axis, each in the order of
// axisWords and of the columns.
func (d *dialect) moreCandidates(form geometryForm) (list []candidate) {
	all := make([][]string, len(d.names))
	for i, name := range d.names {
		if len(name) <= maxNameBytes {
			all[i] = words(name)
		}
	}
	list = append(list, cellCandidates(all, form)...)
	parts, bodies := hasWord(all, "min", "minute", "minutes", "minuten"), hasWord(all, "höhe", "hoehe",
		"tiefe", "dicke")
	xs, ys := map[string][]axisName{}, map[string][]axisName{}
	for i, w := range all {
		if a, ok := axisNameOf(i, w, isXWord); ok {
			xs[a.word] = append(xs[a.word], a)
		}
		if a, ok := axisNameOf(i, w, isYWord); ok {
			ys[a.word] = append(ys[a.word], a)
		}
	}
	var ranks [3][]candidate
	for _, pair := range axisWords {
		if pair.widths && bodies {
			continue
		}
		byRest := map[string]axisName{}
		for _, y := range ys[pair.y] {
			if _, ok := byRest[y.rest]; !ok || y.exact && !byRest[y.rest].exact {
				byRest[y.rest] = y
			}
		}
		for _, x := range xs[pair.x] {
			y, ok := byRest[x.rest]
			if !ok || x.exact != y.exact || parts && x.whole && !x.exact {
				continue
			}
			rank := 2
			switch {
			case x.exact:
				rank = 0
			case x.rest == "*":
				rank = 1
			}
			ranks[rank] = append(ranks[rank], candidate{
				cell: -1, x: x.column, y: y.column, degrees: !pair.metres,
				widths: pair.widths, fresh: true,
			})
		}
	}
	return append(slices.Concat(list, ranks[0], ranks[1], ranks[2]), xyCandidates(all)...)
}

// maxNameBytes is the maximum length of a name that is examined.
const maxNameBytes = 64

func isXWord(w string) bool {
	for _, p := range axisWords {
		if w == p.x {
			return true
		}
	}
	return false
}

func isYWord(w string) bool {
	for _, p := range axisWords {
		if w == p.y {
			return true
		}
	}
	return false
}

// hasWord reports whether any name has one of the words.
func hasWord(names [][]string, want ...string) bool {
	return slices.ContainsFunc(names, func(list []string) bool {
		return slices.ContainsFunc(list, func(w string) bool { return slices.Contains(want, w) })
	})
}

// cellCandidates returns columns that have one of cellWords in their names.
func cellCandidates(names [][]string, form geometryForm) (list []candidate) {
	for _, want := range cellWords {
		for i, words := range names {
			if slices.Contains(words, want) || want == "geopoint" && strings.HasPrefix(strings.Join(words, ""), want) {
				list = append(list, candidate{
					cell: i, form: form, fresh: true,
					latLon: slices.Contains(latLonWords, want),
				})
			}
		}
	}
	for i, words := range names { // "lat_lon", "Latitude/Longitude", "geo_point_2d"
		if len(words) == 2 && isYWord(words[0]) && isXWord(words[1]) {
			list = append(list, candidate{cell: i, form: form, fresh: true, latLon: true})
		}
	}
	return list
}

// xyCandidates returns pairs of xyNames.
func xyCandidates(names [][]string) (list []candidate) {
	at := map[string]int{}
	for i := len(names) - 1; i >= 0; i-- {
		at[strings.Join(names[i], " ")] = i
	}
	for _, name := range xyNames {
		x, okX := at[name]
		y, okY := at[strings.ReplaceAll(name, "x", "y")]
		if okX && okY {
			list = append(list, candidate{cell: -1, x: x, y: y, fresh: true})
		}
	}
	return list
}
