//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/catalog"
)

// randomFile is a table of all types that batches are left out by, in order here and there so that
// batches differ, with nulls, NaN and long texts.
func randomFile(r *rand.Rand, n int) string {
	var b strings.Builder
	b.WriteString(`{"type":"FeatureCollection","features":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		v := func(text string) string {
			if r.IntN(8) == 0 || i/16%9 == 3 {
				return "null"
			}
			return text
		}
		m := i + r.IntN(20)
		geometry := fmt.Sprintf(`{"type":"Point","coordinates":[%d,%.2f]}`, m%60, float64(m)/10)
		switch r.IntN(6) {
		case 0:
			geometry = "null"
		case 1:
			geometry = `{"type":"Polygon","coordinates":[]}`
		case 2:
			geometry = fmt.Sprintf(`{"type":"LineString","coordinates":[[%d,1],[%d,%d]]}`, m%60, m%50, m/10)
		}
		fmt.Fprintf(&b, `{"type":"Feature","properties":{"i":%s,"l":%s,"u":%s,"x":%s,"s":%s,"d":%s,"t":%s,"z":%s,"c":%s,"b":%s,"k":%s},"geometry":%s}`,
			v(fmt.Sprint(m-100)), v(fmt.Sprint(int64(m)*10_000_000_000)), v(fmt.Sprint(uint64(1<<63)+uint64(m))),
			v(fmt.Sprintf("%.3f", float64(m-100)/8)),
			v(fmt.Sprintf(`"%s%03d"`, strings.Repeat("x", i/64%3*150), m)),
			v(fmt.Sprintf(`"2020-%02d-%02d"`, 1+m/28%12, 1+m%28)),
			v(fmt.Sprintf(`"2020-01-01T00:%02d:%02d.%d"`, m/60%60, m%60, r.IntN(10))),
			v(fmt.Sprintf(`"2020-01-01T00:%02d:%02d.%09dZ"`, m/60%60, m%60, r.IntN(1e9))),
			v(fmt.Sprintf(`"%02d:%02d:00"`, m/60%24, m%60)), v(fmt.Sprint(m%2 == 0)), v(`[1,2]`), geometry)
	}
	b.WriteString("]}")
	return b.String()
}

// predicate is a random one over the columns of randomFile. meeting are functions of two
// geometries.
func predicate(r *rand.Rand, depth int, meeting []string) string {
	if depth > 0 && r.IntN(2) == 0 {
		op := []string{" AND ", " OR ", " AND NOT "}[r.IntN(3)]
		return "(" + predicate(r, depth-1, meeting) + op + predicate(r, depth-1, meeting) + ")"
	}
	m := r.IntN(420) - 20
	column, constant := "", ""
	switch r.IntN(13) {
	case 0:
		column, constant = "i", fmt.Sprint(m-100)
	case 1:
		column, constant = "i", fmt.Sprintf("%d.5", m-100)
	case 2:
		column, constant = "l", fmt.Sprint(int64(m)*10_000_000_000)
	case 3:
		column, constant = "u", fmt.Sprint(uint64(1<<63)+uint64(max(0, m)))
	case 4:
		column, constant = "x", fmt.Sprintf("%.3f", float64(m-100)/8)
	case 5:
		column, constant = "s", fmt.Sprintf("'%s%03d'", strings.Repeat("x", r.IntN(3)*150), m)
	case 6:
		column, constant = "d", fmt.Sprintf("DATE '2020-%02d-%02d'", 1+max(0, m)/28%12, 1+max(0, m)%28)
	case 7:
		column, constant = "t", fmt.Sprintf("TIMESTAMP '2020-01-01 00:%02d:%02d.5'", max(0, m)/60%60, max(0, m)%60)
	case 8:
		column, constant = "z", fmt.Sprintf("TIMESTAMPTZ '2020-01-01 00:%02d:%02d.5Z'", max(0, m)/60%60, max(0, m)%60)
	case 9:
		column, constant = "c", fmt.Sprintf("TIME '%02d:%02d:00'", max(0, m)/60%24, max(0, m)%60)
	case 10:
		column, constant = []string{
			"i::DOUBLE", "l::DOUBLE", "d::TIMESTAMP", "t::TIMESTAMP", "u::HUGEINT",
			"-i", "x::INT", "t::DATE",
		}[r.IntN(8)], ""
		switch {
		case strings.HasPrefix(column, "d:"), strings.HasPrefix(column, "t:"):
			constant = fmt.Sprintf("TIMESTAMP '2020-01-01 00:%02d:%02d.25'", max(0, m)/60%60, max(0, m)%60)
		default:
			constant = fmt.Sprint(m - 100)
		}
	case 11:
		return fmt.Sprintf("%s IS %s NULL", []string{"i", "s", "geometry", "k", "b"}[r.IntN(5)],
			[]string{"", "NOT"}[r.IntN(2)])
	case 12:
		x, y := r.IntN(70)-5, r.IntN(50)-5
		box := fmt.Sprintf("'POLYGON((%[1]d %[2]d,%[3]d %[2]d,%[3]d %[4]d,%[1]d %[4]d,%[1]d %[2]d))'::GEOMETRY",
			x, y, x+r.IntN(20), y+r.IntN(9))
		function := meeting[r.IntN(len(meeting))]
		if function == "&&" {
			return "geometry && " + box
		}
		if r.IntN(2) == 0 {
			return function + "(geometry, " + box + ")"
		}
		return function + "(" + box + ", geometry)"
	}
	switch r.IntN(9) {
	case 0:
		return fmt.Sprintf("%s BETWEEN %s AND %s", column, constant, constant)
	case 1:
		return fmt.Sprintf("%s IN (%s, %s)", column, constant, constant)
	case 2:
		return fmt.Sprintf("%s %s %s", constant, []string{"<", ">", "="}[r.IntN(3)], column)
	}
	return fmt.Sprintf("%s %s %s", column, []string{"<", "<=", "=", ">", ">=", "<>"}[r.IntN(6)], constant)
}

// TestRandomPredicates compares the rows with those that come without leaving out anything.
func TestRandomPredicates(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, seed))
	files := map[string]string{"a.geojson": randomFile(r, 400), "b.geojson": randomFile(r, 100)}
	n := 600
	if testing.Short() {
		n = 100
	}
	meeting := []string{"&&", "ST_Intersects_Extent"}
	change := []func(*catalog.Config, *Config){cached(t)}
	if dir := spatialDir(); dir != "" {
		meeting = append(meeting, "ST_Intersects", "ST_Within", "ST_Contains", "ST_Covers", "ST_CoveredBy",
			"ST_Touches", "ST_Crosses", "ST_Overlaps", "ST_Disjoint")
		change = append(change, func(_ *catalog.Config, c *Config) { c.Extensions = dir })
	}
	w := newWorld(t, files, change...)
	w.want("SELECT count(*) FROM a, b", "40000")
	for i := range n {
		where := predicate(r, 3, meeting)
		query := "SELECT i, l, u, x, s, d, t, z, c, b, geometry FROM a WHERE " + where
		switch r.IntN(6) {
		case 0:
			query = "SELECT a.i, b.i, b.geometry FROM a JOIN b ON a.i = b.i WHERE " + qualify(where, "a")
		case 1:
			query = "SELECT p.i, q.s FROM a p JOIN a q ON p.i = q.i AND " + qualify(where, "q") + " WHERE p.i > 0"
		case 2:
			query = "SELECT b, count(*), sum(i), min(s) FROM a WHERE " + where + " GROUP BY b"
		}
		got, err := w.ask(query)
		if err != nil {
			t.Fatalf("seed %d, query %d: %s: %v", seed, i, query, err)
		}
		want, err := w.askWhole(query)
		if err != nil {
			t.Fatalf("seed %d, query %d: %s: %v", seed, i, query, err)
		}
		if strings.HasPrefix(query, "SELECT i,") && !slices.Equal(got, want) {
			t.Errorf("seed %d, query %d: %s: rows in another order", seed, i, query)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("seed %d, query %d: %s: %d rows, want %d", seed, i, query, len(got), len(want))
		}
	}
	s := w.engine.Stats()
	if s.BatchesLeftOut*5 < s.BatchesRead {
		t.Errorf("%d batches were left out, %d read: there should be more", s.BatchesLeftOut, s.BatchesRead)
	}
	t.Logf("%d batches were left out, %d read", s.BatchesLeftOut, s.BatchesRead)
}

// columns are those of randomFile. No text in a predicate holds such a word.
var columns = regexp.MustCompile(`\b(geometry|[iluxsdtzcbk])\b`)

// qualify puts a table's name before the columns of a predicate.
func qualify(where, table string) string { return columns.ReplaceAllString(where, table+".$1") }
