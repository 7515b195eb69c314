package flightsrv

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers/all"
)

// pieces of requests that are put together at random.
var (
	fuzzNames = []string{
		"a.csv", "b.geojson", "broken.geojson", "map.kml", "map.kml#other", "map.kml#zz", "set", "broken",
		"sub/c.csv", "", ".", "..",
		"../a.csv", "../../etc/passwd", "/etc/passwd", "a.csv/x", "sub", "sub/", "//a.csv", "a.csv\x00",
		"\xff\xfe", "ü.csv",
		strings.Repeat("x", 5000), strings.Repeat("../", 50), "%2e%2e%2f", "{name}", "a.csv;b", "a.csv?x",
		"con", "~", "$HOME",
	}
	fuzzPaths = []string{
		"/v1/tables/", "/v1/tables", "/v1/info/", "/v1/sql", "/v1/actions/", "/v1/session", "/v1/openapi.json", "/v1/",
		"/v1", "/", "/metrics", "/V1/tables/", "/console/", "/tiles/", "/ogc", "/ogc/collections", "/ogc/collections/",
	}
	fuzzEndings = []string{
		"", "", "", "", "/items", "/items/0", "/items/-1", "/queryables", "/0/0/0", "/1/0/1.mvt", "/0/1/0", "/99/0/0",
		"/4294967296/0/0", "/items/items",
	}
	fuzzActions = []string{
		"describe", "refresh", "evict", "stats", "drop", "zz", "CancelQuery",
		"CreatePreparedStatement", "",
	}
	fuzzKeys = []string{
		"format", "compression", "download", "columns", "bbox", "rows", "limit", "partitions",
		"geometry_encoding", "coords", "f", "filter", "filter-lang", "bbox-crs", "datetime", "properties", "next",
		"crs", "version", "options", "poll", "name", "prefix", "after", "zz", "", "query", "schema",
		"parameters", "layer",
	}
	fuzzValues = []string{
		"", "arrow", "geojson", "geojsonseq", "geojsonl", "csv", "flatgeobuf", "geoparquet", "fgb", "none",
		"lz4", "zstd", "true",
		"false", "0", "1", "-1", "1e99", "NaN", "Infinity", "9223372036854775807", "9223372036854775808",
		"0,0,9,9", "0,0,9",
		"[0,0,1,1]", "[", "]", "{", "}", "{}", `{"a":1}`, `{"format":"csv"}`, `{"on_error":"skip"}`, `{"batch":1}`, "a", "a,b",
		"geometry", "geometry,geometry", "native", "wkb", "wkt", "interleaved", "separated", "OGC:CRS84",
		"EPSG:4326", "EPSG:3857",
		"a = 1", "S_INTERSECTS(geometry, BBOX(0,0,9,9))", "a = 1 AND (", `{"op":"=","args":[{"property":"a"},1]}`, "cql2-json",
		"2020-01-01/..", "html", "json", "null", `"x"`, "\x00", "\xff", "<script>alert(1)</script>", "'; DROP TABLE a; --", "../..", "/etc/passwd",
		strings.Repeat("9", 400), strings.Repeat("[", 2000), "ü", "1,2", "2,1", "0,1",
	}
	fuzzHeaders = []string{
		"Accept", "Accept-Encoding", "If-None-Match", "Authorization", "Cookie", "Content-Type", "Origin",
		"Sec-Fetch-Site",
		"Range", "If-Match", "Traceparent", "Tracestate", "User-Agent", "X-Forwarded-For",
		"Access-Control-Request-Method",
	}
	fuzzHeaderValues = []string{
		"*/*", "text/csv", "application/geo+json;q=0.5", "text/*;q=0.1, application/*;q=0", `application/vnd.apache.arrow.stream; codecs="zstd, lz4"`,
		`a/b; c="`, "gzip", "zstd, br;q=0.5", "identity;q=0", "*;q=0", ";;;", ",,,,", `"abc"`, "*", `W/"x", "y"`, "Basic eA==", "Bearer x",
		"vibeflight_session=x", "application/json", "null", "https://evil.example", "cross-site", "same-origin",
		"bytes=0-1",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", strings.Repeat("a,", 3000),
		strings.Repeat("q", 3000), "\xff", "ü",
	}
	fuzzBodies = []string{
		"", "{}", "[]", "null", "{", `{"limit":1}`, `{"columns":["a"]}`, `{"columns":[]}`, `{"bbox":[0,0,1,1],"format":"csv"}`,
		`{"name":"b.geojson"}`, `{"query":"SELECT 1"}`, `{"query":"SELECT * FROM a"}`, `{"query":1}`, `{"format":null}`,
		`{"options":{"format":"csv"}}`, `{"name":"../a.csv"}`, "\xff", strings.Repeat(" ", 70_000), strings.Repeat("[", 10_000),
		`{"name":"a.csv","options":{"header":false}}`, `{"limit":1,"limit":2}`,
	}
)

// fuzzRequest makes a request of random pieces, some of which are changed at random.
func fuzzRequest(r *rand.Rand) *http.Request {
	pick := func(from []string) string {
		s := from[r.IntN(len(from))]
		if r.IntN(8) == 0 && len(s) > 0 {
			b := []byte(s)
			b[r.IntN(len(b))] = byte(r.IntN(256))
			return string(b[:1+r.IntN(len(b))])
		}
		return s
	}
	path := fuzzPaths[r.IntN(len(fuzzPaths))]
	switch {
	case strings.HasSuffix(path, "actions/"):
		path += pick(fuzzActions)
	case strings.HasSuffix(path, "/") && path != "/":
		path += pick(fuzzNames) + pick(fuzzEndings)
	}
	query := url.Values{}
	for range r.IntN(4) {
		query.Add(pick(fuzzKeys), pick(fuzzValues))
	}
	raw := query.Encode()
	if r.IntN(20) == 0 {
		raw = pick(fuzzKeys) + "=" + strings.ReplaceAll(pick(fuzzValues), " ", "%")
	}
	method := []string{"GET", "GET", "GET", "HEAD", "POST", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"}[r.IntN(10)]
	q := httptest.NewRequest(method, "http://localhost/", strings.NewReader(pick(fuzzBodies)))
	q.URL = &url.URL{Path: path, RawQuery: raw}
	q.RequestURI = q.URL.RequestURI()
	for range r.IntN(3) {
		q.Header.Add(fuzzHeaders[r.IntN(len(fuzzHeaders))], pick(fuzzHeaderValues))
	}
	if r.IntN(50) == 0 {
		q.Host = pick(fuzzNames)
	}
	return q
}

// TestHTTPRandomRequests sends random requests: VIBEFLIGHT_HTTP_FUZZ of them. None may crash the server or
// show a path of the host.
func TestHTTPRandomRequests(t *testing.T) {
	n := 2000
	if s := os.Getenv("VIBEFLIGHT_HTTP_FUZZ"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	outside := t.TempDir()
	for name, text := range map[string]string{"m1.csv": "a\n1\n", "n1.csv": "a\n1\n", "n2.csv": "a,b\n1\n"} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := serveCatalog(t, map[string]string{
		"a.csv": "a,b\n1,x\n2,y\n", "sub/c.csv": "a\n1\n", "map.kml": hiddenLayers,
		"b.geojson":      `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[1,2]}}]}`,
		"broken.geojson": `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":nope}}]}`,
	}, catalog.Config{
		Formats: all.Formats(),
		Datasets: []catalog.Dataset{
			{Name: "set", Files: []string{filepath.Join(outside, "m*.csv")}},
			{Name: "broken", Files: []string{filepath.Join(outside, "n*.csv")}},
		},
	})
	h := f.webOf()
	counts := map[int]int{}
	seed := uint64(1)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range n {
		q := fuzzRequest(r)
		a := httptest.NewRecorder()
		func() {
			defer func() {
				if e := recover(); e != nil {
					t.Errorf("request %d, %s %s: panic %v", i, q.Method, q.URL, e)
				}
			}()
			h.ServeHTTP(a, q)
		}()
		counts[a.Code]++
		text := fmt.Sprint(a.Header()) + a.Body.String()
		if a.Code == http.StatusInternalServerError {
			t.Errorf("request %d, %s %s %v: %d %s", i, q.Method, q.URL, q.Header, a.Code, text)
		}
		for _, path := range []string{f.dir, outside, os.TempDir()} {
			if strings.Contains(text, path) {
				t.Errorf("request %d, %s %s %v: %s in %s", i, q.Method, q.URL, q.Header, path, text)
			}
		}
		if t.Failed() {
			break
		}
	}
	if open := f.server.service.load.streams.Load(); open != 0 {
		t.Errorf("%d calls are open", open)
	}
	t.Logf("%d requests, answers by status: %v", n, counts)
}
