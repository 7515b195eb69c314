package crs

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
)

// Identify finds the system of the registry that a WKT or PROJJSON defines, like PROJ: by the code
// in the text, if name or parameters agree with it, else by its name and parameters. A name alone
// is not enough, since two systems may share it.
func Identify(text string) (ID, bool) {
	if d, ok := defined(text); ok {
		return d.identify()
	}
	if nodes, err := parseWKT(text); err == nil { // what lacks its parameters may have a code
		return nodes[0].id()
	}
	return ID{}, false
}

// defined reads a definition; ok is false for a text that is not one.
func defined(text string) (d *definition, ok bool) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") {
		return defineJSON([]byte(text))
	}
	return define(text)
}

func (d *definition) identify() (ID, bool) {
	if s, ok := Lookup(d.id.Authority, d.id.Code); ok && d.agrees(&s) {
		return d.id, true
	}
	if id, ok := best(d, byName(d.name)); ok {
		return id, true
	}
	if d.kind == Compound {
		return d.identifyParts()
	}
	switch canonical(d.name) {
	case "", "unknown", "unnamed":
		return best(d, withEllipsoid(d))
	}
	if d.id != (ID{}) { // the code that a text states, and no better one
		return d.id, true
	}
	return ID{}, false
}

// identifyParts finds a compound system by the systems that it is made of.
func (d *definition) identifyParts() (ID, bool) {
	var members []ID
	for _, part := range d.parts {
		id, ok := part.identify()
		if !ok {
			return ID{}, false
		}
		members = append(members, id)
	}
	n, ok := compound(members, false)
	return n.ID, ok
}

// agrees reports whether the system of a text's code can be the one that the text defines.
func (d *definition) agrees(s *System) bool {
	return s.isCalled(canonical(d.name)) || d.equals(s)
}

// best returns the best match for a definition: EPSG's before others, one in use before a
// deprecated one, one of exactly this name before another spelling, one with the axes in the text.
// Of equal ones PROJ prefers the shortest name, which has the usual axes: "ETRS89 / UTM zone 32N"
// and "ETRS89 / UTM zone 32N (N-E)".
func best(d *definition, candidates []int) (ID, bool) {
	type ranked struct {
		System
		rank int
	}
	list := make([]ranked, 0, len(candidates))
	for _, i := range candidates {
		s := ranked{System: registry().system(i)}
		s.rank = len(s.Name)
		if s.Authority != "EPSG" {
			s.rank += 8 << 10
		}
		if s.Deprecated {
			s.rank += 4 << 10
		}
		if s.Name != d.name {
			s.rank += 2 << 10
		}
		if d.axes && s.NorthFirst != d.northFirst {
			s.rank += 1 << 10
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	for i := range list {
		if s := &list[i].System; d.equals(s) {
			return s.ID(), true
		}
	}
	return ID{}, false
}

// withEllipsoid returns the systems of EPSG that a definition without a name can be.
func withEllipsoid(d *definition) []int {
	var found []int
	for i := range registry().count() {
		s := registry().system(i)
		if s.Authority == "EPSG" && s.Kind == d.kind && !s.Deprecated && s.Dimensions == d.dimensions {
			found = append(found, i)
		}
	}
	return found
}

// equals reports whether a definition is that of a system, in any of its forms.
func (d *definition) equals(s *System) bool {
	if s.Kind != d.kind || s.Dimensions != d.dimensions {
		return false
	}
	esri, gdal := s.texts()
	for _, text := range []string{esri, gdal, string(s.PROJJSON())} {
		if of, ok := defined(text); ok && d.equivalent(of) {
			return true
		}
	}
	return false
}

// tolerance is PROJ's relative tolerance for equal numbers.
const tolerance = 1e-10

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= tolerance*math.Max(math.Abs(a), math.Abs(b))
}

// equivalent reports two definitions of the same system. The order of axes does not count: tables
// have x first, whatever the definition says.
func (d *definition) equivalent(o *definition) bool {
	if d.kind != o.kind || len(d.parts) != len(o.parts) {
		return false
	}
	for i := range d.parts {
		if !d.parts[i].equivalent(o.parts[i]) {
			return false
		}
	}
	if d.kind == Compound {
		return true
	}
	unnamed := d.kind == Geographic && canonicalDatum(d.datum) == "unknown" // PROJ goes by the ellipsoid then
	if !unnamed && !sameDatum(d.datum, o.datum) || !near(d.unit, o.unit) {
		return false
	}
	if d.kind == Vertical {
		return true
	}
	return near(d.major, o.major) && near(d.minor, o.minor) && math.Abs(d.meridian-o.meridian) < 1e-9 &&
		(d.kind != Geographic || math.Abs(d.angularUnit-o.angularUnit) < 1e-10) && d.sameProjection(o)
}

// sameProjection compares the methods and parameters. A missing parameter is 0, a scale 1.
func (d *definition) sameProjection(o *definition) bool {
	if d.method != o.method {
		return false
	}
	for _, pair := range [2][2]*definition{{d, o}, {o, d}} {
		for key, value := range pair[0].parameters {
			other, ok := pair[1].parameters[key]
			if !ok && strings.HasPrefix(key, "scale") {
				other = 1
			}
			if !near(value, other) && math.Abs(value-other) > 1e-12 {
				return false
			}
		}
	}
	return true
}

// namesOfDatums are the datums and ellipsoids by their names in canonical form. Several may have
// one.
var namesOfDatums = sync.OnceValue(func() *keys {
	k := newKeys(func(add func(key string, number int)) {
		for i := range len(registry().datums) - 1 {
			for name := range registry().datum(i) {
				add(canonicalDatum(name), i)
			}
		}
	})
	return &k
})

// datumsOf returns the numbers of the datums that have a name in canonical form.
func datumsOf(key string) []int {
	var found []int
	for i := range namesOfDatums().numbers(key) {
		for name := range registry().datum(i) {
			if canonicalDatum(name) == key {
				found = append(found, i)
				break
			}
		}
	}
	return found
}

// canonicalDatum drops what ESRI has in front, what EPSG adds to an ensemble, and a prime meridian,
// which is compared for itself: D_MGI with Ferro is "Militar-Geographische Institut (Ferro)".
func canonicalDatum(name string) string {
	key := strings.TrimSuffix(canonical(strings.TrimPrefix(name, "D_")), "ensemble")
	for _, meridian := range []string{
		"paris", "ferro", "oslo", "lisbon", "jakarta", "rome", "bern",
		"bogota", "madrid", "athens", "brussels", "stockholm",
	} {
		if rest, ok := strings.CutSuffix(key, meridian); ok && rest != "" {
			return rest
		}
	}
	return key
}

func sameDatum(a, b string) bool {
	keyA, keyB := canonicalDatum(a), canonicalDatum(b)
	if keyA == keyB {
		return true
	}
	same := datumsOf(keyB)
	for _, i := range datumsOf(keyA) {
		if slices.Contains(same, i) {
			return true
		}
	}
	return false
}
