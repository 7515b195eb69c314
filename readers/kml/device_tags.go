package kml

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"unsafe"

	"github.com/vibeflight/vibeflight/gpu"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	kkml "github.com/vibeflight/vibeflight/kernels/kml"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// tagTexts are the tags of a file that devices support, by the text between their brackets. A
// device compares bytes, whose meaning the scanner of the CPU engine has found here. Most files
// have some dozens of tags. Several goroutines use it.
type tagTexts struct {
	mu      sync.Mutex
	schemas *schemas
	repairs bool // names count in any case
	known   knownTags
	numbers map[string]int // of texts
	names   map[string]uint16
	locals  map[string]uint16
	columns map[dataColumn]int
	schema  int // index + 1 of the one schema of all values; 0: none yet
}

// knownTags are the tags so far. It is immutable.
type knownTags struct {
	texts   []string
	tags    []kkml.KMLTag
	locals  []string     // local names, by number
	columns []dataColumn // from kernels.KMLColumns on
}

// dataColumn is a column of extended data, or a schema whose fields have columns.
type dataColumn struct {
	name   string
	kinds  geoarrow.FactKinds // by the schema; 0: text
	schema int                // number of the schema + 1; 0: a column
}

func newTagTexts(s *schemas, repairs bool) *tagTexts {
	return &tagTexts{
		schemas: s, repairs: repairs, numbers: map[string]int{}, names: map[string]uint16{},
		locals: map[string]uint16{}, columns: map[dataColumn]int{},
	}
}

// snapshot returns the tags so far.
func (t *tagTexts) snapshot() knownTags {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known
}

// maxTags is how many different tags a file may have.
const maxTags = 4096

// idBegins is the text before the value of an id, which matches any value on a device.
const idBegins = ` id="`

// learn adds tags by their texts, unless one is invalid, or there are too many.
func (t *tagTexts) learn(texts [][]byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	schemaFirst := func(text []byte) int {
		if bytes.Contains(text, []byte("SchemaData")) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(texts, func(a, b []byte) int { return schemaFirst(a) - schemaFirst(b) })
	for _, text := range texts {
		if _, known := t.numbers[string(text)]; known {
			continue
		}
		tag, ok := t.mean(text)
		if !ok || len(t.known.texts) == maxTags {
			return false
		}
		t.numbers[string(text)] = len(t.known.texts)
		t.known.texts, t.known.tags = append(t.known.texts, string(text)), append(t.known.tags, tag)
	}
	return true
}

// mean finds the meaning of a tag.
func (t *tagTexts) mean(text []byte) (tag kkml.KMLTag, ok bool) {
	if name, end := bytes.CutPrefix(text, []byte{'/'}); end { // an end tag without an element is an error at its place
		name = bytes.TrimRight(name, " \t\r\n")
		return kkml.KMLTag{End: true, Name: numbered(t.names, nil, string(name))}, true
	}
	tag.OpenID = bytes.HasSuffix(text, []byte(idBegins))
	whole := slices.Concat([]byte{'<'}, text)
	if tag.OpenID {
		whole = append(whole, '"')
	}
	whole = append(whole, '>')
	n := len(whole)
	whole = append(whole, make([]byte, xmltext.Padding)...)
	x := &xmltext.Scanner{MaxDepth: 1}
	x.Window(unsafe.Pointer(unsafe.SliceData(whole)), n, 0, true)
	if x.Next() != xmltext.Start || x.P != n {
		return tag, false
	}
	local := string(x.Local())
	tag.Empty = whole[n-2] == '/'
	tag.Name, tag.Local = numbered(t.names, nil, string(x.Name())), numbered(t.locals, &t.known.locals, local)
	tag.Element = elements[local]
	if rule := strayRule([]byte(local)); rule == ruleCase || rule == ruleUnknown || t.repairs &&
		allNames.spelled([]byte(local)) != "" {
		tag.Element = kkml.KMLRefused // the CPU engine counts it, or reads it in another way
	}
	switch tag.Element {
	case kkml.KMLPlacemark:
		if _, has := x.Attr("id"); has && !tag.OpenID {
			tag.Element = kkml.KMLRefused
		}
	case kkml.KMLData, kkml.KMLSimpleData, kkml.KMLSchemaData:
		if tag.Column, ok = t.column(x, tag.Element); !ok {
			tag.Element = kkml.KMLRefused
		}
	}
	return tag, true
}

// elements are those that devices support, by their local names.
var elements = map[string]kkml.KMLElement{
	"Placemark": kkml.KMLPlacemark, "name": kkml.KMLName, "description": kkml.KMLDescription,
	"Snippet": kkml.KMLSnippet, "snippet": kkml.KMLSnippet,
	"visibility": kkml.KMLVisibility, "TimeStamp": kkml.KMLTimeStamp, "when": kkml.KMLWhen,
	"ExtendedData": kkml.KMLExtendedData, "Data": kkml.KMLData,
	"value": kkml.KMLValue, "SchemaData": kkml.KMLSchemaData, "SimpleData": kkml.KMLSimpleData,
	"Point": kkml.KMLPoint, "LineString": kkml.KMLLineString,
	"LinearRing": kkml.KMLLinearRing, "Polygon": kkml.KMLPolygon, "MultiGeometry": kkml.KMLMultiGeometry,
	"outerBoundaryIs": kkml.KMLOuterBoundary,
	"innerBoundaryIs": kkml.KMLInnerBoundary, "coordinates": kkml.KMLCoordinates,
	"altitudeMode": kkml.KMLAltitudeMode, "extrude": kkml.KMLExtrude,
	"tessellate": kkml.KMLTessellate, "TimeSpan": kkml.KMLRefused, "Track": kkml.KMLRefused,
	"MultiTrack": kkml.KMLRefused, "Model": kkml.KMLRefused, "SimpleArrayData": kkml.KMLRefused,
	"drawOrder": kkml.KMLRefused, "MultiPoint": kkml.KMLRefused, "MultiLineString": kkml.KMLRefused,
	"MultiPolygon":       kkml.KMLRefused,
	"GeometryCollection": kkml.KMLRefused,
}

// numbered returns the number of a name, and adds the name to a list if it is new.
func numbered(of map[string]uint16, list *[]string, name string) uint16 {
	n, ok := of[name]
	if !ok {
		n = uint16(len(of))
		of[name] = n
		if list != nil {
			*list = append(*list, name)
		}
	}
	return n
}

// column returns the column of the tag that was read. Devices do not support values of a boolean
// field, of a schema with arrays, of several schemas, or of more columns than they have.
func (t *tagTexts) column(x *xmltext.Scanner, e kkml.KMLElement) (int, bool) {
	var c dataColumn
	name, named := x.Attr("name")
	c.name = string(name)
	switch e {
	case kkml.KMLSchemaData:
		url, _ := x.Attr("schemaUrl")
		i := t.schemas.find(url[bytes.LastIndexByte(url, '#')+1:])
		c.schema = i + 2 // 1 is a missing one
		known := t.schema == 0 || t.schema == c.schema
		if c.name, named = "", known && (i < 0 || !t.schemas.all[i].arrays); named {
			t.schema = c.schema
		}
	case kkml.KMLSimpleData:
		if named = named && t.schema > 0; named && t.schema > 1 {
			known := &t.schemas.all[t.schema-2]
			if i, has := known.byName[c.name]; has {
				c.kinds = known.fields[i].kinds
			}
			named = c.kinds != geoarrow.FactBool
		}
	}
	if !named {
		return 0, false
	}
	n, ok := t.columns[c]
	if !ok {
		if n = kkml.KMLColumns + len(t.known.columns); n >= kkml.MaxKMLColumns {
			return 0, false
		}
		t.columns[c] = n
		t.known.columns = append(t.known.columns, c)
	}
	return n, true
}

// numeric returns the columns of numbers, as a set of bits.
func (k *knownTags) numeric() uint64 {
	bits := uint64(1<<kkml.KMLColumnTessellate | 1<<kkml.KMLColumnExtrude | 1<<kkml.KMLColumnVisibility)
	for i, c := range k.columns {
		if c.kinds != 0 {
			bits |= 1 << (kkml.KMLColumns + i)
		}
	}
	return bits
}

// deviceNames are tags on the device. They stay there from chunk to chunk: small copies to the
// device wait for the large ones that bring text.
type deviceNames struct {
	of     *tagTexts
	fields *kjson.Fields
	table  gpu.Buffer[uint64]
}

// upload copies tags that are not on the device yet.
func (u *deviceNames) upload(s *gpu.Stream, of *tagTexts, known knownTags) error {
	if u.of == of && u.fields.Len() == len(known.texts) {
		return nil
	}
	defer s.Use(s.Use(nil)) // it outlives the chunk
	if err := u.Free(s); err != nil {
		return err
	}
	fields, err := kjson.AllocFields(s, known.texts)
	if err != nil {
		return err
	}
	table, err := kkml.AllocKMLTags(s, known.tags)
	if err != nil {
		return errors.Join(err, fields.Free(s))
	}
	*u = deviceNames{of, fields, table}
	return nil
}

// Free gives its memory back once the work that s was given before is done.
func (u *deviceNames) Free(s *gpu.Stream) error {
	if u.fields == nil {
		return nil
	}
	err := errors.Join(u.fields.Free(s), u.table.Free(s))
	*u = deviceNames{}
	return err
}
