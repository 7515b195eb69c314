//go:build cgo && linux && (amd64 || arm64)

package flightsrv

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"google.golang.org/grpc/codes"
)

// The matrix of hidden columns and rows: each call and each form of a name, by a caller with a
// hidden column, a masked one and a row filter. It runs against two servers whose files differ in
// what is hidden alone: the hidden column's name and values, the masked values, the number and values
// of the rows that the filter removes, and so the sizes of the files. The caller must not be able to
// tell the servers apart, and no hidden text may be in an answer.

const restrictedPolicy = `
[[rules]]
user = "root"
privileges = ["describe", "read", "sql", "write", "admin"]

[[rules]]
user = "restricted"
name = "{zq*,zq*/**,w/zq*}"
privileges = ["describe", "read", "sql"]
columns = [
  { name = "zhiddena", allow = false }, { name = "zhiddenb", allow = false }, { name = "zmasked", mask = "'***'" },
]
filter = "CAST(n AS INTEGER) < 3"

[[rules]]
name = "public.csv"
privileges = ["read", "sql"]
`

// restrictedRow is a row of the hidden files.
type restrictedRow struct{ hidden, masked, n, label string }

// restrictedContent returns files with the rows. The letter ends the name of the hidden column.
func restrictedContent(letter string, rows []restrictedRow) matrixContent {
	var csv, kml, features []string
	for i, r := range rows {
		csv = append(csv, fmt.Sprintf("%s,%s,%s,%s", r.hidden, r.masked, r.n, r.label))
		data := func(name, value string) string {
			return fmt.Sprintf(`<Data name="%s"><value>%s</value></Data>`, name, value)
		}
		kml = append(kml, "<Placemark><ExtendedData>"+data("zhidden"+letter, r.hidden)+data("zmasked", r.masked)+
			data("n", r.n)+data("label", r.label)+"</ExtendedData><Point><coordinates>1,2</coordinates></Point></Placemark>")
		geometry := `{"type":"Point","coordinates":[1,2]}`
		if i == len(rows)-1 { // the file ends with a row that is hidden, and can't be read
			geometry = fmt.Sprintf(`{"type":%q,"coordinates":[]}`, r.label)
		}
		properties := fmt.Sprintf(`{"zhidden%s":%q,"zmasked":%q,"n":%s,"label":%q}`, letter, r.hidden, r.masked, r.n, r.label)
		features = append(features, `{"type":"Feature","properties":`+properties+`,"geometry":`+geometry+"}")
	}
	folder := func(name string) string {
		return "<Folder><name>" + name + "</name>" + strings.Join(kml, "") + "</Folder>"
	}
	return matrixContent{
		csv: "zhidden" + letter + ",zmasked,n,label\n" + strings.Join(csv, "\n") + "\n",
		kml: `<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>` + folder("zqlayer") +
			folder("zqother") + "</Document></kml>",
		broken: `{"type":"FeatureCollection","features":[` + strings.Join(features, ",") + "]}",
	}
}

// restrictedServers returns two servers whose files differ in what is hidden.
func restrictedServers(t *testing.T) (a, b *matrixServer) {
	t.Helper()
	serve := func(letter string, rows []restrictedRow) *matrixServer {
		return serveMatrixOf(t, 8, restrictedPolicy, restrictedContent(letter, rows))
	}
	a = serve("a", []restrictedRow{
		{"zvalue1", "zvalue2", "1", "seen"},
		{"zvalue3", "zvalue4", "7", "zvalue5"},
		{"zvalue6", "zvalue7", "70000", "zvalue8"},
	})
	b = serve("b", []restrictedRow{
		{"zvalue9", "zvalueX", "1", "seen"},
		{"zvalueYYYYYYYY", "zvalueZ", "8", "zvalueWWWWWWWW"},
	})
	return a, b
}

// restrictedCalls are calls that look for hidden columns and rows.
var restrictedCalls = []matrixCall{
	{"DoGet hidden column", 0, false, false, func(r rpc, f matrixForm) answer {
		return r.get(fmt.Appendf(nil, `{"name":%q,"columns":["zhiddena"]}`, f.name))
	}},
	{"DoGet columns", 0, false, false, func(r rpc, f matrixForm) answer {
		return r.get(fmt.Appendf(nil, `{"name":%q,"columns":["zmasked","n","label"]}`, f.name))
	}},
	{"DoGet rows", 0, false, false, func(r rpc, f matrixForm) answer {
		return r.get(fmt.Appendf(nil, `{"name":%q,"rows":[1,2]}`, f.name))
	}},
	{"DoGet limit", 0, false, false, func(r rpc, f matrixForm) answer {
		return r.get(fmt.Appendf(nil, `{"name":%q,"limit":2}`, f.name))
	}},
	{"GetFlightInfo hidden column", 0, false, false, func(r rpc, f matrixForm) answer {
		return r.info(cmdOf(fmt.Sprintf(`{"name":%q,"columns":["zhiddena"]}`, f.name)))
	}},
	{"GetFlightInfo near the hidden column", 0, false, false, func(r rpc, f matrixForm) answer {
		return r.info(cmdOf(fmt.Sprintf(`{"name":%q,"columns":["zhidden"]}`, f.name)))
	}},
	{"GetTables", 0, true, false, func(r rpc, _ matrixForm) answer {
		return r.command(&pb.CommandGetTables{IncludeSchema: true})
	}},
}

// restrictedQueries look for hidden columns and rows. %s is the quoted name of a table.
var restrictedQueries = []string{
	"SELECT zhiddena FROM %s", "SELECT zhidden FROM %s", "SELECT t.zhiddena FROM %s t",
	"SELECT count(zhiddena) FROM %s",
	"SELECT n FROM %s WHERE zhiddena LIKE 'z%%'", "SELECT n FROM %s ORDER BY zhiddena", "SELECT COLUMNS('z.*') FROM %s",
	"SELECT * EXCLUDE (zhiddena) FROM %s", "SELECT * REPLACE (zhiddena AS n) FROM %s", "SELECT t FROM %s t", "TABLE %s",
	"SELECT zmasked FROM %s WHERE zmasked LIKE 'zval%%'", "SELECT zmasked, count(*) FROM %s GROUP BY ALL",
	"SELECT min(zmasked), max(zmasked) FROM %s", "SELECT min(n), max(n), count(*), min(label), max(label) FROM %s",
	"SELECT approx_count_distinct(label), approx_quantile(CAST(n AS INTEGER), 0.5) FROM %s", "SELECT stats(n) FROM %s",
	"SELECT * FROM %s WHERE CAST(n AS INTEGER) > 3", "SELECT * FROM %s WHERE NOT (CAST(n AS INTEGER) < 3)",
	"SELECT * FROM %s WHERE CAST(label AS INTEGER) > 0", "SELECT CAST(label AS DATE) FROM %s",
	"SELECT * FROM %s WHERE error(label) IS NULL", "SELECT * FROM %s WHERE label <> 'seen' AND error(label) IS NULL",
	"SELECT * FROM %s WHERE CAST(zmasked AS INTEGER) > 0", "SELECT error(zmasked) FROM %s",
	"SELECT 1 / (CAST(n AS INTEGER) - 7) FROM %s", "SELECT CAST(CAST(n AS INTEGER) AS UTINYINT) FROM %s",
	"SELECT rowid FROM %s", "SELECT * FROM %s USING SAMPLE 100%%", "SELECT * FROM %s LIMIT 1 OFFSET 1",
	"SELECT * FROM (SELECT row_number() OVER () AS r, * FROM %s)", "EXPLAIN SELECT * FROM %s WHERE label = 'x'",
	"SUMMARIZE SELECT * FROM %s", "DESCRIBE SELECT * FROM %s", "SELECT * FROM %s NATURAL JOIN public",
	"PIVOT %s ON label USING count(*)", "UNPIVOT %s ON COLUMNS('z.*')", "SELECT list(label) FROM %s",
	"SELECT (SELECT string_agg(label, ';') FROM %s) FROM public", "WITH c AS (FROM %s) SELECT * FROM c",
}

// allRestrictedCalls returns the calls of the matrix, those that look for hidden columns and rows, and
// the queries.
func allRestrictedCalls() []matrixCall {
	calls := slices.Concat(matrixCalls, restrictedCalls)
	for _, q := range restrictedQueries {
		calls = append(calls, matrixCall{q, 0, true, false, func(r rpc, f matrixForm) answer {
			return r.query(fmt.Sprintf(q, quoted(f.name)))
		}})
	}
	return calls
}

var (
	// restrictedCanary matches what the caller may not see. A caller's own text is removed first.
	restrictedCanary = regexp.MustCompile(`zvalue|zhidden`)
	// identities are versions of entries.
	identities = regexp.MustCompile(`\b[0-9a-f]{16,64}\b`)
)

// withoutIdentities returns an answer without what differs between equal servers.
func withoutIdentities(text string) string {
	const prepared = "CreatePreparedStatementResult"
	if at := strings.Index(text, prepared); at >= 0 {
		const handle = "\n\x10"
		head, rest, ok := strings.Cut(text[at:], handle)
		if ok && len(rest) >= 16 {
			text = text[:at] + head + rest[16:]
		}
	}
	return identities.ReplaceAllString(text, "ID")
}

// difference returns what two texts have around their first difference.
func difference(a, b string) (x, y string) {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	around := func(text string) string { return text[max(0, at-200):min(len(text), at+200)] }
	return around(a), around(b)
}

func TestMatrixOfHiddenRows(t *testing.T) {
	a, b := restrictedServers(t)
	checks := 0
	for _, c := range allRestrictedCalls() {
		if c.store {
			continue
		}
		for i, f := range matrixForms {
			if c.sql && i > 1 && (testing.Short() || !f.exists) {
				continue // its name is unknown, or it differs by name alone
			}
			var got [2]answer
			for j, m := range []*matrixServer{a, b} {
				c.run(rpc{as(t.Context(), "root"), m.client}, f) // tables and views are there to be found
				got[j] = c.run(rpc{as(t.Context(), "restricted"), m.client}, f)
				got[j].bytes = withoutIdentities(got[j].bytes)
				rest := strings.NewReplacer("zhiddena", "", `"zhidden"`, "").Replace(got[j].bytes)
				if found := restrictedCanary.FindString(rest); found != "" {
					t.Errorf("%s of %s: %q in %v", c.what, f.what, found, got[j])
				}
			}
			checks++
			if got[0] != got[1] {
				x, y := difference(got[0].bytes, got[1].bytes)
				t.Errorf("%s of %s tells servers apart that differ in hidden values: %v … %q, %v … %q", c.what, f.what,
					got[0].code, x, got[1].code, y)
			}
		}
	}
	t.Logf("%d checks", checks)
	r := rpc{as(t.Context(), "restricted"), a.client}
	for _, got := range []answer{
		r.get([]byte("zqfile.csv")), r.query("SELECT * FROM zqfile"), r.query(`SELECT * FROM "zqmap.kml"`),
	} {
		if got.code != codes.OK || !strings.Contains(got.bytes, "seen") || !strings.Contains(got.bytes, "***") {
			t.Errorf("a row that may be seen is missing: %v", got)
		}
	}
	root := rpc{as(t.Context(), "root"), a.client}
	got := root.query("SELECT * FROM zqfile")
	if !strings.Contains(got.bytes, "zvalue8") || !strings.Contains(got.bytes, "zhiddena") {
		t.Errorf("root does not see all rows: %v", got)
	}
}
