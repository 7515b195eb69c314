package geojson

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// This file knows the oracle's types: which column a list of values becomes, which column a list of
// geometries, and how the parser's table is brought into the same form.

// oracleColumn is every value of a name, nil where the row has none or null.
type oracleColumn struct {
	name   string
	id     bool
	values []*tree
}

// attributes makes the columns: the id, then properties in order of first appearance.
func (o *oracle) attributes() ([]neutralColumn, error) {
	id := oracleColumn{name: "id", id: true, values: make([]*tree, len(o.features))}
	var columns []*oracleColumn
	byName := map[string]*oracleColumn{}
	hasID := false
	for row, f := range o.features {
		id.values[row] = f.id
		hasID = hasID || f.id != nil
		if f.properties == nil {
			continue
		}
		for _, name := range f.properties.keys {
			c := byName[name]
			if c == nil {
				c = &oracleColumn{name: name, values: make([]*tree, len(o.features))}
				byName[name] = c
				columns = append(columns, c)
			}
			if v := f.properties.last(name); !v.isNull() {
				c.values[row] = v
			}
		}
	}
	if hasID {
		columns = slices.Insert(columns, 0, &id)
	}
	var out []neutralColumn
	for _, c := range columns {
		col, err := o.column(c)
		if err != nil {
			return nil, err
		}
		out = append(out, col)
	}
	renameColumns(out, hasID)
	return out, nil
}

// renameColumns makes room for geometry and for the id. Every table of GeoJSON has a geometry
// column.
func renameColumns(columns []neutralColumn, hasID bool) {
	taken := map[string]bool{"geometry": true}
	for i, c := range columns {
		if i > 0 || !hasID {
			taken[c.name] = true
		}
	}
	next := func(name string) string {
		for n := 1; ; n++ {
			if s := name + "_" + strconv.Itoa(n); !taken[s] {
				taken[s] = true
				return s
			}
		}
	}
	for i := range columns {
		switch c := &columns[i]; {
		case i == 0 && hasID && !taken["id"]:
		case i == 0 && hasID && !taken["feature_id"]:
			c.name = "feature_id"
		case i == 0 && hasID:
			c.name = next("feature_id")
		case c.name == "geometry":
			c.name = next("geometry")
		}
	}
}

// family returns a kind of values that go together: "bool", "number", "text"; in a list "[bool" and
// so on, "[" for an empty one; "json" for the others.
func family(v *tree) string {
	switch v.kind {
	case 't', 'f':
		return "bool"
	case '0':
		return "number"
	case '"':
		return "text"
	case '{':
		return "json"
	}
	if len(v.values) == 0 {
		return "["
	}
	for _, e := range v.values {
		if e.kind == 'n' || e.kind == '{' || e.kind == '[' || family(e) != family(v.values[0]) {
			return "json"
		}
	}
	first := family(v.values[0])
	return "[" + first
}

// column decides the type of a column and renders its values.
func (o *oracle) column(c *oracleColumn) (neutralColumn, error) {
	var all []*tree // values that are not null
	families := map[string]bool{}
	var numbers []string
	for _, v := range c.values {
		if v == nil {
			continue
		}
		f := family(v)
		all = append(all, v)
		families[f] = true
		switch f {
		case "number":
			numbers = append(numbers, string(v.raw))
		case "[number":
			for _, e := range v.values {
				numbers = append(numbers, string(e.raw))
			}
		}
	}
	for _, n := range numbers {
		if _, err := strconv.ParseFloat(n, 64); err != nil {
			return neutralColumn{}, refuse("number %s", n)
		}
	}
	out := neutralColumn{name: c.name}
	if c.id {
		out.typ = idType(all, numbers)
	} else {
		out.typ = columnType(families, numbers, all)
	}
	for _, v := range c.values {
		text := "null"
		if v != nil {
			text = o.render(v, out.typ)
		}
		out.rows = append(out.rows, text)
	}
	return out, nil
}

func columnType(families map[string]bool, numbers []string, all []*tree) string {
	scalars, lists := map[string]bool{}, map[string]bool{}
	for f := range families {
		switch {
		case f == "json" || f == "[":
		case f[0] == '[':
			lists[f[1:]] = true
		default:
			scalars[f] = true
		}
	}
	nested := families["json"] || len(lists) > 1 || families["["] && len(lists) == 0 && len(scalars) == 0
	switch {
	case nested && len(scalars) == 0:
		return "json"
	case nested:
		return "mixed"
	case len(lists) == 0 && !families["["]:
		return scalarType(scalars, numbers, all)
	}
	both := map[string]bool{}
	for f := range scalars {
		both[f] = true
	}
	for f := range lists {
		both[f] = true
	}
	switch {
	case len(both) > 1:
		return "mixed"
	case both["bool"]:
		return "list<bool>"
	case both["number"]:
		return "list<" + numberType(numbers) + ">"
	}
	return "list<string>"
}

func scalarType(scalars map[string]bool, numbers []string, all []*tree) string {
	switch {
	case len(scalars) == 0:
		return "string"
	case scalars["text"] && len(scalars) > 1:
		return "mixed"
	case scalars["text"]:
		return textType(all)
	case scalars["number"]:
		return numberType(numbers)
	}
	return "bool"
}

func isReal(number string) bool { return strings.ContainsAny(number, ".eE") }

// integers returns the least and the largest of the numbers, ok is false if one is no integer.
func integers(numbers []string) (least, most *big.Int, ok bool) {
	for _, n := range numbers {
		if isReal(n) {
			return nil, nil, false
		}
		v, _ := new(big.Int).SetString(n, 10)
		if least == nil || v.Cmp(least) < 0 {
			least = v
		}
		if most == nil || v.Cmp(most) > 0 {
			most = v
		}
	}
	return least, most, least != nil
}

func numberType(numbers []string) string {
	least, most, ok := integers(numbers)
	switch {
	case !ok:
		return "float64"
	case least.IsInt64() && most.IsInt64():
		if least.Int64() >= math.MinInt32 && most.Int64() <= math.MaxInt32 {
			return "int32"
		}
		return "int64"
	case least.IsUint64() && most.IsUint64():
		return "uint64"
	}
	return "float64"
}

func idType(all []*tree, numbers []string) string {
	least, most, ok := integers(numbers)
	switch {
	case !ok || len(numbers) < len(all):
		return "string"
	case least.IsInt64() && most.IsInt64():
		return "int64"
	case least.IsUint64() && most.IsUint64():
		return "uint64"
	}
	return "string"
}

// moment is a text that is a date or a time.
type moment struct {
	kind     string // "date", "naive", "zoned", "time"
	at       time.Time
	digits   int // of the fraction of a second
	fraction string
	zone     string // "+02:00"
}

var (
	momentText = regexp.MustCompile(`^(\d{4})([-/])(\d\d)([-/])(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$`)
	clockText  = regexp.MustCompile(`^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?$`)
)

// parseMoment reads a date or time. The instant of at is that of the text; for a time of day it is
// one of 1970-01-01.
func parseMoment(text string) (m moment, ok bool) {
	year, month, day := "1970", "01", "01"
	var clock []string
	var zone string
	if f := clockText.FindStringSubmatch(text); f != nil {
		m.kind, clock = "time", f[1:]
	} else if f := momentText.FindStringSubmatch(text); f != nil && f[2] == f[4] {
		year, month, day, clock, zone = f[1], f[3], f[5], f[6:10], f[10]
		switch {
		case clock[0] == "":
			m.kind, clock = "date", []string{"00", "00", "00", ""}
		case zone == "":
			m.kind = "naive"
		default:
			m.kind = "zoned"
		}
	} else {
		return moment{}, false
	}
	if clock[2] == "" {
		clock[2] = "00"
	}
	switch zone = strings.ReplaceAll(zone, ":", ""); {
	case zone == "" || zone == "Z":
		zone = "+0000"
	case len(zone) == 3:
		zone += "00"
	}
	m.zone = zone[:3] + ":" + zone[3:]
	m.digits, m.fraction = len(clock[3]), clock[3]
	if zone[1:3] > "23" || zone[3:] > "59" {
		return moment{}, false
	}
	if m.zone == "-00:00" {
		m.zone = "+00:00"
	}
	var err error
	m.at, err = time.Parse("2006-01-02 15:04:05 -07:00", fmt.Sprintf("%s-%s-%s %s:%s:%s %s", year, month,
		day, clock[0], clock[1], clock[2], m.zone))
	return m, err == nil
}

// textType returns the type of a column of strings.
func textType(all []*tree) string {
	kinds, zones, digits := map[string]bool{}, map[string]bool{}, 0
	var moments []moment
	for _, v := range all {
		m, ok := parseMoment(v.text)
		if !ok {
			return "string"
		}
		kinds[m.kind] = true
		if m.kind == "zoned" {
			zones[m.zone] = true
		}
		digits = max(digits, m.digits)
		moments = append(moments, m)
	}
	unit := "ms"
	switch {
	case digits > 9:
		return "string"
	case digits > 6:
		unit = "ns"
	case digits > 3:
		unit = "us"
	}
	switch {
	case len(kinds) == 1 && kinds["date"]:
		return "date32"
	case len(kinds) == 1 && kinds["time"] && unit == "ms":
		return "time32[ms]"
	case len(kinds) == 1 && kinds["time"]:
		return "time64[" + unit + "]"
	case kinds["time"], kinds["zoned"] && len(kinds) > 1:
		return "string"
	}
	for _, m := range moments {
		// Choice: nanoseconds hold the whole seconds in which every fraction fits.
		if unit == "ns" && (m.at.Unix() < -9223372036 || m.at.Unix() > 9223372035) {
			return "string"
		}
	}
	zone := ""
	if kinds["zoned"] {
		zone = "UTC"
		if len(zones) == 1 && !zones["+00:00"] {
			zone = moments[0].zone
		}
	}
	return "timestamp[" + unit + "," + zone + "]"
}

// render returns the text of a value in a column of a type.
func (o *oracle) render(v *tree, typ string) string {
	if elem, isList := strings.CutPrefix(typ, "list<"); isList {
		elem = strings.TrimSuffix(elem, ">")
		elements := []*tree{v}
		if v.kind == '[' {
			elements = v.values
		}
		texts := make([]string, len(elements))
		for i, e := range elements {
			texts[i] = o.render(e, elem)
		}
		return "[" + strings.Join(texts, " ") + "]"
	}
	switch base, _, _ := strings.Cut(typ, "["); base {
	case "bool":
		return string(v.raw)
	case "int32", "int64", "uint64":
		return integerText(v)
	case "float64":
		return o.floatText(v)
	case "date32":
		m, _ := parseMoment(v.text)
		return strconv.FormatInt(floorDiv(m.at.Unix(), 86400), 10)
	case "timestamp", "time32", "time64":
		m, _ := parseMoment(v.text)
		digits := map[string]int{"ms": 3, "us": 6, "ns": 9}[typ[strings.Index(typ, "[")+1:][:2]]
		fraction, _ := strconv.ParseInt((m.fraction + "000000000")[:digits], 10, 64)
		return strconv.FormatInt(m.at.Unix()*int64(math.Pow10(digits))+fraction, 10)
	}
	return strconv.Quote(o.asText(v))
}

// asText returns a value as text: a string without quotes, anything else as it is written, nested
// values without blanks.
func (o *oracle) asText(v *tree) string {
	switch v.kind {
	case '"':
		o.sum.replaced += v.replace
		return v.text
	case '{', '[':
		var b bytes.Buffer
		if err := json.Compact(&b, v.raw); err != nil {
			panic(err)
		}
		return b.String()
	}
	return string(v.raw)
}

func integerText(v *tree) string {
	switch v.kind {
	case 't':
		return "1"
	case 'f':
		return "0"
	}
	n, _ := new(big.Int).SetString(string(v.raw), 10)
	return n.String()
}

func (o *oracle) floatText(v *tree) string {
	switch {
	case v.kind == 't':
		return hexBits(1)
	case v.kind == 'f':
		return hexBits(0)
	}
	f, _ := strconv.ParseFloat(string(v.raw), 64)
	if isReal(string(v.raw)) {
		return hexBits(f)
	}
	n, _ := new(big.Int).SetString(string(v.raw), 10)
	if exact, _ := big.NewFloat(f).Int(nil); exact.Cmp(n) != 0 {
		o.sum.rounded++
	}
	return hexBits(f + 0) // an integer has no sign of zero
}

func floorDiv(a, b int64) int64 { return int64(math.Floor(float64(a) / float64(b))) }

func hexBits(f float64) string { return strconv.FormatUint(math.Float64bits(f), 16) }

// nest is nested arrays of positions.
type nest struct {
	position []float64 // at the innermost level
	list     []nest
}

type oracleShape struct {
	kind    geoarrow.Kind
	dim     geoarrow.Dim // of all members
	nest    nest         // of the kind's depth; a Point without position is empty
	members []*oracleShape
}

func oracleKind(name string) geoarrow.Kind {
	for k := geoarrow.Point; k <= geoarrow.GeometryCollection; k++ {
		if k.String() == name {
			return k
		}
	}
	return geoarrow.NoKind
}

// levels returns how many arrays are around the positions of a kind.
func levels(k geoarrow.Kind) int {
	switch k {
	case geoarrow.Point:
		return 0
	case geoarrow.LineString, geoarrow.MultiPoint:
		return 1
	case geoarrow.MultiPolygon:
		return 3
	}
	return 2
}

func (o *oracle) geometry(v *tree, open int) (*oracleShape, error) {
	if v.kind != '{' || open >= 1024 {
		return nil, refuse("a geometry that is no object, or too deep")
	}
	t := v.last("type")
	if t == nil || t.kind != '"' || oracleKind(t.text) == geoarrow.NoKind {
		return nil, refuse("no type of a geometry")
	}
	s := &oracleShape{kind: oracleKind(t.text)}
	coordinates, geometries := v.last("coordinates"), v.last("geometries")
	for i, name := range v.keys {
		isCollection := s.kind == geoarrow.GeometryCollection
		if m := v.values[i]; !(isCollection && m == geometries || !isCollection && m == coordinates) {
			if err := m.checkDepth(open + 1); err != nil {
				return nil, err
			}
		}
		switch {
		case name == "crs" && o.sequence && open == 0:
			o.setRowCRS(v, v.values[i])
		case !slices.Contains([]string{"type", "coordinates", "geometries", "bbox"}, name):
			o.foreign[name]++
		}
	}
	if s.kind == geoarrow.GeometryCollection {
		if geometries == nil || geometries.kind != '[' || open+1 >= 1024 {
			return nil, refuse("no geometries, or too deep")
		}
		for _, g := range geometries.values {
			m, err := o.geometry(g, open+2)
			if err != nil {
				return nil, err
			}
			s.members = append(s.members, m)
			s.dim |= m.dim
		}
		return s, nil
	}
	if coordinates == nil || coordinates.kind != '[' {
		return nil, refuse("no coordinates")
	}
	if s.kind == geoarrow.Point && len(coordinates.values) == 0 {
		return s, nil
	}
	var err error
	s.nest, err = o.nested(coordinates, levels(s.kind), &s.dim)
	o.countOdd(s)
	return s, err
}

func (o *oracle) nested(v *tree, level int, dim *geoarrow.Dim) (nest, error) {
	if v.kind != '[' {
		return nest{}, refuse("coordinates that are no array")
	}
	if level > 0 {
		out := nest{list: []nest{}}
		for _, e := range v.values {
			n, err := o.nested(e, level-1, dim)
			if err != nil {
				return nest{}, err
			}
			out.list = append(out.list, n)
		}
		return out, nil
	}
	position := []float64{}
	for _, e := range v.values {
		f, err := strconv.ParseFloat(string(e.raw), 64)
		if e.kind != '0' || err != nil {
			return nest{}, refuse("an ordinate that is no number")
		}
		position = append(position, f)
	}
	if len(position) < 2 {
		return nest{}, refuse("a position of %d numbers", len(position))
	}
	if len(position) > 2 {
		*dim |= geoarrow.HasZ
	}
	if len(position) > 3 {
		o.sum.ignored += int64(len(position) - 3)
		position = position[:3]
	}
	return nest{position: position}, nil
}

// countOdd counts what is unusual about a shape.
func (o *oracle) countOdd(s *oracleShape) {
	switch s.kind {
	case geoarrow.LineString:
		if len(s.nest.list) == 1 {
			o.sum.shortLines++
		}
	case geoarrow.MultiLineString:
		for _, line := range s.nest.list {
			if len(line.list) == 1 {
				o.sum.shortLines++
			}
		}
	case geoarrow.Polygon:
		o.countRings(s.nest)
	case geoarrow.MultiPolygon:
		for _, polygon := range s.nest.list {
			o.countRings(polygon)
		}
	}
}

func (o *oracle) countRings(polygon nest) {
	for _, ring := range polygon.list {
		n := len(ring.list)
		if n < 4 {
			o.sum.shortRings++
		}
		if n > 0 && !slices.Equal(ring.list[0].position[:2], ring.list[n-1].position[:2]) {
			o.sum.unclosed++
		}
	}
}

// geometries makes the geometry column.
func (o *oracle) geometries(t *neutral) {
	kinds := map[geoarrow.Kind]bool{}
	for _, f := range o.features {
		if f.shape != nil {
			kinds[f.shape.kind] = true
			t.dim |= f.shape.dim
		}
	}
	for k := geoarrow.Point; k < geoarrow.GeometryCollection; k++ {
		if len(kinds) == 1 && kinds[k] || len(kinds) == 2 && kinds[k] && k <= geoarrow.Polygon && kinds[k.Multi()] {
			t.kind = k
			if len(kinds) == 2 {
				t.kind = k.Multi()
			}
		}
	}
	for _, f := range o.features {
		wkb, native := "null", "null"
		if f.shape != nil {
			wkb = fmt.Sprintf("%x", appendOracleWKB(nil, f.shape, f.shape.dim))
			native = nativeText(promoted(f.shape, t.kind), t.dim.Size())
		}
		t.wkb = append(t.wkb, wkb)
		if t.kind != geoarrow.NoKind {
			t.native = append(t.native, native)
		}
	}
}

// promoted returns the nest of a shape as one of a kind.
func promoted(s *oracleShape, k geoarrow.Kind) nest {
	switch {
	case s.kind == k || k == geoarrow.NoKind:
		return s.nest
	case s.nest.position == nil && len(s.nest.list) == 0:
		return nest{list: []nest{}}
	}
	return nest{list: []nest{s.nest}}
}

func nativeText(n nest, size int) string {
	if n.list == nil { // a position, or the one of an empty Point
		texts := make([]string, size)
		for i := range texts {
			texts[i] = "nan"
			if i < len(n.position) {
				texts[i] = hexBits(n.position[i])
			}
		}
		return "(" + strings.Join(texts, " ") + ")"
	}
	texts := make([]string, len(n.list))
	for i, e := range n.list {
		texts[i] = nativeText(e, size)
	}
	return "[" + strings.Join(texts, " ") + "]"
}

// appendOracleWKB writes ISO WKB, OGC 06-103r4 section 8.2.
func appendOracleWKB(b []byte, s *oracleShape, dim geoarrow.Dim) []byte {
	le := binary.LittleEndian
	head := func(k geoarrow.Kind) { b = le.AppendUint32(append(b, 1), uint32(k)+1000*uint32(dim)) }
	position := func(p []float64) {
		for i := range dim.Size() {
			v := uint64(0x7ff8000000000000)
			if i < len(p) {
				v = math.Float64bits(p[i])
			}
			b = le.AppendUint64(b, v)
		}
	}
	var counted func(n nest)
	counted = func(n nest) {
		b = le.AppendUint32(b, uint32(len(n.list)))
		for _, e := range n.list {
			if e.list == nil {
				position(e.position)
			} else {
				counted(e)
			}
		}
	}
	head(s.kind)
	switch s.kind {
	case geoarrow.Point:
		position(s.nest.position)
	case geoarrow.LineString, geoarrow.Polygon:
		counted(s.nest)
	case geoarrow.GeometryCollection:
		b = le.AppendUint32(b, uint32(len(s.members)))
		for _, m := range s.members {
			b = appendOracleWKB(b, m, dim)
		}
	default:
		b = le.AppendUint32(b, uint32(len(s.nest.list)))
		for _, e := range s.nest.list {
			b = appendOracleWKB(b, &oracleShape{kind: s.kind - 3, nest: e}, dim)
		}
	}
	return b
}

// neutralTable brings the parser's table into the neutral form, through the records that a client
// gets.
func neutralTable(t *readers.Table) (*neutral, error) {
	sum := &t.Summary
	out := &neutral{crs: t.CRS.String(), counts: neutralCounts{
		ignored: sum.IgnoredOrdinates, replaced: t.ReplacedCharacters, unclosed: sum.UnclosedRings,
		shortRings: sum.ShortRings, shortLines: sum.ShortLines, rounded: t.RoundedIntegers,
	}}
	var names []string
	for name, n := range sum.Foreign {
		names = append(names, fmt.Sprintf("%q:%d", name, n))
	}
	slices.Sort(names)
	out.counts.foreign = strings.Join(names, " ")
	first := t.Batches[0]
	schema := geoarrow.Schema(first, t.CRS, geoarrow.Encoding{})
	n := schema.NumFields() - 1
	out.kind, out.dim = first.Geometry.Kind, first.Geometry.Dim
	for i := range n {
		out.columns = append(out.columns, neutralColumn{name: schema.Field(i).Name, typ: typeText(schema.Field(i))})
	}
	if g := schema.Field(n); g.Name != "geometry" {
		return nil, fmt.Errorf("the last column is called %s", g.Name)
	}
	for _, b := range t.Batches {
		record, err := b.Record(schema, nil, geoarrow.Encoding{})
		if err != nil {
			return nil, err
		}
		for i := range n {
			c := &out.columns[i]
			if b.Attributes[i].Name != c.name || b.Attributes[i].JSON != first.Attributes[i].JSON ||
				b.Attributes[i].Mixed != first.Attributes[i].Mixed {
				return nil, fmt.Errorf("column %s differs between batches", c.name)
			}
			for row := range b.Rows {
				c.rows = append(c.rows, cellText(record.Column(i), row))
			}
		}
		if err := out.addGeometry(b, record.Column(n)); err != nil {
			return nil, err
		}
		record.Release()
	}
	return out, nil
}

func (t *neutral) addGeometry(b *geoarrow.Columns, column arrow.Array) error {
	if b.Geometry.Kind != t.kind || b.Geometry.Dim != t.dim {
		return fmt.Errorf("the geometries are %s %d, then %s %d", t.kind, t.dim, b.Geometry.Kind, b.Geometry.Dim)
	}
	wkb, err := b.Geometry.ToWKB()
	if err != nil {
		return err
	}
	for row := range b.Rows {
		text, native := "null", "null"
		if column.IsValid(row) {
			text = fmt.Sprintf("%x", wkb.WKB[wkb.Offsets[row]:wkb.Offsets[row+1]])
			native = geometryText(column, row)
		}
		t.wkb = append(t.wkb, text)
		if t.kind != geoarrow.NoKind {
			t.native = append(t.native, native)
		}
	}
	return nil
}

// geometryText renders lists of coordinates.
func geometryText(a arrow.Array, row int) string {
	var texts []string
	switch a := a.(type) {
	case *array.Struct:
		for i := range a.NumField() {
			v := a.Field(i).(*array.Float64).Value(row)
			text := hexBits(v)
			if text == "7ff8000000000000" {
				text = "nan"
			}
			texts = append(texts, text)
		}
		return "(" + strings.Join(texts, " ") + ")"
	case *array.List:
		from, to := a.ValueOffsets(row)
		for i := from; i < to; i++ {
			texts = append(texts, geometryText(a.ListValues(), int(i)))
		}
	}
	return "[" + strings.Join(texts, " ") + "]"
}

func typeText(f arrow.Field) string {
	if v, _ := f.Metadata.GetValue("ARROW:extension:name"); v == "arrow.json" {
		return "json"
	}
	if v, _ := f.Metadata.GetValue("vibeflight.mixed"); v == "true" {
		return "mixed"
	}
	switch t := f.Type.(type) {
	case *arrow.StringType:
		return "string"
	case *arrow.BooleanType:
		return "bool"
	case *arrow.Float64Type:
		return "float64"
	case *arrow.ListType:
		return "list<" + typeText(arrow.Field{Type: t.Elem()}) + ">"
	case *arrow.TimestampType:
		return "timestamp[" + t.Unit.String() + "," + t.TimeZone + "]"
	case *arrow.Time32Type:
		return "time32[" + t.Unit.String() + "]"
	case *arrow.Time64Type:
		return "time64[" + t.Unit.String() + "]"
	}
	return f.Type.Name()
}

func cellText(a arrow.Array, row int) string {
	if a.IsNull(row) {
		return "null"
	}
	switch a := a.(type) {
	case *array.String:
		return strconv.Quote(a.Value(row))
	case *array.Boolean:
		return strconv.FormatBool(a.Value(row))
	case *array.Float64:
		return hexBits(a.Value(row))
	case *array.Int32:
		return strconv.FormatInt(int64(a.Value(row)), 10)
	case *array.Int64:
		return strconv.FormatInt(a.Value(row), 10)
	case *array.Uint64:
		return strconv.FormatUint(a.Value(row), 10)
	case *array.Date32:
		return strconv.FormatInt(int64(a.Value(row)), 10)
	case *array.Timestamp:
		return strconv.FormatInt(int64(a.Value(row)), 10)
	case *array.Time32:
		return strconv.FormatInt(int64(a.Value(row)), 10)
	case *array.Time64:
		return strconv.FormatInt(int64(a.Value(row)), 10)
	case *array.List:
		from, to := a.ValueOffsets(row)
		var texts []string
		for i := from; i < to; i++ {
			texts = append(texts, cellText(a.ListValues(), int(i)))
		}
		return "[" + strings.Join(texts, " ") + "]"
	}
	panic("a column of " + a.DataType().String())
}
