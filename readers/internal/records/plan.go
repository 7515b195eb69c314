package records

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Keys of the metadata of fields and of schemas.
const (
	ExtensionName     = "ARROW:extension:name"
	ExtensionMetadata = "ARROW:extension:metadata"
	LogicalType       = "parquet.logical_type" // of a column of Parquet whose type has the reference system
	mixedKey          = "vibeflight.mixed"
	geoKey            = "geo" // GeoParquet 1.1, and the same in GeoPandas' Feather
)

// Plan is the conversion of each field of a schema.
type Plan struct {
	CRS      geoarrow.CRS
	Cover    *Cover // nil: there is none
	fields   []field
	geometry *geometryField // nil: there is none
}

// field is a field that becomes an attribute.
type field struct {
	index int // in the schema
	id    geoarrow.ColumnID
	facts geoarrow.Facts
	json  bool // its values become JSON texts
	texts bool // they are JSON texts
}

type geometryField struct {
	encoding
	index int
	name  string // in the file
}

// FieldError is an error about a field of the schema.
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string { return e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }

// geo is the value of the key "geo".
type geo struct {
	Primary string               `json:"primary_column"`
	Columns map[string]geoColumn `json:"columns"`
}

type geoColumn struct {
	Encoding string          `json:"encoding"`
	CRS      json.RawMessage `json:"crs"`
	Types    []string        `json:"geometry_types"`
	Covering *struct {
		BBox struct {
			XMin []string `json:"xmin"`
			YMin []string `json:"ymin"`
			XMax []string `json:"xmax"`
			YMax []string `json:"ymax"`
		} `json:"bbox"`
	} `json:"covering"`
}

// NewPlan returns the plan of a schema. An unsupported type and invalid metadata give a
// *FieldError.
func NewPlan(schema *arrow.Schema) (*Plan, error) {
	if schema.NumFields() == 0 {
		return nil, &FieldError{"", errors.New("the schema has no field")}
	}
	p := &Plan{}
	said, err := geoOf(schema)
	if err != nil {
		return nil, &FieldError{geoKey, err}
	}
	if err := p.findGeometry(schema, said); err != nil {
		return nil, err
	}
	covering, covered := said.covering(schema)
	if covered {
		p.Cover = said.cover()
	}
	names := uniqueNames(schema)
	for i, f := range schema.Fields() {
		switch {
		case p.geometry != nil && i == p.geometry.index, covered && f.Name == covering:
			continue
		case !utf8.ValidString(f.Name):
			return nil, &FieldError{fmt.Sprintf("%q", f.Name), errors.New("a name that is not UTF-8")}
		}
		attribute, err := fieldOf(i, f)
		if err != nil {
			return nil, &FieldError{f.Name, err}
		}
		attribute.id.Name = names[i]
		p.fields = append(p.fields, attribute)
	}
	return p, nil
}

// uniqueNames returns a name that is there before the number of its next place: a, a_1, a_2.
func uniqueNames(schema *arrow.Schema) []string {
	taken := map[string]bool{}
	for _, f := range schema.Fields() {
		taken[f.Name] = true
	}
	seen, names := map[string]int{}, make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		names[i] = f.Name
		for n := seen[f.Name]; n > 0; n++ {
			if names[i] = fmt.Sprintf("%s_%d", f.Name, n); !taken[names[i]] {
				taken[names[i]] = true
				seen[f.Name] = n
				break
			}
		}
		seen[f.Name]++
	}
	return names
}

func fieldOf(i int, f arrow.Field) (field, error) {
	t, err := target(f.Type, 0)
	if err != nil {
		return field{}, err
	}
	out := field{index: i, id: geoarrow.ColumnID{Role: geoarrow.RoleAttribute, Name: f.Name}}
	extension, _ := f.Metadata.GetValue(ExtensionName)
	mixed, _ := f.Metadata.GetValue(mixedKey)
	switch {
	case t == nil:
		out.json = true
		out.facts.Kinds = geoarrow.FactJSON
	case t.ID() == arrow.STRING && extension == "arrow.json":
		out.texts = true
		out.facts.Kinds = geoarrow.FactJSON
	case t.ID() == arrow.STRING && mixed == "true":
		out.facts.Kinds = geoarrow.FactString | geoarrow.FactBool // several kinds: Resolve gives text, mixed
	default:
		name, ok := geoarrow.TypeName(t)
		if !ok {
			return field{}, fmt.Errorf("%s is a type that is not read", f.Type)
		}
		out.facts = geoarrow.Facts{Kinds: geoarrow.FactDeclared, Declared: name}
	}
	return out, nil
}

// geoOf reads the metadata of GeoParquet; nil if there is none.
func geoOf(schema *arrow.Schema) (*geo, error) {
	m := schema.Metadata()
	text, ok := m.GetValue(geoKey)
	if !ok {
		return nil, nil
	}
	var g geo
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		return nil, fmt.Errorf("the metadata %q: %w", geoKey, err)
	}
	if _, ok := g.Columns[g.Primary]; !ok {
		return nil, fmt.Errorf("the metadata %q says nothing of its primary column %q", geoKey, g.Primary)
	}
	return &g, nil
}

// encodingName returns the part of an extension's name, or of an encoding of the metadata "geo",
// that names the encoding of geometries: "point" of "geoarrow.point", "wkb" of "ogc.wkb", which
// GDAL's Arrow driver writes.
func encodingName(name string) (encoded string, prefixed bool) {
	for _, prefix := range []string{"geoarrow.", "ogc."} {
		if encoded, prefixed = strings.CutPrefix(name, prefix); prefixed {
			return encoded, true
		}
	}
	return name, false
}

// findGeometry finds the geometry column: the primary one of GeoParquet; else, of those with a
// GeoArrow extension, the one called geometry, or the first.
func (p *Plan) findGeometry(schema *arrow.Schema, said *geo) error {
	index, name := -1, ""
	for i, f := range schema.Fields() {
		extension, _ := f.Metadata.GetValue(ExtensionName)
		encoded, is := encodingName(extension)
		if said != nil {
			if f.Name == said.Primary {
				var gdal bool
				if index, name, gdal = i, said.encoding(), said.isGDAL(); gdal && is {
					name = encoded
				}
				break
			}
		} else if is && (index < 0 || f.Name == geoarrow.GeometryName && schema.Field(index).Name != f.Name) {
			index, name = i, encoded
		}
	}
	if index < 0 {
		if said != nil {
			return &FieldError{said.Primary, fmt.Errorf("the metadata %q names it, and there is no such column",
				geoKey)}
		}
		return nil
	}
	f := schema.Field(index)
	e, err := encodingOf(name, f.Type)
	if err != nil {
		return &FieldError{f.Name, err}
	}
	p.geometry = &geometryField{e, index, f.Name}
	if p.CRS, err = geometryCRS(f, said); err != nil {
		return &FieldError{f.Name, err}
	}
	return nil
}

// encoding returns the encoding of the primary column by the metadata.
func (g *geo) encoding() string {
	name, _ := encodingName(g.Columns[g.Primary].Encoding)
	return name
}

// isGDAL reports whether the metadata is from GDAL's Arrow driver: that of GeoParquet 0.1 with
// other encodings. The extension of the field has the same information, and takes precedence.
func (g *geo) isGDAL() bool {
	_, prefixed := encodingName(g.Columns[g.Primary].Encoding)
	return prefixed
}

// geometryCRS returns the reference system of the geometry:
//
//	GeoParquet    what it says; where it says nothing, that of the type GEOMETRY, or OGC:CRS84; where it says
//	              null, that of the extension of the field
//	GDAL's Arrow  that of the extension, else what the metadata says
//	neither       that of the extension
func geometryCRS(f arrow.Field, said *geo) (geoarrow.CRS, error) {
	own, err := extensionCRS(f)
	if said == nil {
		return crsOr(own, err)
	}
	crs := said.Columns[said.Primary].CRS
	switch {
	case said.isGDAL() && err == nil && isNull(own):
		return crsOf(crs)
	case said.isGDAL(), string(crs) == "null":
		return crsOr(own, err)
	case len(crs) > 0:
		return crsOf(crs)
	}
	if _, native := f.Metadata.GetValue(LogicalType); native && !isNull(own) {
		return crsOr(own, err)
	}
	return geoarrow.CRS84, nil
}

func isNull(crs json.RawMessage) bool { return len(crs) == 0 || string(crs) == "null" }

func crsOr(crs json.RawMessage, err error) (geoarrow.CRS, error) {
	if err != nil {
		return geoarrow.CRS{}, err
	}
	return crsOf(crs)
}

// extensionCRS returns the "crs" of the metadata of a field's extension, or empty.
func extensionCRS(f arrow.Field) (json.RawMessage, error) {
	text, _ := f.Metadata.GetValue(ExtensionMetadata)
	if text == "" {
		return nil, nil
	}
	var own struct {
		CRS json.RawMessage `json:"crs"`
	}
	if err := json.Unmarshal([]byte(text), &own); err != nil {
		return nil, fmt.Errorf("the metadata %s: %w", ExtensionMetadata, err)
	}
	return own.CRS, nil
}

// covering returns the column that has the bounding box of each row, GeoParquet 1.1 "Bounding box
// covering", if the columns that it names are members of one struct.
func (g *geo) covering(schema *arrow.Schema) (name string, ok bool) {
	if g == nil || g.Columns[g.Primary].Covering == nil {
		return "", false
	}
	b := g.Columns[g.Primary].Covering.BBox
	for _, path := range [][]string{b.XMin, b.YMin, b.XMax, b.YMax} {
		if len(path) != 2 || path[0] != b.XMin[0] {
			return "", false
		}
		at := schema.FieldIndices(path[0])
		if len(at) != 1 {
			return "", false
		}
		t, isStruct := schema.Field(at[0]).Type.(*arrow.StructType)
		if !isStruct {
			return "", false
		}
		f, there := t.FieldByName(path[1])
		if !there || f.Type.ID() != arrow.FLOAT64 && f.Type.ID() != arrow.FLOAT32 {
			return "", false
		}
	}
	return b.XMin[0], true
}

// Needs returns the fields of the schema that a projection needs, in order.
func (p *Plan) Needs(columns readers.Projection) []int {
	var needed []int
	for _, f := range p.fields {
		if columns.Has(f.id) {
			needed = append(needed, f.index)
		}
	}
	if p.geometry != nil && columns.Geometry() {
		needed = append(needed, p.geometry.index)
	}
	slices.Sort(needed)
	return needed
}
