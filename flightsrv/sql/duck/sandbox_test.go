//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each way out of the sandbox, or to change something in it, is refused. Most are refused by their
// words, before DuckDB binds a name.
func TestSandbox(t *testing.T) {
	dir := t.TempDir()
	csv := filepath.Join(dir, "secret.csv")
	if err := os.WriteFile(csv, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 100, 30)
	d := open(t, w, Config{Threads: 1})
	c := connect(t, d)
	queries := strings.Split(`SELECT * FROM read_csv('$CSV')
SELECT * FROM read_csv_auto('$CSV')
SELECT * FROM main.read_csv('$CSV')
SELECT * FROM system.main.read_text('$CSV')
SELECT * FROM READ_TEXT('$CSV')
SELECT * FROM read_blob('$CSV')
SELECT * FROM read_json('$CSV')
SELECT * FROM read_json_objects('$CSV')
SELECT * FROM read_ndjson('$CSV')
SELECT * FROM read_parquet('$CSV')
SELECT * FROM parquet_scan('$CSV')
SELECT * FROM parquet_metadata('$CSV')
SELECT * FROM parquet_schema('$CSV')
SELECT * FROM glob('$DIR/*')
SELECT * FROM sniff_csv('$CSV')
SELECT * FROM st_read('$CSV')
SELECT * FROM '$CSV'
SELECT * FROM "$CSV"
FROM 'http://127.0.0.1:1/x.parquet'
SELECT (SELECT count(*) FROM read_csv('$CSV'))
WITH x AS (SELECT * FROM read_csv('$CSV')) SELECT 1
SELECT * FROM t WHERE id IN (SELECT a FROM read_csv('$CSV'))
SELECT * FROM t, LATERAL (SELECT * FROM read_text('$CSV'))
DESCRIBE SELECT * FROM read_csv('$CSV')
SUMMARIZE '$CSV'
EXPLAIN SELECT * FROM read_csv('$CSV')
EXPLAIN ANALYZE SELECT * FROM read_csv('$CSV')
COPY t TO '$DIR/out.csv'
COPY (SELECT 1) TO '$DIR/out.parquet' (FORMAT parquet)
COPY t FROM '$CSV'
EXPLAIN ANALYZE COPY (SELECT 1) TO '$DIR/out.csv'
EXPORT DATABASE '$DIR/out'
IMPORT DATABASE '$DIR'
ATTACH '$DIR/out.db'
ATTACH ':memory:' AS other
DETACH vibeflight
USE memory
INSTALL httpfs
LOAD httpfs
LOAD '$DIR/x.duckdb_extension'
FORCE INSTALL spatial FROM community
UPDATE EXTENSIONS
CREATE SECRET s (TYPE s3)
SELECT * FROM duckdb_secrets()
SELECT * FROM which_secret('s3://x', 's3')
DROP SECRET s
SELECT getenv('HOME')
SET memory_limit = '1TB'
SET GLOBAL enable_external_access = true
SET VARIABLE x = 1
RESET memory_limit
RESET enable_external_access
PRAGMA memory_limit='1TB'
PRAGMA version
PRAGMA database_list
PRAGMA enable_profiling
PRAGMA add_parquet_key('k', '0123456789112345')
CALL pragma_version()
CALL force_checkpoint()
SELECT * FROM force_checkpoint()
SELECT * FROM checkpoint()
SELECT * FROM enable_logging('QueryLog')
SELECT * FROM enable_logging(storage = 'file', storage_path = '$DIR/log')
SELECT * FROM disable_logging()
SELECT * FROM truncate_duckdb_logs()
SELECT write_log('x')
SELECT * FROM enable_profiling(save_location = '$DIR/profile')
SELECT * FROM enable_peg_parser()
SELECT sleep_ms(1000000)
SELECT pg_sleep(1000000)
SELECT pg_catalog.pg_sleep(1000000)
SELECT json_serialize_plan('CREATE VIEW v AS SELECT * FROM read_csv(''$CSV'')')
SELECT json_serialize_plan('EXPORT DATABASE ''$DIR/out'' ')
SELECT json_serialize_sql(repeat('SELECT 1;', 100000))
SELECT json_deserialize_sql('{}')
SELECT list_transform(['SELECT 1'], q -> json_serialize_plan(q))
SELECT current_setting('temp_directory')
SELECT current_setting('TEMP_' || 'directory')
SELECT current_setting('allowed_directories')
SELECT current_setting('extension_directory')
SELECT * FROM system.main.duckdb_settings()
SELECT * FROM main.duckdb_settings()
SELECT ST_Transform('POINT (1 2)'::GEOMETRY, '+init=$CSV:x', 'EPSG:4326')
SELECT ST_Transform('POINT (1 2)'::GEOMETRY, 'EPSG:4326', '+init=$CSV:x')
SELECT ST_Transform('POINT (1 2)'::GEOMETRY, 'EPSG:4326', '+INIT = $CSV:x', true)
SELECT ST_Transform('POINT (1 2)'::GEOMETRY, 'EPSG:4326', '+proj=longlat +nadgrids=$CSV')
SELECT ST_Transform('POINT (1 2)'::GEOMETRY, 'EPSG:4326', '+proj=defmodel +model=$CSV')
SELECT ST_Transform('POINT (1 2)'::GEOMETRY, 'EPSG:4326', '+proj=tinshift +file=$CSV')
SELECT ST_Transform('POINT (1 2)'::GEOMETRY, 'EPSG:4326', '@$CSV')
SELECT ST_Transform('POINT (1 2)'::GEOMETRY, 'EPSG:4326', concat('+in', 'it=$CSV:x'))
SELECT ST_Transform('POINT (1 2)'::GEOMETRY, 'EPSG:4326', '+init=$CSV:x'::VARCHAR)
SELECT ST_Transform('POINT (1 2)'::GEOMETRY, 'EPSG:4326', name) FROM t
SELECT ST_Transform('POINT (1 2)'::GEOMETRY, 'EPSG:4326', $1)
SELECT ST_SetCRS('POINT (1 2)'::GEOMETRY, '+init=$CSV:x')
SELECT list_transform([1], x -> ST_Transform('POINT (1 2)'::GEOMETRY, 'EPSG:4326', '+init=$CSV:x'))
SELECT * FROM query('SELECT 1')
SELECT * FROM query_table('t')
SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))
SELECT * FROM vibeflight_scan('t')
SELECT * FROM arrow_scan(1, 2, 3)
SELECT * FROM arrow_scan_dumb(1, 2, 3)
SELECT * FROM seq_scan()
SELECT * FROM sql_auto_complete('SEL')
SELECT nextval('s')
INSERT INTO t VALUES (1, 2, 'x')
UPDATE t SET x = 1
DELETE FROM t
MERGE INTO t USING t AS s ON t.id = s.id WHEN MATCHED THEN DELETE
TRUNCATE t
ALTER TABLE t ADD COLUMN y INT
DROP VIEW t
CREATE TABLE x (i INT)
CREATE TEMP TABLE x AS SELECT 1
CREATE OR REPLACE TEMP TABLE x AS SELECT 1
CREATE VIEW x AS SELECT 1
CREATE OR REPLACE VIEW t AS SELECT 1
CREATE SCHEMA x
CREATE SEQUENCE s
CREATE MACRO f(x) AS x
CREATE FUNCTION f(x) AS x
CREATE TYPE e AS ENUM ('a')
CREATE INDEX i ON t (id)
COMMENT ON VIEW t IS 'x'
PREPARE p AS SELECT 1
EXECUTE p
DEALLOCATE p
BEGIN
COMMIT
ROLLBACK
CHECKPOINT
VACUUM
ANALYZE
SELECT 1; SELECT 2
SELECT 1; DROP VIEW t
EXPLAIN ANALYZE CREATE TABLE x (i INT)
EXPLAIN CREATE TABLE x (i INT)
EXPLAIN ANALYZE INSERT INTO t VALUES (1)
EXPLAIN /* SELECT 1 */ CREATE TABLE x (i INT)
EXPLAIN (ANALYZE) CREATE TABLE x (i INT)
EXPLAIN ANALYZE SET memory_limit = '1TB'
PIVOT t ON name USING sum(x)`, "\n")
	for _, q := range queries {
		q = strings.NewReplacer("$CSV", csv, "$DIR", dir).Replace(q)
		t.Run(q, func(t *testing.T) {
			rows, _, err := query(c, q)
			var e *Error
			if !errors.As(err, &e) || e.Kind != Denied && e.Kind != Syntax && !strings.HasPrefix(e.Message,
				"Table with name") {
				t.Fatalf("got %d rows and error %v, want one that it is denied", len(rows), err)
			}
		})
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 {
		t.Errorf("the folder has %v, want the one file that the test wrote", left)
	}
	if rows, _, err := query(c, "SELECT count(*) FROM duckdb_tables() UNION ALL SELECT count(*) FROM duckdb_views() "+
		"WHERE NOT internal"); err != nil || strings.Join(rows, " ") != "0 1" {
		t.Errorf("tables and views: %v, %v, want none and one", rows, err)
	}
}

// Were a statement to get past the words, DuckDB's settings would still refuse it.
func TestSettingsHold(t *testing.T) {
	w := &world{}
	d := open(t, w, Config{Threads: 1})
	c := connect(t, d)
	for _, q := range []string{
		"SELECT * FROM read_text('/etc/hostname')",
		"SELECT * FROM glob('/*')",
		"COPY (SELECT 1) TO '/tmp/out.csv'",
		"ATTACH '/tmp/out.db'",
		"INSTALL httpfs",
		"LOAD httpfs",
		"SET memory_limit = '1TB'",
		"SET GLOBAL enable_external_access = true",
		"RESET memory_limit",
		"SET GLOBAL temp_directory = '/tmp'",
		"PRAGMA enable_profiling='json'",
	} {
		if err := c.run(q); err == nil {
			t.Errorf("%s: no error", q)
		}
	}
}

// The list of settings tells no path of the machine.
func TestSettingsTellNoPaths(t *testing.T) {
	dir := t.TempDir()
	c := connect(t, open(t, &world{}, Config{Threads: 1, SpillDir: dir}))
	for _, from := range []string{"duckdb_settings()", "pg_catalog.pg_settings"} {
		rows, _, err := query(c, "SELECT * FROM "+from)
		if err != nil || len(rows) < 50 {
			t.Fatalf("%s: %d rows, %v", from, len(rows), err)
		}
		for _, row := range rows {
			if strings.Contains(row, dir) || strings.Contains(row, "/nonexistent") {
				t.Errorf("%s: %s", from, row)
			}
		}
	}
	rows, _, err := query(c, "SELECT value FROM duckdb_settings() WHERE name = 'TimeZone'")
	if err != nil || len(rows) != 1 || rows[0] != "UTC" {
		t.Errorf("the time zone: %q, %v", rows, err)
	}
}

func TestAllowed(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 100, 30)
	c := connect(t, open(t, w, Config{Threads: 1}))
	for _, q := range []string{
		"SELECT 1",
		"  select 1 ; ",
		"-- a comment\nSELECT 1 -- another",
		"/* a comment */ SELECT 1",
		"WITH a AS (SELECT 1) SELECT * FROM a",
		"VALUES (1), (2)",
		"FROM t",
		"FROM t SELECT id LIMIT 3",
		"TABLE t",
		"(SELECT 1) UNION ALL (SELECT 2)",
		"DESCRIBE t",
		"DESCRIBE SELECT * FROM t",
		"SHOW t",
		"SHOW TABLES",
		"SHOW ALL TABLES",
		"SUMMARIZE t",
		"EXPLAIN SELECT * FROM t",
		"explain analyze select * from t",
		"EXPLAIN (FORMAT json) SELECT * FROM t",
		"PIVOT t ON (id % 2) IN (0, 1) USING sum(x)",
		"SELECT * FROM range(10)",
		"SELECT unnest([1, 2])",
		"SELECT * FROM unnest([1, 2])",
		"SELECT * FROM information_schema.tables",
		"SELECT * FROM duckdb_functions()",
		"SELECT current_setting('TimeZone')",
		"SELECT * FROM vibeflight.main.t",
	} {
		if _, _, err := query(c, q); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
}
