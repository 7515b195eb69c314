//go:build cgo && linux && (amd64 || arm64)

package sql_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Parameters that are times are announced in milliseconds, which JDBC's driver writes whatever it
// is told, and taken in every unit for what they say.
func TestTimeParameters(t *testing.T) {
	const types = "ts,tz,t,s\n" +
		"2024-02-29T12:34:56.123456,2024-02-29T12:34:56Z,12:34:56,2024-02-29T12:34:56\n" +
		"2024-03-01T00:00:00,2024-03-01T00:00:00+02:00,00:00:01,2024-03-01T00:00:00\n"
	r := serveReal(t, map[string]string{"types.csv": types})
	of := func(unit arrow.TimeUnit, zone string) arrow.DataType {
		return &arrow.TimestampType{Unit: unit, TimeZone: zone}
	}
	ms, utc := of(arrow.Millisecond, ""), of(arrow.Millisecond, "UTC")
	for _, c := range []struct {
		name, where string
		announced   arrow.DataType
		typ         arrow.DataType
		value       string
		want        string
	}{
		{"ms", "ts > ?", ms, ms, `"2024-02-29 13:00:00"`, "1"},
		{"s", "ts > ?", ms, of(arrow.Second, ""), `"2024-02-29 13:00:00"`, "1"},
		{"us", "ts = ?", ms, of(arrow.Microsecond, ""), `"2024-02-29 12:34:56.123456"`, "1"},
		{"us next to it", "ts = ?", ms, of(arrow.Microsecond, ""), `"2024-02-29 12:34:56.123457"`, "0"},
		{"ns", "ts < ?", ms, of(arrow.Nanosecond, ""), `"2024-02-29 12:34:56.123456001"`, "1"},
		{"ns next to it", "ts < ?", ms, of(arrow.Nanosecond, ""), `"2024-02-29 12:34:56.123456000"`, "0"},
		{"ms between seconds", "s < ?", ms, ms, `"2024-02-29 12:34:56.600"`, "1"},
		{"ms between seconds, greater", "s >= ?", ms, ms, `"2024-02-29 12:34:55.600"`, "2"},
		{"zone", "tz > ?", utc, utc, `"2024-02-29 13:00:00"`, "1"},
		{"zone in us", "tz = ?", utc, of(arrow.Microsecond, "UTC"), `"2024-02-29 22:00:00"`, "1"},
		{"time in ms", "t > ?", arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time32ms, `"12:40:00"`, "0"},
		{
			"time in us", "t < ?", arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us,
			`"00:00:01.000001"`, "1",
		},
		{"cast", "epoch_ms(?::TIMESTAMP) = 1709211600000", ms, ms, `"2024-02-29 13:00:00"`, "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := r.client.Prepare(t.Context(), "SELECT count(*) FROM types WHERE "+c.where)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.ParameterSchema().Field(0).Type; !arrow.TypeEqual(got, c.announced) {
				t.Errorf("announced as %s, want %s", got, c.announced)
			}
			p.SetParameters(args(t, `[{"a":`+c.value+`}]`, c.typ))
			info, err := p.Execute(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.lines(t, info)
			if err != nil {
				t.Fatal(err)
			}
			wantLines(t, got, c.want)
			if err := p.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A union is how flightsql-dbapi, and SQLAlchemy with it, sends a value: of one of five types.
func TestUnionParameters(t *testing.T) {
	r := serveReal(t, map[string]string{"a.geojson": points(100)})
	p, err := r.client.Prepare(t.Context(), "SELECT count(*) FROM a WHERE name = ? AND i < ?")
	if err != nil {
		t.Fatal(err)
	}
	fields := []arrow.Field{{Name: "0", Type: arrow.PrimitiveTypes.Int64}, {Name: "1", Type: arrow.BinaryTypes.String}}
	builders := make([]*array.DenseUnionBuilder, 2)
	columns := make([]arrow.Array, 2)
	for i := range builders {
		builders[i] = array.NewDenseUnionBuilder(memory.DefaultAllocator, arrow.DenseUnionOf(fields,
			[]arrow.UnionTypeCode{0, 1}))
	}
	builders[0].Append(1)
	builders[0].Child(1).(*array.StringBuilder).Append("p3")
	builders[1].Append(0)
	builders[1].Child(0).(*array.Int64Builder).Append(50)
	for i, b := range builders {
		columns[i] = b.NewArray()
	}
	p.SetParameters(array.NewRecord(arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: columns[0].DataType()},
		{Name: "b", Type: columns[1].DataType()},
	}, nil), columns, 1))
	info, err := p.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.lines(t, info)
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, got, "7")
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
