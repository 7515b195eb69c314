package readers

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Projection is the requested columns of a table. The zero value requests all.
//
// A parser checks every byte of a file nevertheless, so a malformed file is an error for every
// request. Its tables have every column of the file, in its place and with its name. A column that
// is not requested has the type null; a geometry that is not requested has no value.
type Projection struct {
	names map[string]bool // nil: all
	bases map[string]bool // their possible names before names were made unique: a for a_1
	id    bool            // one of them may be that of the features' ids
}

// featureIDs is the name, or its beginning, of the column of the features' ids if an attribute is
// called id.
const featureIDs = "feature_id"

// Project requests columns by their names in the table; nil requests all.
func Project(columns []string) Projection {
	if columns == nil {
		return Projection{}
	}
	p := Projection{names: map[string]bool{}, bases: map[string]bool{}}
	for _, name := range columns {
		p.names[name] = true
		p.id = p.id || strings.HasPrefix(name, featureIDs)
		if base, number, found := cutLast(name, "_"); found && isNumber(number) {
			p.bases[base] = true
		}
	}
	return p
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// All reports whether every column is requested.
func (p Projection) All() bool { return p.names == nil }

// Geometry reports whether the geometry is requested.
func (p Projection) Geometry() bool { return p.All() || p.names[GeometryColumn] }

// Has reports whether a column is, or may be, requested: its final name is known only at the end of
// the file.
func (p Projection) Has(id geoarrow.ColumnID) bool {
	if p.All() || p.names[id.Name] || p.bases[id.Name] || p.id && id.Role == geoarrow.RoleFeatureID {
		return true
	}
	if !id.Role.IsPath() {
		return false
	}
	short, long := lastStep(id.Name), dotted(id.Name)
	return p.names[short] || p.bases[short] || p.names[long] || p.bases[long]
}

// Covers reports whether p has all columns of q.
func (p Projection) Covers(q Projection) bool {
	if p.All() || q.All() {
		return p.All()
	}
	for name := range q.names {
		if !p.names[name] {
			return false
		}
	}
	return true
}

// Key returns a string that is equal for equal projections, "" for all columns.
func (p Projection) Key() string {
	if p.All() {
		return ""
	}
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(p.names)) {
		b = append(strconv.AppendQuote(b, name), ',')
	}
	return "[" + string(b) + "]"
}
