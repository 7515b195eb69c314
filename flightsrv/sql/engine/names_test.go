//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

func TestStem(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"florida.geojson", "florida"},
		{"roads.v2.csv", "roads.v2"},
		{"florida.geojson.gz", "florida"},
		{"florida.CSV.ZST", "florida"},
		{"florida.gz", "florida"},
		{"florida", "florida"},
		{"trips.kml#Stops", "trips#Stops"},
		{"trips.kml#a.b", "trips#a.b"},
		{"v1.d/florida", "v1.d/florida"},
		{"v1.d/florida.csv", "v1.d/florida"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := stem(c.name); got != c.want {
				t.Errorf("stem(%q) = %q, want %q", c.name, got, c.want)
			}
		})
	}
}

// kml has two folders, each of which is a layer.
const kml = `<kml xmlns="http://www.opengis.net/kml/2.2"><Document>` +
	`<Folder><name>Stops</name><Placemark><name>s</name><Point><coordinates>1,2</coordinates></Point></Placemark></Folder>` +
	`<Folder><name>Tracks</name><Placemark><name>t</name><Point><coordinates>3,4</coordinates></Point></Placemark></Folder></Document></kml>`

func TestMean(t *testing.T) {
	const one = "a\n1\n"
	w := newWorld(t, map[string]string{
		"florida.csv": one, "counties/florida.csv": one, "counties/texas.csv": one, "counties/a.csv": one,
		"counties/a.geojson": `{"type":"FeatureCollection","features":[]}`,
		"Case.csv":           one, "case.csv": one, "main/m.csv": one, "a/b/deep.csv": one, "trips.kml": kml,
		"plain":           `{"type":"FeatureCollection","features":[]}`,
		"upper/ROADS.CSV": one, "x/same.csv": one, "y/same.csv": one, "a%b.csv": one, "zipped.csv.csv": one,
	})
	if _, err := w.ask(`SELECT * FROM "trips.kml"`); err != nil { // now the layers are known
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		ref    duck.Reference
		schema string
		want   string // the entry
		many   []string
		close  []string
	}{
		{name: "full name", ref: duck.Reference{Name: "florida.csv"}, want: "florida.csv"},
		{name: "stem", ref: duck.Reference{Name: "florida"}, want: "florida.csv"},
		{name: "stem in another case", ref: duck.Reference{Name: "FLORIDA"}, want: "florida.csv"},
		{
			name: "full name in a folder", ref: duck.Reference{Name: "counties/florida.csv"},
			want: "counties/florida.csv",
		},
		{name: "full stem in a folder", ref: duck.Reference{Name: "counties/florida"}, want: "counties/florida.csv"},
		{
			name: "schema and name", ref: duck.Reference{Schema: "counties", Name: "florida.csv"},
			want: "counties/florida.csv",
		},
		{
			name: "schema and stem", ref: duck.Reference{Schema: "Counties", Name: "florida"},
			want: "counties/florida.csv",
		},
		{name: "catalog, schema and stem", ref: duck.Reference{
			Catalog: "vibeflight", Schema: "counties",
			Name: "florida",
		}, want: "counties/florida.csv"},
		{name: "catalog as a schema", ref: duck.Reference{Schema: "vibeflight", Name: "florida"}, want: "florida.csv"},
		{name: "main schema", ref: duck.Reference{Schema: "main", Name: "florida"}, want: "florida.csv"},
		{
			name: "full name in the main schema", ref: duck.Reference{Schema: "main", Name: "counties/texas.csv"},
			want: "counties/texas.csv",
		},
		{name: "stem anywhere", ref: duck.Reference{Name: "texas"}, want: "counties/texas.csv"},
		{name: "file name anywhere", ref: duck.Reference{Name: "texas.csv"}, want: "counties/texas.csv"},
		{
			name: "file name anywhere in another case", ref: duck.Reference{Name: "TEXAS.csv"},
			want: "counties/texas.csv",
		},
		{
			name: "file name of several folders", ref: duck.Reference{Name: "same.csv"},
			many: []string{"x/same.csv", "y/same.csv"},
		},
		{name: "file name of another schema", ref: duck.Reference{Schema: "x", Name: "texas.csv"}, close: []string{}},
		{
			name: "stem of several formats", ref: duck.Reference{Schema: "counties", Name: "a"},
			many: []string{"counties/a.csv", "counties/a.geojson"},
		},
		{name: "stem of several folders", ref: duck.Reference{Name: "same"}, many: []string{
			"x/same.csv",
			"y/same.csv",
		}},
		{name: "exact case", ref: duck.Reference{Name: "Case.csv"}, want: "Case.csv"},
		{name: "exact case of a stem", ref: duck.Reference{Name: "case"}, want: "case.csv"},
		{name: "case of neither", ref: duck.Reference{Name: "CASE.csv"}, many: []string{"Case.csv", "case.csv"}},
		{
			name: "other case of an extension", ref: duck.Reference{Schema: "upper", Name: "roads.csv"},
			want: "upper/ROADS.CSV",
		},
		{name: "folder called main", ref: duck.Reference{Name: "main/m.csv"}, want: "main/m.csv"},
		{name: "nested folder", ref: duck.Reference{Schema: "a/b", Name: "deep"}, want: "a/b/deep.csv"},
		{name: "layer", ref: duck.Reference{Name: "trips.kml#Tracks"}, want: "trips.kml#Tracks"},
		{name: "layer by stem", ref: duck.Reference{Name: "trips#tracks"}, want: "trips.kml#Tracks"},
		{name: "file of layers", ref: duck.Reference{Name: "trips.kml"}, want: "trips.kml"},
		{name: "escaped", ref: duck.Reference{Name: "a%25b.csv"}, want: "a%25b.csv"},
		{name: "no extension", ref: duck.Reference{Name: "plain"}, want: "plain"},
		{name: "stem with an extension", ref: duck.Reference{Name: "zipped.csv"}, want: "zipped.csv.csv"},
		{
			name: "in the session's schema", ref: duck.Reference{Name: "florida"}, schema: "counties",
			want: "counties/florida.csv",
		},
		{name: "not in the session's schema", ref: duck.Reference{Name: "case"}, schema: "counties", want: "case.csv"},
		{
			name: "ambiguous in the session's schema", ref: duck.Reference{Name: "a"}, schema: "counties",
			many: []string{"counties/a.csv", "counties/a.geojson"},
		},
		{name: "nobody's", ref: duck.Reference{Name: "floridda"}, close: []string{"florida.csv"}},
		{
			name: "nobody's in a schema", ref: duck.Reference{Schema: "counties", Name: "texass.csv"},
			close: []string{"counties/texas.csv"},
		},
		{name: "out of the root", ref: duck.Reference{Name: "../etc/passwd"}, close: []string{}},
		{name: "system table", ref: duck.Reference{Schema: "information_schema", Name: "tables"}},
		{name: "another catalog", ref: duck.Reference{Catalog: "system", Schema: "main", Name: "florida"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := w.engine.resolveName(t.Context(), access.SQL, c.ref, c.schema)
			var ambiguous *AmbiguousError
			var none *catalog.NotFoundError
			switch {
			case c.many != nil:
				if !errors.As(err, &ambiguous) || !slices.Equal(ambiguous.Candidates, c.many) {
					t.Errorf("mean(%v): %v, want one of %q", c.ref, err, c.many)
				}
			case c.close != nil:
				if !errors.As(err, &none) || len(c.close) > 0 && !slices.Contains(none.Closest, c.close[0]) {
					t.Errorf("mean(%v): %v, want none, close to %q", c.ref, err, c.close)
				}
			case err != nil:
				t.Errorf("mean(%v): %v, want %q", c.ref, err, c.want)
			case c.want == "" && got != nil || c.want != "" && (got == nil || got.entry != c.want):
				t.Errorf("mean(%v) = %v, want %q", c.ref, got, c.want)
			}
		})
	}
}

func TestTables(t *testing.T) {
	const one = "a\n1\n"
	w := newWorld(t, map[string]string{
		"b.csv": one, "counties/florida.csv": one, "a/b/deep.csv": one,
		"Main/m.csv": one, "trips.kml": kml,
	})
	want := []Table{
		{"a/b", "deep.csv", "a/b/deep.csv"},
		{"counties", "florida.csv", "counties/florida.csv"},
		{MainSchema, "Main/m.csv", "Main/m.csv"},
		{MainSchema, "b.csv", "b.csv"},
		{MainSchema, "trips.kml", "trips.kml"},
	}
	if got := w.engine.Tables(context.Background()); !slices.Equal(got, want) {
		t.Errorf("tables %q, want %q", got, want)
	}
	for _, table := range want {
		schema, err := w.engine.TableSchema(t.Context(), table)
		if err != nil || schema.NumFields() == 0 {
			t.Errorf("schema of %v: %v, %v", table, schema, err)
		}
	}
	want = slices.Concat(want[:4], []Table{
		{MainSchema, "trips.kml#Stops", "trips.kml#Stops"},
		{MainSchema, "trips.kml#Tracks", "trips.kml#Tracks"},
	})
	if got := w.engine.Tables(context.Background()); !slices.Equal(got, want) {
		t.Errorf("tables with layers %q, want %q", got, want)
	}
	for _, table := range want {
		w.want(`SELECT count(*) FROM `+quoteName(table.Schema)+`.`+quoteName(table.Name), "1")
	}
}

func TestNamesInQueries(t *testing.T) {
	w := newWorld(t, map[string]string{
		"Case.csv": "a\n1\n", "case.csv": "a\n2\n", "roads.csv": "a\n3\n", "sub/roads.csv": "a\n4\n",
		"sub/only.csv": "a\n5\n", "duckdb_tables.csv": "a\n6\n",
		"trips.kml": kml, `we"ird.csv`: "a\n7\n",
	})
	w.want(`SELECT a FROM "Case.csv"`, "1")
	w.want(`SELECT a FROM "case.csv"`, "2")
	w.want(`SELECT a FROM "Case.csv"`, "1")
	w.want(`SELECT name FROM "trips.kml#Tracks"`, "t")
	w.want(`SELECT name FROM "trips.kml"`, "s")
	w.want(`SELECT a FROM "duckdb_tables.csv"`, "6")
	w.want(`SELECT a FROM "we""ird"`, "7")
	w.want(`SELECT count(*) > 0 FROM duckdb_columns()`, "true")
	w.want(`SELECT count(*) >= 0 FROM information_schema.tables`, "true")
	w.want(`WITH x AS (SELECT * FROM roads) SELECT x.a, sub.roads.a FROM x, sub.roads`, "3|4")
	w.want(`SELECT (SELECT max(a) FROM "only") FROM roads`, "5")
	for _, c := range []struct{ name, schema, query, want string }{
		{"session's schema first", "sub", "SELECT a FROM roads", "4"},
		{"then the root", "sub", `SELECT a FROM "case.csv"`, "2"},
		{"main is named", "sub", "SELECT a FROM main.roads", "3"},
		{"both", "sub", "SELECT x.a - y.a FROM roads x, main.roads y", "1"},
		{"in another case", "SUB", "SELECT a FROM roads", "4"},
		{"no such schema", "nowhere", "SELECT a FROM roads", "3"},
		{"the root again", "", "SELECT a FROM roads", "3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := w.askIn(c.schema, c.query)
			if err != nil || !slices.Equal(got, []string{c.want}) {
				t.Errorf("in schema %q, %s: %q, %v, want %q", c.schema, c.query, got, err, c.want)
			}
		})
	}
	for _, c := range []struct{ name, query, want string }{
		{
			"two cases", `SELECT * FROM "Case.csv", "case.csv"`,
			`"Case.csv" and "case.csv" differ in case alone, which is no difference to SQL: one query reads one of them`,
		},
		{
			"ambiguous", `SELECT * FROM "CASE"`,
			`"CASE" may mean "Case.csv" or "case.csv": write the one that is meant, in quotes`,
		},
		{"nobody's", `SELECT * FROM raods`, `no entry "raods"; the closest are "roads.csv", "Case.csv", "case.csv"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := w.ask(c.query)
			if err == nil || err.Error() != c.want {
				t.Errorf("%s:\ngot  %v\nwant %s", c.query, err, c.want)
			}
		})
	}
}

// DuckDB reads views of its own to list tables: no file takes their names away.
func TestFilesNamedAsDuckDBsViews(t *testing.T) {
	w := newWorld(t, map[string]string{
		"duckdb_tables.csv": "a\n9\n", "sqlite_master.csv": "a\n10\n",
		"t.csv": "a\n1\n",
	})
	w.want(`SELECT a FROM "duckdb_tables.csv"`, "9")
	w.want("SELECT count(*) FROM duckdb_tables", "3")
	w.want(`SELECT a FROM "sqlite_master.csv"`, "10")
	w.want("SELECT a FROM t", "1")
	got, err := w.ask("SHOW TABLES")
	if want := []string{"duckdb_tables.csv", "sqlite_master.csv", "t.csv"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("SHOW TABLES: %q, %v", got, err)
	}
}

// A column's name ends at a zero byte for DuckDB.
func TestZeroBytesInColumnNames(t *testing.T) {
	w := newWorld(t, map[string]string{
		"zero.geojson": `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a\u0000b":1,"a\u0000c":2},"geometry":null}]}`,
	})
	w.want(`SELECT "a␀b", "a␀c" FROM zero`, "1|2")
}
