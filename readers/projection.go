package readers

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Projection is the columns of a table that somebody asks for. The zero value is all of them.
//
// A parser checks every byte of a file all the same, so that a file is malformed a caller that
// reads it, and its tables have every column of the file, with its name and in its place. A column
// that is not asked for has the type null, and a geometry that is not asked for no value.
type Projection struct {
	names map[string]bool // nil: all
	bases map[string]bool // what they may have been called before the table made names unique: a for a_1
	id    bool            // one of them may be that of the features' ids
}

// featureIDs is what the column of the features' ids is called, or begins with, where an attribute
// is called id.
const featureIDs = "feature_id"

// Project asks for columns by the names that they have in the table; nil asks for all.
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

// All reports whether every column is asked for.
func (p Projection) All() bool { return p.names == nil }

// Geometry reports whether the geometry is asked for.
func (p Projection) Geometry() bool { return p.All() || p.names[GeometryColumn] }

// Has reports whether a column is asked for, or may be: what the table will call it is known at the
// end of the file.
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

// Covers reports whether all that q asks for is asked for.
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

// Key is equal for those that ask for the same, "" for all.
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
