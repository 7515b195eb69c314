package readertest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// projectedBytes is how much variants read at a time here: most golden files have several parts.
const projectedBytes = 197

// Projected reads some columns of an input with the CPU engine and the variants, and compares them,
// byte for byte and by name, with those of the whole table, or compares the errors. Nothing of
// other columns may be kept, unless the geometry is the only column. pick returns the requested
// columns of the table, which may include the geometry.
func Projected(t testing.TB, f readers.Format, in Input, pick func(columns []string) []string, variants ...Variant) {
	t.Helper()
	r := openInput(t, f, in)
	defer r.close(t)
	whole, err := r.read(in.Parser, in.Limits)
	names := []string{"geometry"} // unknown for a malformed file
	if err == nil {
		names = columnNames(whole)
	}
	asked := readers.Project(append([]string{}, pick(names)...))
	want := projectedOutcome(whole, err, asked)
	for _, v := range append([]Variant{{Name: "cpu", Parser: func(l readers.Layout, _ int) readers.Parser {
		return f.CPU(l)
	}}}, variants...) {
		table, err := r.read(func(l readers.Layout) readers.Parser {
			l.Columns = asked
			return v.Parser(l, projectedBytes)
		}, in.Limits)
		if got := projectedOutcome(table, err, asked); !bytes.Equal(got, want) {
			t.Errorf("%s\n%s, columns %s\ngot:\n%s\nwant:\n%s", clip(in.Text), v.Name, asked.Key(),
				clip(got), clip(want))
			return
		}
		if err != nil {
			continue
		}
		if wrong := kept(table, asked); wrong != nil {
			t.Errorf("%s\n%s, columns %s: %v", clip(in.Text), v.Name, asked.Key(), wrong)
			return
		}
	}
}

// Some picks some of the columns, depending on the seed.
func Some(seed uint64) func(columns []string) []string {
	return func(columns []string) []string {
		r := rand.New(rand.NewPCG(seed, 23))
		return slices.DeleteFunc(columns, func(string) bool { return r.IntN(2) == 0 })
	}
}

// checkProjections requests no column, the geometry, all attributes and each of the first few by
// itself, with the default batches and with small ones.
func checkProjections(t *testing.T, f readers.Format, in Input, variants []Variant) {
	picks := []func(columns []string) []string{
		func([]string) []string { return nil },
		func([]string) []string { return []string{"geometry"} },
		func(columns []string) []string {
			return slices.DeleteFunc(columns, func(name string) bool { return name == "geometry" })
		},
	}
	const most = 12
	for i := range most {
		picks = append(picks, func(columns []string) []string {
			return columns[min(i, len(columns)):min(i+1, len(columns))]
		})
	}
	for _, pick := range picks {
		for _, rows := range []int{0, 2} {
			in.Limits.BatchRows = rows
			Projected(t, f, in, pick, variants...)
		}
	}
}

// columnNames returns the names of all columns, the geometry last.
func columnNames(t *readers.Table) []string {
	var names []string
	for _, field := range geoarrow.Schema(t.Batches[0], t.CRS, geoarrow.Encoding{}).Fields() {
		names = append(names, field.Name)
	}
	return names
}

// projectedOutcome returns the outcome of a parse as far as some columns go: the names of all of
// them, and the values of those.
func projectedOutcome(t *readers.Table, err error, asked readers.Projection) []byte {
	if err != nil {
		return outcome(t, err)
	}
	out := *t
	out.Batches, out.Bytes, out.RoundedIntegers, out.ReplacedCharacters = nil, 0, 0, 0
	for _, b := range t.Batches {
		part := &geoarrow.Columns{Rows: b.Rows}
		for i := range b.Attributes {
			if a := b.Attributes[i]; asks(asked, a.Name) {
				part.Attributes = append(part.Attributes, a)
				out.RoundedIntegers += a.Rounded
				out.ReplacedCharacters += a.Replaced
			}
		}
		if asked.Geometry() {
			part.Geometry = b.Geometry
		}
		out.Batches = append(out.Batches, part)
	}
	if !asked.Geometry() {
		out.BBox, out.GeometryTypes, out.Positions = nil, nil, 0
	}
	return append(fmt.Appendf(nil, "%q\n", columnNames(t)), outcome(&out, nil)...)
}

// asks reports whether a column of a table is requested.
func asks(asked readers.Projection, name string) bool {
	return asked.Covers(readers.Project([]string{name}))
}

// kept says what a table has of columns that are not requested, if it has anything.
func kept(t *readers.Table, asked readers.Projection) error {
	for _, b := range t.Batches {
		for i := range b.Attributes {
			a := &b.Attributes[i]
			if null := a.Type.ID() == arrow.NULL; null == asked.Has(t.IDs[i]) {
				return fmt.Errorf("column %q is %v", a.Name, a.Type)
			} else if null && (a.Nulls != 0 || a.Valid != nil || a.Offsets != nil || a.Values != nil ||
				a.Child != nil) {
				return fmt.Errorf("column %q has %d nulls and slices", a.Name, a.Nulls)
			}
		}
		if g := b.Geometry; g != nil && len(b.Attributes) > 0 && !asked.Geometry() &&
			(g.Nulls != g.Rows || len(g.X)+len(g.WKB) > 0) {
			return fmt.Errorf("the geometry has %d nulls of %d rows", g.Nulls, g.Rows)
		}
	}
	return nil
}
