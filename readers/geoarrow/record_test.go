package geoarrow

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
)

var update = flag.Bool("update", false, "rewrite testdata/*.want")

var encodings = []Encoding{{Native, Separated}, {Native, Interleaved}, {AsWKB, Separated}, {AsWKT, Separated}}

// Every encoding of random columns, whole and cut from the middle, is what comes back from an IPC
// stream, and its values are those of the rows.
func TestRecordThroughIPC(t *testing.T) {
	for k, x := range mixes() {
		t.Run(x.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(k), 7))
			for _, n := range []int{0, 1, 24} {
				for _, nulls := range []float64{0, 0.3, 1} {
					c := randomColumns(t, r, x, n, nulls)
					from := r.IntN(n + 1)
					for _, enc := range encodings {
						checkStream(t, CRS84, enc, c, c.Slice(from, n), c.Slice(from/2, from))
					}
				}
			}
		})
	}
}

// stream writes the parts as an IPC stream and gives the bytes and the records that were written.
func stream(t *testing.T, crs CRS, enc Encoding, parts []*Columns) (*bytes.Buffer, []arrow.Record) {
	t.Helper()
	schema := Schema(parts[0], crs, enc)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(schema))
	var records []arrow.Record
	for _, p := range parts {
		record, err := p.Record(schema, nil, enc)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(record); err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b, records
}

func checkStream(t *testing.T, crs CRS, enc Encoding, parts ...*Columns) {
	t.Helper()
	b, records := stream(t, crs, enc, parts)
	reader, err := ipc.NewReader(b)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Release()
	for i, want := range records {
		if !reader.Next() {
			t.Fatalf("record %d is missing: %v", i, reader.Err())
		}
		// As text, because NaN is not equal to itself.
		if got := reader.Record(); !got.Schema().Equal(want.Schema()) || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("record %d:\n got %v\nwant %v", i, got, want)
		}
		checkRecord(t, parts[i], want, enc)
		want.Release()
	}
}

// checkRecord compares nulls of all columns and the texts of the geometries.
func checkRecord(t *testing.T, c *Columns, record arrow.Record, _ Encoding) {
	t.Helper()
	for k, column := range record.Columns() {
		for i := range c.Rows {
			valid := c.Geometry.valid
			if k < len(c.Attributes) {
				valid = c.Attributes[k].valid
			}
			if column.IsNull(i) == valid(i) {
				t.Fatalf("column %d, row %d: null is %t", k, i, column.IsNull(i))
			}
		}
	}
	offsets, text, err := c.Geometry.ToWKT()
	if err != nil {
		t.Fatal(err)
	}
	geometry := record.Column(len(c.Attributes))
	for i := range c.Rows {
		want := string(text[offsets[i]:offsets[i+1]])
		switch a := geometry.(type) {
		case *array.String:
			if got := a.Value(i); got != want {
				t.Fatalf("row %d: got %s, want %s", i, got, want)
			}
		case *array.Binary:
			if got, _ := WKBToWKT(nil, a.Value(i)); string(got) != want {
				t.Fatalf("row %d: got %s, want %s", i, got, want)
			}
		}
	}
}

func TestRecordOfChosenColumns(t *testing.T) {
	c := randomColumns(t, rand.New(rand.NewPCG(1, 1)), mix{kinds: []Kind{Point}, dims: []Dim{XY}}, 5, 0)
	all := Schema(c, CRS84, Encoding{})
	geometry := len(c.Attributes)
	schema := arrow.NewSchema([]arrow.Field{all.Field(geometry), all.Field(3)}, nil)
	record, err := c.Record(schema, []int{geometry, 3}, Encoding{})
	if err != nil {
		t.Fatal(err)
	}
	defer record.Release()
	if got := record.ColumnName(0) + " " + record.ColumnName(1); got != "geometry c3" || record.NumRows() != 5 {
		t.Errorf("got %s", got)
	}
	none, err := c.Record(arrow.NewSchema(nil, nil), []int{}, Encoding{})
	if err != nil || none.NumRows() != 5 {
		t.Errorf("no columns: %v, %v", none, err)
	}
	for _, bad := range []struct {
		name    string
		columns []int
		want    string
	}{
		{"number", []int{geometry + 1, 3}, "column 11 of 10"},
		{"count", []int{3}, "1 columns for a schema of 2 fields"},
		{"type", []int{3, geometry}, "the schema says struct"},
	} {
		if _, err := c.Record(schema, bad.columns, Encoding{}); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: got %v, want %s", bad.name, err, bad.want)
		}
	}
}

// testdata/schema.want holds the geometry field of each kind, dimension and encoding, as GeoArrow
// 0.2 prescribes them, and of each attribute.
func TestSchema(t *testing.T) {
	var b strings.Builder
	c := &Columns{Attributes: []Column{
		{Name: "n", Type: arrow.PrimitiveTypes.Int32},
		{Name: "tags", Type: arrow.BinaryTypes.String, JSON: true},
		{Name: "height", Type: arrow.BinaryTypes.String, Mixed: true},
	}}
	fmt.Fprintf(&b, "%v\n", Schema(c, CRS{}, Encoding{}))
	for k := NoKind; k <= MultiPolygon; k++ {
		for d := XY; d <= XYZM; d++ {
			for _, enc := range encodings {
				c := &Columns{Geometry: &Geometry{Kind: k, Dim: d}}
				if k > Point && d > XY || k == NoKind && d > XY || enc.Geometry != Native && k > NoKind {
					continue // the dimension changes the innermost level only
				}
				f := Schema(c, CRS{Authority: "EPSG", Code: "99999"}, enc).Field(0)
				fmt.Fprintf(&b, "\n%s %d %d %d\n%s nullable=%t %s\n%v\n", k, d, enc.Geometry, enc.Coords,
					f.Name, f.Nullable, f.Metadata, f.Type)
			}
		}
	}
	path := filepath.Join("testdata", "schema.want")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s:\n got %s\nwant %s", path, b.String(), want)
	}
}
