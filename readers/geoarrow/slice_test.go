package geoarrow

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
)

// dump writes every slice of a column, nil and empty alike.
func dump(v any) string {
	switch v := v.(type) {
	case *Columns:
		var b strings.Builder
		fmt.Fprintln(&b, v.Rows)
		for i := range v.Attributes {
			b.WriteString(dump(&v.Attributes[i]))
		}
		if v.Geometry != nil {
			b.WriteString(dump(v.Geometry))
		}
		return b.String()
	case *Column:
		c := *v
		c.Child = nil
		s := fmt.Sprintf("%+v\n", c)
		if v.Child != nil {
			s += "  of " + dump(v.Child)
		}
		return s
	}
	return fmt.Sprintf("%+v\n", v)
}

var attributeTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.String,
	arrow.PrimitiveTypes.Uint64, arrow.FixedWidthTypes.Date32, &arrow.TimestampType{
		Unit:     arrow.Millisecond,
		TimeZone: "UTC",
	},
	arrow.ListOfField(arrow.Field{Name: "item", Type: arrow.PrimitiveTypes.Int64}),
	arrow.ListOfField(arrow.Field{Name: "item", Type: arrow.FixedWidthTypes.Boolean}),
	arrow.ListOfField(arrow.Field{Name: "item", Type: arrow.BinaryTypes.String}),
}

// randomColumn returns n random values of the type, a share of them null.
func randomColumn(r *rand.Rand, name string, t arrow.DataType, n int, nulls float64) Column {
	c := Column{Name: name, Type: t}
	valid := make([]byte, (n+7)/8)
	set := func(b []byte, i int) { b[i>>3] |= 1 << (i & 7) }
	isValid := make([]bool, n)
	for i := range n {
		if isValid[i] = r.Float64() >= nulls; isValid[i] {
			set(valid, i)
		} else {
			c.Nulls++
		}
	}
	if c.Nulls > 0 {
		c.Valid = valid
	}
	length := func(i int) int {
		if !isValid[i] {
			return 0
		}
		return r.IntN(4)
	}
	switch t := t.(type) {
	case *arrow.StringType:
		c.Offsets = []int32{0}
		for i := range n {
			for range length(i) {
				c.Values = append(c.Values, byte('a'+r.IntN(26)))
			}
			c.Offsets = append(c.Offsets, int32(len(c.Values)))
		}
	case *arrow.ListType:
		c.Offsets = []int32{0}
		for i := range n {
			c.Offsets = append(c.Offsets, c.Offsets[i]+int32(length(i)))
		}
		child := randomColumn(r, "", t.Elem(), int(c.Offsets[n]), 0)
		c.Child = &child
	case *arrow.BooleanType:
		c.Values = make([]byte, (n+7)/8)
		for i := range n {
			if isValid[i] && r.IntN(2) == 0 {
				set(c.Values, i)
			}
		}
	case arrow.FixedWidthDataType:
		width := t.BitWidth() / 8
		c.Values = make([]byte, n*width)
		for i := range n {
			if isValid[i] {
				c.Values[i*width] = byte(r.IntN(256))
				c.Values[i*width+1] = byte(r.IntN(256))
			}
		}
	}
	return c
}

func randomColumns(t testing.TB, r *rand.Rand, x mix, n int, nulls float64) *Columns {
	c := &Columns{Rows: n}
	for i, typ := range attributeTypes {
		c.Attributes = append(c.Attributes, randomColumn(r, fmt.Sprint("c", i), typ, n, nulls))
	}
	_, c.Geometry = x.column(t, r, n, nulls)
	return c
}

// row writes the values of a row the slow way.
func (c *Column) row(i int) string {
	if !c.valid(i) {
		return "null"
	}
	switch t := c.Type.(type) {
	case *arrow.StringType:
		return fmt.Sprintf("%q", c.Values[c.Offsets[i]:c.Offsets[i+1]])
	case *arrow.ListType:
		var s []string
		for k := c.Offsets[i]; k < c.Offsets[i+1]; k++ {
			s = append(s, c.Child.row(int(k)))
		}
		return fmt.Sprint(s)
	case *arrow.BooleanType:
		return fmt.Sprint(c.Values[i>>3] >> (i & 7) & 1)
	default:
		width := t.(arrow.FixedWidthDataType).BitWidth() / 8
		return fmt.Sprintf("%x", c.Values[i*width:(i+1)*width])
	}
}

// rowTexts writes all rows the slow way.
func rowTexts(t testing.TB, c *Columns) []string {
	t.Helper()
	w, err := c.Geometry.ToWKB()
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, c.Rows)
	for i := range texts {
		for k := range c.Attributes {
			texts[i] += c.Attributes[k].row(i) + " "
		}
		texts[i] += fmt.Sprintf("%t %x", c.Geometry.valid(i), w.WKB[w.Offsets[i]:w.Offsets[i+1]])
	}
	return texts
}

func checkColumn(t *testing.T, c *Column, rows int) {
	t.Helper()
	checkBits(t, c.Valid, rows, c.Nulls)
	switch typ := c.Type.(type) {
	case *arrow.StringType:
		checkOffsets(t, c.Name, c.Offsets, rows, len(c.Values))
	case *arrow.ListType:
		checkColumn(t, c.Child, checkOffsets(t, c.Name, c.Offsets, rows, -1))
	case *arrow.BooleanType:
		if len(c.Values) != (rows+7)/8 || rows&7 != 0 && c.Values[rows/8]>>(rows&7) != 0 {
			t.Fatalf("%s: %d bits as %x", c.Name, rows, c.Values)
		}
	case arrow.FixedWidthDataType:
		if len(c.Values) != rows*typ.BitWidth()/8 {
			t.Fatalf("%s: %d bytes", c.Name, len(c.Values))
		}
	}
}

// checkTaken checks that got is canonical and has the rows with these numbers out of all.
func checkTaken(t *testing.T, all []string, got *Columns, rows []int32) {
	t.Helper()
	if got.Rows != len(rows) || got.Geometry.Rows != len(rows) {
		t.Fatalf("%d rows, want %d", got.Rows, len(rows))
	}
	for i := range got.Attributes {
		checkColumn(t, &got.Attributes[i], len(rows))
	}
	checkGeometry(t, got.Geometry)
	for i, text := range rowTexts(t, got) {
		if want := all[rows[i]]; text != want {
			t.Fatalf("row %d:\n got %s\nwant %s", rows[i], text, want)
		}
	}
}

func TestSliceTakeConcat(t *testing.T) {
	for k, x := range mixes() {
		t.Run(x.name, func(t *testing.T) {
			for i, n := range []int{0, 1, 31, 140} {
				for j, nulls := range []float64{0, 0.02, 0.4} {
					r := rand.New(rand.NewPCG(uint64(k), uint64(10*i+j)))
					c := randomColumns(t, r, x, n, nulls)
					all := rowTexts(t, c)
					checkPartition(t, r, all, c)
					var some []int32
					for row := range n {
						if r.IntN(3) > 0 {
							some = append(some, int32(row))
						}
					}
					checkTaken(t, all, c.Take(some), some)
					r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
					checkTaken(t, all, c.Take(some), some)
				}
			}
		})
	}
}

// checkPartition cuts c at random rows and joins the slices again.
func checkPartition(t *testing.T, r *rand.Rand, all []string, c *Columns) {
	t.Helper()
	c.Attributes[0].Rounded = 3
	cuts := []int{0, c.Rows}
	for range r.IntN(5) {
		cuts = append(cuts, r.IntN(c.Rows+1))
	}
	slices.Sort(cuts)
	var parts []*Columns
	for i, from := range cuts[1:] {
		part := c.Slice(cuts[i], from)
		var rows []int32
		for row := cuts[i]; row < from; row++ {
			rows = append(rows, int32(row))
		}
		checkTaken(t, all, part, rows)
		parts = append(parts, part)
	}
	before := dump(c)
	joined, err := Concat(&Arena{}, parts)
	if err != nil {
		t.Fatal(err)
	}
	if got := dump(joined); c.Rows > 0 && got != before {
		t.Fatalf("cut at %v and joined:\n got %s\nwant %s", cuts, got, before)
	}
	for _, room := range []float64{0, float64(c.Rows + 1)} { // for the rows of the others
		own := Concatenation{Memory: &Arena{}}
		if parts[0].Rows > 0 && room > 0 {
			own.Reserve(parts[0], room)
		}
		if err := own.Append(parts[0], 0, parts[0].Rows); err != nil {
			t.Fatal(err)
		}
		first := own.Columns()
		extended, err := Extend(&Arena{}, append([]*Columns{first}, parts[1:]...))
		if err != nil {
			t.Fatal(err)
		}
		if got := dump(extended); c.Rows > 0 && got != before || extended != first {
			t.Fatalf("cut at %v and extended, with room for %v rows:\n got %s\nwant %s", cuts, room, got, before)
		}
	}
}

func TestSliceSharesValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	c := randomColumns(t, r, mix{kinds: []Kind{MultiPolygon}, dims: []Dim{XY}}, 100, 0)
	s := c.Slice(40, 60)
	if from := c.Geometry.Rings[c.Geometry.Parts[c.Geometry.Geoms[40]]]; &s.Geometry.X[0] != &c.Geometry.X[from] {
		t.Error("positions were copied")
	}
	if &s.Attributes[0].Values[0] != &c.Attributes[0].Values[160] {
		t.Error("values were copied")
	}
}
