package tablefile

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// everyType returns all types that a column may have.
func everyType() []arrow.DataType {
	all := []arrow.DataType{ // of text formats: some tests refer to them by index
		arrow.FixedWidthTypes.Boolean,
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float64,
		arrow.BinaryTypes.String,
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us,
		arrow.FixedWidthTypes.Time64ns,
		&arrow.Decimal128Type{Precision: 38}, &arrow.Decimal128Type{Precision: 19, Scale: 4},
	}
	for u := arrow.Millisecond; u <= arrow.Nanosecond; u++ {
		for _, zone := range []string{"", "UTC", "-05:30"} {
			all = append(all, &arrow.TimestampType{Unit: u, TimeZone: zone})
		}
	}
	for _, nullable := range []bool{false, true} {
		for _, t := range []arrow.DataType{
			arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
			arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String,
		} {
			all = append(all, geoarrow.ListOf(t, nullable))
		}
	}
	return append(all, // of formats that declare types
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint8,
		arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32,
		arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.BinaryTypes.Binary,
		&arrow.FixedSizeBinaryType{ByteWidth: 17},
		arrow.FixedWidthTypes.Date64, arrow.FixedWidthTypes.Time32s, &arrow.TimestampType{
			Unit:     arrow.Second,
			TimeZone: "Europe/Berlin",
		},
		arrow.FixedWidthTypes.Duration_s, arrow.FixedWidthTypes.Duration_ms, arrow.FixedWidthTypes.Duration_us,
		arrow.FixedWidthTypes.Duration_ns,
		arrow.FixedWidthTypes.MonthInterval, arrow.FixedWidthTypes.DayTimeInterval,
		arrow.FixedWidthTypes.MonthDayNanoInterval,
		&arrow.Decimal256Type{Precision: 70, Scale: -3}, geoarrow.ListOf(arrow.BinaryTypes.Binary, true),
	)
}

// randomColumn returns n values, of which the share nulls is null.
func randomColumn(r *rand.Rand, t arrow.DataType, n int, nulls float64) geoarrow.Column {
	c := geoarrow.Column{Type: t}
	valid := make([]byte, (n+7)/8)
	for i := range n {
		if r.Float64() < nulls {
			c.Nulls++
		} else {
			valid[i/8] |= 1 << (i % 8)
		}
	}
	if c.Nulls > 0 {
		c.Valid = valid
	}
	has := func(i int) bool { return valid[i/8]>>(i%8)&1 == 1 }
	switch t := t.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		c.Offsets = []int32{0}
		for i := range n {
			if has(i) {
				c.Values = append(c.Values, []string{"", "ü", "<a & b>", `"quoted"`, "\x00"}[r.IntN(5)]...)
			}
			c.Offsets = append(c.Offsets, int32(len(c.Values)))
		}
	case *arrow.ListType:
		c.Offsets = []int32{0}
		for i := range n {
			end := c.Offsets[i]
			if has(i) {
				end += int32(r.IntN(4))
			}
			c.Offsets = append(c.Offsets, end)
		}
		share := 0.
		if t.ElemField().Nullable {
			share = nulls
		}
		child := randomColumn(r, t.Elem(), int(c.Offsets[n]), share)
		c.Child = &child
	case *arrow.BooleanType:
		c.Values = make([]byte, (n+7)/8)
		for i := range n {
			if has(i) && r.IntN(2) == 1 {
				c.Values[i/8] |= 1 << (i % 8)
			}
		}
	case arrow.FixedWidthDataType:
		width := t.BitWidth() / 8
		for i := range n {
			word := make([]byte, 40)
			if has(i) {
				binary.LittleEndian.PutUint64(word, math.Float64bits([]float64{
					1.5, -2, math.Inf(1),
					math.NaN(), 1e300,
				}[r.IntN(5)]))
				if t.ID() != arrow.FLOAT64 {
					binary.LittleEndian.PutUint64(word, uint64(r.IntN(1000)))
				} else if math.IsNaN(math.Float64frombits(binary.LittleEndian.Uint64(word))) {
					binary.LittleEndian.PutUint64(word, 0x7ff8000000000000)
				}
			}
			c.Values = append(c.Values, word[:width]...)
		}
	}
	return c
}

// mix configures a random geometry column.
type mix struct {
	kinds []geoarrow.Kind
	dims  []geoarrow.Dim
}

func mixes() []mix {
	all := []mix{{}}
	for _, dims := range [][]geoarrow.Dim{{geoarrow.XY}, {geoarrow.XYZM}, {geoarrow.XY, geoarrow.XYZ}, {geoarrow.XYM}} {
		for k := geoarrow.Point; k <= geoarrow.MultiPolygon; k++ {
			all = append(all, mix{[]geoarrow.Kind{k}, dims})
		}
		all = append(all, mix{[]geoarrow.Kind{geoarrow.Polygon, geoarrow.MultiPolygon}, dims},
			mix{[]geoarrow.Kind{geoarrow.Point, geoarrow.MultiPoint}, dims},
			mix{[]geoarrow.Kind{geoarrow.Point, geoarrow.Polygon, geoarrow.GeometryCollection}, dims})
	}
	return all
}

func (m mix) geometry(t testing.TB, r *rand.Rand, n int, nulls float64) *geoarrow.Geometry {
	t.Helper()
	if m.kinds == nil {
		return nil
	}
	var b geoarrow.GeometryBuilder
	b.Reset()
	for range n {
		if r.Float64() < nulls {
			b.Null()
			continue
		}
		feed(&b, r, m.kinds[r.IntN(len(m.kinds))], m.dims[r.IntN(len(m.dims))])
	}
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// feed adds one geometry to the builder, as a parser does.
func feed(b *geoarrow.GeometryBuilder, r *rand.Rand, k geoarrow.Kind, d geoarrow.Dim) {
	positions := func(n int) {
		for range n {
			b.X, b.Y = append(b.X, float64(r.IntN(200)-100)), append(b.Y, float64(r.IntN(200)-100))
			if d&geoarrow.HasZ != 0 {
				b.AddZ(float64(r.IntN(9)))
			}
			if d&geoarrow.HasM != 0 {
				b.AddM(float64(r.IntN(9)))
			}
		}
	}
	switch k {
	case geoarrow.GeometryCollection:
		b.BeginCollection()
		feed(b, r, geoarrow.Point, d)
		feed(b, r, geoarrow.LineString, d)
		b.EndCollection()
		return
	case geoarrow.Point:
		positions(min(1, r.IntN(5)))
	case geoarrow.LineString, geoarrow.MultiPoint:
		positions(r.IntN(4))
	default:
		for range 1 + r.IntN(2) {
			for range r.IntN(3) {
				positions(4)
				b.EndRing()
			}
			if k == geoarrow.MultiPolygon {
				b.EndPart()
			}
		}
	}
	b.End(k)
}

// randomTable returns a canonical table with the given number of rows in batches of size rows, and
// a column of each type.
func randomTable(t testing.TB, r *rand.Rand, m mix, rows, size int) *readers.Table {
	t.Helper()
	all := &geoarrow.Columns{Rows: rows, Geometry: m.geometry(t, r, rows, 0.2)}
	for i, typ := range everyType() {
		c := randomColumn(r, typ, rows, []float64{0, 0.3, 1}[i%3])
		c.Name = fmt.Sprintf("ä %d", i)
		all.Attributes = append(all.Attributes, c)
	}
	json := randomColumn(r, arrow.BinaryTypes.String, rows, 1)
	json.Name, json.JSON = "<json>", true
	id := randomColumn(r, arrow.PrimitiveTypes.Int64, rows, 0)
	id.Name, id.Role = "id", geoarrow.RoleFeatureID
	mixed := randomColumn(r, arrow.BinaryTypes.String, rows, 0.1)
	mixed.Mixed = true // and its name is empty
	all.Attributes = append(all.Attributes, json, id, mixed)
	table := &readers.Table{
		Format: "geojson", Engine: "cpu", CRS: geoarrow.CRS{Authority: "EPSG", Code: "3857", Text: `a "b"`},
		Rows: int64(rows), Starts: []int64{},
		RoundedIntegers: 1 << 62, ReplacedCharacters: 4, ParseTime: time.Second + 1,
		Summary: readers.Summary{
			CRS: geoarrow.CRS84, Layers: []string{"a \"b\"", "c"}, BytesRead: 5,
			Skipped:          readers.SkippedRows{Count: 2, First: []int64{7, 9}},
			IgnoredOrdinates: 6, UnclosedRings: 7, ShortRings: 8, ShortLines: 9,
			Foreign: map[string]int64{"bbox": 1, "": 3},
		},
	}
	for from := 0; from == 0 || from < rows; from += size {
		b := clone(all.Slice(from, min(rows, from+size)))
		for i := range b.Attributes {
			a := &b.Attributes[i]
			a.Facts, a.Rounded, a.Replaced = randomFacts(r), int64(r.IntN(3)), int64(r.IntN(3))
		}
		table.Starts = append(table.Starts, int64(from))
		table.Batches = append(table.Batches, b)
		table.Spans = append(table.Spans, readers.Span{
			From: int64(from), To: -1, Row: int64(from),
			Inside: true, State: math.MaxUint64,
		})
		table.Bytes += b.Bytes()
	}
	table.Starts = append(table.Starts, int64(rows))
	for i := range all.Attributes {
		table.Facts = append(table.Facts, randomFacts(r))
		table.IDs = append(table.IDs, geoarrow.ColumnID{Role: all.Attributes[i].Role, Name: all.Attributes[i].Name +
			"_before"})
	}
	_ = table.Measure(context.Background())
	if err := readertest.Canonical(table); err != nil {
		t.Fatal(err)
	}
	return table
}

func randomFacts(r *rand.Rand) geoarrow.Facts {
	if r.IntN(2) == 0 {
		return geoarrow.Facts{}
	}
	return geoarrow.Facts{
		Kinds: geoarrow.FactKinds(r.Uint32()), Digits: uint8(r.IntN(256)), Zones: geoarrow.SeveralZones,
		Offset: -int32(r.IntN(1e5)),
		MinSec: math.MinInt64, MaxSec: r.Int64(),
	}
}
