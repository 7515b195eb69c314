package readertest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Columns writes a table with a line per column, then the counts of the summary:
//
//	height: int32: 1 | null | 3
//	note: string json: '{"a":1}' | '[]' | null
//	geometry: geoarrow.multipoint xyz: POINT (1 2) | null | MULTIPOINT Z ((1 2 3))
//	crs: EPSG:3857
//	ignored ordinates: 1
//
// Floats have the fewest digits that read back as the same value, NaN its bits. Geometries have the
// kind and dimension that they have in the file. The CRS is omitted if it is OGC:CRS84.
func Columns(t *readers.Table) string {
	var b strings.Builder
	names, cells := rendered(t)
	for k, name := range names {
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(cells[k], " | "))
	}
	if t.CRS != geoarrow.CRS84 {
		fmt.Fprintf(&b, "crs: %s\n", crsText(t.CRS))
	}
	b.WriteString(counters(t))
	return b.String()
}

// Rows writes a table with a line per row, below its schema: the text of a golden file.
func Rows(t *readers.Table) string {
	var b strings.Builder
	names, cells := rendered(t)
	for _, name := range names {
		fmt.Fprintf(&b, "%s\n", name)
	}
	fmt.Fprintf(&b, "crs: %s\n", crsText(t.CRS))
	if t.BBox != nil {
		fmt.Fprintf(&b, "bbox: %v\n", *t.BBox)
	}
	fmt.Fprintf(&b, "geometry types: %s\npositions: %d\n%s\n", strings.Join(t.GeometryTypes, ", "),
		t.Positions, counters(t))
	for i := range int(t.Rows) {
		fmt.Fprintf(&b, "%d:", i)
		for k := range cells {
			fmt.Fprintf(&b, " | %s", cells[k][i])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func crsText(c geoarrow.CRS) string {
	if c.Authority == "" && c.Text != "" {
		return fmt.Sprintf("text %q", c.Text)
	}
	if c.Authority == "" {
		return "none"
	}
	return c.String()
}

// counters are those of the summary that are not zero.
func counters(t *readers.Table) string {
	var b strings.Builder
	s := t.Summary
	for _, c := range []struct {
		name string
		n    int64
	}{
		{"rounded integers", t.RoundedIntegers},
		{"ignored ordinates", s.IgnoredOrdinates},
		{"replaced characters", t.ReplacedCharacters},
		{"unclosed rings", s.UnclosedRings},
		{"short rings", s.ShortRings},
		{"short lines", s.ShortLines},
	} {
		if c.n != 0 {
			fmt.Fprintf(&b, "%s: %d\n", c.name, c.n)
		}
	}
	if s.Skipped.Count != 0 || len(s.Skipped.First) != 0 {
		fmt.Fprintf(&b, "skipped: %d at %d\n", s.Skipped.Count, s.Skipped.First)
	}
	for _, rule := range slices.Sorted(maps.Keys(s.Deviations.Rules)) {
		fmt.Fprintf(&b, "deviations: %s %d\n", rule, s.Deviations.Rules[rule])
	}
	for _, d := range s.Deviations.First {
		fmt.Fprintf(&b, "deviation: byte %d, row %d, %q: %s: %s\n", d.Offset, d.Row, d.Field, d.Rule, d.Done)
	}
	if links := s.Links.String(); links != "" {
		fmt.Fprintf(&b, "links: %s\n", links)
	}
	var foreign []string
	for name, n := range s.Foreign {
		foreign = append(foreign, fmt.Sprintf("%q %d", name, n))
	}
	if slices.Sort(foreign); len(foreign) > 0 {
		fmt.Fprintf(&b, "foreign: %s\n", strings.Join(foreign, ", "))
	}
	return b.String()
}

// rendered returns "name: type" of each column and the text of each of its values.
func rendered(t *readers.Table) (names []string, cells [][]string) {
	for _, b := range t.Batches {
		if names == nil {
			for i := range b.Attributes {
				names = append(names, b.Attributes[i].Name+": "+typeText(&b.Attributes[i]))
			}
			if b.Geometry != nil {
				names = append(names, "geometry: "+geometryText(b.Geometry))
			}
			cells = make([][]string, len(names))
		}
		for i := range b.Attributes {
			for row := range b.Rows {
				cells[i] = append(cells[i], valueText(&b.Attributes[i], row))
			}
		}
		if b.Geometry != nil {
			cells[len(cells)-1] = append(cells[len(cells)-1], wktRows(b.Geometry)...)
		}
	}
	return names, cells
}

func typeText(c *geoarrow.Column) string {
	s := c.Type.String()
	switch t := c.Type.(type) {
	case *arrow.StringType:
		s = "string"
	case *arrow.ListType:
		s = typeText(&geoarrow.Column{Type: t.Elem()})
		if t.ElemField().Nullable {
			s += " or null"
		}
		s = "list<" + s + ">"
	}
	if c.JSON {
		s += " json"
	}
	if c.Mixed {
		s += " mixed"
	}
	return s
}

func geometryText(g *geoarrow.Geometry) string {
	kind := "wkb"
	if g.Kind != geoarrow.NoKind {
		kind = strings.ToLower(g.Kind.String())
	}
	return "geoarrow." + kind + " " + [...]string{
		geoarrow.XY: "xy", geoarrow.XYZ: "xyz", geoarrow.XYM: "xym",
		geoarrow.XYZM: "xyzm",
	}[g.Dim]
}

func wktRows(g *geoarrow.Geometry) []string {
	offsets, text, err := g.ToWKT()
	rows := make([]string, g.Rows)
	for i := range rows {
		switch {
		case err != nil:
			rows[i] = err.Error()
		case !valid(g.Valid, i):
			rows[i] = "null"
		default:
			rows[i] = string(text[offsets[i]:offsets[i+1]])
		}
	}
	return rows
}

func valid(bits []byte, i int) bool { return bits == nil || bit(bits, i) }

func bit(bits []byte, i int) bool { return bits[i>>3]>>(i&7)&1 == 1 }

// valueText writes value i of a column.
func valueText(c *geoarrow.Column, i int) string {
	if !valid(c.Valid, i) {
		return "null"
	}
	switch t := c.Type.(type) {
	case *arrow.BooleanType:
		return strconv.FormatBool(bit(c.Values, i))
	case *arrow.Int32Type:
		return fmt.Sprint(geoarrow.View[int32](c.Values)[i])
	case *arrow.Int64Type:
		return fmt.Sprint(geoarrow.View[int64](c.Values)[i])
	case *arrow.Uint64Type:
		return fmt.Sprint(geoarrow.View[uint64](c.Values)[i])
	case *arrow.Decimal128Type:
		return geoarrow.DecimalView(c.Values)[i].ToString(t.Scale)
	case *arrow.Float64Type:
		return floatText(geoarrow.View[float64](c.Values)[i])
	case *arrow.StringType:
		return quote(string(c.Values[c.Offsets[i]:c.Offsets[i+1]]))
	case *arrow.Date32Type:
		return arrow.Date32(geoarrow.View[int32](c.Values)[i]).ToTime().Format(time.DateOnly)
	case *arrow.TimestampType:
		return arrow.Timestamp(geoarrow.View[int64](c.Values)[i]).ToTime(t.Unit).Format("2006-01-02T15:04:05.999999999")
	case *arrow.Time32Type:
		return arrow.Time32(geoarrow.View[int32](c.Values)[i]).ToTime(t.Unit).Format("15:04:05.999999999")
	case *arrow.Time64Type:
		return arrow.Time64(geoarrow.View[int64](c.Values)[i]).ToTime(t.Unit).Format("15:04:05.999999999")
	case *arrow.ListType:
		var items []string
		for k := c.Offsets[i]; k < c.Offsets[i+1]; k++ {
			items = append(items, valueText(c.Child, int(k)))
		}
		return "[" + strings.Join(items, " ") + "]"
	}
	return arrowText(c, i)
}

// arrowText returns the text of a value by Arrow's own code.
func arrowText(c *geoarrow.Column, i int) string {
	one := &geoarrow.Columns{Rows: 1, Attributes: []geoarrow.Column{*c.Slice(i, i+1)}}
	rec, err := one.Record(geoarrow.Schema(one, geoarrow.CRS{}, geoarrow.Encoding{}), nil, geoarrow.Encoding{})
	if err != nil {
		return err.Error()
	}
	defer rec.Release()
	return rec.Column(0).ValueStr(0)
}

func floatText(v float64) string {
	if v != v {
		return fmt.Sprintf("NaN 0x%x", math.Float64bits(v))
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// quote writes a text in single quotes where that saves escapes, so that JSON can be read.
func quote(s string) string {
	q := strconv.Quote(s)
	if strings.Contains(s, `"`) && !strings.Contains(s, "'") && strings.ReplaceAll(q, `\"`, `"`) == `"`+s+`"` {
		return "'" + s + "'"
	}
	return q
}
