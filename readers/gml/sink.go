package gml

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// Leading columns.
const (
	columnFID   = iota // attribute fid of a feature, GML 2
	columnGMLID        // attribute gml:id, GML 3

	leadingColumns
)

var leadingNames = [leadingColumns]string{columnFID: "fid", columnGMLID: "gml_id"}

// column collects the values of one name.
type column struct {
	rows.Column
	row  int64 // the last row in which the name occurred, by its number
	last int   // the last value in that row
}

// sink holds the rows of the current chunk, and GML's state in addition to their values.
type sink struct {
	rows.Sink
	all      []*column // by their Index
	leading  [leadingColumns]*column
	fields   []field // of the values of the last row, in their order
	row      int64   // number of the current row, over all that were begun
	schema   *schema
	layer    string
	declared []*leafElement // elements of the layer's type, each of which has a column

	foreign map[string]int64 // geometries without a column, by the name of the enclosing element
	inRow   []string         // those of the current row
}

// field is the column of an element.
type field struct {
	in     *step
	name   string
	column *column
}

func newSink(schema *schema, columns readers.Projection) *sink {
	k := &sink{schema: schema}
	k.Project(columns)
	k.Fields = true
	k.Init(func() *rows.Column {
		c := &column{}
		k.all = append(k.all, c)
		return &c.Column
	})
	k.Reset()
	return k
}

// begin sets the layer of the rows.
func (k *sink) begin(layer string) {
	k.layer = layer
	k.declared = k.schema.elements(layer)
	k.list()
}

// Reset drops the rows of the chunk, not what is known about it.
func (k *sink) Reset() {
	k.Sink.Reset()
	k.fields, k.leading = k.fields[:0], [leadingColumns]*column{}
	k.foreign, k.inRow = map[string]int64{}, k.inRow[:0]
	k.list()
}

// list makes the columns that the schema declares, in its order.
func (k *sink) list() {
	for _, d := range k.declared {
		if c, kinds := k.named([]byte(d.name)), d.kinds(); kinds != 0 {
			c.Accept(kinds)
		}
	}
}

func (k *sink) named(path []byte) *column { return k.all[k.Column(geoarrow.RolePath, path).Index] }

// shape returns the column of geometries that are not the rows' own.
func (k *sink) shape(path []byte) *column { return k.all[k.Column(geoarrow.RoleShape, path).Index] }

// lead returns a leading column.
func (k *sink) lead(i int) *column {
	if k.leading[i] == nil {
		k.leading[i] = k.all[k.Column(geoarrow.LeadingRole(uint8(leadingColumns-i), false),
			[]byte(leadingNames[i])).Index]
	}
	return k.leading[i]
}

// value returns the column of the i-th value of a row.
func (k *sink) value(i int, v *value) *column {
	if i < len(k.fields) && k.fields[i].name == string(v.name) && k.fields[i].in == v.in {
		return k.fields[i].column
	}
	f := field{v.in, string(v.name), k.named(v.in.path(v.name))}
	if i < len(k.fields) {
		k.fields[i] = f
	} else {
		k.fields = append(k.fields, f)
	}
	return f.column
}

// commit ends the current row, which began at an offset.
func (k *sink) commit(at int64) {
	k.Commit(at)
	for _, name := range k.inRow {
		k.foreign[name]++
	}
	k.inRow = k.inRow[:0]
}

// rollback drops the current row.
func (k *sink) rollback() {
	k.Rollback()
	k.inRow = k.inRow[:0]
}

// addTo adds the counts of a finished chunk.
func (k *sink) addTo(sum *readers.Summary) {
	k.AddTo(sum)
	for name, n := range k.foreign {
		sum.Foreign[name] += n
	}
}

// Columns returns the chunk, in which a column without values has the type that the schema
// declares.
func (k *sink) Columns(next float64) (*geoarrow.Columns, error) {
	out, err := k.Sink.Columns(next)
	if err != nil {
		return nil, err
	}
	promised := map[string]*leafElement{}
	for _, d := range k.declared {
		if d.promise != nil && d.promise.empty != 0 && !d.many {
			promised[d.name] = d
		}
	}
	for i := range out.Attributes {
		c := &out.Attributes[i]
		d := promised[c.Name]
		if d != nil && c.Role == geoarrow.RolePath && c.Facts.Kinds == 0 && !k.IsText(c.ID()) {
			c.Facts.Kinds = d.promise.empty | geoarrow.FactField
			*c, _ = c.Widen(c.Facts.Resolve(c.Role), out.Rows) // nulls convert to any type
		}
	}
	return out, nil
}
