package readers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// joiner turns chunks, each with the narrowest types of its own rows, into batches of one schema.
// Only the columns that differ are touched.
type joiner struct {
	ctx    context.Context
	parser Parser
	src    *source.File
	limits Limits

	keep    Keeper // may be nil
	keeping sync.Mutex

	chunks []Chunk
	order  []geoarrow.ColumnID // of first appearance
	facts  map[geoarrow.ColumnID]geoarrow.Facts
	// columns that some chunk has as text because other rows require it
	text   map[geoarrow.ColumnID]bool
	kind   geoarrow.Kind // of all geometries so far; meaningful if typed
	dim    geoarrow.Dim
	typed  bool // a geometry that is not null was seen
	shapes bool // the format has geometries
}

// add adds the next chunk.
func (j *joiner) add(c Chunk) error {
	if j.facts == nil {
		j.facts, j.text = map[geoarrow.ColumnID]geoarrow.Facts{}, map[geoarrow.ColumnID]bool{}
	}
	guessed := false
	for i := range c.Columns.Attributes {
		col := &c.Columns.Attributes[i]
		guessed = guessed || col.Facts.IsGuessed()
		facts, known := j.facts[col.ID()]
		if !known {
			j.order = append(j.order, col.ID())
			facts = col.Facts
		}
		j.facts[col.ID()] = facts.Join(col.Facts)
		if isText(col.Type) && !isText(col.Facts.Resolve(col.Role).Type) {
			j.text[col.ID()] = true
		}
	}
	if most := j.limits.MaxColumns; most > 0 && len(j.order) > most { // with those of siblings
		return TooManyColumns(most, fmt.Errorf("%s: the rows from %d on", j.src.Name, c.Span.Row))
	}
	if guessed {
		c.Columns = withoutGuessed(c.Columns)
	}
	if g := c.Columns.Geometry; g != nil {
		j.shapes = true
		j.joinGeometry(g)
	}
	if j.keep != nil {
		var err error
		if c.Columns, err = j.keep.Keep(c.Columns); err != nil {
			return err
		}
	}
	j.chunks = append(j.chunks, c)
	return nil
}

// withoutGuessed returns c without the columns whose values are all in its geometry.
func withoutGuessed(c *geoarrow.Columns) *geoarrow.Columns {
	out := *c
	out.Attributes = slices.DeleteFunc(slices.Clone(c.Attributes), func(col geoarrow.Column) bool {
		return col.Facts.IsGuessed()
	})
	return &out
}

func isText(t arrow.DataType) bool { return t.ID() == arrow.STRING }

// resolve returns the type that holds a column of all chunks.
func (j *joiner) resolve(id geoarrow.ColumnID) geoarrow.Resolution {
	to := j.facts[id].Resolve(id.Role)
	if j.text[id] && !isText(to.Type) {
		return geoarrow.Resolution{Type: arrow.BinaryTypes.String}
	}
	return to
}

// joinGeometry widens the kind of all geometries.
func (j *joiner) joinGeometry(g *geoarrow.Geometry) {
	j.dim |= g.Dim
	switch {
	case g.Nulls == g.Rows:
	case !j.typed:
		j.kind, j.typed = g.Kind, true
	default:
		j.kind = j.kind.Join(g.Kind)
	}
}

// join sets the table's batches, which have one schema, and its totals.
func (j *joiner) join(t *Table) error {
	order := j.columnOrder()
	names := finalNames(order, j.shapes)
	batches, err := j.unify(order)
	if err != nil {
		return err
	}
	j.fill(t, batches, order, names)
	return nil
}

// fill sets the table's batches, which are the widened chunks, and its totals. If one chunk knows
// that the table's reference system determines geometries, all spans have the system, so that they
// do not depend on what was read together.
func (j *joiner) fill(t *Table, batches []*geoarrow.Columns, order []geoarrow.ColumnID, names []string) {
	var crs *geoarrow.CRS
	if slices.ContainsFunc(j.chunks, func(c Chunk) bool { return c.Span.CRS != nil }) {
		known := t.CRS // spans may outlive the table
		crs = &known
	}
	for i, b := range batches {
		for k := range b.Attributes {
			b.Attributes[k].Name = names[k]
			t.RoundedIntegers += b.Attributes[k].Rounded
			t.ReplacedCharacters += b.Attributes[k].Replaced
		}
		span := j.chunks[i].Span
		span.Text, span.CRS = nil, crs
		if i+1 < len(batches) {
			span.To = j.chunks[i+1].Span.From // including skipped rows between them
		}
		t.Spans = append(t.Spans, span)
		t.Starts = append(t.Starts, t.Rows)
		t.Rows += int64(b.Rows)
		t.Bytes += b.Bytes()
	}
	for _, id := range order {
		t.Facts = append(t.Facts, j.facts[id])
	}
	t.Batches, t.Starts, t.IDs = batches, append(t.Starts, t.Rows), order
}

// unify gives all chunks the same columns with the same types, several chunks at a time. Of
// several errors it returns that of the first chunk.
func (j *joiner) unify(order []geoarrow.ColumnID) ([]*geoarrow.Columns, error) {
	batches, errs := make([]*geoarrow.Columns, len(j.chunks)), make([]error, len(j.chunks))
	workers, err := j.crowd(order)
	if err != nil {
		return nil, err
	}
	if err := j.reserve(order); err != nil {
		return nil, err
	}
	var next, failed atomic.Int64
	failed.Store(int64(len(j.chunks)))
	inParallel(workers, func() {
		for i := next.Add(1) - 1; i < failed.Load(); i = next.Add(1) - 1 {
			if errs[i] = j.ctx.Err(); errs[i] == nil {
				batches[i], errs[i] = j.widenKept(j.chunks[i], order)
			}
			if errs[i] != nil {
				failed.Store(min(i, failed.Load()))
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return batches, nil
}

// crowd returns how many chunks may be widened at a time: columns that only some chunks have are
// added as nulls to all the others.
func (j *joiner) crowd(order []geoarrow.ColumnID) (workers int, err error) {
	most := 1
	for _, c := range j.chunks {
		if err := j.limits.CheckCells(j.src.Name, c.Span.Row, c.Columns.Rows, len(order)); err != nil {
			return 0, err
		}
		most = max(most, c.Columns.Rows*len(order))
	}
	fit := j.limits.Memory / 2 / cellBytes / int64(most)
	return int(min(int64(j.limits.Workers), int64(len(j.chunks)), max(1, fit))), nil
}

// reserve announces to the keeper how much widening will add.
func (j *joiner) reserve(order []geoarrow.ColumnID) error {
	if j.keep == nil {
		return nil
	}
	var bytes int64
	for _, c := range j.chunks {
		if !j.fits(c.Columns, order) {
			bytes += c.Columns.Bytes()
		}
	}
	if bytes == 0 {
		return nil
	}
	return j.keep.Reserve(bytes)
}

// fits reports whether a chunk has the columns of all chunks, in their order, with their types.
func (j *joiner) fits(c *geoarrow.Columns, order []geoarrow.ColumnID) bool {
	if len(c.Attributes) != len(order) {
		return false
	}
	for i, id := range order {
		if c.Attributes[i].ID() != id || !arrow.TypeEqual(c.Attributes[i].Type, j.resolve(id).Type) {
			return false
		}
	}
	return c.Geometry == nil || c.Geometry.Kind == j.kind && c.Geometry.Dim == j.dim
}

// columnOrder puts the format's leading columns before the attributes.
func (j *joiner) columnOrder() []geoarrow.ColumnID { return columnOrder(j.order, j.facts) }

func columnOrder(order []geoarrow.ColumnID, facts map[geoarrow.ColumnID]geoarrow.Facts) []geoarrow.ColumnID {
	order = slices.DeleteFunc(slices.Clone(order), func(id geoarrow.ColumnID) bool {
		return id.Role == geoarrow.RoleFeatureID && facts[id].Kinds == 0 || // null ids only: absent
			facts[id].IsGuessed()
	})
	slices.SortStableFunc(order, func(a, b geoarrow.ColumnID) int { return int(b.Role) - int(a.Role) })
	return order
}

// GeometryColumn is what the column of geometries is called.
const GeometryColumn = "geometry"

// finalNames makes the names unique. An attribute may be called geometry or like a leading column;
// the column of ids may be called like an attribute.
func finalNames(order []geoarrow.ColumnID, geometry bool) []string {
	wanted := wantedNames(order)
	taken, leading := map[string]bool{}, map[string]bool{GeometryColumn: geometry}
	for _, id := range order {
		if id.Role.Leads() {
			leading[id.Name] = true
			taken[id.Name] = true
		}
	}
	for i, id := range order {
		if id.Role != geoarrow.RoleFeatureID && !leading[wanted[i]] {
			taken[wanted[i]] = true
		}
	}
	numbered := nameCounter{taken: taken}
	names, given := make([]string, len(order)), map[string]bool{}
	for i, id := range order {
		names[i] = wanted[i]
		switch {
		case id.Role != geoarrow.RoleFeatureID && !id.Role.Leads() && leading[names[i]], id.Role.IsPath() &&
			given[names[i]]:
			names[i] = numbered.free(names[i])
		case id.Role == geoarrow.RoleFeatureID && taken[id.Name]:
			names[i] = featureIDs
			if taken[featureIDs] {
				names[i] = numbered.free(featureIDs)
			}
		}
		if id.Role.IsPath() {
			given[names[i]] = true
		}
	}
	return names
}

// nameCounter makes unique names: name_1, name_2 and so on.
type nameCounter struct {
	taken map[string]bool
	last  map[string]int // last number that was added to a name
	tried int            // names that were looked up
}

// free returns the first unused variant of a name, and marks it as used.
func (n *nameCounter) free(name string) string {
	if n.last == nil {
		n.last = map[string]int{}
	}
	for i := n.last[name] + 1; ; i++ {
		n.tried++
		if s := fmt.Sprintf("%s_%d", name, i); !n.taken[s] {
			n.taken[s], n.last[name] = true, i
			return s
		}
	}
}

// wantedNames returns the columns' names before they are made unique. A path is named by its last
// step, or by all steps if another path ends with the same one.
func wantedNames(order []geoarrow.ColumnID) []string {
	ends := map[string]int{}
	for _, id := range order {
		if id.Role.IsPath() {
			ends[lastStep(id.Name)]++
		}
	}
	names := make([]string, len(order))
	for i, id := range order {
		names[i] = id.Name
		if !id.Role.IsPath() {
			continue
		}
		if names[i] = lastStep(id.Name); ends[names[i]] > 1 {
			names[i] = dotted(id.Name)
		}
	}
	return names
}

// lastStep returns the last name of a path.
func lastStep(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// dotted returns a path as a column's name.
func dotted(path string) string { return strings.ReplaceAll(path, "/", ".") }
