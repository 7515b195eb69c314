package gml

import (
	"bytes"
	"slices"
	"unsafe"

	kxml "github.com/vibeflight/vibeflight/kernels/xml"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// learnBytes is how many bytes are read to learn the tags of a file.
const learnBytes = 256 << 10

// learn reads rows of a layer from text, which begins with a row inside of elements that another
// scanner has open. opening is the beginning of rows. It returns nil if devices do not support the
// rows.
func learn(text []byte, around *xmltext.Scanner, layer string, opening []byte, names systems,
	maxDepth int,
) *vocabulary {
	v := &vocabulary{systems: names, at: map[string]int{}, names: map[string]int{}}
	text = append(text, make([]byte, max(number.Padding, xmltext.Padding))...)
	l := &lesson{vocabulary: v, layer: layer, opening: opening}
	l.x.MaxDepth = maxDepth
	l.x.ResumeIn(around)
	l.x.Window(unsafe.Pointer(unsafe.SliceData(text)), len(text)-max(number.Padding, xmltext.Padding), 0, false)
	l.home = l.x.Depth()
	l.read()
	for i := range v.tags {
		if v.notes[i].bad {
			v.tags[i].Text = []byte{0} // no tag
		}
	}
	if len(v.tags) == 0 || len(v.tags) > kxml.MaxXMLTags || len(v.columns) > kxml.MaxXMLColumns ||
		len(v.names) >= kxml.MaxXMLTags {
		return nil
	}
	return v
}

// lesson is the state of learning from a text.
type lesson struct {
	*vocabulary
	x       xmltext.Scanner
	home    int // depth of rows' parents
	layer   string
	opening []byte
	open    []int // tags of the elements that are open in the row; -1: not known
}

// read learns the tags of rows, up to an element that is not a row.
func (l *lesson) read() {
	for {
		switch l.x.Next() {
		case xmltext.Start:
			depth := l.x.Depth()
			switch {
			case depth == l.home+1:
				if !bytes.Equal(l.x.Name(), l.opening[1:]) {
					return
				}
				l.start(kxml.XMLRow, inRow, 0, kxml.XMLNoWord, l.rowColumn())
			case depth > l.home+1:
				if !l.element() {
					return
				}
			case depth == l.home && isMember(l.x.Local()):
				l.start(kxml.XMLAround, inNothing, 0, kxml.XMLNoWord, -1)
				l.open = l.open[:0]
			default:
				return
			}
		case xmltext.End:
			if l.x.Depth() < l.home-1 {
				return
			}
			l.end()
		default:
			return
		}
		if len(l.tags) > kxml.MaxXMLTags {
			return
		}
	}
}

// rowColumn returns the column of the attribute that names the row: -1 if it has none.
func (l *lesson) rowColumn() int {
	for i := range l.x.Attrs() {
		switch _, local := l.x.AttrName(i); string(local) {
		case "fid":
			return l.column(geoarrow.ColumnID{Role: leadingRole(columnFID), Name: leadingNames[columnFID]})
		case "id":
			return l.column(geoarrow.ColumnID{Role: leadingRole(columnGMLID), Name: leadingNames[columnGMLID]})
		}
	}
	return -1
}

// column returns the number of a column.
func (l *lesson) column(id geoarrow.ColumnID) int {
	if i := slices.Index(l.columns, id); i >= 0 {
		return i
	}
	l.columns = append(l.columns, id)
	return len(l.columns) - 1
}

// class is that of the innermost element.
func (l *lesson) class() uint8 {
	if len(l.open) == 0 || l.open[len(l.open)-1] < 0 {
		return inNothing
	}
	return l.tags[l.open[len(l.open)-1]].Class
}

// element learns an element of a row, whose start tag was read, unless the text ends in it.
func (l *lesson) element() bool {
	local, around := string(l.x.Local()), l.class()
	shape, isShape := shapeTags[local]
	none := kxml.XMLNoWord
	switch member, isMulti := memberClasses[around]; {
	case around == inBounds || around == inPassed:
		l.start(kxml.XMLPassed, inPassed, bit(inBounds, inPassed), none, -1)
	case isShape && shape.parents&bit(around) != 0:
		l.start(kxml.XMLShape, shape.class, shape.parents, shape.word, -1)
	case isMulti && isMember([]byte(local)):
		l.start(kxml.XMLHolder, member, bit(around), none, -1)
	case around == inPolygon && (local == "exterior" || local == "outerBoundaryIs"):
		l.start(kxml.XMLFirst, inBoundary, bit(inPolygon), none, -1)
	case around == inPolygon && (local == "interior" || local == "innerBoundaryIs"):
		l.start(kxml.XMLMore, inBoundary, bit(inPolygon), none, -1)
	case around == inPoint || around == inLine || around == inRing:
		role := map[string]kxml.XMLRole{
			"posList": kxml.XMLPositions, "pos": kxml.XMLPosition,
			"coordinates": kxml.XMLTuples,
		}[local]
		l.start(role, inPositions, bit(inPoint, inLine, inRing), none, -1)
	case around == inRow && local == "boundedBy":
		l.start(kxml.XMLPassed, inBounds, bit(inRow), none, -1)
	case inProperty&bit(around) != 0 && shapeOf([]byte(local)) == noShape:
		return l.property(local, around)
	default:
		l.start(kxml.XMLEnd, inNothing, 0, none, -1)
	}
	return true
}

// property learns an element that is a value or contains elements, unless the text ends before that
// is known. Each container has its own class, so that a value is identified by its path.
func (l *lesson) property(local string, around uint8) bool {
	way := local
	if around != inRow {
		way = l.ways[around-inHolder] + "/" + local
	}
	m := l.x.TagMark()
	token := l.x.Next()
	l.x.Rewind(m)
	if token == xmltext.Fault {
		return false
	}
	l.x.Next()
	class, known := inValue, len(way) <= longestWay
	if token == xmltext.Start && known {
		class, known = l.holder(way)
	}
	switch {
	case !known:
		l.start(kxml.XMLEnd, inNothing, 0, kxml.XMLNoWord, -1)
	case token == xmltext.Start:
		l.start(kxml.XMLHolder, class, bit(around), kxml.XMLNoWord, -1)
	default:
		l.start(kxml.XMLValue, inValue, bit(around), kxml.XMLNoWord,
			l.column(geoarrow.ColumnID{Role: geoarrow.RolePath, Name: way}))
	}
	return true
}

// holder returns the class of an element that contains elements. It returns false if there is none
// left.
func (l *lesson) holder(way string) (class uint8, ok bool) {
	i := slices.Index(l.ways, way)
	if i < 0 {
		i = len(l.ways)
		if i > int(lastClass-inHolder) {
			return inNothing, false
		}
		l.ways = append(l.ways, way)
	}
	return inHolder + uint8(i), true
}

// start learns a start tag, or an empty one. The role of its end tag is not set yet.
func (l *lesson) start(role kxml.XMLRole, class uint8, parents uint64, word kxml.XMLWord, column int) {
	text, note, ok := l.template(role)
	note.shape, note.list, note.one = role == kxml.XMLShape, role == kxml.XMLPositions,
		role == kxml.XMLPosition
	note.bad = !ok || role == kxml.XMLEnd
	i := l.add(kxml.XMLTag{
		Text: text, Name: l.number(l.x.Name()), Role: role, Class: class,
		Parents: parents, Column: column, Word: word,
	}, note)
	l.open = append(l.open, i)
}

// template returns the current tag in the form of the dictionary, with wildcards for values of
// identifiers. ok: devices support all of its attributes.
func (l *lesson) template(role kxml.XMLRole) (text []byte, note tagNote, ok bool) {
	raw := unsafe.Slice((*byte)(unsafe.Add(l.x.Q, l.x.At+1)), l.x.P-l.x.At-2)
	ok = len(raw) <= longestTag
	from, open := 0, 0
	for i := range l.x.Attrs() {
		_, local := l.x.AttrName(i)
		value := l.x.AttrValue(i)
		switch string(local) {
		case "id", "fid":
			at := int(l.x.AttrOffset(i)) - l.x.At - 1
			end := at + bytes.IndexByte(raw[at:], raw[at-1])
			text = append(append(text, raw[from:at]...), kxml.XMLAny)
			from, open = end, open+1
		case "srsName":
			note.system = l.systems.of(value)
		case "srsDimension", "dimension":
			note.size = 0
			for _, c := range value {
				note.size = min(10*note.size+int(c-'0'), maxSize+1)
				ok = ok && c-'0' <= 9
			}
			ok = ok && note.size >= 2 && note.size <= 3
		case "uom", "href", "nil", "decimal", "cs", "ts":
			ok = false
		}
	}
	text = append(text, raw[from:]...)
	return text, note, ok && (role != kxml.XMLRow || open <= 1)
}

// longestTag is the length of the longest tag that devices compare.
const longestTag = 1024

// number is that of an element's name.
func (l *lesson) number(name []byte) int {
	if _, ok := l.names[string(name)]; !ok {
		l.names[string(name)] = min(len(l.names), kxml.MaxXMLTags-1) // too many tags
	}
	return l.names[string(name)]
}

// add puts a tag into the dictionary, and returns its place.
func (l *lesson) add(t kxml.XMLTag, note tagNote) int {
	if i, ok := l.at[string(t.Text)]; ok {
		if b := &l.tags[i]; b.Role != t.Role || b.Class != t.Class || b.Column != t.Column {
			l.notes[i].bad = true
		}
		return i
	}
	l.at[string(t.Text)] = len(l.tags)
	l.tags, l.notes = append(l.tags, t), append(l.notes, note)
	return len(l.tags) - 1
}

// end learns the end tag that was just read.
func (l *lesson) end() {
	if n := len(l.open); n > 0 {
		l.open = l.open[:n-1]
	}
	at := l.x.At
	raw := unsafe.Slice((*byte)(unsafe.Add(l.x.Q, at+1)), l.x.P-at-2)
	if raw[0] != '/' { // of an empty element
		return
	}
	name := bytes.TrimRight(raw[1:], " \t\r\n")
	l.add(kxml.XMLTag{Text: raw, Name: l.number(name), Role: kxml.XMLEnd, Class: inNothing, Column: -1},
		tagNote{bad: len(raw) > longestTag})
}

// leadingRole returns the role of a leading column.
func leadingRole(i int) geoarrow.Role { return geoarrow.LeadingRole(uint8(leadingColumns-i), false) }
