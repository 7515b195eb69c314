//go:build cgo && linux && (amd64 || arm64)

package sql_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql/schema_ref"
	"google.golang.org/grpc/codes"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
	"github.com/vibeflight/vibeflight/readers/all"
)

// real is a server over files, with DuckDB.
type realServer struct {
	*fixture
	catalog *catalog.Catalog
	engine  *engine.Engine
}

func serveReal(t testing.TB, files map[string]string) *realServer {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := openCatalog(t, dir, all.Formats())
	e, err := engine.Open(engine.Config{Catalog: c, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return &realServer{serve(t, c, sql.Of(e)), c, e}
}

// points is a GeoJSON file of n points with the attributes i and name.
func points(n int) string {
	var b strings.Builder
	b.WriteString(`{"type":"FeatureCollection","features":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"type":"Feature","properties":{"i":%d,"name":"p%d"},"geometry":{"type":"Point","coordinates":[%d,1]}}`, i, i%7, i%90)
	}
	b.WriteString("]}")
	return b.String()
}

// ask returns the rows of a query as lines of texts, fields separated by '|'.
func (r *realServer) ask(t testing.TB, query string) ([]string, error) {
	t.Helper()
	info, err := r.client.Execute(t.Context(), query)
	if err != nil {
		return nil, err
	}
	return r.lines(t, info)
}

func (r *realServer) lines(t testing.TB, info *flight.FlightInfo) (lines []string, err error) {
	t.Helper()
	recs, err := r.fetch(t, info)
	for _, rec := range recs {
		for row := range int(rec.NumRows()) {
			var fields []string
			for _, c := range rec.Columns() {
				fields = append(fields, c.ValueStr(row))
			}
			lines = append(lines, strings.Join(fields, "|"))
		}
		rec.Release()
	}
	return lines, err
}

func TestRealQueries(t *testing.T) {
	r := serveReal(t, map[string]string{
		"a.geojson": points(1000), "sub/b.csv": "k,v\n1,2\n3,4\n",
		"broken.geojson": `{"type":"FeatureCollection","features":[}`,
	})
	for _, c := range []struct {
		name, query string
		want        []string
		code        codes.Code
		words       string
	}{
		{name: "constant", query: "SELECT 1", want: []string{"1"}},
		{name: "count", query: `SELECT count(*) FROM "a.geojson"`, want: []string{"1000"}},
		{
			name: "group", query: `SELECT name, count(*) FROM a GROUP BY 1 ORDER BY 1 LIMIT 2`,
			want: []string{"p0|143", "p1|143"},
		},
		{name: "join", query: `SELECT a.i FROM a JOIN "sub/b.csv" b ON a.i = b.v ORDER BY 1`, want: []string{"2", "4"}},
		{name: "enum", query: `SELECT 'a'::ENUM('a', 'b') AS e`, want: []string{"a"}},
		{name: "bits", query: `SELECT '101'::BIT AS b`, code: codes.Unimplemented, words: "VARCHAR"},
		{name: "no row", query: `SELECT i FROM a WHERE i < 0`},
		{name: "unknown table", query: `SELECT * FROM "a.geojsn"`, code: codes.NotFound, words: "a.geojson"},
		{name: "unknown column", query: `SELECT nothing FROM a`, code: codes.InvalidArgument, words: "nothing"},
		{name: "syntax", query: `SELEKT 1`, code: codes.InvalidArgument, words: "SELEKT"},
		{name: "value", query: `SELECT name::INTEGER FROM a`, code: codes.InvalidArgument, words: "p0"},
		{name: "broken file", query: `SELECT * FROM broken`, code: codes.InvalidArgument, words: "byte"},
		{name: "write", query: `CREATE TABLE t (a INTEGER)`, code: codes.InvalidArgument},
		{name: "two statements", query: `SELECT 1; SELECT 2`, code: codes.InvalidArgument},
		{name: "parameter", query: `SELECT ?`, code: codes.InvalidArgument, words: "1 parameter"},
		{name: "nothing", query: ``, code: codes.InvalidArgument},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := r.ask(t, c.query)
			wantStatus(t, err, c.code, c.words)
			wantLines(t, got, c.want...)
		})
	}
	r.nothingHeld(t)
}

// nothingHeld waits until no statement is open and no table is in use.
func (r *realServer) nothingHeld(t testing.TB) {
	t.Helper()
	eventually(t, "nothing is held", func() bool {
		return r.engine.Stats().Statements == 0 && r.catalog.Stats().HeldTables == 0
	})
}

func TestRealPrepared(t *testing.T) {
	r := serveReal(t, map[string]string{"a.geojson": points(100)})
	ctx := t.Context()
	for _, c := range []struct {
		name, query string
		typ         arrow.DataType
		json        string
		want        []string
	}{
		{"integer", `SELECT name FROM a WHERE i = ?`, arrow.PrimitiveTypes.Int32, `[{"a":8}]`, []string{"p1"}},
		{"long", `SELECT ? + 1`, arrow.PrimitiveTypes.Int64, `[{"a":8}]`, []string{"9"}},
		{"small", `SELECT ?`, arrow.PrimitiveTypes.Uint8, `[{"a":8}]`, []string{"8"}},
		{"double", `SELECT ? * 2`, arrow.PrimitiveTypes.Float64, `[{"a":0.25}]`, []string{"0.5"}},
		{"text", `SELECT upper(?)`, arrow.BinaryTypes.String, `[{"a":"xé"}]`, []string{"XÉ"}},
		{"large text", `SELECT upper(?)`, arrow.BinaryTypes.LargeString, `[{"a":"x"}]`, []string{"X"}},
		{
			"text for a number", `SELECT count(*) FROM a WHERE i < ?`, arrow.BinaryTypes.String, `[{"a":"8"}]`,
			[]string{"8"},
		},
		{"boolean", `SELECT NOT ?`, arrow.FixedWidthTypes.Boolean, `[{"a":false}]`, []string{"true"}},
		{"bytes", `SELECT octet_length(?)`, arrow.BinaryTypes.Binary, `[{"a":"AAEC"}]`, []string{"3"}},
		{"date", `SELECT year(?::DATE)`, arrow.FixedWidthTypes.Date32, `[{"a":"2024-02-29"}]`, []string{"2024"}},
		{
			"timestamp", `SELECT hour(?::TIMESTAMP)`, &arrow.TimestampType{Unit: arrow.Microsecond},
			`[{"a":"2024-02-29 13:00:00"}]`,
			[]string{"13"},
		},
		{"null", `SELECT ? IS NULL`, arrow.PrimitiveTypes.Int64, `[{"a":null}]`, []string{"true"}},
		{
			"typed by its value", `SELECT ? AS x`, arrow.PrimitiveTypes.Int16, `[{"a":7},{"a":null},{"a":9}]`,
			[]string{"7", "(null)", "9"},
		},
		{
			"rows", `SELECT count(*) FROM a WHERE i < $1`, arrow.PrimitiveTypes.Int64, `[{"a":1},{"a":10}]`,
			[]string{"1", "10"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := r.client.Prepare(ctx, c.query)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // and bound again
				p.SetParameters(args(t, c.json, c.typ))
				info, err := p.Execute(ctx)
				if err != nil {
					t.Fatal(err)
				}
				got, err := r.lines(t, info)
				if err != nil {
					t.Fatal(err)
				}
				wantLines(t, got, c.want...)
			}
			if err := p.Close(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	p, err := r.client.Prepare(ctx, `SELECT * FROM a WHERE i = ? AND name = ?`)
	if err != nil {
		t.Fatal(err)
	}
	p.SetParameters(args(t, `[{"a":1,"b":true}]`, arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Boolean))
	_, err = p.Execute(ctx)
	wantStatus(t, err, codes.InvalidArgument, "parameter 2", "a text")
	p.SetParameters(args(t, `[{"a":"eight","b":"p1"}]`, arrow.BinaryTypes.String, arrow.BinaryTypes.String))
	info, err := p.Execute(ctx)
	if err == nil {
		_, err = r.lines(t, info)
	}
	wantStatus(t, err, codes.InvalidArgument, "eight")
	if err := p.Close(ctx); err != nil {
		t.Error(err)
	}
	r.nothingHeld(t)
}

func TestRealMetadata(t *testing.T) {
	r := serveReal(t, map[string]string{"a.geojson": points(10), "sub/b.csv": "k,v\n1,2\n"})
	info, err := r.client.GetTables(t.Context(), &flightsql.GetTablesOpts{})
	wantLines(t, r.list(t, info, err, schema_ref.Tables), "vibeflight|main|a.geojson|TABLE",
		"vibeflight|sub|b.csv|TABLE")
	lines, err := r.ask(t, `SELECT v FROM vibeflight.sub."b.csv"`)
	if err != nil {
		t.Error(err)
	}
	wantLines(t, lines, "2")
	if got := r.sqlInfo(t, 508, 509, 510, 511, 512); len(got) != 5 || !strings.Contains(strings.ToUpper(got[508]),
		`"SELECT"`) || !strings.Contains(got[510], `"upper"`) {
		t.Errorf("keywords and functions: %v", got)
	}
}

// TestRealCancel has clients end queries that would take minutes, by all ways there are.
func TestRealCancel(t *testing.T) {
	r := serveReal(t, map[string]string{"a.geojson": points(2000)})
	const slow = `SELECT sum(x.i * y.i * z.i) FROM a x, a y, a z`
	if _, err := r.ask(t, `SELECT count(*) FROM a`); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			query := slow
			if i%3 == 0 {
				query = `SELECT x.i, y.name FROM a x, a y`
			}
			info, err := r.client.Execute(ctx, query)
			if err != nil {
				t.Error(err)
				return
			}
			stream, err := r.client.Client.DoGet(ctx, info.Endpoint[0].Ticket)
			if err == nil {
				_, err = stream.Recv()
			}
			if err != nil {
				t.Error(err)
				return
			}
			if i%2 == 0 {
				cancel()
				return
			}
			if _, err := r.client.CancelFlightInfo(ctx, &flight.CancelFlightInfoRequest{Info: info}); err != nil {
				t.Error(err)
			}
			for err == nil {
				_, err = stream.Recv()
			}
			wantStatus(t, err, codes.Canceled)
		})
	}
	wg.Wait()
	r.nothingHeld(t)
	eventually(t, "the goroutines are gone", func() bool { return runtime.NumGoroutine() <= before+5 })
}

// TestRealSessions has many clients ask different things at the same time.
func TestRealSessions(t *testing.T) {
	r := serveReal(t, map[string]string{"a.geojson": points(1000), "sub/b.csv": "k,v\n1,2\n3,4\n"})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			c := dial(t, r.addr)
			defer c.Close()
			own := &realServer{fixture: &fixture{client: c}}
			for k := range 5 {
				n := (i*31 + k*7) % 1000
				got, err := own.ask(t, fmt.Sprintf(`SELECT count(*), max(i) FROM a WHERE i < %d`, n+1))
				if want := []string{fmt.Sprintf("%d|%d", n+1, n)}; err != nil || !slices.Equal(got, want) {
					t.Errorf("got %v, %v; want %v", got, err, want)
				}
			}
		})
	}
	wg.Wait()
	r.nothingHeld(t)
}
