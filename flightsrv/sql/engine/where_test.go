//go:build cgo

package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// wheres are filters of requests for the files of peopleJSON, with the columns that they read.
var wheres = []struct{ text, columns string }{
	{"age < 30", "age"},
	{"age < 99 AND score > 3", "age score"},
	{"name = 'n1' or AGE > 30", "name age"},
	{"name is null", "name"},
	{"id % 3 = 0 -- a third", "id"},
	{"ST_XMax(geometry) < 5", "geometry"},
	{"ST_Intersects(geometry, ST_MakeEnvelope(2, 2, 7, 7)) AND ok", "geometry ok"},
	{"list_contains(tags, 'a1')", "tags"},
	{"\"when\" >= '2024-01-15'::TIMESTAMPTZ", "when"},
	{"note LIKE '%1%'", "note"},
	{"true", ""},
	{"false", ""},
	{"NULL", ""},
}

// readWhere returns the rows of a request with a filter, and how many are announced.
func (w *world) readWhere(ctx context.Context, req catalog.Request, sel catalog.Selection) ([]string, int64, error) {
	sel.Encoding = geoarrow.Encoding{Geometry: geoarrow.AsWKB}
	about, described, err := w.catalog.Describe(ctx, req, sel, true)
	if err != nil {
		return nil, 0, err
	}
	defer about.Release()
	n, err := described.Rows(ctx)
	if err != nil {
		return nil, 0, err
	}
	h, s, err := w.catalog.Read(ctx, req, sel)
	if err != nil {
		return nil, 0, err
	}
	defer h.Release()
	rows, err := scanRows(ctx, s)
	return rows, n, err
}

// TestWhereIsSQL compares the rows that the filter of a request keeps, of whole tables and of
// restricted ones, with those of a query that has the filter after WHERE.
func TestWhereIsSQL(t *testing.T) {
	columns := []string{"id", "name", "age", "note", "score", "when", "tags", "ok", "geometry"}
	for _, c := range []struct {
		name, entry string
		change      func(*catalog.Config, *Config)
	}{
		{"file", "people.geojson", func(*catalog.Config, *Config) {}},
		{"cached file", "people.geojson", cached(t)},
		{"dataset", "all", cached(t)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 5))
			files := map[string]string{"people.geojson": peopleJSON(r, 150)}
			for i := range 5 {
				files[fmt.Sprintf("parts/p%d.geojson", i)] = peopleJSON(r, 40)
			}
			w := newWorld(t, files, needSpatial(t), c.change, func(cc *catalog.Config, _ *Config) {
				cc.Datasets = []catalog.Dataset{{Name: "all", Files: []string{cc.Roots[0].Dir + "/parts/*.geojson"}}}
			})
			n := 40
			if testing.Short() {
				n = 12
			}
			for range n {
				ctx, query, shown := context.Background(), `SELECT * FROM "TABLE"`, columns
				if r.IntN(3) > 0 {
					var rules access.Restriction
					rules, query, shown = rulesOf(r, columns)
					ctx = restrictedTo(rules)
				}
				for range 3 {
					where := wheres[r.IntN(len(wheres))]
					query := strings.ReplaceAll(query, "TABLE", c.entry)
					err := w.compareWhere(ctx, r, c.entry, query, where.text, strings.Fields(where.columns), shown)
					if err != nil {
						t.Fatalf("%s of %s: %v", where.text, query, err)
					}
				}
			}
		})
	}
}

func (w *world) compareWhere(ctx context.Context, r *rand.Rand, entry, query, where string, reads, shown []string,
) error {
	sel, req := catalog.Selection{Columns: shown[:1+r.IntN(len(shown))]}, catalog.Request{Name: entry, Where: where}
	for _, name := range reads {
		if !slices.Contains(shown, name) {
			_, _, err := w.readWhere(ctx, req, sel)
			var filter *restrict.FilterError
			if !errors.As(err, &filter) || !strings.Contains(strings.ToLower(err.Error()), `no column "`+name+`"`) {
				return fmt.Errorf("a hidden column: %w", err)
			}
			return nil
		}
	}
	list := make([]string, len(sel.Columns))
	for i, name := range sel.Columns {
		list[i] = quoteName(name)
	}
	want, err := w.ask(fmt.Sprintf("SELECT %s FROM (%s\n) WHERE (%s\n)", strings.Join(list, ", "), query, where))
	if err != nil {
		return err
	}
	if r.IntN(2) == 0 {
		from := int64(r.IntN(len(want) + 1))
		sel.Rows = &[2]int64{from, from + int64(r.IntN(50))}
		want = want[from:min(sel.Rows[1], int64(len(want)))]
	}
	if r.IntN(2) == 0 {
		limit := int64(r.IntN(20))
		sel.Limit = &limit
		want = want[:min(limit, int64(len(want)))]
	}
	got, n, err := w.readWhere(ctx, req, sel)
	if err != nil {
		return err
	}
	if !slices.Equal(got, want) || n != int64(len(want)) {
		return fmt.Errorf("%+v: %d rows, %d announced, want %d:\n%s\nwant\n%s", sel, len(got), n, len(want),
			strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return nil
}

func TestWhereErrors(t *testing.T) {
	w := newWorld(t, map[string]string{"a.csv": "name,height\nx,1\ny,2\n"})
	for _, c := range []struct {
		name, where string // ¦ is the place
		kind        duck.Kind
		want        string // of the message
	}{
		{"syntax", "height > ¦> 1", duck.Syntax, `syntax error at or near ">"`},
		{"cut", "height >¦", duck.Syntax, "syntax error at the end"},
		{"parenthesis", "height > 1¦) OR (true", duck.Syntax, `syntax error at or near ")"`},
		{"another clause", "height > 1 ¦LIMIT 1", duck.Syntax, `syntax error at or near "LIMIT"`},
		{"two statements", "height > 1¦; DROP TABLE a", duck.Syntax, `syntax error at or near ";"`},
		{"unknown column", "name = 'x' AND ¦heigth > 1", duck.Name, `no column "heigth"; the nearest is "height"`},
		{"a second line", "name = 'ü' AND\n¦heigth > 1", duck.Name, `no column "heigth"`},
		{"the number of rows", "¦row = 1", duck.Name, `no column "row"`},
		{"another table", "¦b.height = 1", duck.Name, `no column "b"`},
		{"subquery", "height ¦IN (SELECT 1)", duck.Denied, "subquery is not allowed in a filter"},
		{"exists", "¦EXISTS (FROM a)", duck.Denied, "subquery is not allowed in a filter"},
		{"aggregate", "¦max(height) = 1", duck.Denied, "the function max is not allowed"},
		{"window", "¦row_number() OVER () = 1", duck.Denied, "window is not allowed in a filter"},
		{"time", "¦now() > '2020-01-01'", duck.Denied, "the function now is not allowed: filters and masks have functions of"},
		{"random", "height > ¦random()", duck.Denied, "the function random is not allowed"},
		{"file", "¦read_text('/etc/passwd') = ''", duck.Denied, "the function read_text is not allowed"},
		{"environment", "¦getenv('HOME') = ''", duck.Denied, "the function getenv is not allowed"},
		{"unknown function", "name = ¦lowwer('X')", duck.Name, `Scalar Function with name lowwer does not exist!`},
		{"type", "height = ¦'x'", duck.Value, "Could not convert string 'x'"},
		{"value", "¦name", duck.Value, "Could not convert string 'x' to BOOL"},
		{"several", "name, height", duck.Value, "cast"},
		{"parameter", "height = ?", duck.Denied, "parameter is not allowed in a filter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := strings.Index(c.where, "¦")
			req := catalog.Request{Name: "a.csv", Where: strings.Replace(c.where, "¦", "", 1)}
			_, _, err := w.readWhere(t.Context(), req, catalog.Selection{})
			var filter *restrict.FilterError
			var of *Error
			if !errors.As(err, &filter) || !errors.As(err, &of) || of.Kind != c.kind || of.Position != at ||
				!strings.Contains(err.Error(), c.want) {
				t.Fatalf("%s: %v (%#v), want kind %d at %d, %s", c.where, err, of, c.kind, at, c.want)
			}
			line := strings.Split(req.Where, "\n")
			if m := regexp.MustCompile(`\n  (.*)\n +\^$`).FindStringSubmatch(err.Error()); at >= 0 &&
				(m == nil || !slices.Contains(line, m[1])) {
				t.Errorf("no line in %q", err)
			}
		})
	}
	req := catalog.Request{Name: "a.csv", Where: "height = 2"}
	if _, _, err := w.readWhere(t.Context(), req, catalog.Selection{}); err != nil {
		t.Error(err)
	}
}

// The rows of a filter are those of a version of a file and of a caller's rights.
func TestWhereIsCached(t *testing.T) {
	w := newWorld(t, map[string]string{"a.csv": "name,height\nx,1\ny,2\nz,3\n"})
	entered := 0
	ctx := restrict.WithGate(t.Context(), func(ctx context.Context) (context.Context, func(), error) {
		entered++
		return ctx, func() {}, nil
	})
	read := func(ctx context.Context, where, want string) {
		t.Helper()
		got, _, err := w.readWhere(ctx, catalog.Request{Name: "a.csv", Where: where}, catalog.Selection{})
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v, want %s", where, got, err, want)
		}
	}
	read(ctx, "height > 1", "y|2 z|3")
	read(ctx, " height > 1\n", "y|2 z|3")
	mask := &access.Restriction{Masks: map[string]string{"height": "height * 10"}}
	masked := access.With(ctx, rights{access.All, "m", mask})
	read(masked, "height > 10", "y|20 z|30")
	read(masked, "height > 1", "x|10 y|20 z|30")
	read(ctx, "height > 1", "y|2 z|3")
	if entered != 3 {
		t.Errorf("filters were computed %d times, want 3", entered)
	}
	if _, err := w.catalog.Evict(ctx, "a.csv"); err != nil {
		t.Fatal(err)
	}
	read(ctx, "height > 1", "y|2 z|3")
	if entered != 4 {
		t.Errorf("filters were computed %d times after an eviction, want 4", entered)
	}
	full := errors.New("too many queries")
	ctx = restrict.WithGate(t.Context(), func(ctx context.Context) (context.Context, func(), error) {
		return ctx, nil, full
	})
	_, _, err := w.readWhere(ctx, catalog.Request{Name: "a.csv", Where: "height > 2"}, catalog.Selection{})
	if !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	ctx = restrict.WithGate(ctx, func(ctx context.Context) (context.Context, func(), error) {
		cancel(full)
		return ctx, func() {}, nil
	})
	_, _, err = w.readWhere(ctx, catalog.Request{Name: "a.csv", Where: "height > 2"}, catalog.Selection{})
	if !errors.Is(err, full) {
		t.Errorf("after its time: got %v, want %v", err, full)
	}
}

// describes is a scope that may only describe entries.
type describes struct{ access.Scope }

func (describes) Key() string                              { return "describes" }
func (describes) Allows(p access.Privilege, _ string) bool { return p == access.Describe }

// The number of rows that a filter keeps tells values.
func TestWhereNeedsRead(t *testing.T) {
	w := newWorld(t, map[string]string{"a.csv": "name,height\nx,1\n"})
	ctx := access.With(t.Context(), describes{access.All})
	h, _, err := w.catalog.Describe(ctx, catalog.Request{Name: "a.csv"}, catalog.Selection{}, false)
	if err != nil {
		t.Fatal(err)
	}
	h.Release()
	req := catalog.Request{Name: "a.csv", Where: "height = 1"}
	var denied *access.DeniedError
	if _, _, err := w.catalog.Describe(ctx, req, catalog.Selection{}, false); !errors.As(err, &denied) {
		t.Errorf("Describe: %v", err)
	}
	if _, _, err := w.catalog.Poll(ctx, req, ""); !errors.As(err, &denied) {
		t.Errorf("Poll: %v", err)
	}
	if _, _, _, err := w.catalog.Recall(ctx, req, catalog.Selection{}, false); !errors.As(err, &denied) {
		t.Errorf("Recall: %v", err)
	}
}

// Without SQL the error says so.
func TestWhereWithoutSQL(t *testing.T) {
	w := newWorld(t, map[string]string{"a.csv": "name,height\nx,1\n"})
	w.catalog.SetEvaluator(nil, nil)
	_, _, err := w.readWhere(t.Context(), catalog.Request{Name: "a.csv", Where: "height = 1"}, catalog.Selection{})
	if !errors.Is(err, restrict.ErrNoSQL) || !strings.HasPrefix(err.Error(), "where: filters and masks need SQL") {
		t.Errorf("got %v", err)
	}
}
