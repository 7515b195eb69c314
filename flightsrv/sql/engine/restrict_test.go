//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// rights is a scope with the same restriction for every entry.
type rights struct {
	access.Scope
	key         string
	restriction *access.Restriction
}

func (r rights) Key() string                            { return r.key }
func (r rights) Restriction(string) *access.Restriction { return r.restriction }

// restrictedTo returns a context with a restriction.
func restrictedTo(r access.Restriction) context.Context {
	return access.With(context.Background(), rights{access.All, fmt.Sprint(r), &r})
}

// readRows returns the rows of a selection, cells joined by '|'.
func (w *world) readRows(ctx context.Context, name string, sel catalog.Selection) ([]string, error) {
	sel.Encoding = geoarrow.Encoding{Geometry: geoarrow.AsWKB}
	h, s, err := w.catalog.Read(ctx, catalog.Request{Name: name}, sel)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	return scanRows(ctx, s)
}

func scanRows(ctx context.Context, s *catalog.Scan) (out []string, err error) {
	for {
		rec, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if rec.NumRows() == 0 {
			return out, errors.New("an empty record")
		}
		for i := range int(rec.NumRows()) {
			cells := make([]string, rec.NumCols())
			for k, c := range rec.Columns() {
				cells[k] = cell(rec.Schema().Field(k), c, i)
			}
			out = append(out, strings.Join(cells, "|"))
		}
		rec.Release()
	}
}

// askAs is ask for a caller with rights.
func (w *world) askAs(ctx context.Context, query string) ([]string, error) {
	s, err := w.engine.Prepare(ctx, query, "")
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return runAll(ctx, s)
}

// peopleJSON returns a file of n points with columns id, name, age and a hidden canary: rows whose
// age is 99 are far away, and have texts and numbers that no other row has.
func peopleJSON(r *rand.Rand, n int) string {
	var b strings.Builder
	b.WriteString(`{"type":"FeatureCollection","features":[`)
	for i := range n {
		age, x, y, name := r.IntN(60), r.Float64()*10, r.Float64()*10, fmt.Sprintf("\"n%d\"", r.IntN(5))
		note := fmt.Sprintf("\"note %d\"", i)
		switch {
		case r.IntN(7) == 0:
			age, x, y, name, note = 99, 150+r.Float64(), 80+r.Float64(), `"SECRET"`, `"zzz SECRET"`
		case r.IntN(5) == 0:
			name = "null"
		}
		geometry := fmt.Sprintf(`{"type":"Point","coordinates":[%v,%v]}`, x, y)
		if r.IntN(11) == 0 {
			geometry = "null"
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"type":"Feature","properties":{"id":%d,"name":%s,"age":%d,"note":%s,"score":%v,"when":`+
			`"2024-01-%02dT10:00:00Z","tags":["a%d","b"],"ok":%v},"geometry":%s}`, i, name, age, note, float64(i)/4,
			1+i%28, i%3, i%2 == 0, geometry)
	}
	b.WriteString("]}")
	return b.String()
}

// rulesOf returns a random restriction of such a file, and the query that gives the same rows.
func rulesOf(r *rand.Rand, columns []string) (access.Restriction, string, []string) {
	rules := access.Restriction{Masks: map[string]string{}}
	filters := []string{
		"", "age < 99", "name = 'n1' or age > 30", "id % 3 = 0", "false", "true", "score between 1 and 9",
		"ST_XMax(geometry) < 100", "starts_with(note, 'note') and age <> 99", "name is null", "ok and age < 50 -- x",
	}
	masks := map[string][]string{
		"name":  {"'***'", "NULL", "upper(name)", "left(note, 3)"},
		"age":   {"age // 10 * 10", "0", "NULL", "nullif(age, 99)"},
		"note":  {"md5(note)", "concat(name, '!')"},
		"when":  {"date_trunc('month', \"when\")", "NULL"},
		"tags":  {"[name]", "NULL", "tags[1:1]"},
		"ok":    {"age > 20", "NULL"},
		"score": {"round(score)", "NULL"},
		"geometry": {
			"NULL", "ST_Centroid(ST_Envelope(geometry))", "ST_Buffer(geometry, 1)",
			"CASE WHEN age < 30 THEN geometry END",
		},
	}
	rules.Filter = filters[r.IntN(len(filters))]
	var list, shown []string
	for _, name := range columns {
		switch of := masks[name]; {
		case r.IntN(4) == 0:
			rules.Hidden = append(rules.Hidden, strings.ToUpper(name))
			continue
		case len(of) > 0 && r.IntN(3) == 0:
			rules.Masks[name] = of[r.IntN(len(of))]
			expression := rules.Masks[name]
			if name != "geometry" || expression == "NULL" {
				expression = fmt.Sprintf("CAST((%s) AS %s)", expression, map[string]string{
					"name": "VARCHAR", "age": "INTEGER", "note": "VARCHAR", "when": "TIMESTAMPTZ", "tags": "VARCHAR[]",
					"ok": "BOOLEAN", "score": "DOUBLE", "geometry": "GEOMETRY",
				}[name])
			}
			list = append(list, fmt.Sprintf("%s AS %s", expression, quoteName(name)))
		default:
			list = append(list, quoteName(name))
		}
		shown = append(shown, name)
	}
	if len(shown) == 0 {
		return rulesOf(r, columns)
	}
	query := "SELECT " + strings.Join(list, ", ") + " FROM \"TABLE\""
	if rules.Filter != "" {
		query += " WHERE (" + rules.Filter + "\n)"
	}
	return rules, query, shown
}

func needSpatial(t testing.TB) func(*catalog.Config, *Config) {
	t.Helper()
	if spatialDir() == "" {
		t.Skip("there is no spatial extension")
	}
	return func(_ *catalog.Config, c *Config) { c.Extensions = spatialDir() }
}

// TestRestrictedTablesAreTables compares what restricted callers get with a query that keeps the
// same rows and columns of the whole table.
func TestRestrictedTablesAreTables(t *testing.T) {
	columns := []string{"id", "name", "age", "note", "score", "when", "tags", "ok", "geometry"}
	for _, c := range []struct {
		name   string
		entry  string
		change func(*catalog.Config, *Config)
	}{
		{"file", "people.geojson", func(*catalog.Config, *Config) {}},
		{"cached file", "people.geojson", cached(t)},
		{"dataset", "all", func(*catalog.Config, *Config) {}},
		{"cached dataset", "all", cached(t)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 11))
			files := map[string]string{"people.geojson": peopleJSON(r, 150)}
			for i := range 5 {
				files[fmt.Sprintf("parts/k=%d/p.geojson", i%2*10+i)] = peopleJSON(r, 40)
			}
			w := newWorld(t, files, needSpatial(t), c.change, func(cc *catalog.Config, _ *Config) {
				cc.Datasets = []catalog.Dataset{{Name: "all", Files: []string{cc.Roots[0].Dir + "/parts/**/*.geojson"}}}
			})
			n := 60
			if testing.Short() {
				n = 15
			}
			own := columns
			if c.entry == "all" {
				own = append([]string{"k"}, columns...)
			}
			for i := range n {
				rules, query, shown := rulesOf(r, own)
				ctx := restrictedTo(rules)
				query = strings.Replace(query, "TABLE", c.entry, 1)
				want, err := w.ask(query)
				if err != nil {
					t.Fatalf("%s: %v", query, err)
				}
				for range 4 {
					if err := w.compareRestricted(ctx, r, c.entry, want, shown); err != nil {
						t.Fatalf("step %d, %+v: %v", i, rules, err)
					}
				}
				if i%5 == 4 {
					if _, err := w.catalog.Evict(ctx, c.entry); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// compareRestricted compares a random selection and queries of a restricted table with its rows.
func (w *world) compareRestricted(ctx context.Context, r *rand.Rand, name string, want, shown []string) error {
	sel := catalog.Selection{}
	expect := want
	if r.IntN(2) == 0 {
		from, to := int64(r.IntN(len(want)+2)), int64(r.IntN(len(want)+2))
		sel.Rows = &[2]int64{from, to}
		from, to = min(from, int64(len(want))), min(to, int64(len(want)))
		expect = expect[min(from, to):max(from, to)]
		if from > to {
			expect = nil
		}
	}
	if at := slices.Index(shown, "geometry"); at >= 0 && r.IntN(2) == 0 {
		sel.BBox = &[4]float64{r.Float64() * 5, r.Float64() * 5, 5 + r.Float64()*5, 5 + r.Float64()*5}
		if r.IntN(3) == 0 {
			sel.BBox = &[4]float64{-1000, -1000, 1000, 1000}
		}
		expect = slices.DeleteFunc(slices.Clone(expect), func(row string) bool {
			cells := strings.Split(row, "|")
			bounds := wktBounds(cells[at])
			return bounds == nil || !meets(*bounds, *sel.BBox)
		})
	}
	if r.IntN(3) == 0 {
		limit := int64(r.IntN(20))
		sel.Limit = &limit
		expect = expect[:min(limit, int64(len(expect)))]
	}
	got, err := w.readRows(ctx, name, sel)
	if err != nil {
		return err
	}
	if !slices.Equal(got, expect) {
		return fmt.Errorf("%+v: %d rows, want %d:\n%s\nwant\n%s", sel, len(got), len(expect), strings.Join(got, "\n"),
			strings.Join(expect, "\n"))
	}
	h, s, err := w.catalog.Describe(ctx, catalog.Request{Name: name}, sel, true)
	if err != nil {
		return err
	}
	defer h.Release()
	rows, err := s.Rows(ctx)
	if err != nil {
		return err
	}
	t := h.Table
	if rows != int64(len(expect)) || t.Rows != int64(len(want)) {
		return fmt.Errorf("%+v: %d rows of %d are announced, and %d of %d come", sel, rows, t.Rows, len(expect),
			len(want))
	}
	if err := compareBoxes(t, want, slices.Index(shown, "geometry")); err != nil {
		return err
	}
	var bytes int64
	columns, batches := h.Source().Sizes()
	for _, n := range columns {
		bytes += n
	}
	if len(batches) != len(t.Batches) || bytes != t.Bytes || len(columns) != len(shown) {
		return fmt.Errorf("%d sizes of %d batches, %d of %d columns, %d and %d bytes", len(batches), len(t.Batches),
			len(columns), len(shown), bytes, t.Bytes)
	}
	for _, query := range []string{
		"SELECT * FROM %s", "SELECT count(*) FROM %s", "SELECT * FROM %s ORDER BY 1 DESC LIMIT 3",
	} {
		if got, err = w.askAs(ctx, fmt.Sprintf(query, quoteName(name))); err != nil {
			return fmt.Errorf("%s: %w", query, err)
		}
		switch {
		case strings.Contains(query, "count"):
			if len(got) != 1 || got[0] != fmt.Sprint(len(want)) {
				return fmt.Errorf("%s: %q, want %d", query, got, len(want))
			}
		case strings.Contains(query, "LIMIT"):
			for _, row := range got {
				if !slices.Contains(want, row) {
					return fmt.Errorf("%s: row %q", query, row)
				}
			}
		default:
			if !slices.Equal(got, want) {
				return fmt.Errorf("%s: %d rows, want %d\n%s\nwant\n%s", query, len(got), len(want),
					strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
	return nil
}

// compareBoxes compares the boxes of a table with its rows, whose geometry is column at; -1: none.
func compareBoxes(t *readers.Table, rows []string, at int) error {
	var bounds, all *[4]float64
	for _, row := range rows {
		if at >= 0 {
			bounds = union(bounds, wktBounds(strings.Split(row, "|")[at]))
		}
	}
	for _, b := range t.Boxes {
		if b[0] <= b[2] {
			all = union(all, &b)
		}
	}
	near := func(a, b *[4]float64) bool {
		if a == nil || b == nil {
			return a == b
		}
		for i := range a {
			if math.Abs(a[i]-b[i]) > 1e-9 {
				return false
			}
		}
		return true
	}
	if !near(t.BBox, bounds) || !near(all, bounds) {
		return fmt.Errorf("the box is %v, those of batches are %v, want %v", t.BBox, all, bounds)
	}
	if at < 0 && (len(t.GeometryTypes) > 0 || t.Positions > 0) {
		return fmt.Errorf("%q with %d positions of a hidden geometry", t.GeometryTypes, t.Positions)
	}
	return nil
}

func union(a, b *[4]float64) *[4]float64 {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &[4]float64{min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])}
}

// wktBounds returns the bounding box of a WKT text; nil: it has none.
func wktBounds(text string) (bounds *[4]float64) {
	at := strings.IndexByte(text, '(')
	if at < 0 {
		return nil
	}
	for p := range strings.SplitSeq(strings.NewReplacer("(", "", ")", "").Replace(text[at:]), ",") {
		var x, y float64
		if _, err := fmt.Sscan(p, &x, &y); err != nil {
			return nil
		}
		bounds = union(bounds, &[4]float64{x, y, x, y})
	}
	return bounds
}

// TestRulesThatCannotBeApplied gives the table to nobody, and tells the reason to the operator alone.
func TestRulesThatCannotBeApplied(t *testing.T) {
	var log lockedBuffer
	w := newWorld(t, map[string]string{
		"a.csv": "id,name\n1,SECRET\n2,b\n", "other.csv": "x\n1\n",
	}, func(cc *catalog.Config, _ *Config) { cc.Log = zerolog.New(&log) })
	for _, filter := range []string{
		"id = (SELECT max(x) FROM other)", "EXISTS (SELECT 1)", "nothing = 1", "now() > '2020-01-01'", "random() > 0.5",
		"current_date > '2020-01-01'", "current_timestamp IS NULL", "uuid() IS NULL", "count(*) > 1",
		"row_number() OVER () = 1", "id = ?", "id = $1", "true) OR (true", "true), (false",
		"true) FROM rows UNION SELECT (1",
		"id IN (FROM other)", "name::INTEGER > 0", "row > 0", "getenv('HOME') IS NULL", "age(name::DATE) IS NULL",
		"current_setting('TimeZone') = 'UTC'", "id >", "name", "list_filter([1], lambda x: x > 0) = [1]", "*", "",
	} {
		rules := access.Restriction{Filter: filter}
		if filter == "" {
			rules = access.Restriction{Masks: map[string]string{"id": "name"}}
		}
		ctx := restrictedTo(rules)
		_, err := w.readRows(ctx, "a.csv", catalog.Selection{})
		var wrong *catalog.RulesError
		if !errors.As(err, &wrong) || strings.Contains(err.Error(), "SECRET") ||
			strings.Contains(err.Error(), "nothing") {
			t.Errorf("filter %q: error %v", filter, err)
		}
		if _, err := w.askAs(ctx, "SELECT count(*) FROM a"); !errors.As(err, &wrong) {
			t.Errorf("filter %q: error of SQL: %v", filter, err)
		}
	}
	if text := log.String(); !strings.Contains(text, "the function random is not allowed") ||
		!strings.Contains(text, `\"name\":\"a.csv\"`) && !strings.Contains(text, `"name":"a.csv"`) {
		t.Errorf("the log is %s", text)
	}
	// Options give columns other names.
	ctx := restrictedTo(access.Restriction{Hidden: []string{"name"}})
	_, err := w.catalog.Table(ctx, catalog.Request{Name: "a.csv", Options: map[string]any{"header": false}})
	if wrong := new(catalog.OptionsError); !errors.As(err, &wrong) {
		t.Errorf("error %v", err)
	}
	w.catalog.SetEvaluator(nil, nil)
	if rows, err := w.readRows(ctx, "a.csv", catalog.Selection{}); err != nil || fmt.Sprint(rows) != "[1 2]" {
		t.Errorf("%q, error %v: a hidden column needs no SQL", rows, err)
	}
	_, err = w.readRows(restrictedTo(access.Restriction{Filter: "id = 2"}), "a.csv", catalog.Selection{})
	if wrong := new(catalog.RulesError); !errors.As(err, &wrong) {
		t.Errorf("error %v without SQL", err)
	}
}

// lockedBuffer is a buffer for several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestCallersDoNotShareRows has callers of different rights use one table, one query text and one
// statement at the same time, while the file changes.
func TestCallersDoNotShareRows(t *testing.T) {
	content := func(version int) string {
		var b strings.Builder
		b.WriteString("id,owner,version\n")
		for i := range 300 {
			fmt.Fprintf(&b, "%d,u%d,%d\n", i, i%3, version)
		}
		return b.String()
	}
	w := newWorld(t, map[string]string{"t.csv": content(0)}, cached(t))
	ctx := context.Background()
	shared, err := w.engine.Prepare(restrictedTo(access.Restriction{Filter: "owner = 'u0'"}), "SELECT * FROM t", "")
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Close()
	end := time.Now().Add(2 * time.Second)
	var wait sync.WaitGroup
	for user := range 3 {
		for range 2 {
			wait.Go(func() {
				filter, own := fmt.Sprintf("owner = 'u%d'", user), fmt.Sprintf("|u%d|", user)
				as := restrictedTo(access.Restriction{Filter: filter})
				for i := 0; time.Now().Before(end); i++ {
					var rows []string
					var err error
					switch i % 3 {
					case 0:
						rows, err = w.readRows(as, "t.csv", catalog.Selection{})
					case 1:
						rows, err = w.askAs(as, "SELECT * FROM t")
					default:
						rows, err = runAll(as, shared)
					}
					changed := new(catalog.ChangedError)
					if errors.As(err, &changed) || errors.Is(err, source.ErrChanged) {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					version := rows[0][strings.LastIndexByte(rows[0], '|'):]
					for _, row := range rows {
						if !strings.Contains(row, own) || !strings.HasSuffix(row, version) || len(rows) != 100 {
							t.Errorf("way %d: %d rows; %q is among those of %s", i%3, len(rows), row, filter)
							return
						}
					}
				}
			})
		}
	}
	for version := 1; time.Now().Before(end); version++ {
		time.Sleep(300 * time.Millisecond)
		w.write("t.tmp", content(version))
		if err := os.Rename(filepath.Join(w.dir, "t.tmp"), filepath.Join(w.dir, "t.csv")); err != nil {
			t.Error(err)
		}
	}
	wait.Wait()
	if rows, err := w.readRows(ctx, "t.csv", catalog.Selection{}); err != nil || len(rows) != 300 {
		t.Errorf("%d rows, error %v", len(rows), err)
	}
}

// TestPartitionsOfRestrictedDatasets selects rows by columns of folders.
func TestPartitionsOfRestrictedDatasets(t *testing.T) {
	files := map[string]string{}
	for i := range 4 {
		var rows strings.Builder
		for v := range 50 {
			fmt.Fprintf(&rows, "%d\n", 100*i+v)
		}
		files[fmt.Sprintf("d/k=%d/p.csv", i)] = "v\n" + rows.String()
	}
	w := newWorld(t, files, func(cc *catalog.Config, _ *Config) {
		cc.Datasets = []catalog.Dataset{{Name: "all", Files: []string{cc.Roots[0].Dir + "/d/**/*.csv"}}}
	})
	sel := catalog.Selection{Columns: []string{"v"}, Partitions: map[string]any{"k": int64(2)}}
	rows, err := w.readRows(restrictedTo(access.Restriction{Filter: "v % 20 = 0"}), "all", sel)
	if err != nil || fmt.Sprint(rows) != "[200 220 240]" {
		t.Errorf("%q, error %v", rows, err)
	}
	for _, rules := range []access.Restriction{
		{Hidden: []string{"k"}}, {Masks: map[string]string{"k": "NULL"}},
	} {
		rows, err := w.readRows(restrictedTo(rules), "all", sel)
		if wrong := new(catalog.PartitionError); !errors.As(err, &wrong) {
			t.Errorf("%+v: %q, error %v", rules, rows, err)
		}
	}
	before := w.engine.Stats().BatchesLeftOut
	as := restrictedTo(access.Restriction{Hidden: []string{"x"}})
	got, err := w.askAs(as, `SELECT v FROM "all" WHERE k = 3 AND v < 302`)
	if err != nil || fmt.Sprint(got) != "[300 301]" {
		t.Errorf("%q, error %v", got, err)
	}
	if w.engine.Stats().BatchesLeftOut == before {
		t.Error("all batches are read for one folder")
	}
}

// BenchmarkRestrictedRead reads a warm table of a million rows, whole and restricted.
func BenchmarkRestrictedRead(b *testing.B) {
	var text strings.Builder
	text.WriteString("id,name,value,WKT\n")
	for i := range 1_000_000 {
		fmt.Fprintf(&text, "%d,name %d,%d.5,POINT (%d %d)\n", i, i%1000, i%777, i%360-180, i%180-90)
	}
	w := newWorld(b, map[string]string{"t.csv": text.String()}, cached(b), func(cc *catalog.Config, _ *Config) {
		cc.Limits = readers.Limits{}
	})
	for _, c := range []struct {
		name  string
		rules access.Restriction
	}{
		{"whole", access.Restriction{}},
		{"hidden", access.Restriction{Hidden: []string{"name"}}},
		{"filter all", access.Restriction{Filter: "id >= 0"}},
		{"filter half", access.Restriction{Filter: "id % 2 = 0"}},
		{"filter half in runs", access.Restriction{Filter: "id // 1000 % 2 = 0"}},
		{"mask null", access.Restriction{Masks: map[string]string{"name": "NULL"}}},
		{"mask", access.Restriction{Masks: map[string]string{"name": "left(name, 3)"}}},
	} {
		ctx := restrictedTo(c.rules)
		if c.name == "whole" {
			ctx = context.Background()
		}
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				h, s, err := w.catalog.Read(ctx, catalog.Request{Name: "t.csv"}, catalog.Selection{})
				if err != nil {
					b.Fatal(err)
				}
				var sum int
				for {
					rec, err := s.Next(ctx)
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					for _, c := range rec.Columns() { // as a client reads it
						for _, data := range c.Data().Buffers() {
							if data != nil {
								for i := 0; i < data.Len(); i += 64 {
									sum += int(data.Bytes()[i])
								}
							}
						}
					}
					rec.Release()
				}
				h.Release()
			}
		})
	}
}
