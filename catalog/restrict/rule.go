package restrict

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Evaluator computes SQL expressions over the columns of tables. It is safe for use by several
// goroutines. Its errors are for the operator: they may contain values.
type Evaluator interface {
	// Filter returns the rows of each batch for which a predicate is true, ascending.
	Filter(ctx context.Context, t *readers.Table, predicate string) ([][]int32, error)
	// Compute returns a column for each mask, which has the value of its expression for each row
	// of the table. Batches of the table may lack the slices of columns that Uses does not return.
	Compute(ctx context.Context, t *readers.Table, masks []Mask) ([]arrow.Array, error)
	// Uses returns the columns that expressions read, by number, the geometry being the last one.
	Uses(ctx context.Context, t *readers.Table, expressions []string) ([]int, error)
}

// Mask replaces the values of a column.
type Mask struct {
	Column     int    // of the table; the geometry is the last one
	Expression string // in SQL
}

// rule is a restriction of one table.
type rule struct {
	attributes []int // that are visible, by number in the table
	geometry   bool  // the geometry is visible
	masks      []place
	filter     string
	digest     [sha256.Size]byte
}

// place is a mask and where its column is.
type place struct {
	Mask
	to int // number among the visible attributes; that of the geometry is their number
}

// newRule applies a restriction to the columns of a table. Names are compared without regard to
// case, as SQL does. A name that no column has is ignored, so that a rule can be for many tables.
func newRule(types *geoarrow.Columns, r *access.Restriction) *rule {
	u := &rule{filter: strings.TrimSpace(r.Filter), digest: digestOf(r)}
	mask := func(name string, column, to int) {
		for _, masked := range slices.Sorted(maps.Keys(r.Masks)) {
			if strings.EqualFold(masked, name) {
				u.masks = append(u.masks, place{Mask{column, strings.TrimSpace(r.Masks[masked])}, to})
				return
			}
		}
	}
	for i := range types.Attributes {
		name := types.Attributes[i].Name
		if hides(r, name) {
			continue
		}
		if types.Attributes[i].Type.ID() != arrow.NULL {
			mask(name, i, len(u.attributes))
		}
		u.attributes = append(u.attributes, i)
	}
	if types.Geometry != nil && !hides(r, geoarrow.GeometryName) {
		u.geometry = true
		mask(geoarrow.GeometryName, len(types.Attributes), len(u.attributes))
	}
	return u
}

// hides reports whether a column is left out.
func hides(r *access.Restriction, name string) bool {
	return slices.ContainsFunc(r.Hidden, func(hidden string) bool { return strings.EqualFold(hidden, name) })
}

// Both returns the restriction of a table that two restrictions are for; nil is no restriction. A
// column with two masks is hidden.
func Both(a, b *access.Restriction) *access.Restriction {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	if digestOf(a) == digestOf(b) {
		return a
	}
	out := &access.Restriction{Hidden: slices.Concat(a.Hidden, b.Hidden), Masks: map[string]string{}, Filter: a.Filter}
	for _, each := range []map[string]string{a.Masks, b.Masks} {
		for name, mask := range each {
			if other, ok := out.Masks[name]; ok && other != mask {
				out.Hidden = append(out.Hidden, name)
			}
			out.Masks[name] = mask
		}
	}
	slices.Sort(out.Hidden)
	switch {
	case strings.TrimSpace(a.Filter) == "":
		out.Filter = b.Filter
	case strings.TrimSpace(b.Filter) != "":
		out.Filter = "(" + a.Filter + "\n) AND (" + b.Filter + "\n)"
	}
	return out
}

// digestOf identifies a restriction.
func digestOf(r *access.Restriction) [sha256.Size]byte {
	var b []byte
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	b = binary.AppendUvarint(b, uint64(len(r.Hidden)))
	for _, name := range slices.Sorted(slices.Values(r.Hidden)) {
		text(name)
	}
	b = binary.AppendUvarint(b, uint64(len(r.Masks)))
	for _, name := range slices.Sorted(maps.Keys(r.Masks)) {
		text(name)
		text(r.Masks[name])
	}
	text(r.Filter)
	return sha256.Sum256(b)
}

// isNull reports whether a mask is NULL, which needs no evaluator.
func (m Mask) isNull() bool { return strings.EqualFold(m.Expression, "NULL") }

// computed returns the masks that need an evaluator.
func (u *rule) computed() []place {
	return slices.DeleteFunc(slices.Clone(u.masks), func(p place) bool { return p.isNull() })
}

// maskOf returns the mask of a visible column, or nil.
func (u *rule) maskOf(to int) *place {
	for i := range u.masks {
		if u.masks[i].to == to {
			return &u.masks[i]
		}
	}
	return nil
}

// geometryMask returns the mask of the geometry, or nil.
func (u *rule) geometryMask() *place {
	if !u.geometry {
		return nil
	}
	return u.maskOf(len(u.attributes))
}

// project returns the visible columns of a batch. Masked ones have their true values.
func (u *rule) project(c *geoarrow.Columns) *geoarrow.Columns {
	out := &geoarrow.Columns{Rows: c.Rows, Attributes: make([]geoarrow.Column, len(u.attributes))}
	for to, i := range u.attributes {
		out.Attributes[to] = c.Attributes[i]
	}
	if u.geometry {
		out.Geometry = c.Geometry
	}
	return out
}

// types returns the visible columns without rows and without facts about values.
func (u *rule) types(of *geoarrow.Columns) *geoarrow.Columns {
	out := u.project(of.Slice(0, 0))
	for i := range out.Attributes {
		c := &out.Attributes[i]
		c.Facts, c.Rounded, c.Replaced = geoarrow.Facts{}, 0, 0
	}
	if m := u.geometryMask(); m != nil && !m.isNull() {
		out.Geometry = geoarrow.NullGeometry(0, geoarrow.NoKind, geoarrow.XY)
	}
	return out
}
