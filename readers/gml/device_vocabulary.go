package gml

import (
	"cmp"

	kxml "github.com/vibeflight/vibeflight/kernels/xml"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Classes of elements, as devices tell them apart: what may stand around what.
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
	inNothing // what is around rows, and what no device knows
	inHolder  // and the classes behind: what holds elements, a class for each way there

	lastClass = 63
)

// inProperty are the classes of elements that hold values and geometries.
const inProperty = 1<<inRow | (1<<(lastClass+1)-1)&^(1<<inHolder-1)

func bit(classes ...uint8) (set uint64) {
	for _, c := range classes {
		set |= 1 << c
	}
	return set
}

// shapeTag is how a geometry, or a part of one, is read by devices.
type shapeTag struct {
	class   uint8
	parents uint64
	word    kxml.XMLWord
}

// shapeTags are those of all names that devices know.
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

// memberClasses are the classes of what holds the members of shapes.
var memberClasses = map[uint8]uint8{
	inPoints: inPointMember, inLines: inLineMember, inPolygons: inPolygonMember,
	inGeometries: inGeometryMember,
}

// tagNote is what is known of a tag of the dictionary in addition to what devices know.
type tagNote struct {
	system *system // that it names; nil: none
	size   int     // srsDimension; 0: it does not say
	shape  bool
	list   bool // a posList
	one    bool // a pos
	bad    bool // it stands for several things, or for what no device knows
}

// vocabulary is the tags of rows as a device knows them, learnt from rows.
type vocabulary struct {
	tags    []kxml.XMLTag
	notes   []tagNote
	columns []geoarrow.ColumnID

	systems systems
	at      map[string]int // of tags by their text
	names   map[string]int // numbers of elements by their names
	ways    []string       // to what holds elements, by their classes from inHolder on
}

// oddFrames is why devices leave chunks whose geometries do not all say the same of their
// positions.
const oddFrames = "geometries of several systems, or dimensions, in a chunk"

// uses returns what a chunk's geometries are in: their system, and how many ordinates a position of
// a posList has, by the tags that the chunk has. around is what the file says of all. why says why
// a device does not know.
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

// agree reports whether what tags inside of geometries and around them say of positions is what the
// geometries say. named: they name their system, so that nothing around counts.
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

// listSize returns what the lists of positions say of their size, or 0, whether there are any, and
// whether all say the same. What a pos says counts for a list after it.
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
