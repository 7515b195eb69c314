package export

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// geometryColumn is the index of the first geometry; -1 if there is none.
func geometryColumn(schema *arrow.Schema) int {
	for i, f := range schema.Fields() {
		if isWKB(f) {
			return i
		}
	}
	return -1
}

// treeAt is the geometry of row i; ok is false for null.
func treeAt(column arrow.Array, i int) (t geoarrow.Tree, ok bool, err error) {
	if IsNull(column, i) {
		return t, false, nil
	}
	t, err = geoarrow.ParseWKB(column.(*array.Binary).Value(i))
	return t, err == nil, err
}

// crsOf returns the reference system of a geometry column. definition is its PROJJSON; nil if
// unknown.
func crsOf(f arrow.Field) (crs geoarrow.CRS, definition json.RawMessage) {
	var said struct {
		CRS json.RawMessage `json:"crs"`
	}
	if json.Unmarshal([]byte(metadata(f, extensionMetadata)), &said) != nil || len(said.CRS) == 0 {
		return crs, nil
	}
	if said.CRS[0] == '{' {
		if crs = registered(said.CRS); crs.Authority == "" {
			crs = geoarrow.CRSOfWKT(crs.Text)
		}
		return crs, said.CRS
	}
	var name string
	if json.Unmarshal(said.CRS, &name) != nil {
		return crs, nil
	}
	crs, ok := geoarrow.ParseCRS(name)
	if !ok {
		crs = geoarrow.CRSOfWKT(name)
	}
	definition, _ = crs.PROJJSON()
	return crs, definition
}

// registered returns the registered system that a PROJJSON names, or its whole text.
func registered(definition json.RawMessage) geoarrow.CRS {
	var said struct {
		ID struct {
			Authority string `json:"authority"`
			Code      any    `json:"code"`
		} `json:"id"`
	}
	if json.Unmarshal(definition, &said) != nil || said.ID.Authority == "" {
		return geoarrow.CRS{Text: string(definition)}
	}
	if code, ok := said.ID.Code.(float64); ok {
		return geoarrow.CRS{Authority: said.ID.Authority, Code: fmt.Sprint(int64(code))}
	}
	return geoarrow.CRS{Authority: said.ID.Authority, Code: fmt.Sprint(said.ID.Code)}
}

// geometryFacts are the properties of a geometry column in a header.
type geometryFacts struct {
	kinds [32]bool // by geoarrow.RowKind
	box   [4]float64
	bound int64 // rows with a box: neither null nor empty
}

// add counts a geometry, and returns its box; ok is false if it is empty.
func (f *geometryFacts) add(t *geoarrow.Tree) (box [4]float64, ok bool) {
	f.kinds[geoarrow.MakeRowKind(t.Kind, t.Dim)] = true
	if box, ok = t.Bounds(); !ok {
		return box, false
	}
	if f.bound == 0 {
		f.box = box
	}
	for i := range 2 {
		f.box[i], f.box[i+2] = math.Min(f.box[i], box[i]), math.Max(f.box[i+2], box[i+2])
	}
	f.bound++
	return box, true
}

// dim is the union of the dimensions.
func (f *geometryFacts) dim() (d geoarrow.Dim) {
	for k, seen := range f.kinds {
		if seen {
			d |= geoarrow.RowKind(k).Dim()
		}
	}
	return d
}

// kind is the type of all geometries, a Multi type if some are single; NoKind if they differ.
func (f *geometryFacts) kind() geoarrow.Kind {
	one := geoarrow.NoKind
	for k, seen := range f.kinds {
		switch kind := geoarrow.RowKind(k).Kind(); {
		case !seen || kind == one:
		case one == geoarrow.NoKind:
			one = kind
		case kind.Multi() == one.Multi():
			one = kind.Multi()
		default:
			return geoarrow.NoKind
		}
	}
	return one
}

// promoted converts a geometry to the column's type: a single one becomes a Multi with one member
// if the column has a Multi type.
func (f *geometryFacts) promoted(t geoarrow.Tree) geoarrow.Tree {
	kind := f.kind()
	if kind == t.Kind || kind != t.Kind.Multi() {
		return t
	}
	multi := geoarrow.Tree{Kind: kind, Dim: t.Dim}
	if len(t.Runs) > 0 && len(t.Runs[0]) > 0 {
		multi.Members = []geoarrow.Tree{t}
	}
	return multi
}
