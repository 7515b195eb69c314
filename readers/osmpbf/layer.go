package osmpbf

import (
	"bytes"
	"slices"
	"strings"
)

// Layers, in GDAL's order.
const (
	points = iota
	lines
	multilinestrings
	multipolygons
	otherRelations
)

var layerNames = []string{"points", "lines", "multilinestrings", "multipolygons", "other_relations"}

// defaultColumns are the keys that have a column in each layer: those of GDAL's osmconf.ini.
var defaultColumns = [...]string{
	points:           "name,barrier,highway,ref,address,is_in,place,man_made",
	lines:            "name,highway,waterway,aerialway,barrier,man_made,railway",
	multilinestrings: "name,type",
	multipolygons: "name,type,aeroway,amenity,admin_level,barrier,boundary,building,craft,geological,historic," +
		"land_area,landuse,leisure,man_made,military,natural,office,place,shop,sport,tourism",
	otherRelations: "name,type",
}

// class is what a key means: a set of the bits below, and the number of its column.
type class uint32

const (
	keyKnown   class = 1 << iota // the class of the string was determined
	keyMinor                     // a node that has only such keys is no point
	keyIgnored                   // GDAL's other_tags do not have it
	keyEarly                     // a closed way that has only such keys is no polygon
	keyArea                      // area
	keyPolygon                   // a closed way that has it is a polygon
	keyMaybe                     // a closed way that has it with a certain value is a polygon
	keyHighway
	keyBridge
	keyTunnel
	keyRailway
	keyLayer
	keyType
	keyCreatedBy

	keyColumn = 16 // first bit of the number of its column, from 1; 0: it has none
)

// column returns the number of the key's column, or -1.
func (c class) column() int { return int(c>>keyColumn) - 1 }

// keyClasses are the classes of keys in every layer, without columns.
var keyClasses = map[string]class{
	"created_by": keyMinor | keyIgnored | keyEarly | keyCreatedBy, "converted_by": keyMinor | keyIgnored | keyEarly,
	"source": keyMinor | keyIgnored, "time": keyMinor | keyIgnored, "ele": keyMinor | keyIgnored,
	"attribution": keyMinor, "note": keyIgnored | keyEarly, "todo": keyIgnored | keyEarly,
	"fixme": keyIgnored | keyEarly, "FIXME": keyIgnored | keyEarly, "area": keyArea | keyEarly,
	"aeroway": keyPolygon, "amenity": keyPolygon, "boundary": keyPolygon, "building": keyPolygon,
	"craft": keyPolygon, "geological": keyPolygon, "historic": keyPolygon, "landuse": keyPolygon,
	"leisure": keyPolygon, "military": keyPolygon, "natural": keyPolygon, "office": keyPolygon,
	"place": keyPolygon, "shop": keyPolygon, "sport": keyPolygon, "tourism": keyPolygon,
	"highway": keyHighway | keyMaybe, "public_transport": keyMaybe,
	"bridge": keyBridge, "tunnel": keyTunnel, "railway": keyRailway, "layer": keyLayer, "type": keyType,
}

// polygonValue is the value with which a keyMaybe makes a closed way a polygon.
const polygonValue = "platform"

// layer is a layer with its columns of tags.
type layer struct {
	number int
	keys   []string // that have a column
	names  []string // of these columns
	byKey  map[string]class
}

// newLayer returns a layer with columns for the keys of a list; empty: the usual ones.
func newLayer(number int, list string) *layer {
	if list == "" {
		list = defaultColumns[number]
	}
	l := &layer{number: number, byKey: map[string]class{}}
	for key, c := range keyClasses {
		l.byKey[key] = c
	}
	if number != points && number != lines {
		l.byKey["area"] |= keyIgnored
	}
	for key := range strings.SplitSeq(list, ",") {
		if key = strings.TrimSpace(key); key == "" || slices.Contains(l.keys, key) {
			continue
		}
		l.keys = append(l.keys, key)
		l.names = append(l.names, strings.ReplaceAll(key, ":", "_"))
		l.byKey[key] |= class(len(l.keys)) << keyColumn
	}
	return l
}

// openGeoDB begins keys that GDAL's other_tags do not have.
var openGeoDB = []byte("openGeoDB:")

// class returns the class of a string as a key.
func (l *layer) class(t *texts, i uint32) class {
	if c := t.classes[i]; c != 0 {
		return c
	}
	b := t.bytes(i)
	c := l.byKey[string(b)] | keyKnown
	if bytes.HasPrefix(b, openGeoDB) {
		c |= keyIgnored
	}
	t.classes[i] = c
	return c
}

// isArea reports whether a closed way with some tags is a polygon: area says so, or else a key.
func (l *layer) isArea(t *texts, tags []tag) bool {
	area := false
	for _, g := range tags {
		c := l.class(t, g.key)
		switch {
		case c&keyArea != 0:
			switch string(t.bytes(g.value)) {
			case "yes":
				return true
			case "no":
				return false
			}
		case c&keyPolygon != 0, c&keyMaybe != 0 && string(t.bytes(g.value)) == polygonValue:
			area = true
		}
	}
	return area
}
