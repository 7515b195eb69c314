package export

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/rtree"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// query returns the rows of a query, one per line, with their values as text.
func query(t *testing.T, path, sql string) string {
	t.Helper()
	db, err := sqlite3.OpenFlags(path, sqlite3.OPEN_READONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := rtree.Register(db); err != nil {
		t.Fatal(err)
	}
	s, _, err := db.Prepare(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer s.Close()
	var out strings.Builder
	for s.Step() {
		for i := range s.ColumnCount() {
			if s.ColumnType(i) == sqlite3.NULL {
				out.WriteString("NULL ")
				continue
			}
			out.WriteString(s.ColumnText(i) + " ")
		}
		out.WriteString("\n")
	}
	if err := s.Err(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out.String()
}

// The index of rows is a valid R-tree of SQLite, of every depth, and finds what is in a box.
func TestGeoPackageIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, rows := range []int{0, 1, 51, 52, 53, 51*51 + 1, 5000} {
		var wkbs [][]byte
		want := 0
		for i := range rows {
			x, y := 10*r.Float64(), 10*r.Float64()
			if i%7 == 3 {
				wkbs = append(wkbs, nil)
				continue
			}
			if x >= 2 && x <= 3 && y >= 4 && y <= 7 {
				want++
			}
			wkbs = append(wkbs, pointWKB(x, y))
		}
		path, err := exported(t, "x.gpkg", features(t, crs84, wkbs...))
		if err != nil {
			t.Fatal(err)
		}
		for _, check := range []string{"PRAGMA integrity_check", "SELECT rtreecheck('rtree_x_geometry')"} {
			if got := query(t, path, check); got != "ok \n" {
				t.Errorf("%d rows: %s: %s", rows, check, got)
			}
		}
		got := query(t, path, `SELECT count(*) FROM rtree_x_geometry
			WHERE maxx >= 2 AND minx <= 3 AND maxy >= 4 AND miny <= 7`)
		if got != fmt.Sprintf("%d \n", want) {
			t.Errorf("%d rows: found %s, want %d", rows, got, want)
		}
	}
}

// Every type that a table can have has one in GeoPackage, and its value is there.
func TestGeoPackageValues(t *testing.T) {
	fields := []arrow.Field{
		{Name: "fid", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "i", Type: arrow.PrimitiveTypes.Int32},
		{Name: "u", Type: arrow.PrimitiveTypes.Uint64},
		{Name: "f", Type: arrow.PrimitiveTypes.Float64},
		{Name: "d", Type: arrow.FixedWidthTypes.Date32},
		{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32)},
		{Name: "x", Type: arrow.BinaryTypes.Binary},
		{Name: `a "name"`, Type: arrow.BinaryTypes.String},
		{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "+02:00"}},
		{Name: "local", Type: &arrow.TimestampType{Unit: arrow.Millisecond}},
	}
	write := func(u uint64, f float64) (string, error) {
		return exported(t, "gpkg_x.gpkg", recordOf(t, arrow.NewSchema(fields, nil), func(b *array.RecordBuilder) {
			b.Field(0).(*array.BooleanBuilder).Append(true)
			b.Field(1).(*array.Int32Builder).Append(-5)
			b.Field(2).(*array.Uint64Builder).Append(u)
			b.Field(3).(*array.Float64Builder).Append(f)
			b.Field(4).(*array.Date32Builder).Append(-1)
			l := b.Field(5).(*array.ListBuilder)
			l.Append(true)
			l.ValueBuilder().(*array.Int32Builder).Append(7)
			b.Field(6).(*array.BinaryBuilder).Append([]byte("b"))
			b.Field(7).(*array.StringBuilder).Append("é'\"")
			b.Field(8).(*array.TimestampBuilder).Append(1)
			b.Field(9).(*array.TimestampBuilder).Append(1500)
		}))
	}
	path, err := write(math.MaxInt64, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	const want = "1 1 -5 9223372036854775807 0.1 1969-12-31 [7] b é'\" " +
		"1970-01-01T00:00:00.000001Z 1970-01-01T00:00:01.5 \n"
	if got := query(t, path, "SELECT * FROM layer_gpkg_x"); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	const types = "fid_1 INTEGER \nfid BOOLEAN \ni MEDIUMINT \nu INTEGER \nf DOUBLE \nd DATE \nl TEXT \nx BLOB \n" +
		"a \"name\" TEXT \nat DATETIME \nlocal TEXT \n"
	if got := query(t, path, "SELECT name, type FROM pragma_table_info('layer_gpkg_x')"); got != types {
		t.Errorf("got\n%swant\n%s", got, types)
	}
	if got := query(t, path, "SELECT data_type, srs_id FROM gpkg_contents"); got != "attributes NULL \n" {
		t.Errorf("contents: %s", got)
	}
	for _, bad := range []struct {
		u    uint64
		f    float64
		want string
	}{{math.MaxUint64, 0, `row 0: column "u"`}, {0, math.NaN(), `row 0: column "f"`}} {
		if _, err := write(bad.u, bad.f); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%v: got %v, want %s", bad, err, bad.want)
		}
	}
	fields[1].Name = "FID"
	if _, err := write(0, 0); err == nil || !strings.Contains(err.Error(), `"FID"`) {
		t.Errorf("two names that differ by case: %v", err)
	}
}

func TestGeoPackageReferenceSystems(t *testing.T) {
	for _, test := range []struct {
		crs  geoarrow.CRS
		want string
	}{
		{geoarrow.CRS84, "4326 EPSG 4326 "},
		{geoarrow.CRS{Authority: "EPSG", Code: "25832"}, "25832 EPSG 25832 "},
		{geoarrow.CRS{Authority: "ESRI", Code: "102008"}, "102008 ESRI 102008 "},
		{geoarrow.CRS{Text: `LOCAL_CS["site's"]`}, "100000 NONE 100000 "},
		{geoarrow.CRS{}, "99999 GDAL 99999 "},
	} {
		path, err := exported(t, "x.gpkg", features(t, geometry(test.crs.Metadata()), wkbPoint))
		if err != nil {
			t.Fatal(err)
		}
		got := query(t, path, `SELECT s.srs_id, organization, organization_coordsys_id FROM gpkg_geometry_columns g
			JOIN gpkg_contents c USING (table_name, srs_id) JOIN gpkg_spatial_ref_sys s USING (srs_id)`)
		if got != test.want+"\n" {
			t.Errorf("%v: got %q, want %q", test.crs, got, test.want)
		}
	}
}
