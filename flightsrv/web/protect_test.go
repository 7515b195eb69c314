package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
)

// noCalls is a server without entries.
type noCalls struct{ login bool }

func (noCalls) Run(context.Context, httpcall.Request, func(context.Context, httpcall.Call) error) error {
	return httpcall.BadRequest("no calls")
}

func (noCalls) Login(context.Context) (user, token string, err error) { return "ann", "Bearer x", nil }

func (c noCalls) HasLogin() bool { return c.login }

// send sends a request to a server with the given protection. headers are names and values in turn.
func send(cfg Config, method, path string, headers ...string) *httptest.ResponseRecorder {
	cfg.Telemetry = http.NotFoundHandler()
	if cfg.Calls == nil {
		cfg.Calls = noCalls{}
	}
	r := httptest.NewRequest(method, path, nil)
	r.Host = "localhost:8080"
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	New(cfg).ServeHTTP(w, r)
	return w
}

// TestOtherHosts checks that a name that is not the server's gets no answer, so that a page whose name
// points to a loopback address reads nothing.
func TestOtherHosts(t *testing.T) {
	for _, c := range []struct {
		host  string
		login bool
		want  int
	}{
		{"localhost", false, http.StatusOK},
		{"localhost:8080", false, http.StatusOK},
		{"LOCALHOST.", false, http.StatusOK},
		{"127.0.0.1:8080", false, http.StatusOK},
		{"[::1]:8080", false, http.StatusOK},
		{"[::1]", false, http.StatusOK},
		{"maps.example.org", false, http.StatusOK},
		{"maps.example.org:80", false, http.StatusOK},
		{"evil.example", false, http.StatusMisdirectedRequest},
		{"localhost.evil.example:8080", false, http.StatusMisdirectedRequest},
		{"127.0.0.1.evil.example", false, http.StatusMisdirectedRequest},
		{"", false, http.StatusMisdirectedRequest},
		{"evil.example", true, http.StatusOK},
	} {
		cfg := Config{Calls: noCalls{c.login}, Hosts: []string{"maps.example.org"}}
		if w := send(cfg, "GET", "/v1/openapi.json", "Host", c.host); w.Code != c.want {
			t.Errorf("host %q: %d, want %d", c.host, w.Code, c.want)
		}
	}
}

// TestOtherSites checks that pages of other sites can't send what changes something.
func TestOtherSites(t *testing.T) {
	allowed := Config{Origins: []string{"https://maps.example.org"}}
	for _, c := range []struct {
		cfg     Config
		method  string
		headers []string
		want    int
	}{
		{Config{}, "POST", nil, http.StatusOK}, // no browser
		{Config{}, "POST", []string{"Sec-Fetch-Site", "same-origin"}, http.StatusOK},
		{Config{}, "POST", []string{"Sec-Fetch-Site", "none"}, http.StatusOK},
		{Config{}, "POST", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{Config{}, "POST", []string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		{Config{}, "POST", []string{"Origin", "https://evil.example"}, http.StatusForbidden},
		{Config{}, "POST", []string{"Origin", "null"}, http.StatusForbidden},
		{Config{}, "POST", []string{"Origin", "http://localhost:8080"}, http.StatusOK},
		{Config{}, "DELETE", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{
			allowed, "POST",
			[]string{"Origin", "https://maps.example.org", "Sec-Fetch-Site", "cross-site"},
			http.StatusOK,
		},
		{
			allowed, "POST",
			[]string{"Origin", "http://maps.example.org", "Sec-Fetch-Site", "cross-site"},
			http.StatusForbidden,
		},
	} {
		w := send(c.cfg, c.method, "/v1/session", c.headers...)
		if ok := w.Code < 300; ok != (c.want == http.StatusOK) || !ok && w.Code != c.want {
			t.Errorf("%s %v: %d, want %d", c.method, c.headers, w.Code, c.want)
		}
	}
}

// TestSharing follows the CORS protocol of the Fetch Standard.
func TestSharing(t *testing.T) {
	const site = "https://maps.example.org"
	for _, c := range []struct {
		origins []string
		origin  string
		want    string // Access-Control-Allow-Origin
	}{
		{nil, site, ""},
		{[]string{site}, site, site},
		{[]string{site}, "https://evil.example", ""},
		{[]string{site}, "https://maps.example.org.evil.example", ""},
		{[]string{site}, "null", ""},
		{[]string{site}, "", ""},
		{[]string{"*"}, "https://any.example", "*"},
	} {
		cfg := Config{Origins: c.origins}
		w := send(cfg, "GET", "/v1/openapi.json", "Origin", c.origin)
		if got := w.Header().Get("Access-Control-Allow-Origin"); got != c.want || w.Header().Get("Vary") != "Origin" {
			t.Errorf("%v from %s: %q, Vary %q", c.origins, c.origin, got, w.Header().Get("Vary"))
		}
		if w.Header().Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%v from %s: with cookies", c.origins, c.origin)
		}
		pre := send(cfg, "OPTIONS", "/v1/sql", "Origin", c.origin, "Access-Control-Request-Method", "POST",
			"Access-Control-Request-Headers", "content-type")
		if (pre.Code == http.StatusNoContent) != (c.want != "") ||
			pre.Header().Get("Access-Control-Allow-Origin") != c.want {
			t.Errorf("preflight, %v from %s: %d %v", c.origins, c.origin, pre.Code, pre.Header())
		}
	}
}

func TestHeadersOfAllAnswers(t *testing.T) {
	for _, path := range []string{"/v1/openapi.json", "/v1/tables", "/v1/nope", "/nope"} {
		h := send(Config{}, "GET", path).Header()
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
	}
}
