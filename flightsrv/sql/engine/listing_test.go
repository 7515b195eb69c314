//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// What DuckDB lists is the catalog, whatever was asked before.
func TestListings(t *testing.T) {
	w := newWorld(t, map[string]string{
		"roads.csv": "a,b\n1,x\n", "world/countries.csv": "name,pop\nFiji,1\n", "world/a/b.csv": "z\n1.5\n",
		"bad.geojson": `{"type":`,
	})
	for _, c := range []struct {
		query string
		want  []string
	}{
		{
			"SELECT table_catalog, table_schema, table_name, table_type FROM information_schema.tables ORDER BY ALL",
			[]string{
				"vibeflight|main|bad.geojson|BASE TABLE", "vibeflight|main|roads.csv|BASE TABLE",
				"vibeflight|world|countries.csv|BASE TABLE", "vibeflight|world/a|b.csv|BASE TABLE",
			},
		},
		{
			"SELECT schema_name FROM information_schema.schemata WHERE catalog_name = 'vibeflight' ORDER BY 1",
			[]string{"main", "world", "world/a"},
		},
		{"SHOW TABLES", []string{"bad.geojson", "roads.csv"}},
		{"SHOW TABLES FROM world", []string{"countries.csv"}},
		{"SELECT schema, name FROM (SHOW ALL TABLES) WHERE schema = 'world'", []string{"world|countries.csv"}},
		{"SELECT table_name FROM duckdb_tables() ORDER BY 1", []string{
			"b.csv", "bad.geojson", "countries.csv",
			"roads.csv",
		}},
		{"SELECT table_name FROM duckdb_tables ORDER BY 1", []string{
			"b.csv", "bad.geojson", "countries.csv",
			"roads.csv",
		}},
		{
			"SELECT schema_name FROM duckdb_schemas() WHERE database_name = 'vibeflight' ORDER BY 1",
			[]string{"main", "world", "world/a"},
		},
		{"SELECT count(*) FROM duckdb_views() WHERE NOT internal", []string{"0"}},
		{"SELECT table_name FROM information_schema.views WHERE table_catalog = 'vibeflight'", nil},
		{"SELECT name FROM sqlite_master ORDER BY 1", []string{"b.csv", "bad.geojson", "countries.csv", "roads.csv"}},
		{
			"SELECT schemaname, tablename FROM pg_catalog.pg_tables ORDER BY ALL",
			[]string{"main|bad.geojson", "main|roads.csv", "world|countries.csv", "world/a|b.csv"},
		},
		{
			"SELECT n.nspname, c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON " +
				"c.relnamespace = n.oid WHERE c.relname LIKE '%.csv' ORDER BY ALL",
			[]string{"main|roads.csv", "world|countries.csv", "world/a|b.csv"},
		},
		{
			"SELECT column_name, data_type, ordinal_position, is_nullable, numeric_precision FROM " +
				"information_schema.columns WHERE table_schema = 'world' AND table_name = 'countries.csv' ORDER BY 3",
			[]string{"name|VARCHAR|1|YES|null", "pop|INTEGER|2|YES|10"},
		},
		{
			"SELECT table_name, column_name FROM information_schema.columns ORDER BY ALL",
			[]string{"b.csv|z", "countries.csv|name", "countries.csv|pop", "roads.csv|a", "roads.csv|b"},
		},
		{
			"SELECT t.table_name, r.a FROM information_schema.tables t JOIN roads r ON t.table_name = 'roads.csv'",
			[]string{"roads.csv|1"},
		},
	} {
		w.want(c.query, c.want...)
		w.want("SELECT count(*) FROM countries", "1") // leaves views of other names
		w.want(`SELECT count(*) FROM world.countries, "world/a/b"`, "1")
		w.want(c.query, c.want...)
	}
}

// A listing parses no file, but one of columns those of the tables that its condition names.
func TestListingsParse(t *testing.T) {
	w := newWorld(t, map[string]string{"a.csv": "x\n1\n", "b.csv": "y\n1\n", "c/d.csv": "z\n1\n", "c/e.csv": "z\n1\n"})
	for _, query := range []string{
		"SELECT * FROM information_schema.tables", "SHOW TABLES",
		"SELECT * FROM information_schema.schemata", "SELECT * FROM duckdb_tables()",
	} {
		if _, err := w.ask(query); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.catalog.Stats().Parses; n != 0 {
		t.Errorf("listing parsed %d files", n)
	}
	w.want("SELECT column_name FROM information_schema.columns WHERE table_name = 'b.csv'", "y")
	w.want("SELECT column_name FROM information_schema.columns WHERE table_schema = 'c' AND table_name IN ('d.csv', "+
		"'b.csv')", "z")
	if n := w.catalog.Stats().Parses; n != 2 {
		t.Errorf("%d files were parsed, want b.csv and c/d.csv", n)
	}
}

// A listing that was prepared before lists the files of the moment that it is run at.
func TestListingsFollowTheCatalog(t *testing.T) {
	w := newWorld(t, map[string]string{"a.csv": "x\n1\n"})
	const query = "SELECT table_name FROM information_schema.tables ORDER BY 1"
	s, err := w.engine.Prepare(t.Context(), query, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	eventually := func(want ...string) {
		t.Helper()
		var got []string
		for range 200 {
			if got, err = runAll(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if slices.Equal(got, want) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%q, want %q", got, want)
	}
	eventually("a.csv")
	w.write("b.csv", "y\n1\n")
	eventually("a.csv", "b.csv")
	if err := os.Remove(filepath.Join(w.dir, "a.csv")); err != nil {
		t.Fatal(err)
	}
	eventually("b.csv")
}

// A file that is called like one of DuckDB's views does not take its place.
func TestListingsOfAFileCalledLikeThem(t *testing.T) {
	w := newWorld(t, map[string]string{
		"duckdb_tables": `{"type":"FeatureCollection","features":[]}`,
		"a.csv":         "x\n1\n",
	})
	for range 2 {
		w.want("SHOW TABLES", "a.csv", "duckdb_tables")
		w.want("SELECT table_name FROM duckdb_tables ORDER BY 1", "a.csv", "duckdb_tables")
	}
}
