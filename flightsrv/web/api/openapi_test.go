package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
)

// noCalls is a server without entries.
type noCalls struct{}

func (noCalls) Run(context.Context, httpcall.Request, func(context.Context, httpcall.Call) error) error {
	return httpcall.BadRequest("no calls")
}

func (noCalls) Login(context.Context) (user, token string, err error) { return "", "", nil }

func (noCalls) HasLogin() bool { return true }

// TestOpenAPIHasAllPaths compares the description with what a mux answers.
func TestOpenAPIHasAllPaths(t *testing.T) {
	mux := http.NewServeMux()
	a := &handlers{Config{Calls: noCalls{}}}
	Register(mux, a.Config)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/v1/openapi.json", nil))
	var doc struct {
		OpenAPI    string
		Info       struct{ Title, Version string }
		Paths      map[string]map[string]operation
		Components struct{ Schemas, Responses, SecuritySchemes map[string]any }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || doc.OpenAPI != "3.1.0" ||
		doc.Info.Title == "" || doc.Info.Version == "" {
		t.Fatalf("%v %+v", err, doc)
	}
	operations := map[string]bool{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			method = strings.ToUpper(method)
			if operations[op.OperationID] {
				t.Errorf("two operations are called %s", op.OperationID)
			}
			operations[op.OperationID] = true
			request := httptest.NewRequest(method, strings.NewReplacer("{name}", "a/b", "{action}",
				"c").Replace(path), nil)
			if _, pattern := mux.Handler(request); !strings.HasPrefix(pattern, method+" ") {
				t.Errorf("%s %s is described and has the pattern %q", method, path, pattern)
			}
			op.check(t, method+" "+path)
		}
	}
	for _, r := range a.routes() {
		if _, ok := doc.Paths[r.path][strings.ToLower(r.method)]; !ok {
			t.Errorf("%s %s is not described", r.method, r.path)
		}
	}
	for _, m := range regexp.MustCompile(`"\$ref":"#/components/(\w+)/(\w+)"`).FindAllStringSubmatch(w.Body.String(), -1) {
		section := map[string]map[string]any{
			"schemas":   doc.Components.Schemas,
			"responses": doc.Components.Responses,
		}[m[1]]
		if section[m[2]] == nil {
			t.Errorf("%s refers to nothing", m[0])
		}
	}
}

// operation is an Operation Object of OpenAPI.
type operation struct {
	OperationID string
	Summary     string
	Parameters  []struct {
		Name, In, Description string
		Required              bool
		Schema                map[string]any
	}
	RequestBody map[string]any
	Responses   map[string]map[string]any
	Security    []map[string][]string
}

func (op operation) check(t *testing.T, at string) {
	if op.OperationID == "" || op.Summary == "" {
		t.Errorf("%s: no operationId or summary", at)
	}
	seen := map[string]bool{}
	for _, p := range op.Parameters {
		inPath := strings.Contains(at, "{"+p.Name+"}")
		if seen[p.Name] || p.Description == "" || p.Schema == nil || (p.In == "path") != inPath ||
			p.Required != inPath {
			t.Errorf("%s: parameter %+v", at, p)
		}
		seen[p.Name] = true
	}
	for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(at, -1) {
		if !seen[m[1]] {
			t.Errorf("%s: %s is not described", at, m[0])
		}
	}
	good := 0
	for status, r := range op.Responses {
		if r["$ref"] == nil && r["description"] == "" {
			t.Errorf("%s: %s has no description", at, status)
		}
		if strings.HasPrefix(status, "2") {
			good++
		}
	}
	if good != 1 || op.Responses["default"] == nil {
		t.Errorf("%s: responses %v", at, op.Responses)
	}
}

// TestParametersAreThoseOfTickets checks that each described parameter is read.
func TestParametersAreThoseOfTickets(t *testing.T) {
	values := map[string]string{
		"columns": "a,b", "where": "a > 1", "bbox": "0,0,1,1", "rows": "0,5", "limit": "1", "partitions": `{"a":1}`, "geometry_encoding": "wkb",
		"coords": "separated", "crs": "OGC:CRS84", "version": "x", "options": `{"a":1}`, "format": "arrow",
		"compression": "zstd", "download": "true",
	}
	for _, p := range append(ticketParameters(), formatParameters...) {
		if p.name == "name" {
			continue
		}
		r := httptest.NewRequest("GET", "/v1/tables/a.csv", nil)
		r.SetPathValue("name", "a.csv")
		q := r.URL.Query()
		q.Set(p.name, values[p.name])
		r.URL.RawQuery = q.Encode()
		if _, _, err := ticketOf(r); err != nil || values[p.name] == "" {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}

// FuzzTicketOf reads any request for rows, and chooses the format of its answer.
func FuzzTicketOf(f *testing.F) {
	f.Add("GET", "a.csv", "bbox=0,0,1,1&columns=a,b", "", "text/csv;q=0.5, */*", "gzip, br;q=0.1")
	f.Add("POST", "a/b.geojson#c", "format=csv", `{"limit":1,"compression":"zstd"}`, `application/vnd.apache.arrow.stream; codecs="zstd, lz4"`, "*;q=0")
	f.Add("GET", "ü", "rows=[1,2]&options={\"a\":true}", "", `a/b; c="\",`, "identity;q=0")
	f.Fuzz(func(t *testing.T, method, name, query, body, accept, encoding string) {
		if method != "POST" {
			method = "GET"
		}
		r := httptest.NewRequest(method, "/v1/tables/x", strings.NewReader(body))
		r.SetPathValue("name", name)
		r.URL.RawQuery = query
		r.Header.Set("Accept", accept)
		r.Header.Set("Accept-Encoding", encoding)
		ticket, asked, err := ticketOf(r)
		if err != nil {
			if p := httpcall.ProblemOf(err); p.Status < 400 || p.Status >= 500 || p.Detail == "" {
				t.Errorf("%+v", p)
			}
			return
		}
		if ticket.Name != name {
			t.Errorf("name %q, want %q", ticket.Name, name)
		}
		_ = ticket.Encode()
		checkChoice(t, r, asked)
	})
}
