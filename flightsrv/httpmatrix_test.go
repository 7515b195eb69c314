//go:build cgo && linux && (amd64 || arm64)

package flightsrv

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/catalog/access"
)

// httpMatrixCall is a request with the name of an entry.
type httpMatrixCall struct {
	what    string
	needs   access.Privilege
	sql     bool // it resolves names as SQL does
	request func(f matrixForm) (request, body string)
}

// escaped is a name in a path, with its slashes.
func escaped(name string) string {
	path := (&url.URL{Path: name}).EscapedPath()
	return strings.ReplaceAll(path, "../", "..%2F") // else a redirect goes to the shorter path
}

func jsonOf(fields map[string]any) string {
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// tableCall is a request for the rows of an entry.
func tableCall(what, query string) httpMatrixCall {
	return httpMatrixCall{what, access.Read, false, func(f matrixForm) (string, string) {
		return "GET /v1/tables/" + escaped(f.name) + query, ""
	}}
}

// pathCall is a GET of a path with the name, and its slashes.
func pathCall(what string, needs access.Privilege, path string) httpMatrixCall {
	return httpMatrixCall{what, needs, false, func(f matrixForm) (string, string) {
		return "GET " + strings.Replace(path, "%s", escaped(f.name), 1), ""
	}}
}

// collectionCall is a GET of a path below a collection of OGC API - Features.
func collectionCall(what string, needs access.Privilege, path string) httpMatrixCall {
	return httpMatrixCall{what, needs, false, func(f matrixForm) (string, string) {
		return "GET /ogc/collections/" + url.PathEscape(f.name) + path, ""
	}}
}

func sqlCall(what string, query func(f matrixForm) string) httpMatrixCall {
	return httpMatrixCall{what, access.SQL, true, func(f matrixForm) (string, string) {
		return "POST /v1/sql", jsonOf(map[string]any{"query": query(f)})
	}}
}

var httpMatrixCalls = []httpMatrixCall{
	tableCall("table", ""),
	tableCall("table as GeoJSON", "?format=geojson"),
	tableCall("table as CSV", "?format=csv"),
	tableCall("table as FlatGeobuf", "?format=flatgeobuf"),
	tableCall("table as GeoParquet", "?format=geoparquet"),
	tableCall("box", "?bbox=0,0,9,9"),
	tableCall("version", "?version=0123456789abcdef"),
	tableCall("unknown column", "?columns=zcolumm"),
	tableCall("options", `?options={"format":"csv"}`),
	{"HEAD", access.Read, false, func(f matrixForm) (string,
		string,
	) {
		return "HEAD /v1/tables/" + escaped(f.name), ""
	}},
	{"POST", access.Read, false, func(f matrixForm) (string, string) {
		return "POST /v1/tables/" + escaped(f.name), `{"format":"csv"}`
	}},
	{"list", access.Describe, false, func(f matrixForm) (string, string) {
		return "GET /v1/tables?prefix=" + url.QueryEscape(f.name), ""
	}},
	{"list after", access.Describe, false, func(f matrixForm) (string, string) {
		return "GET /v1/tables?limit=1&prefix=zz&after=" + url.QueryEscape(f.name), ""
	}},
	{"info", access.Describe, false, func(f matrixForm) (string,
		string,
	) {
		return "GET /v1/info/" + escaped(f.name), ""
	}},
	{"info with options", access.Describe, false, func(f matrixForm) (string, string) {
		return "GET /v1/info/" + escaped(f.name) + `?options={"format":"csv"}`, ""
	}},
	{"describe", access.Describe, false, func(f matrixForm) (string, string) {
		return "POST /v1/actions/describe", jsonOf(map[string]any{"name": f.name})
	}},
	{"evict", access.Admin, false, func(f matrixForm) (string, string) {
		return "POST /v1/actions/evict", jsonOf(map[string]any{"name": f.name})
	}},
	pathCall("tile", access.Read, "/tiles/%s/0/0/0"),
	pathCall("tile without attributes", access.Read, "/tiles/%s/3/1/2.mvt?columns="),
	pathCall("TileJSON", access.Read, "/tiles/%s"),
	collectionCall("collection", access.Describe, ""),
	collectionCall("collection in HTML", access.Describe, "?f=html"),
	collectionCall("queryables", access.Describe, "/queryables"),
	collectionCall("items", access.Read, "/items"),
	collectionCall("items in HTML", access.Read, "/items?f=html"),
	collectionCall("filtered items", access.Read, "/items?filter=n%3E0"),
	collectionCall("items by an unknown column", access.Read, "/items?zcolumm=1"),
	collectionCall("item", access.Read, "/items/0"),
	pathCall("collection with slashes", access.Describe, "/ogc/collections/%s"),
	sqlCall("SELECT full name", func(f matrixForm) string { return "SELECT * FROM " + quoted(f.name) }),
	sqlCall("SELECT schema and name", func(f matrixForm) string {
		return "SELECT * FROM vibeflight." + quoted(f.schema) + "." + quoted(f.table)
	}),
	sqlCall("DESCRIBE", func(f matrixForm) string { return "DESCRIBE " + quoted(f.name) }),
	sqlCall("subquery", func(f matrixForm) string {
		return "SELECT (SELECT max(n) FROM " + quoted(f.name) + ") FROM public"
	}),
	{"schema", access.SQL, true, func(f matrixForm) (string, string) {
		return "POST /v1/sql", jsonOf(map[string]any{
			"query": "SELECT count(*) FROM " + quoted(f.table), "schema": f.folder(), "format": "csv",
		})
	}},
}

// text is everything that an answer tells. The time is not of the entry.
func (r reply) text() string {
	var b strings.Builder
	fmt.Fprintln(&b, r.status)
	for _, name := range slices.Sorted(maps.Keys(r.header)) {
		if name != "Date" {
			fmt.Fprintf(&b, "%s: %q\n", name, r.header[name])
		}
	}
	return b.String() + r.body
}

// TestMatrixOfHTTP sends each request of each role with each form of a name. A name that the caller may
// not describe gives the answer of a name that does not exist.
func TestMatrixOfHTTP(t *testing.T) {
	m := serveMatrix(t, 8)
	base := m.listenHTTP(t)
	run := func(role string, c httpMatrixCall, f matrixForm) reply {
		request, body := c.request(f)
		method, path, _ := strings.Cut(request, " ")
		return fetch(t, method+" "+base+path, body, "Authorization", "Bearer "+role)
	}
	for _, c := range httpMatrixCalls { // tables, layers and statements are there for the others to find
		for _, f := range matrixForms {
			run("root", c, f)
		}
	}
	lengths := regexp.MustCompile(`Content-Length: \["\d+"\]\n`) // names have the same length, their escapes too
	checks := 0
	for _, role := range matrixRoles {
		for _, c := range httpMatrixCalls {
			for i, f := range matrixForms {
				if testing.Short() && c.sql && i > 2 {
					continue
				}
				checks++
				at := fmt.Sprintf("%s of %s by %s", c.what, f.what, role)
				got := run(role, c, f)
				hidden := f.name == "zqnone.csv"
				switch {
				case !may(role, access.Describe) && !(may(role, c.needs) && !hidden), hidden:
					other := f
					other.name, other.schema, other.table = twin(f.name), twin(f.schema), twin(f.table)
					want := run(role, c, other)
					if !sameAnswer(twin(got.text()), want.text(), hintsFor(role, hidden)) {
						t.Errorf("%s: %s\nand for a name that does not exist\n%s", at, got.text(), want.text())
					}
					rest := lengths.ReplaceAllString(got.text(), "")
					for _, asked := range []string{f.like("main"), "zcolumm", f.name, f.table, f.schema} {
						asked = strings.Trim(asked, `"`)
						rest = strings.ReplaceAll(strings.ReplaceAll(rest, asked, ""), url.PathEscape(asked), "")
					}
					found := canary.FindString(rest)
					if hidden && may(role, access.Describe) { // hints name others
						found = regexp.MustCompile("zqnone|zvalue").FindString(rest)
					}
					if found != "" {
						t.Errorf("%s: %q in %s", at, found, rest)
					}
				case !may(role, c.needs):
					if strings.Contains(got.text(), "zvalue") {
						t.Errorf("%s: a value in %s", at, got.text())
					}
					if f.exists && !c.sql && got.status != http.StatusForbidden {
						t.Errorf("%s: %s, want 403", at, got.text())
					}
				case role == "describe" && strings.Contains(got.body, "zvalue"):
					t.Errorf("%s: a value in %q", at, got.body)
				}
				if strings.Contains(got.text(), m.dir) || got.status >= 500 && got.status != http.StatusNotImplemented {
					t.Errorf("%s: %s", at, got.text())
				}
			}
		}
	}
	t.Logf("%d checks: %d requests, %d forms of names, %d roles", checks, len(httpMatrixCalls), len(matrixForms),
		len(matrixRoles))
	for _, c := range httpMatrixCalls { // the requests are those that work
		if strings.Contains(c.what, "olumn") || c.what == "version" || c.what == "box" ||
			strings.Contains(c.what, "schema") {
			continue
		}
		form := matrixForms[0]
		if strings.HasPrefix(strings.ToLower(c.what), "tile") { // that is a table without positions
			form = matrixForms[slices.IndexFunc(matrixForms, func(f matrixForm) bool { return f.name == "zqmap.kml" })]
		}
		for _, role := range []string{"root", c.needs.String()} {
			if a := run(role, c, form); a.status != http.StatusOK && a.status != http.StatusNoContent {
				t.Errorf("%s by %s: %s", c.what, role, a.text())
			}
		}
	}
	if a := fetch(t, base+"/v1/tables/public.csv", ""); a.status != http.StatusUnauthorized {
		t.Errorf("without a login: %d", a.status)
	}
}

// TestHTTPSQL sends queries with parameters.
func TestHTTPSQL(t *testing.T) {
	m := serveMatrix(t, 2)
	base := m.listenHTTP(t)
	for _, c := range []struct {
		body   string
		status int
		want   string
	}{
		{`{"query":"SELECT 1 AS a"}`, 200, "a\r\n1\r\n"},
		{
			`{"query":"SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e","parameters":[1,"x",null,true,1.5]}`, 200,
			"a,b,c,d,e\r\n1,x,,true,1.5\r\n",
		},
		{
			`{"query":"SELECT $big::HUGEINT::VARCHAR AS a","parameters":{"big":170141183460469231731687303715884105727}}`, 200,
			"a\r\n170141183460469231731687303715884105727\r\n",
		},
		{`{"query":"SELECT id FROM public WHERE id = $id","parameters":{"id":2}}`, 200, "id\r\n2\r\n"},
		{`{"query":"SELECT n FROM \"inner.csv\" ORDER BY n","schema":"zqdir"}`, 200, "n\r\n1\r\n2\r\n"},
		{`{"query":"SELECT * FROM range(10) t(a)","limit":3}`, 200, "a\r\n0\r\n1\r\n2\r\n"},
		{`{"query":"SELECT * FROM range(10) t(a)","limit":0}`, 200, "a\r\n"},
		{`{"query":"SELECT ?"}`, 400, "none is given"},
		{`{"query":"SELECT ?","parameters":[1,2]}`, 400, "2 are given"},
		{`{"query":"SELECT ?","parameters":[[1]]}`, 400, "want a text"},
		{`{"query":"SELECT $a","parameters":{"b":1}}`, 400, "$a is missing"},
		{`{"query":"SELECT $a","parameters":{"a":1,"b":1}}`, 400, "no $b"},
		{`{"query":"SELECT ?::INTEGER","parameters":["x"]}`, 400, "x"},
		{`{"query":"SELECT 1","parameters":3}`, 400, "parameters"},
		{`{"query":"SELEC 1"}`, 400, "byte 0 of the query"},
		{`{"query":"SELECT nope FROM public"}`, 400, "nope"},
		{`{"query":"DROP TABLE public"}`, 400, ""},
		{`{"query":"SELECT 1; SELECT 2"}`, 400, ""},
		{`{"query":""}`, 400, "query"},
		{`{"query":7}`, 400, "query"},
		{`{"sql":"SELECT 1"}`, 400, "unknown"},
		{`{"query":"SELECT 1","limit":-1}`, 400, "limit"},
		{`{"query":"SELECT 1","limit":1.5}`, 400, "limit"},
		{`nope`, 400, "body"},
	} {
		a := fetch(t, "POST "+base+"/v1/sql?format=csv", c.body, "Authorization", "Bearer root")
		if a.status != c.status || c.status == 200 && a.body != c.want || !strings.Contains(a.body, c.want) {
			t.Errorf("%s: %d %q, want %d %q", c.body, a.status, a.body, c.status, c.want)
		}
		if a.header.Get("ETag") != "" {
			t.Errorf("%s: has a tag", c.body)
		}
	}
	for _, format := range []string{"arrow", "geojson", "geojsonseq", "geojsonl", "flatgeobuf", "geoparquet"} {
		a := fetch(t, "POST "+base+"/v1/sql?format="+format, `{"query":"SELECT * FROM \"zqmap.kml\""}`, "Authorization", "Bearer root")
		if a.status != 200 || !strings.Contains(a.body, "zvalue") && format != "geoparquet" {
			t.Errorf("%s: %d %q", format, a.status, a.body)
		}
	}
}
