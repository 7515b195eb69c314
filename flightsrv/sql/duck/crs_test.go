//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
)

// spatial is the path of the extension that `make spatial` fetches.
func spatial(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("VIBEFLIGHT_DUCKDB_EXTENSIONS")
	if dir == "" {
		dir = "../../../.duckdb"
	}
	path, err := filepath.Abs(filepath.Join(dir, "spatial.duckdb_extension"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip("spatial.duckdb_extension is not there: make spatial fetches it")
	}
	return path
}

// Extension metadata, as the readers write it and as others might.
const (
	noCRS   = `{}`
	wgs84   = `{"crs":"EPSG:4326","crs_type":"authority_code"}`
	crs84   = `{"crs":"OGC:CRS84","crs_type":"authority_code"}`
	ukGrid  = `{"crs":"EPSG:27700","crs_type":"authority_code"}`
	unknown = `{"crs":"FOO:1","crs_type":"authority_code"}`
	asWords = `{"crs":"a grid of the town's \"own\""}`
	asJSON  = `{"crs_type": "projjson", "crs": {"type": "ProjectedCRS", "name": "a grid of the town's own"}}`
	inJSON  = `{"crs":{"type":"GeographicCRS","name":"WGS 84 (CRS84)","id":{"authority":"OGC","code":"CRS84"}},"crs_type":"projjson"}`
	esri    = `{"crs":{"type":"ProjectedCRS","name":"m","id":{"authority":"ESRI","code":102100}},"crs_type":"projjson"}`
	asWKT1  = `{"crs":"PROJCS[\"a grid\"]"}`
	asWKT   = `{"crs":"GEOGCRS[\"WGS 84\",DATUM[\"World Geodetic System 1984\"]]","crs_type":"wkt2:2019"}`
)

func crsWorld() *world {
	w := &world{tables: map[string]*relation{}}
	for name, metadata := range map[string]string{
		"plain": noCRS, "wgs84": wgs84, "crs84": crs84, "grid": ukGrid, "unknown": unknown, "words": asWords,
		"json": asJSON, "wkt": asWKT,
		"projjson84": inJSON, "esri": esri, "wkt1": asWKT1,
	} {
		w.tables[name] = points(w, metadata)
	}
	return w
}

// crsCases are queries with the extension metadata of their one column. What is computed has the
// reference system of what it is computed from, the one that the query says, or none: never another
// one.
var crsCases = []struct{ query, want string }{
	{"SELECT geometry FROM plain", noCRS},
	{"SELECT geometry FROM wgs84", wgs84},
	{"SELECT geometry FROM crs84", crs84},
	{"SELECT geometry FROM grid", ukGrid},
	{`SELECT geometry FROM "unknown"`, unknown},
	{"SELECT geometry FROM words", asWords},
	{"SELECT geometry FROM json", asJSON},
	{"SELECT geometry FROM wkt", asWKT},
	{"SELECT geometry AS g FROM grid WHERE geometry IS NOT NULL ORDER BY ST_AsText(geometry) LIMIT 1", ukGrid},
	{"SELECT max(geometry) FROM grid", ukGrid},
	{"SELECT a.geometry FROM grid a, words b", ukGrid},
	{"SELECT b.geometry FROM grid a, words b", asWords},
	{"SELECT geometry FROM plain, (SELECT 1 FROM grid)", noCRS},
	{"SELECT 'POINT(1 2)'::GEOMETRY FROM grid", noCRS},
	{"SELECT ST_GeomFromWKB(ST_AsWKB(geometry)) FROM grid", noCRS},
}

func TestCRS(t *testing.T) {
	checkCRS(t, Config{Threads: 1}, append(crsCases[:len(crsCases):len(crsCases)], []struct{ query, want string }{
		{"SELECT ST_SetCRS(geometry, 'OGC:CRS84') FROM grid", crs84},
		{"SELECT geometry FROM wgs84 UNION ALL SELECT geometry FROM crs84", crs84},
	}...))
}

func TestSpatialCRS(t *testing.T) {
	const mercator = `{"crs":"EPSG:3857","crs_type":"authority_code"}`
	checkCRS(t, Config{Threads: 1, Spatial: spatial(t)}, append(crsCases[:len(crsCases):len(crsCases)],
		[]struct{ query, want string }{
			{"SELECT ST_Transform(geometry, 'EPSG:3857') FROM grid", mercator},
			{"SELECT ST_Transform(geometry, 'EPSG:27700', 'EPSG:3857') FROM grid", noCRS},
			{"SELECT ST_SetCRS(geometry, 'EPSG:3857') FROM wgs84", mercator},
			{"SELECT ST_SetCRS(geometry, 'OGC:CRS84') FROM grid", wgs84},
			{"SELECT ST_Transform(geometry, 'EPSG:4326') FROM grid", wgs84},
			{"SELECT geometry FROM wgs84 UNION ALL SELECT geometry FROM crs84", wgs84},
			{"SELECT geometry FROM crs84 UNION ALL SELECT ST_Transform(geometry, 'EPSG:4326') FROM grid", crs84},
			{"SELECT ST_Buffer(geometry, 1) FROM grid", ukGrid},
			{"SELECT ST_Union_Agg(geometry) FROM words", asWords},
			{"SELECT ST_Point(1, 2) FROM grid", noCRS},
			{"SELECT ST_GeomFromText('POINT(1 2)') FROM grid", noCRS},
		}...))
}

func checkCRS(t *testing.T, cfg Config, cases []struct{ query, want string }) {
	t.Helper()
	d := open(t, crsWorld(), cfg)
	c := connect(t, d)
	ctx := context.Background()
	for _, tc := range cases {
		s, err := prepare(ctx, c, tc.query)
		if err != nil {
			t.Errorf("%s: %v", tc.query, err)
			continue
		}
		r, err := s.Query(ctx, nil, 0)
		if err != nil {
			t.Fatalf("%s: %v", tc.query, err)
		}
		rec, err := r.Next(ctx)
		if err != nil {
			t.Fatalf("%s: %v", tc.query, err)
		}
		for _, schema := range []*arrow.Schema{s.Schema(), r.Schema(), rec.Schema()} {
			m := schema.Field(0).Metadata
			name, _ := m.GetValue(extensionName)
			if got, _ := m.GetValue(extensionMetadata); got != tc.want || name != wkbExtension {
				t.Errorf("%s: %s %s, want %s", tc.query, name, got, tc.want)
			}
		}
		rec.Release()
		r.Close()
		s.Close()
	}
}

// ST_CRS returns a code, or the text of the file. WGS 84 with x as longitude is one reference
// system, whatever a table or a query calls it.
func TestCRSNames(t *testing.T) {
	for _, cfg := range []Config{{Threads: 1}, {Threads: 1, Spatial: "yes"}} {
		wgs84 := cfg.wgs84()
		cases := []struct{ query, want string }{
			{"SELECT ST_CRS(geometry) FROM wgs84 LIMIT 1", wgs84},
			{"SELECT ST_CRS(geometry) FROM crs84 LIMIT 1", wgs84},
			{"SELECT ST_CRS(geometry) FROM projjson84 LIMIT 1", wgs84},
			{"SELECT ST_CRS(geometry) FROM grid LIMIT 1", "EPSG:27700"},
			{"SELECT ST_CRS(geometry) FROM esri LIMIT 1", "ESRI:102100"},
			{"SELECT ST_CRS(geometry) FROM wkt1 LIMIT 1", `PROJCS["a grid"]`},
			{"SELECT ST_CRS(geometry) FROM words LIMIT 1", `a grid of the town's "own"`},
			{"SELECT ST_CRS(geometry) FROM plain LIMIT 1", "(null)"},
			{"SELECT ST_CRS(geometry) = 'OGC:CRS84' AND ST_CRS(geometry) = 'EPSG:4326' AND 'epsg:4326' = " +
				"ST_CRS(geometry) FROM crs84 LIMIT 1", "true"},
			{"SELECT 'OGC:CRS84', 'EPSG:4326', 'GEOMETRY(''OGC:CRS84'')'", "OGC:CRS84|EPSG:4326|GEOMETRY('OGC:CRS84')"},
			{"SELECT $$GEOMETRY('OGC:CRS84')$$", "GEOMETRY('OGC:CRS84')"},
			{"SELECT count(*) FROM (SELECT geometry FROM wgs84 UNION ALL SELECT geometry FROM crs84 UNION ALL " +
				"SELECT geometry FROM projjson84)", "9"},
			{"SELECT count(*) FROM wgs84 a JOIN crs84 b ON a.geometry && b.geometry", "2"},
			{"SELECT count(*) FROM crs84 WHERE geometry && 'POINT (1 1)'::GEOMETRY('OGC:CRS84') AND geometry && " +
				"CAST('POINT (1 1)' AS geometry ( 'EPSG:4326' ))", "1"},
			{"SELECT count(*) FROM wgs84 WHERE geometry && ST_SetCRS('POINT (1 1)'::GEOMETRY, 'OGC:CRS84')", "1"},
			{"EXPLAIN SELECT ST_SetCRS(geometry, 'OGC:CRS84') && geometry FROM wgs84", ""},
		}
		if cfg.Spatial != "" {
			cfg.Spatial = spatial(t)
			cases = append(cases, []struct{ query, want string }{
				{"SELECT count(*) FROM wgs84 a, crs84 b, projjson84 c WHERE ST_Intersects(a.geometry, b.geometry) " +
					"AND ST_Intersects(b.geometry, c.geometry)", "2"},
				{"SELECT count(*) FROM crs84 a JOIN wgs84 b ON ST_DWithin(a.geometry, " +
					"ST_Transform(ST_Transform(b.geometry, 'EPSG:3857'), 'OGC:CRS84'), 1e-6)", "2"},
				{"SELECT count(*) FROM crs84 a JOIN wgs84 b ON ST_DWithin(a.geometry, " +
					"ST_Transform(ST_Transform(b.geometry, 'EPSG:3857'), 'EPSG:4326'), 1e-6)", "2"},
				{
					"SELECT ST_AsText(ST_Transform(geometry, 'EPSG:3857')) FROM projjson84 WHERE ST_X(geometry) = 1",
					"POINT (111319.49079327357 111325.1428663851)",
				},
			}...)
		}
		d := open(t, crsWorld(), cfg)
		c := connect(t, d)
		for _, tc := range cases {
			rows, _, err := query(c, tc.query)
			if err != nil || tc.want != "" && (len(rows) != 1 || rows[0] != tc.want) {
				t.Errorf("spatial %v: %s: %q, %v, want %s", d.Spatial(), tc.query, rows, err, tc.want)
			}
		}
	}
}

// A reference system that DuckDB does not know has a stand-in, with which it can compute no other
// one.
func TestTransformUnknown(t *testing.T) {
	c := connect(t, open(t, crsWorld(), Config{Threads: 1, Spatial: spatial(t)}))
	for _, table := range []string{"unknown", "words", "plain"} {
		_, _, err := query(c, "SELECT ST_Transform(geometry, 'EPSG:3857') FROM "+quoteName(table))
		if !errors.As(err, new(*Error)) {
			t.Errorf("%s: error %v, want one", table, err)
		}
	}
}

// x is easting or longitude for every function that knows axes, whatever order an authority gives
// them.
func TestSpatialAxes(t *testing.T) {
	c := connect(t, open(t, crsWorld(), Config{Threads: 1, Spatial: spatial(t)}))
	for _, tc := range []struct{ query, want string }{
		{
			"ST_AsText(ST_Transform('POINT (10 50)'::GEOMETRY('EPSG:4326'), 'EPSG:3857'))",
			"POINT (1113194.9079327357 6446275.841017161)",
		},
		{
			"ST_AsText(ST_Transform('POINT (10 50)'::GEOMETRY('OGC:CRS84'), 'EPSG:3857'))",
			"POINT (1113194.9079327357 6446275.841017161)",
		},
		{
			"ST_AsText(ST_Transform('POINT (500000 5500000)'::GEOMETRY('EPSG:25832'), 'EPSG:4326'))",
			"POINT (9 49.65254292355683)",
		},
		{
			"ST_AsText(ST_Transform(ST_Point(10, 50), 'EPSG:4326', 'EPSG:3857'))",
			"POINT (1113194.9079327357 6446275.841017161)",
		},
		{"round(ST_XMax(ST_Transform(ST_Extent(ST_Point(10, 50)), 'EPSG:4326', 'EPSG:3857')))", "1.113195e+06"},
		{
			"ST_AsText(ST_Transform(ST_Point(10, 50), 'EPSG:4326', 'EPSG:3857', true))",
			"POINT (1113194.9079327357 6446275.841017161)",
		},
		{
			"ST_AsText(ST_Transform(ST_Point(10, 50), 'EPSG:4326', 'EPSG:3857', always_xy := true))",
			"POINT (1113194.9079327357 6446275.841017161)",
		},
		{"ST_AsText(ST_Transform(ST_Point(10, 50), '+proj=longlat +datum=WGS84', '+proj=utm +zone=32 " +
			"+datum=WGS84'))[:13]", "POINT (571666"},
		{
			"ST_AsText(ST_Transform(geometry, ST_CRS(geometry), 'EPSG:3857')) FROM crs84 WHERE ST_X(geometry) = 1",
			"POINT (111319.49079327357 111325.1428663851)",
		},
		{"round(ST_Distance_Sphere(ST_Point(10, 50), ST_Point(11, 50)))", "71474"},
		{"round(ST_Distance_Spheroid(ST_Point(10, 50), ST_Point(11, 50)))", "71695"},
		{"ST_DWithin_Spheroid(ST_Point(10, 50)::POINT_2D, ST_Point(11, 50)::POINT_2D, 71700)", "true"},
		{"round(ST_Length_Spheroid('LINESTRING (10 50, 11 50)'::GEOMETRY))", "71695"},
		{"round(ST_Perimeter_Spheroid('POLYGON ((10 50, 11 50, 11 51, 10 50))'::GEOMETRY))", "314870"},
		{"round(ST_Area_Spheroid('POLYGON ((10 50, 11 50, 11 51, 10 50))'::GEOMETRY))", "3.987693305e+09"},
	} {
		if rows, _, err := query(c, "SELECT "+tc.query); err != nil || len(rows) != 1 || rows[0] != tc.want {
			t.Errorf("%s: %q, %v, want %s", tc.query, rows, err, tc.want)
		}
	}
}

func TestSpatialGeometryType(t *testing.T) {
	c := connect(t, open(t, crsWorld(), Config{Threads: 1, Spatial: spatial(t)}))
	for _, tc := range []struct{ query, want string }{
		{"SELECT ST_GeometryType(geometry), count(*) FROM plain WHERE geometry IS NOT NULL GROUP BY 1", "POINT|2"},
		{"SELECT ST_GeometryType(geometry) AS kind, count(*) FROM plain GROUP BY 1 ORDER BY 1", "POINT|2 (null)|1"},
		{"SELECT ST_GeometryType(geometry) FROM plain WHERE ST_GeometryType(geometry) = 'POINT' LIMIT 1", "POINT"},
		{"SELECT max(ST_GeometryType(geometry)) FROM plain", "POINT"},
	} {
		rows, schema, err := query(c, tc.query)
		if err != nil || strings.Join(rows, " ") != tc.want || schema.Field(0).Type.ID() != arrow.STRING {
			t.Errorf("%s: %q of %v, %v, want %s", tc.query, rows, schema, err, tc.want)
		}
	}
}

func TestSpatial(t *testing.T) {
	path := spatial(t)
	d := open(t, crsWorld(), Config{Threads: 1, Spatial: path})
	if !d.Spatial() {
		t.Error("Spatial is false")
	}
	c := connect(t, d)
	rows, _, err := query(c, "SELECT ST_Area(ST_MakeEnvelope(0, 0, 2, 3)), (SELECT count(*) FROM grid WHERE "+
		"ST_Intersects(geometry, ST_MakeEnvelope(0, 0, 2, 2)))")
	if err != nil || rows[0] != "6|1" {
		t.Errorf("%v, %v", rows, err)
	}
	for _, q := range []string{
		"SELECT * FROM ST_Read('/etc/hostname')", "SELECT * FROM ST_Read_Meta('/etc/hostname')",
		"SELECT * FROM ST_ReadOSM('/etc/hostname')", "SELECT * FROM ST_ReadSHP('/etc/hostname')",
	} {
		var e *Error
		if _, _, err := query(c, q); !errors.As(err, &e) || e.Kind != Denied {
			t.Errorf("%s: %v, want an error of kind Denied", q, err)
		}
	}
	if _, err := Open(Config{Spatial: filepath.Join(t.TempDir(), "spatial.duckdb_extension")}, nil); err == nil ||
		!strings.Contains(err.Error(), "spatial.duckdb_extension") {
		t.Errorf("an extension that is not there: %v", err)
	}
}
