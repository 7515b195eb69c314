package ogc

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
)

// Media types.
const (
	typeJSON    = "application/json"
	typeGeoJSON = "application/geo+json"
	typeHTML    = "text/html"
	typeOpenAPI = "application/vnd.oai.openapi+json;version=3.0"
	typeSchema  = "application/schema+json"
)

// link is a link (RFC 8288).
type link struct {
	Href  string `json:"href"`
	Rel   string `json:"rel"`
	Type  string `json:"type,omitempty"`
	Title string `json:"title,omitempty"`
}

// collectionURL returns the URL of a collection.
func (q *request) collectionURL(id string) string {
	return q.base + "/collections/" + url.PathEscape(id)
}

// with returns the URL of the request with other values of some parameters; "" removes one.
func (q *request) with(changes ...string) string {
	values := url.Values{}
	for name, value := range q.parameters {
		values.Set(name, value)
	}
	for i := 0; i < len(changes); i += 2 {
		if values.Del(changes[i]); changes[i+1] != "" {
			values.Set(changes[i], changes[i+1])
		}
	}
	u := strings.TrimSuffix(q.base, "/ogc") + strings.TrimSuffix(q.URL.EscapedPath(), "/")
	if len(values) > 0 {
		u += "?" + values.Encode()
	}
	return u
}

// selfLinks returns links to the answer itself and to its other form.
func (q *request) selfLinks(media string) []link {
	self := link{q.with(), "self", media, "This document"}
	other := link{q.with("f", "html"), "alternate", typeHTML, "This document as HTML"}
	if q.html {
		self.Type = typeHTML
		other = link{q.with("f", "json"), "alternate", media, "This document as JSON"}
	}
	return []link{self, other}
}

// send answers with a JSON document, or with a page that shows it.
func (q *request) send(media string, document any, page page) error {
	if q.html {
		return q.sendPage(page)
	}
	b, err := marshal(document)
	if err != nil {
		return err
	}
	q.w.Header().Set("Content-Type", media)
	_, err = q.w.Write(b)
	return err
}

// marshal returns JSON, with "<" and "&" unescaped.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}
