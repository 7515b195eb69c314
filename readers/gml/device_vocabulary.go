package gml

import (
	"cmp"

	kxml "github.com/vibeflight/vibeflight/kernels/xml"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Classes of elements on devices, which determine the possible nesting.
const (
	inRow uint8 = iota
	inValue
	inBounds
	inPassed
	inPoint
	inLine
	inRing
	inPolygon
	inPoints
	inLines
	inPolygons
	inGeometries
	inPointMember
	inLineMember
	inPolygonMember
	inGeometryMember
	inBoundary
	inPositions
	inNothing // elements around rows, and unsupported elements
	inHolder  // and later classes: elements that contain elements, a class for each path

	lastClass = 63
)

// inProperty are the classes of elements that contain values and geometries.
const inProperty = 1<<inRow | (1<<(lastClass+1)-1)&^(1<<inHolder-1)

func bit(classes ...uint8) (set uint64) {
	for _, c := range classes {
		set |= 1 << c
	}
	return set
}

// shapeTag describes how devices read a geometry or a part of one.
type shapeTag struct {
	class   uint8
	parents uint64
	word    kxml.XMLWord
}

// shapeTags are those of all names that devices support.
var shapeTags = map[string]shapeTag{
	"Point":           {inPoint, inProperty | bit(inPointMember, inGeometryMember), kxml.XMLPoint},
	"LineString":      {inLine, inProperty | bit(inLineMember, inGeometryMember), kxml.XMLLineString},
	"LinearRing":      {inRing, bit(inBoundary), kxml.XMLNoWord},
	"Polygon":         {inPolygon, inProperty | bit(inPolygonMember, inGeometryMember), kxml.XMLPolygon},
	"MultiPoint":      {inPoints, inProperty | bit(inGeometryMember), kxml.XMLMultiPoint},
	"MultiLineString": {inLines, inProperty | bit(inGeometryMember), kxml.XMLMultiLineString},
	"MultiCurve":      {inLines, inProperty | bit(inGeometryMember), kxml.XMLMultiLineString},
	"MultiPolygon":    {inPolygons, inProperty | bit(inGeometryMember), kxml.XMLMultiPolygon},
	"MultiSurface":    {inPolygons, inProperty | bit(inGeometryMember), kxml.XMLMultiPolygon},
	"MultiGeometry":   {inGeometries, inProperty, kxml.XMLCollection},
}

// memberClasses are the classes of elements that contain the members of shapes.
var memberClasses = map[uint8]uint8{
	inPoints: inPointMember, inLines: inLineMember, inPolygons: inPolygonMember,
	inGeometries: inGeometryMember,
}

// tagNote is the host's information about a tag of the dictionary.
type tagNote struct {
	system *system // that it names; nil: none
	size   int     // srsDimension; 0: absent
	shape  bool
	list   bool // a posList
	one    bool // a pos
	bad    bool // it is ambiguous, or not supported by devices
}

// vocabulary is the tags of rows in the form for devices, learned from rows.
type vocabulary struct {
	tags    []kxml.XMLTag
	notes   []tagNote
	columns []geoarrow.ColumnID

	systems systems
	at      map[string]int // of tags by their text
	names   map[string]int // numbers of elements by their names
	ways    []string       // paths of elements that contain elements, by their classes from inHolder on
}

// oddFrames is the reason for refusing chunks whose geometries have different frames.
const oddFrames = "geometries of several systems, or dimensions, in a chunk"

// uses returns the frame of a chunk's geometries, which is their system and the ordinates of a
// posList's position, by the chunk's tags. around is the frame outside of rows. why is the reason
// for refusing.
func (v *vocabulary) uses(found *kxml.XMLFound, around frame) (f frame, why string) {
	f = around // of a chunk that has no geometry
	outer, named := 0, false
	for i := range v.notes {
		note := &v.notes[i]
		if !has(&found.Outer, i) {
			continue
		}
		one := around
		if note.system != nil {
			one = frame{system: note.system}
		}
		if note.size > 0 {
			one.size = note.size
		}
		if outer > 0 && (one != f || named != (note.system != nil)) {
			return f, oddFrames
		}
		f, named = one, note.system != nil
		outer++
	}
	if outer > 0 && !v.agree(found, f, named) {
		return f, oddFrames
	}
	size, some, ok := v.listSize(found)
	switch {
	case outer == 0: // no geometry
		return f, ""
	case !ok:
		return f, oddFrames
	case f.system.unknown:
		return f, "a reference system whose name is not known"
	}
	f.size = cmp.Or(size, f.size)
	if f.size = f.listSize(); f.size == 0 {
		if some {
			return f, "a reference system whose number of axes is not known"
		}
		f.size = 2
	}
	return f, ""
}

// agree reports whether tags inside of geometries and around them have the frame of the geometries.
// named: these name their system, so that tags around them don't count.
func (v *vocabulary) agree(found *kxml.XMLFound, f frame, named bool) bool {
	for i := range v.notes {
		note := &v.notes[i]
		if !has(&found.Used, i) || has(&found.Outer, i) || note.list || note.system == nil && note.size == 0 {
			continue
		}
		if !named || note.shape && (note.system != f.system || note.size != f.size) {
			return false
		}
	}
	return true
}

// listSize returns the size that the lists of positions declare, or 0, whether there are lists, and
// whether all declare the same. A pos counts for a list after it.
func (v *vocabulary) listSize(found *kxml.XMLFound) (size int, some, ok bool) {
	for i := range v.notes {
		note := &v.notes[i]
		if !has(&found.Used, i) || !note.list && (!note.one || note.size == 0) {
			continue
		}
		if some && note.size != size {
			return 0, true, false
		}
		size, some = note.size, true
	}
	return size, some, true
}

// has reports a bit of XMLFound.
func has(set *[8]uint32, i int) bool { return set[i/32]>>(i%32)&1 != 0 }
