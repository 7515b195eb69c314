package geojson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// The oracle is a second parser of GeoJSON, slow and obvious: it reads the whole file into a tree
// with encoding/json, then makes the table that docs/formats/geojson.md describes, column by
// column. It shares no code with the parser but the names of CRS (geoarrow.ParseCRS).
//
// Where the specification leaves a choice, a comment that starts with "Choice:" says which one the
// parser made.

// neutral is a table in a form that does not depend on how it was made: texts, and bits of floats
// in hexadecimal.
type neutral struct {
	crs     string
	columns []neutralColumn
	wkb     []string // of each row, of the kind and dimension that the file says; "null"
	native  []string // of each row, nested, of the kind and dimension of the column; nil for a column of WKB
	kind    geoarrow.Kind
	dim     geoarrow.Dim
	counts  neutralCounts
}

type neutralColumn struct {
	name, typ string
	rows      []string
}

// neutralCounts is what describe tells.
type neutralCounts struct {
	ignored, replaced, unclosed, shortRings, shortLines, rounded int64
	foreign                                                      string
}

// tree is a JSON value that keeps everything.
type tree struct {
	kind    byte // '{' '[' '"' '0' 't' 'f' 'n'
	raw     []byte
	text    string // of a string, decoded
	keys    []string
	values  []*tree // of an object or array
	replace int64   // lone surrogates in a string
}

// last returns the value of a member, the last one if it is repeated; nil if there is none.
func (t *tree) last(name string) *tree {
	for i := len(t.keys) - 1; i >= 0; i-- {
		if t.keys[i] == name {
			return t.values[i]
		}
	}
	return nil
}

func (t *tree) isNull() bool { return t == nil || t.kind == 'n' }

var errOracle = errors.New("refused")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errOracle, fmt.Sprintf(format, args...))
}

// readTree reads one JSON value at the start of data, and gives how long it is.
func readTree(data []byte) (*tree, int, error) {
	r := treeReader{data: data, d: json.NewDecoder(bytes.NewReader(data))}
	r.d.UseNumber()
	t, err := r.value()
	return t, r.end, err
}

type treeReader struct {
	data []byte
	d    *json.Decoder
	end  int // of the last token
}

// token returns the next token with its text.
func (r *treeReader) token() (json.Token, []byte, error) {
	tok, err := r.d.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, nil, refuse("%v", err)
	}
	start := r.end
	for strings.IndexByte(" \t\r\n,:", r.data[start]) >= 0 {
		start++
	}
	r.end = int(r.d.InputOffset())
	return tok, r.data[start:r.end], nil
}

func (r *treeReader) value() (*tree, error) {
	tok, raw, err := r.token()
	if err != nil {
		return nil, err
	}
	return r.valueOf(tok, raw)
}

func (r *treeReader) valueOf(tok json.Token, raw []byte) (*tree, error) {
	t := &tree{raw: raw}
	switch tok := tok.(type) {
	case nil:
		t.kind = 'n'
	case bool:
		t.kind = raw[0]
	case json.Number:
		t.kind = '0'
	case string:
		t.kind, t.text, t.replace = '"', tok, loneSurrogates(raw)
		if !utf8.Valid(raw) { // encoding/json repairs it
			return nil, refuse("a string that is not UTF-8")
		}
	case json.Delim:
		t.kind = byte(tok)
		start := r.end - 1
		for r.d.More() {
			if t.kind == '{' {
				key, raw, err := r.token()
				if err != nil {
					return nil, err
				}
				if !utf8.Valid(raw) {
					return nil, refuse("a key that is not UTF-8")
				}
				t.keys = append(t.keys, key.(string))
			}
			v, err := r.value()
			if err != nil {
				return nil, err
			}
			t.values = append(t.values, v)
		}
		if _, _, err := r.token(); err != nil {
			return nil, err
		}
		t.raw = r.data[start:r.end]
	}
	return t, nil
}

// loneSurrogates counts the \u escapes of surrogates without their other half.
func loneSurrogates(raw []byte) (n int64) {
	unit := func(i int) (uint64, bool) {
		if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
			return 0, false
		}
		v, err := strconv.ParseUint(string(raw[i+2:i+6]), 16, 32)
		return v, err == nil
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		v, ok := unit(i)
		if !ok {
			i++
			continue
		}
		i += 5
		if v < 0xD800 || v > 0xDFFF {
			continue
		}
		if low, ok := unit(i + 1); ok && v < 0xDC00 && low >= 0xDC00 && low <= 0xDFFF {
			i += 6
			continue
		}
		n++
	}
	return n
}

// checkDepth refuses t if it opens a bracket inside of n others or more.
func (t *tree) checkDepth(open int) error {
	if t.kind != '{' && t.kind != '[' {
		return nil
	}
	if open >= 1024 {
		return refuse("nested too deeply")
	}
	for _, v := range t.values {
		if err := v.checkDepth(open + 1); err != nil {
			return err
		}
	}
	return nil
}

// oracle is one run.
type oracle struct {
	sequence  bool
	features  []oracleFeature
	crs       geoarrow.CRS
	oddCRS    bool // a crs member of a form that no specification knows: what it means is not compared
	sum       neutralCounts
	foreign   map[string]int64
	crsInRows bool
}

type oracleFeature struct {
	id         *tree
	properties *tree // nil or an object
	shape      *oracleShape
}

func runOracle(data []byte, sequenceName bool) (*neutral, *oracle, error) {
	o := &oracle{crs: geoarrow.CRS84, foreign: map[string]int64{}}
	if err := o.file(data, sequenceName); err != nil {
		return nil, o, err
	}
	table, err := o.table()
	return table, o, err
}

func skipBlanks(data []byte, separators bool) []byte {
	set := " \t\r\n"
	if separators {
		set += "\x1e"
	}
	return bytes.TrimLeft(data, set)
}

func (o *oracle) file(data []byte, sequenceName bool) error {
	data = skipBlanks(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")), false)
	switch {
	case len(data) == 0:
		return refuse("an empty file")
	case data[0] == 0x1E:
		if data = skipBlanks(data, true); len(data) == 0 {
			return refuse("separators only")
		}
		o.sequence = true
		return o.values(data, true)
	case data[0] != '{' && data[0] != '[':
		return refuse("neither object nor array")
	}
	root, end, err := readTree(data)
	if err != nil {
		return err
	}
	isSequence, err := rootIsValue(root)
	switch {
	case err != nil:
		return err
	case isSequence:
		o.sequence = true
		return o.values(data, sequenceName)
	case len(skipBlanks(data[end:], false)) > 0:
		return refuse("bytes after the root")
	case root.kind == '[' && len(root.values) == 0:
		return refuse("an array without a Feature")
	case root.kind == '[':
		return o.rows(root, 1)
	}
	return o.collection(root)
}

// rootIsValue tells a Feature or geometry from a FeatureCollection.
//
// Choice: a FeatureCollection is read from front to back, so features are before or after the
// type, but once; and an object is a Feature or a geometry as soon as a type says so, whatever a
// second type says.
func rootIsValue(root *tree) (bool, error) {
	features := 0
	for i, name := range root.keys {
		v := root.values[i]
		switch {
		case name == "features":
			features++
		case name == "type" && v.kind == '"' && (v.text == "Feature" || oracleKind(v.text) != geoarrow.NoKind):
			if features > 0 {
				return false, refuse("a %s with features", v.text)
			}
			return true, nil
		}
	}
	if features > 1 {
		return false, refuse("features twice")
	}
	return false, nil
}

func (o *oracle) collection(root *tree) error {
	if t := root.last("type"); t == nil || t.kind != '"' || t.text != "FeatureCollection" {
		return refuse("no type FeatureCollection")
	}
	features := root.last("features")
	if features == nil || features.kind != '[' {
		return refuse("no features")
	}
	for i, name := range root.keys {
		v := root.values[i]
		if name == "features" {
			continue
		}
		if err := v.checkDepth(1); err != nil {
			return err
		}
		switch name {
		case "crs":
			o.setCRS(v)
		case "type", "bbox":
		default:
			o.foreign[name]++
		}
	}
	return o.rows(features, 2)
}

func (o *oracle) rows(array *tree, open int) error {
	for _, v := range array.values {
		if err := o.feature(v, open); err != nil {
			return err
		}
	}
	return nil
}

// values reads a sequence.
//
// Choice: in a file whose name or first byte promises a sequence, values need nothing between them;
// in another the second one is on its own line.
func (o *oracle) values(data []byte, promised bool) error {
	for n := 0; ; n++ {
		rest := skipBlanks(data, true)
		if len(rest) == 0 {
			return nil
		}
		if between := data[:len(data)-len(rest)]; n == 1 && !promised && !bytes.ContainsAny(between, "\r\n\x1e") {
			return refuse("a second root on the line of the first")
		}
		if rest[0] != '{' {
			return refuse("a value that is no object")
		}
		v, end, err := readTree(rest)
		if err != nil {
			return err
		}
		data = rest[end:]
		t := v.last("type")
		switch {
		case t == nil || t.kind != '"':
			return refuse("no type")
		case t.text == "Feature":
			err = o.feature(v, 0)
		default:
			var g *oracleShape
			g, err = o.geometry(v, 0)
			o.features = append(o.features, oracleFeature{shape: g})
		}
		if err != nil {
			return err
		}
	}
}

func (o *oracle) feature(v *tree, open int) error {
	if v.kind != '{' {
		return refuse("a feature that is no object")
	}
	if t := v.last("type"); t == nil || t.kind != '"' || t.text != "Feature" {
		return refuse("no Feature")
	}
	geometry := v.last("geometry")
	var f oracleFeature
	for i, name := range v.keys {
		if v.values[i] == geometry {
			continue
		}
		if err := v.values[i].checkDepth(open + 1); err != nil {
			return err
		}
		switch name {
		case "type", "geometry", "properties", "id", "bbox":
		case "crs":
			if o.sequence {
				o.setRowCRS(v, v.values[i])
				continue
			}
			fallthrough
		default:
			o.foreign[name]++
		}
	}
	if !geometry.isNull() {
		var err error
		if f.shape, err = o.geometry(geometry, open+1); err != nil {
			return err
		}
	}
	if p := v.last("properties"); !p.isNull() {
		if p.kind != '{' {
			return refuse("properties that are no object")
		}
		f.properties = p
	}
	if id := v.last("id"); !id.isNull() {
		if id.kind != '"' && id.kind != '0' {
			return refuse("an id that is no string and no number")
		}
		f.id = id
	}
	o.features = append(o.features, f)
	return nil
}

// setRowCRS takes the crs member of a value of a sequence.
//
// Choice: the first value decides. A later one without the member follows it, one with another CRS
// is an error.
func (o *oracle) setRowCRS(value, crs *tree) {
	if value.last("crs") != crs || o.crsInRows || len(o.features) > 0 {
		o.oddCRS = true // more than one: not compared
	}
	o.crsInRows = true
	o.setCRS(crs)
}

// setCRS takes a crs member of the GeoJSON specification of 2008, section 3: null, a name, or, of
// its drafts, an EPSG code.
func (o *oracle) setCRS(v *tree) {
	o.crs = geoarrow.CRS{}
	if v.kind == 'n' {
		return
	}
	var name string
	if v.kind == '{' && len(v.keys) == 2 && v.keys[0] == "type" && v.keys[1] == "properties" &&
		v.values[0].kind == '"' && len(v.values[1].keys) == 1 {
		p := v.values[1]
		switch value := p.values[0]; {
		case v.values[0].text == "name" && p.keys[0] == "name" && value.kind == '"':
			name = value.text
		case v.values[0].text == "EPSG" && p.keys[0] == "code" && value.kind == '0' && len(value.raw) < 6 &&
			value.raw[0] > '0' &&
			!bytes.ContainsAny(value.raw, ".eE"):
			name = "EPSG:" + string(value.raw)
		}
	}
	if name == "" {
		o.oddCRS = true
		return
	}
	var known bool
	if o.crs, known = geoarrow.ParseCRS(name); !known {
		o.crs = geoarrow.CRS{Text: name}
	}
}

func (o *oracle) table() (*neutral, error) {
	t := &neutral{crs: o.crs.String()}
	attributes, err := o.attributes()
	if err != nil {
		return nil, err
	}
	t.columns = attributes
	o.geometries(t)
	var names []string
	for name, n := range o.foreign {
		names = append(names, fmt.Sprintf("%q:%d", name, n))
	}
	slices.Sort(names)
	o.sum.foreign = strings.Join(names, " ")
	t.counts = o.sum
	return t, nil
}
