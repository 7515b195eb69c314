package flightsrv

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/klauspost/compress/zstd"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/auth/certs"
	"github.com/vibeflight/vibeflight/flightsrv/auth/login"
	"github.com/vibeflight/vibeflight/flightsrv/web"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/flightsrv/web/tiles"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
)

// webOf is the handler of the HTTP paths of a server.
func (f *fixture) webOf(change ...func(*web.Config)) http.Handler {
	cfg := web.Config{
		Tiles: tiles.New(tiles.Config{}), Calls: f.server.Calls(), Catalog: f.catalog, SQL: f.server.service.cfg.SQL,
		Telemetry: http.NotFoundHandler(),
	}
	for _, c := range change {
		c(&cfg)
	}
	return web.New(cfg)
}

// listenHTTP starts a listener for a server, and returns its URL.
func (f *fixture) listenHTTP(t testing.TB, change ...func(*web.Config)) string {
	t.Helper()
	s := httptest.NewServer(f.webOf(change...))
	t.Cleanup(s.Close)
	return s.URL
}

// plainClient is a client that shows answers as they are.
var plainClient = &http.Client{
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// reply is an answer by HTTP.
type reply struct {
	status int
	header http.Header
	body   string
}

// fetch sends a request. headers are names and values in turn. The method is that of the first word of
// url, or GET.
func fetch(t testing.TB, url, body string, headers ...string) reply {
	t.Helper()
	r, err := tryFetch(t.Context(), url, body, headers...)
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return r
}

func tryFetch(ctx context.Context, url, body string, headers ...string) (r reply, err error) {
	method, rest, ok := strings.Cut(url, " ")
	if !ok {
		method, rest = http.MethodGet, url
	}
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	q, err := http.NewRequestWithContext(ctx, method, rest, in)
	if err != nil {
		return r, err
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			q.Host = headers[i+1]
		}
		q.Header.Add(headers[i], headers[i+1])
	}
	a, err := plainClient.Do(q)
	if err != nil {
		return r, err
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	return reply{a.StatusCode, a.Header, string(b)}, err
}

// problem reads the body of an error.
func (r reply) problem(t testing.TB) httpcall.Problem {
	t.Helper()
	var p httpcall.Problem
	if r.header.Get("Content-Type") != "application/problem+json" {
		t.Fatalf("%d %q: want a problem", r.status, r.body)
	}
	if err := json.Unmarshal([]byte(r.body), &p); err != nil || p.Status != r.status {
		t.Fatalf("%d %q: %v", r.status, r.body, err)
	}
	return p
}

// rowsOf reads an Arrow stream.
func rowsOf(t testing.TB, stream string) (records []arrow.Record) {
	t.Helper()
	r, err := ipc.NewReader(strings.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for r.Next() {
		rec := r.Record()
		rec.Retain()
		records = append(records, rec)
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return records
}

// TestHTTPArrowIsDoGet compares Arrow streams by HTTP with those of DoGet, batch by batch.
func TestHTTPArrowIsDoGet(t *testing.T) {
	f := serveCatalog(t, map[string]string{
		"a.fake": "rows=2500 pad=7", "big.fake": "rows=10 pad=4000000",
		"no.fake": "rows=0",
	},
		catalog.Config{Limits: readers.Limits{BatchRows: 1000}})
	url := f.listenHTTP(t)
	for _, c := range []struct{ name, query, ticket string }{
		{"a.fake", "", `{"name":"a.fake"}`},
		{"a.fake", "?columns=n&limit=1200", `{"name":"a.fake","columns":["n"],"limit":1200}`},
		{"a.fake", `?columns=["s","n"]`, `{"name":"a.fake","columns":["s","n"]}`},
		{"a.fake", "?bbox=10,-20,20,-15.5", `{"name":"a.fake","bbox":[10,-20,20,-15.5]}`},
		{"a.fake", "?rows=990,1010", `{"name":"a.fake","rows":[990,1010]}`},
		{"a.fake", "?geometry_encoding=wkb", `{"name":"a.fake","geometry_encoding":"wkb"}`},
		{"a.fake", "?geometry_encoding=wkt", `{"name":"a.fake","geometry_encoding":"wkt"}`},
		{"a.fake", "?coords=interleaved", `{"name":"a.fake","coords":"interleaved"}`},
		{"a.fake", "?compression=zstd", `{"name":"a.fake","compression":"zstd"}`},
		{"a.fake", "?compression=lz4", `{"name":"a.fake","compression":"lz4"}`},
		{"a.fake", `?options={"letter":"y"}`, `{"name":"a.fake","options":{"letter":"y"}}`},
		{"big.fake", "", `{"name":"big.fake"}`}, // a batch of several messages
		{"no.fake", "", `{"name":"no.fake"}`},
	} {
		stream, err := f.client.DoGet(t.Context(), &flight.Ticket{Ticket: []byte(c.ticket)})
		if err != nil {
			t.Fatal(err)
		}
		r, err := flight.NewRecordReader(stream)
		if err != nil {
			t.Fatal(c.ticket, err)
		}
		var want []arrow.Record
		for r.Next() {
			rec := r.Record()
			rec.Retain()
			want = append(want, rec)
		}
		var fields map[string]any
		_ = json.Unmarshal([]byte(c.ticket), &fields)
		delete(fields, "name")
		body, _ := json.Marshal(fields)
		for _, a := range []reply{
			fetch(t, url+"/v1/tables/"+c.name+c.query, ""),
			fetch(t, "POST "+url+"/v1/tables/"+c.name, string(body)),
		} {
			if a.status != http.StatusOK {
				t.Fatalf("%s: %d %s", c.ticket, a.status, a.body)
			}
			got := rowsOf(t, a.body)
			if len(got) != len(want) {
				t.Fatalf("%s: %d batches, want %d", c.ticket, len(got), len(want))
			}
			for i := range got {
				if !got[i].Schema().Equal(want[i].Schema()) || !array.RecordEqual(got[i], want[i]) {
					t.Errorf("%s: batch %d differs", c.ticket, i)
				}
			}
		}
	}
}

// decoded returns a body without its content coding.
func decoded(t *testing.T, r reply) string {
	t.Helper()
	in := io.Reader(strings.NewReader(r.body))
	var err error
	switch coding := r.header.Get("Content-Encoding"); coding {
	case "":
	case "gzip":
		in, err = gzip.NewReader(in)
	case "zstd":
		in, err = zstd.NewReader(in)
	case "br":
		in = brotli.NewReader(in)
	default:
		t.Fatalf("coding %q", coding)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestHTTPCompression(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=2000 pad=20"})
	table := f.listenHTTP(t) + "/v1/tables/a.fake"
	want := fetch(t, table, "").body
	arrowType := "application/vnd.apache.arrow.stream"
	for _, c := range []struct{ query, accept, encoding, coding, contentType string }{
		{"", "", "", "", arrowType},
		{"", "", "gzip", "gzip", arrowType},
		{"", "", "br", "br", arrowType},
		{"", "", "zstd", "zstd", arrowType},
		{"", "", "deflate, gzip, br, zstd", "zstd", arrowType},
		{"", "", "gzip, br", "br", arrowType},
		{"", "", "gzip;q=1.0, br;q=0.9", "gzip", arrowType},
		{"", "", "gzip;q=0.5, identity", "", arrowType},
		{"", "", "gzip;q=0", "", arrowType},
		{"", "", "*", "", arrowType},
		{"", "", "lzma", "", arrowType},
		{"", arrowType + `; codecs="zstd, lz4"`, "gzip, br, zstd", "", arrowType + "; codecs=zstd"},
		{"", arrowType + `; codecs="lz4"`, "gzip", "", arrowType + "; codecs=lz4"},
		{"", arrowType + `; codecs=snappy`, "gzip", "gzip", arrowType},
		{"?compression=zstd", "", "gzip", "", arrowType + "; codecs=zstd"},
		{"?compression=none", arrowType + `; codecs="zstd"`, "gzip", "gzip", arrowType},
		{"?format=csv", "", "gzip", "gzip", "text/csv; charset=utf-8; header=present"},
		{"?format=geoparquet", "", "gzip", "", "application/vnd.apache.parquet"},
		{"?format=geoparquet&compression=none", "", "gzip", "gzip", "application/vnd.apache.parquet"},
	} {
		var headers []string
		if c.accept != "" {
			headers = append(headers, "Accept", c.accept)
		}
		if c.encoding != "" {
			headers = append(headers, "Accept-Encoding", c.encoding)
		}
		a := fetch(t, table+c.query, "", headers...)
		if a.status != http.StatusOK || a.header.Get("Content-Encoding") != c.coding ||
			a.header.Get("Content-Type") != c.contentType {
			t.Errorf("%+v: %d, coding %q, type %q", c, a.status, a.header.Get("Content-Encoding"),
				a.header.Get("Content-Type"))
			continue
		}
		vary := strings.Join(a.header.Values("Vary"), ", ")
		if !strings.Contains(vary, "Accept-Encoding") || !strings.Contains(vary, "Accept,") {
			t.Errorf("%+v: Vary %q", c, vary)
		}
		if text := decoded(t, a); c.contentType == arrowType && text != want {
			t.Errorf("%+v: another body", c)
		} else if c.coding != "" && len(a.body) > len(text)/2 {
			t.Errorf("%+v: %d bytes of %d", c, len(a.body), len(text))
		}
	}
	for _, refused := range []string{"identity;q=0", "*;q=0", "gzip;q=0, *;q=0"} {
		if a := fetch(t, table, "", "Accept-Encoding", refused); a.status != http.StatusNotAcceptable {
			t.Errorf("%s: %d", refused, a.status)
		}
	}
	if a := fetch(t, table+"?compression=zstd&format=csv", ""); a.status != http.StatusBadRequest {
		t.Errorf("CSV with zstd: %d", a.status)
	}
}

func TestHTTPFormatsByAccept(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=3 pad=2"})
	table := f.listenHTTP(t) + "/v1/tables/a.fake"
	for accept, want := range map[string]string{
		"":                               "application/vnd.apache.arrow.stream",
		"*/*":                            "application/vnd.apache.arrow.stream",
		"text/html, */*;q=0.8":           "application/vnd.apache.arrow.stream",
		"text/*":                         "text/csv",
		"text/csv;q=0.5, application/*":  "application/vnd.apache.arrow.stream",
		"application/geo+json":           "application/geo+json",
		"application/json":               "application/geo+json",
		"application/geo+json-seq":       "application/geo+json-seq",
		"APPLICATION/X-NDJSON":           "application/x-ndjson",
		"application/flatgeobuf, */*":    "application/vnd.apache.arrow.stream",
		"application/flatgeobuf":         "application/flatgeobuf",
		"application/vnd.apache.parquet": "application/vnd.apache.parquet",
		"application/vnd.apache.arrow.stream;q=0, */*;q=0.1": "application/geo+json",
	} {
		var headers []string
		if accept != "" {
			headers = []string{"Accept", accept}
		}
		a := fetch(t, table, "", headers...)
		if got, _, _ := strings.Cut(a.header.Get("Content-Type"), ";"); a.status != http.StatusOK || got != want {
			t.Errorf("%q: %d %s, want %s", accept, a.status, got, want)
		}
	}
	for _, accept := range []string{"image/png", "*/*;q=0", "text/csv;q=0, image/png"} {
		a := fetch(t, table, "", "Accept", accept)
		if p := a.problem(t); a.status != http.StatusNotAcceptable || !strings.Contains(p.Detail,
			"application/flatgeobuf") {
			t.Errorf("%s: %d %s", accept, a.status, a.body)
		}
	}
	if a := fetch(t, table+"?format=shp", ""); a.status != http.StatusBadRequest || !strings.Contains(a.body,
		"flatgeobuf") {
		t.Errorf("%d %s", a.status, a.body)
	}
	csv := fetch(t, table+"?format=csv&columns=n,s&download=1", "")
	if csv.body != "n,s\r\n0,xx\r\n1,xx\r\n2,xx\r\n" ||
		csv.header.Get("Content-Disposition") != "attachment; filename=a.csv" {
		t.Errorf("%q, %q", csv.body, csv.header.Get("Content-Disposition"))
	}
	seq := fetch(t, table+"?format=geojsonseq", "").body
	if lines := strings.Split(strings.TrimSpace(seq), "\n"); len(lines) != 3 || lines[2][0] != 0x1e ||
		!strings.HasSuffix(lines[2], `{"type":"Feature","properties":{"n":2,"s":"xx"},"geometry":{"type":"Point","coordinates":[2,-2]}}`) {
		t.Errorf("%q", seq)
	}
	for _, query := range []string{"?format=csv&geometry_encoding=wkt", "?format=geojson&coords=interleaved"} {
		if a := fetch(t, table+query, ""); a.status != http.StatusBadRequest {
			t.Errorf("%s: %d", query, a.status)
		}
	}
}

// TestHTTPEntityTags checks that a client that has the present answer gets none, and every other one
// the present answer.
func TestHTTPEntityTags(t *testing.T) {
	dir := t.TempDir()
	for i := range 2 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("m%d.csv", i)), []byte("a\n1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kml := filepath.Join(dir, "map.kml")
	if err := os.WriteFile(kml, []byte(hiddenLayers), 0o600); err != nil {
		t.Fatal(err)
	}
	parses := 0
	f := serveCatalog(t, nil, catalog.Config{
		Roots: []catalog.Root{{Dir: dir}}, Formats: append(all.Formats(), fakeFormat(), layeredFormat()),
		Datasets: []catalog.Dataset{{Name: "set", Files: []string{filepath.Join(dir, "m*.csv")}}},
		Parsing:  func() func() { parses++; return func() {} },
	})
	if err := os.WriteFile(filepath.Join(dir, "a.fake"), []byte("rows=5"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.catalog.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	url := f.listenHTTP(t) + "/v1/tables/"
	seen := map[string]string{}
	for _, query := range []string{
		"a.fake", "a.fake?bbox=0,-2,2,0", "a.fake?limit=2", "a.fake?columns=n", "a.fake?format=csv",
		"a.fake?compression=zstd", "map.kml", "map.kml%23other", "set", "set?format=geojson", "m0.csv",
	} {
		first := fetch(t, url+query, "")
		tag := first.header.Get("ETag")
		if first.status != http.StatusOK || !strings.HasPrefix(tag, `"`) || seen[tag] != "" {
			t.Errorf("%s: %d, tag %q, which %s has", query, first.status, tag, seen[tag])
			continue
		}
		seen[tag] = query
		if strings.HasPrefix(query, "set") { // its version is one of the columns of its members
		} else if _, err := f.catalog.Evict(access.With(t.Context(), access.All),
			strings.Split(strings.ReplaceAll(query, "%23", "#"), "?")[0]); err != nil {
			t.Fatal(err)
		}
		before := parses
		for _, known := range []string{tag, `W/` + tag, `"x", ` + tag, "*"} {
			a := fetch(t, url+query, "", "If-None-Match", known)
			if a.status != http.StatusNotModified || a.body != "" || a.header.Get("ETag") != tag ||
				a.header.Get("Cache-Control") != "no-cache" {
				t.Errorf("%s with %s: %d %v", query, known, a.status, a.header)
			}
		}
		if parses != before {
			t.Errorf("%s: an unchanged answer took %d parses", query, parses-before)
		}
		if a := fetch(t, url+query, "", "If-None-Match", `"other"`); a.status != http.StatusOK || a.body != first.body {
			t.Errorf("%s with another tag: %d", query, a.status)
		}
		if a := fetch(t, url+query, "", "Accept-Encoding", "gzip"); query != "a.fake?compression=zstd" &&
			a.header.Get("ETag") == tag {
			t.Errorf("%s: gzip has the same tag", query)
		}
		head := fetch(t, "HEAD "+url+query, "")
		if head.status != http.StatusOK || head.body != "" || head.header.Get("ETag") != tag ||
			head.header.Get("Content-Type") != first.header.Get("Content-Type") {
			t.Errorf("HEAD %s: %d %v", query, head.status, head.header)
		}
	}
	tag := fetch(t, url+"a.fake", "").header.Get("ETag")
	if a := fetch(t, "POST "+url+"a.fake", "{}", "If-None-Match", tag); a.status != http.StatusOK ||
		a.header.Get("ETag") != "" {
		t.Errorf("POST: %d, tag %q", a.status, a.header.Get("ETag"))
	}
	if err := os.WriteFile(filepath.Join(dir, "a.fake"), []byte("rows=6 pad=1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.catalog.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := fetch(t, url+"a.fake", "", "If-None-Match", tag); a.status != http.StatusOK || a.header.Get("ETag") == tag {
		t.Errorf("a changed file: %d, tag %q", a.status, a.header.Get("ETag"))
	}
	if err := os.WriteFile(filepath.Join(dir, "m1.csv"), []byte("a\n1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.catalog.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for tag, query := range seen {
		if strings.HasPrefix(query, "set") {
			if a := fetch(t, url+query, "", "If-None-Match", tag); a.status != http.StatusOK {
				t.Errorf("%s with a changed member: %d", query, a.status)
			}
		}
	}
	if a := fetch(t, url+"nope", "", "If-None-Match", "*"); a.status != http.StatusNotFound {
		t.Errorf("a missing table: %d", a.status)
	}
}

const hiddenLayers = `<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>
<Folder><name>first</name><Placemark><name>a</name><Point><coordinates>1,2</coordinates></Point></Placemark></Folder>
<Folder><name>other</name><Placemark><name>b</name><Point><coordinates>1,2</coordinates></Point></Placemark></Folder>
</Document></kml>`

// TestHTTPEntityTagsOfRestrictedTables checks that callers with other rights have other tags.
func TestHTTPEntityTagsOfRestrictedTables(t *testing.T) {
	f := serveCatalog(t, map[string]string{"a.fake": "rows=50 pad=3"}, catalog.Config{Restricted: true},
		func(c *Config) {
			c.Login, c.Grants = anyone{}, sameRights{&access.Restriction{Hidden: []string{"s"}}}
		})
	restricted := f.listenHTTP(t)
	whole := serve(t, map[string]string{"a.fake": "rows=50 pad=3"}).listenHTTP(t)
	a, b := fetch(t, restricted+"/v1/tables/a.fake", ""), fetch(t, whole+"/v1/tables/a.fake", "")
	if a.status != http.StatusOK || a.header.Get("ETag") == "" || a.header.Get("ETag") == b.header.Get("ETag") {
		t.Errorf("%d: tags %s and %s", a.status, a.header.Get("ETag"), b.header.Get("ETag"))
	}
	if got := a.header.Get("Cache-Control"); got != "private, no-cache" {
		t.Errorf("Cache-Control %q", got)
	}
	again := fetch(t, restricted+"/v1/tables/a.fake", "", "If-None-Match", a.header.Get("ETag"))
	if again.status != http.StatusNotModified {
		t.Errorf("%d", again.status)
	}
}

func TestHTTPProblems(t *testing.T) {
	f := serveCatalog(t, map[string]string{
		"a.fake": "rows=3", "broken.fake": "rows=3 oops", "limit.fake": "fail=limit", "defect.fake": "fail=internal",
		"bad.geojson": "{\"type\":\"FeatureCollection\",\"features\":[\n" +
			"{\"type\":\"Feature\",\"properties\":{\"a\":1},\"geometry\":null},\n" +
			"{\"type\":\"Feature\",\"properties\":{\"a\":nope},\"geometry\":null},\n" +
			"{\"type\":\"Feature\",\"properties\":{\"a\":3},\"geometry\":null}\n]}\n",
		"long.geojson": `{"type":"FeatureCollection","features":[` + strings.Repeat(" ", 5000) + "<script>" +
			strings.Repeat("é", 3000) + "]}",
	}, catalog.Config{Formats: append(all.Formats(), fakeFormat())})
	url := f.listenHTTP(t)
	for _, c := range []struct {
		request, body string
		status        int
		code          string
		words         []string
	}{
		{"/v1/tables/nope.fake", "", 404, "NOT_FOUND", []string{"nope.fake"}},
		{"/v1/tables/broken.fake", "", 422, "INVALID_ARGUMENT", []string{"oops", `"byte":7`, `"line":1`}},
		{"/v1/tables/limit.fake", "", 422, "RESOURCE_EXHAUSTED", []string{"--max-depth"}},
		{"/v1/tables/defect.fake", "", 500, "INTERNAL", nil},
		{"/v1/tables/a.fake?columns=zz", "", 400, "INVALID_ARGUMENT", []string{"zz"}},
		{"/v1/tables/a.fake?bbox=1,2", "", 400, "INVALID_ARGUMENT", []string{"bbox"}},
		{"/v1/tables/a.fake?bbox=1,2,3,x", "", 400, "INVALID_ARGUMENT", nil},
		{"/v1/tables/a.fake?limit=-1", "", 400, "INVALID_ARGUMENT", []string{"limit"}},
		{"/v1/tables/a.fake?limit=1&limit=2", "", 400, "INVALID_ARGUMENT", []string{"twice"}},
		{"/v1/tables/a.fake?zz=1", "", 400, "INVALID_ARGUMENT", []string{"zz"}},
		{"/v1/tables/a.fake?poll=abc", "", 400, "INVALID_ARGUMENT", []string{"poll"}},
		{"/v1/tables/a.fake?format=", "", 400, "INVALID_ARGUMENT", []string{"format"}},
		{"/v1/tables/a.fake?download=maybe", "", 400, "INVALID_ARGUMENT", []string{"download"}},
		{"/v1/tables/a.fake?version=00", "", 422, "FAILED_PRECONDITION", []string{"changed"}},
		{"/v1/tables/a.fake?a=%zz", "", 400, "INVALID_ARGUMENT", nil},
		{"/v1/tables/%ff.fake", "", 400, "INVALID_ARGUMENT", []string{"UTF-8"}},
		{"/v1/tables/a.fake?columns=%ff", "", 400, "INVALID_ARGUMENT", []string{"UTF-8"}},
		{"POST /v1/tables/a.fake", "[]", 400, "INVALID_ARGUMENT", []string{"object"}},
		{"POST /v1/tables/a.fake", `{"limit":1,"limit":2}`, 400, "INVALID_ARGUMENT", []string{"twice"}},
		{"POST /v1/tables/a.fake", `{"format":1}`, 400, "INVALID_ARGUMENT", []string{"format"}},
		{"POST /v1/tables/a.fake", strings.Repeat(" ", 70_000), 413, "INVALID_ARGUMENT", nil},
		{"/v1/info/nope", "", 404, "NOT_FOUND", nil},
		{"/v1/info/a.fake?zz=1", "", 400, "INVALID_ARGUMENT", nil},
		{"/v1/info/a.fake?options=zz", "", 400, "INVALID_ARGUMENT", nil},
		{"/v1/info/bad.geojson", "", 422, "INVALID_ARGUMENT", []string{
			`"line":3`, `"feature":1`, `"lines":[{"number":1,`, `{"number":3,"byte":`, `:nope}`, `{"number":5,`,
		}},
		{"POST /v1/actions/nope", "", 404, "UNIMPLEMENTED", []string{"describe"}},
		{"POST /v1/actions/describe", `{"zz":1}`, 400, "INVALID_ARGUMENT", []string{"zz"}},
		{"POST /v1/sql", `{"query":"SELECT 1"}`, 501, "UNIMPLEMENTED", nil},
		{"/v1/nothing", "", 404, "NOT_FOUND", nil},
		{"DELETE /v1/tables", "", 405, "UNIMPLEMENTED", []string{"GET, HEAD"}},
		{"PUT /v1/tables/a.fake", "", 405, "UNIMPLEMENTED", []string{"GET, HEAD, POST"}},
		{"/v1/tables?limit=0", "", 400, "INVALID_ARGUMENT", []string{"limit"}},
	} {
		method, path, ok := strings.Cut(c.request, " ")
		if !ok {
			method, path = "GET", c.request
		}
		a := fetch(t, method+" "+url+path, c.body)
		if p := a.problem(t); p.Status != c.status || p.Code != c.code {
			t.Errorf("%s: %d %s", c.request, a.status, a.body)
		}
		for _, w := range c.words {
			if !strings.Contains(a.body, w) {
				t.Errorf("%s: no %s in %s", c.request, w, a.body)
			}
		}
		if strings.Contains(a.body, f.dir) || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v %s", c.request, a.header, a.body)
		}
	}
	p := fetch(t, url+"/v1/info/long.geojson", "").problem(t)
	if len(p.Lines) != 1 || len([]rune(p.Lines[0].Text)) != 200 || !strings.Contains(p.Lines[0].Text, "<script>") {
		t.Errorf("%+v", p)
	}
}

// TestHTTPLinesAreForReaders checks that callers that may not read all of a file get no text of it.
func TestHTTPLinesAreForReaders(t *testing.T) {
	f := serveCatalog(t, map[string]string{"bad.geojson": `{"type":"FeatureCollection","features":[secret]}`},
		catalog.Config{Restricted: true, Formats: all.Formats()}, func(c *Config) {
			c.Login, c.Grants = anyone{}, sameRights{&access.Restriction{Hidden: []string{"s"}}}
		})
	a := fetch(t, f.listenHTTP(t)+"/v1/info/bad.geojson", "")
	if p := a.problem(t); p.Lines != nil || strings.Contains(a.body, "secret") {
		t.Errorf("%s", a.body)
	}
}

// failing answers as a handler with a defect.
func failing(f *fixture, what string) http.Handler {
	return httpcall.Handler(f.server.Calls(), httpcall.Named("test"), func(ctx context.Context, w *httpcall.Writer,
		_ *http.Request, _ httpcall.Call,
	) error {
		if strings.HasPrefix(what, "late") {
			_, _ = w.Write(bytes.Repeat([]byte("x"), 10_000))
		}
		switch {
		case strings.HasSuffix(what, "panic"):
			panic("a defect")
		case strings.HasSuffix(what, "wait"):
			<-ctx.Done()
			return ctx.Err()
		}
		return errors.New("an error")
	})
}

// TestHTTPBrokenAnswers checks that an answer that fails late is noticed, and that a panic ends one
// answer.
func TestHTTPBrokenAnswers(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=3"})
	for _, what := range []string{"panic", "error", "late panic", "late error"} {
		s := httptest.NewServer(failing(f, what))
		a, err := tryFetch(t.Context(), s.URL, "")
		if late := strings.HasPrefix(what, "late"); late != (err != nil) || !late &&
			a.status != http.StatusInternalServerError {
			t.Errorf("%s: %d %q, %v", what, a.status, a.body, err)
		}
		if strings.Contains(a.body, "defect of the server") != (what == "panic") {
			t.Errorf("%s: %s", what, a.body)
		}
		s.Close()
	}
	if n := f.server.service.load.streams.Load(); n != 0 {
		t.Errorf("%d calls are open", n)
	}
}

// TestHTTPLimitOfCalls checks the answer above --max-streams.
func TestHTTPLimitOfCalls(t *testing.T) {
	f := serve(t, map[string]string{"slow.fake": "fail=slow"}, func(c *Config) { c.MaxStreams = 1 })
	url := f.listenHTTP(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = tryFetch(ctx, url+"/v1/tables/slow.fake", "")
	}()
	for f.server.service.load.streams.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	a := fetch(t, url+"/v1/tables", "")
	if p := a.problem(t); p.Status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.status, a.body)
	}
	cancel()
	<-done
	for f.server.service.load.streams.Load() != 0 { // the parse ends with its client
		time.Sleep(time.Millisecond)
	}
	if a := fetch(t, url+"/v1/tables", ""); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestHTTPAnswersOutliveReadTimeout checks that the time that a request may take does not end its answer.
func TestHTTPAnswersOutliveReadTimeout(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=3"})
	for _, body := range []string{"", "{}"} {
		s := httptest.NewUnstartedServer(httpcall.Handler(f.server.Calls(), httpcall.Named("test"),
			func(ctx context.Context, w *httpcall.Writer, r *http.Request, _ httpcall.Call) error {
				if _, err := io.ReadAll(r.Body); err != nil {
					return err
				}
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(300 * time.Millisecond):
				}
				_, err := io.WriteString(w, "late")
				return err
			}))
		s.Config.ReadTimeout = 100 * time.Millisecond
		s.Start()
		if a, err := tryFetch(t.Context(), "POST "+s.URL, body); err != nil || a.body != "late" {
			t.Errorf("%q: %d %q, %v", body, a.status, a.body, err)
		}
		s.Close()
	}
}

// TestHTTPSlowReaders opens answers that nobody reads. They must not hold memory, and not keep others
// from being served.
func TestHTTPSlowReaders(t *testing.T) {
	const readers = 256 // all that a user may have
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	other := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: from.DialContext}}
	f := serve(t, map[string]string{"a.fake": "rows=1000000 pad=50"})
	url := f.listenHTTP(t)
	queries := []string{"", "?format=csv", "?format=geojson", "?format=arrow"}
	if testing.Short() {
		queries = queries[:1]
	}
	for _, query := range queries {
		encoding := "identity"
		if query == "?format=arrow" {
			encoding = "zstd"
		}
		if a := fetch(t, url+"/v1/tables/a.fake"+query, ""); a.status != http.StatusOK {
			t.Fatal(a.body)
		}
		before := heap()
		var open []net.Conn
		for range readers {
			c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			_ = c.(*net.TCPConn).SetReadBuffer(4096)
			_, _ = fmt.Fprintf(c, "GET /v1/tables/a.fake%s HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: %s\r\n\r\n", query, encoding)
			open = append(open, c)
		}
		for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
			if f.server.service.load.streams.Load() == readers {
				time.Sleep(500 * time.Millisecond)
				break
			}
		}
		grown := heap() - before
		begin := time.Now()
		if a, err := other.Get(url + "/v1/tables/a.fake?limit=10"); err != nil || a.StatusCode != http.StatusOK {
			t.Errorf("%q: another client gets %v, %v", query, a, err)
		} else {
			_ = a.Body.Close()
		}
		t.Logf("%q: %d slow readers hold %d MiB; another client waits %v", query, readers, grown>>20, time.Since(begin))
		if limit := int64(400 << 20); grown > limit {
			t.Errorf("%q: %d MiB, want at most %d", query, grown>>20, limit>>20)
		}
		for _, c := range open {
			_ = c.Close()
		}
		for f.server.service.load.streams.Load() > 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestHTTPSession follows a session of a browser.
func TestHTTPSession(t *testing.T) {
	users, _ := withLogin(t)
	l, err := login.Open(login.Config{
		Users: users, CertificateUser: certs.CommonName,
		SessionLifetime: 2 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	f := serve(t, map[string]string{"a.fake": "rows=3"}, func(c *Config) { c.Login = l })
	url := f.listenHTTP(t)
	basic := "Basic YWxpY2U6c2VjcmV0" // alice:secret
	if a := fetch(t, url+"/v1/tables", ""); a.status != http.StatusUnauthorized ||
		!strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
		t.Errorf("without a login: %d %v", a.status, a.header)
	}
	if a := fetch(t, url+"/v1/tables", "", "Authorization", basic); a.status != http.StatusOK {
		t.Errorf("with a password: %d %s", a.status, a.body)
	}
	if a := fetch(t, "POST "+url+"/v1/session", "", "Authorization",
		"Basic YWxpY2U6eA=="); a.status != http.StatusUnauthorized ||
		a.header.Get("Set-Cookie") != "" {
		t.Errorf("with a wrong password: %d %v", a.status, a.header)
	}
	for _, site := range []string{"cross-site", "same-site"} {
		a := fetch(t, "POST "+url+"/v1/session", "", "Authorization", basic, "Sec-Fetch-Site", site)
		if a.status != http.StatusForbidden || a.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %v", site, a.status, a.header)
		}
	}
	begin := time.Now()
	in := fetch(t, "POST "+url+"/v1/session", "", "Authorization", basic, "Sec-Fetch-Site", "same-origin")
	set := in.header.Get("Set-Cookie")
	if in.status != http.StatusOK || in.body != "{\"user\":\"alice\"}\n" {
		t.Fatalf("%d %q", in.status, in.body)
	}
	for _, word := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(set, word) {
			t.Errorf("%s: no %s", set, word)
		}
	}
	cookie, _, _ := strings.Cut(set, ";")
	if a := fetch(t, url+"/v1/tables/a.fake", "", "Cookie", cookie); a.status != http.StatusOK &&
		time.Since(begin) < time.Second {
		t.Errorf("with a session: %d %s", a.status, a.body)
	}
	if a := fetch(t, url+"/v1/tables", "", "Cookie", cookie+"x"); a.status != http.StatusUnauthorized {
		t.Errorf("with a changed cookie: %d", a.status)
	}
	if a := fetch(t, "POST "+url+"/v1/actions/stats", "", "Cookie", cookie, "Origin",
		"https://evil.example"); a.status != http.StatusForbidden {
		t.Errorf("from another site: %d", a.status)
	}
	out := fetch(t, "DELETE "+url+"/v1/session", "", "Cookie", cookie)
	if out.status != http.StatusNoContent || !strings.Contains(out.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("%d %v", out.status, out.header)
	}
	time.Sleep(time.Until(begin.Add(3100 * time.Millisecond))) // tokens have seconds
	if a := fetch(t, url+"/v1/tables", "", "Cookie", cookie); a.status != http.StatusUnauthorized {
		t.Errorf("with an old session: %d", a.status)
	}
}

func TestHTTPListAndInfo(t *testing.T) {
	files := map[string]string{}
	for i := range 25 {
		files[fmt.Sprintf("d%d/t%02d.fake", i%3, i)] = "rows=3"
	}
	f := serve(t, files)
	url := f.listenHTTP(t)
	var names []string
	for next := "/v1/tables?limit=10&prefix=d"; next != ""; {
		var page struct {
			Tables []struct {
				Name, Href string
				Rows       *int64
			}
			Next string
		}
		if err := json.Unmarshal([]byte(fetch(t, url+next, "").body), &page); err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Tables {
			names = append(names, e.Name)
			if a := fetch(t, url+e.Href, ""); a.status != http.StatusOK {
				t.Errorf("%s: %d", e.Href, a.status)
			}
		}
		next = page.Next
	}
	if len(names) != 25 {
		t.Errorf("%q", names)
	}
	var info map[string]any
	a := fetch(t, url+"/v1/info/"+names[0], "")
	if err := json.Unmarshal([]byte(a.body), &info); err != nil || info["rows"] != 3.0 || info["crs"] != "OGC:CRS84" ||
		!reflect.DeepEqual(info["bbox"], []any{0.0, -2.0, 2.0, 0.0}) || info["version"] == nil {
		t.Errorf("%s, %v", a.body, err)
	}
	if h := fetch(t, "HEAD "+url+"/v1/info/"+names[0], ""); h.status != http.StatusOK || h.body != "" {
		t.Errorf("HEAD: %d %q", h.status, h.body)
	}
	if h := fetch(t, "HEAD "+url+"/v1/tables", ""); h.status != http.StatusOK || h.body != "" {
		t.Errorf("HEAD: %d %q", h.status, h.body)
	}
}

// TestHTTP2 sends answers over HTTP/2, as browsers get them with TLS.
func TestHTTP2(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=200000 pad=20"})
	for _, c := range []struct {
		h      http.Handler
		path   string
		broken bool
	}{
		{f.webOf(), "/v1/tables/a.fake", false},
		{f.webOf(), "/v1/tables/a.fake?format=csv", false},
		{failing(f, "late error"), "/", true},
	} {
		s := httptest.NewUnstartedServer(c.h)
		s.EnableHTTP2 = true
		s.Config.ReadTimeout = 2 * time.Second
		s.StartTLS()
		a, err := s.Client().Get(s.URL + c.path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, a.Body)
		_ = a.Body.Close()
		if a.ProtoMajor != 2 || a.StatusCode != http.StatusOK || (err != nil) != c.broken || !c.broken && n < 1e6 {
			t.Errorf("%s: %s %d, %d bytes, %v", c.path, a.Proto, a.StatusCode, n, err)
		}
		s.Close()
	}
}
