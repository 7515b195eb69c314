package api

import (
	"net/http"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/flightsrv/web/rows"
)

// checkChoice checks that a format is one that the request accepts.
func checkChoice(t *testing.T, r *http.Request, asked rows.Request) {
	t.Helper()
	c, err := rows.Choose(r, asked)
	if err != nil {
		if p := httpcall.ProblemOf(err); p.Status != http.StatusNotAcceptable && p.Status != http.StatusBadRequest {
			t.Errorf("%+v", p)
		}
		return
	}
	if !slices.Contains(c.Format.Compressions, c.Compression) {
		t.Errorf("%s with compression %d", c.Format.Name, c.Compression)
	}
	if c.Compression != ticket.NoCompression && c.Coding != httpcall.Identity {
		t.Errorf("%s is compressed twice", c.Format.Name)
	}
	for _, e := range httpcall.Elements(r.Header, "Accept-Encoding") {
		if e.Value == string(c.Coding) && e.Weight == 0 && !otherElement(r, e) {
			t.Errorf("coding %s, which is refused", c.Coding)
		}
	}
}

// otherElement reports whether a header has an element twice.
func otherElement(r *http.Request, e httpcall.Element) bool {
	n := 0
	for _, other := range httpcall.Elements(r.Header, "Accept-Encoding") {
		if other.Value == e.Value {
			n++
		}
	}
	return n > 1
}
