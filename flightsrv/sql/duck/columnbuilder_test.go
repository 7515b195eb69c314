//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
)

// What is gathered is what DuckDB's own conversion gives, value by value.
func TestGathered(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	c := connect(t, open(t, w, Config{Threads: 2}))
	for _, value := range []string{
		"i % 3 = 0", "(i % 100)::TINYINT", "i::SMALLINT", "i::INTEGER", "-i::BIGINT", "(i % 200)::UTINYINT",
		"(i % 60000)::USMALLINT", "i::UINTEGER", "i::UBIGINT",
		"i::FLOAT / 7", "i::DOUBLE / 7", "DATE '1969-12-30' + i::INTEGER",
		"TIME '01:02:03' + i * INTERVAL 1 MICROSECOND",
		"TIMESTAMP '1969-12-31' + i * INTERVAL 1 HOUR", "(TIMESTAMP '2000-01-01' + i * INTERVAL 1 HOUR)::TIMESTAMP_S",
		"(TIMESTAMP '2000-01-01' + i * INTERVAL 1 HOUR)::TIMESTAMP_MS",
		"(TIMESTAMP '2000-01-01' + i * INTERVAL 1 HOUR)::TIMESTAMP_NS",
		"(TIMESTAMP '2000-01-01' + i * INTERVAL 1 HOUR)::TIMESTAMPTZ",
		"repeat('é', (i % 20)::INTEGER)", "'x'", "''", "repeat('ab', (i % 9)::INTEGER)::BLOB",
		"('POINT (' || i || ' 7)')::GEOMETRY", "('[' || i || ']')::JSON",
	} {
		for _, null := range []string{"false", "i % 7 = 0", "i = 5000", "i < 2100", "i > 2047", "true"} {
			for _, rows := range []int{0, 1, 64, 2049, 5001} {
				text := fmt.Sprintf("SELECT CASE WHEN %s THEN NULL ELSE %s END AS v, i FROM range(%d) t(i)",
					null, value, rows)
				got, gathered := joined(t, c, text, true)
				want, _ := joined(t, c, text, false)
				if !gathered {
					t.Errorf("%s: it is not gathered", text)
				}
				if !array.RecordEqual(got, want) || got.Column(0).NullN() != want.Column(0).NullN() {
					t.Errorf("%s: %d rows, %d nulls, which are not the %d rows, %d nulls that DuckDB converts",
						text, got.NumRows(), got.Column(0).NullN(), want.NumRows(), want.Column(0).NullN())
				}
			}
		}
	}
}

// The values of nulls are zero, whatever DuckDB's memory had before.
func TestValuesOfNulls(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	c := connect(t, open(t, w, Config{Threads: 2}))
	for _, value := range []string{
		"nullif((i % 2)::TINYINT, 1)", "nullif(i % 3, 1)::INTEGER", "nullif(i, i)", "nullif(i % 2 = 1, true)",
		"CASE WHEN i % 3 = 1 THEN i::DOUBLE END", "CASE WHEN i % 3 = 1 THEN i::DECIMAL(30, 2) END",
		"nullif(TIMESTAMP '2000-01-01' + (i % 2) * INTERVAL 1 HOUR, TIMESTAMP '2000-01-01 01:00:00')",
		"[nullif(i % 3, 1), nullif(i, i)]", "{'a': nullif(i % 3, 1), 'b': CASE WHEN i % 2 = 0 THEN i END}",
		"CASE WHEN i % 2 = 0 THEN {'a': i} END", "(CASE WHEN i % 2 = 0 THEN [i, i] END)::BIGINT[2]",
		"(SELECT numeric_scale FROM information_schema.columns LIMIT 1)", "u", "(u, i)",
	} {
		text := "SELECT " + value + " AS v FROM range(5000) t(i) LEFT JOIN (SELECT j AS k, j + 1 AS u FROM range(2500) s(j)) ON k = 2 * i"
		for _, gather := range []bool{true, false} {
			rec, _ := joined(t, c, text, gather)
			if row := dirtyNull(rec.Column(0).Data()); row >= 0 {
				t.Errorf("%s (gathered: %t): the value of the null in row %d is not zero", text, gather, row)
			}
			rec.Release()
		}
	}
}

// dirtyNull returns the row of a null whose value is not zero, or -1.
func dirtyNull(data arrow.ArrayData) int {
	if fixed, ok := data.DataType().(arrow.FixedWidthDataType); ok && data.NullN() != 0 && len(data.Buffers()) == 2 {
		valid, values := data.Buffers()[0].Bytes(), data.Buffers()[1].Bytes()
		for i := range data.Len() {
			width := fixed.BitWidth()
			for bit := i * width; !bitutil.BitIsSet(valid, i) && bit < (i+1)*width; bit++ {
				if bitutil.BitIsSet(values, bit) {
					return i
				}
			}
		}
	}
	for _, child := range data.Children() {
		if row := dirtyNull(child); row >= 0 {
			return row
		}
	}
	return -1
}

// joined returns all rows of a query as one record, gathered or as DuckDB converts them.
func joined(t *testing.T, c *Conn, text string, gather bool) (rec arrow.Record, gathered bool) {
	t.Helper()
	s, err := prepare(t.Context(), c, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer s.Close()
	rows, err := s.Query(t.Context(), nil, 0)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	gathered = rows.builders != nil
	if !gather {
		rows.builders = nil
	}
	var parts []arrow.Record
	for {
		rec, err := rows.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		parts = append(parts, rec)
	}
	if len(parts) == 0 {
		b := array.NewRecordBuilder(arrowMemory, rows.Schema())
		defer b.Release()
		return b.NewRecord(), gathered
	}
	var n int64
	for _, p := range parts {
		n += p.NumRows()
	}
	rec, err = join(rows.Schema(), parts, n)
	if err != nil {
		t.Fatal(err)
	}
	return rec, gathered
}

// Records stay as they are when the next one is made, and when the rows are closed.
func TestGatheredStays(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 300_000, 70_000)
	c := connect(t, open(t, w, Config{Threads: 2}))
	_, recs := read(t, c, "SELECT id, name FROM t WHERE id >= 0")
	var at int64
	for _, rec := range recs {
		ids, names := rec.Column(0).(*array.Int64), rec.Column(1).(*array.String)
		for i := range ids.Len() {
			if want := fmt.Sprintf("a name of some length %d", at); ids.Value(i) != at ||
				names.IsNull(i) != (at%10 == 3) || names.IsValid(i) && names.Value(i) != want {
				t.Fatalf("row %d: %d, %s, want %d, %s", at, ids.Value(i), names.ValueStr(i), at, want)
			}
			at++
		}
	}
	if at != 300_000 || len(recs) < 4 {
		t.Errorf("%d rows in %d records", at, len(recs))
	}
}

// Geometries that DuckDB reads where they are give what those give that it has converted.
func TestLastingGeometries(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	schema := points(w, "{}").schema
	b := array.NewRecordBuilder(arrowMemory,
		arrow.NewSchema([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int64}, schema.Field(0)}, nil))
	defer b.Release()
	for i := range 10_000 {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		if i%7 == 3 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.BinaryBuilder).Append(wkb(float64(i%5000), 0.5))
		}
	}
	all := b.NewRecord()
	for _, name := range []string{"converted", "lasting"} {
		r := &relation{world: w, schema: all.Schema(), lasting: name == "lasting"}
		// from other rows on than a byte of the nulls begins with
		for _, ends := range [][2]int64{{0, 3}, {3, 2052}, {2052, 2052}, {2052, 9_999}, {9_999, 10_000}} {
			r.batches = append(r.batches, all.NewSlice(ends[0], ends[1]))
		}
		w.tables[name] = r
	}
	c := connect(t, open(t, w, Config{Threads: 2}))
	for _, text := range []string{
		"SELECT i, geometry, ST_AsText(geometry) FROM %s",
		"SELECT i, geometry FROM %s WHERE i %% 100 = 1 AND geometry IS NOT NULL",
		"SELECT count(*), count(geometry), count(DISTINCT geometry) FROM %s",
		"SELECT min(ST_AsWKB(geometry)), max(ST_AsWKB(geometry)), first(geometry ORDER BY i DESC) FROM %s",
		"SELECT i, geometry FROM %s ORDER BY i DESC LIMIT 5000",
		"SELECT geometry, count(*), max(i) FROM %s GROUP BY geometry ORDER BY 3",
		"SELECT a.i, b.geometry FROM %[1]s a JOIN %[1]s b ON a.geometry = b.geometry ORDER BY 1, 2",
		"SELECT i, lag(geometry, 3000) OVER (ORDER BY i) FROM %s ORDER BY i",
		"SELECT i, lag(geometry) OVER (), lead(geometry) OVER () FROM %s",
		"WITH m AS MATERIALIZED (SELECT * FROM %s) SELECT i, geometry FROM m, range(2) ORDER BY i",
		"SELECT any_value(geometry), list(geometry ORDER BY i)[5:7] FROM %s GROUP BY i %% 3 ORDER BY i %% 3",
		"SELECT i, geometry FROM %s UNION ALL SELECT 1, 'POINT (1 2)'::GEOMETRY",
		"SELECT (SELECT geometry FROM %s WHERE i = 8)",
	} {
		converted, _, err := query(c, fmt.Sprintf(text, "converted"))
		if err != nil || len(converted) == 0 {
			t.Errorf("%s: %d rows, %v", text, len(converted), err)
			continue
		}
		lasting, _, err := query(c, fmt.Sprintf(text, "lasting"))
		if err != nil || fmt.Sprint(converted) != fmt.Sprint(lasting) {
			t.Errorf("%s: %d rows, %v, which are not the %d of converted geometries", text, len(lasting),
				err, len(converted))
		}
	}
}
