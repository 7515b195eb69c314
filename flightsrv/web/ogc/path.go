package ogc

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
)

// resource is a kind of resource.
type resource uint8

const (
	landing resource = iota
	conformance
	api
	collections
	collection
	queryables
	items
	item
)

// path is a path below /ogc.
type path struct {
	resource   resource
	collection string // its id
	feature    int64  // of an item
}

// suffixes are the names of the resources of a collection.
var suffixes = map[string]resource{"items": items, "queryables": queryables}

// parsePath parses an escaped path. Ids of collections contain slashes. Links escape them, and
// unescaped ones are accepted:
//
//	/ogc/collections/a%2Fb.geojson/items    the features of a/b.geojson
//	/ogc/collections/a/b.geojson/items      the same
//
// A segment "items" or "queryables" ends the id if it is in one of these places; an entry with such a
// name needs the escape.
func parsePath(escaped string) (path, error) {
	rest := strings.Trim(strings.TrimPrefix(escaped, "/ogc"), "/")
	switch rest {
	case "":
		return path{resource: landing}, nil
	case "conformance":
		return path{resource: conformance}, nil
	case "api":
		return path{resource: api}, nil
	case "collections":
		return path{resource: collections}, nil
	}
	rest, ok := strings.CutPrefix(rest, "collections/")
	if !ok {
		return path{}, notFound("there is no page of this name below /ogc")
	}
	p := path{resource: collection}
	segments := strings.Split(rest, "/")
	n := len(segments)
	switch {
	case n > 1 && suffixes[segments[n-1]] != landing:
		p.resource, segments = suffixes[segments[n-1]], segments[:n-1]
	case n > 2 && segments[n-2] == "items":
		feature, err := strconv.ParseUint(segments[n-1], 10, 63)
		if err != nil {
			return path{}, notFound("the ids of features are numbers of rows")
		}
		p.resource, p.feature, segments = item, int64(feature), segments[:n-2]
	}
	for i, s := range segments {
		text, err := url.PathUnescape(s)
		if err != nil {
			return path{}, httpcall.BadRequest("the path has an invalid escape")
		}
		segments[i] = text
	}
	p.collection = strings.Join(segments, "/")
	return p, nil
}

func notFound(detail string) error {
	return &httpcall.Error{Status: http.StatusNotFound, Code: "NOT_FOUND", Detail: detail}
}

// parameters are the parameters of a query, each given once.
type parameters map[string]string

// parseParameters parses the query of a URL. A parameter that is given twice is an error.
func parseParameters(query string) (parameters, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, httpcall.BadRequest("the query can't be parsed: " + err.Error())
	}
	p := parameters{}
	for name, v := range values {
		if len(v) > 1 {
			return nil, httpcall.BadRequest(fmt.Sprintf("the parameter %.100q is given %d times", name, len(v)))
		}
		p[name] = v[0]
	}
	return p, nil
}

// only returns an error if there is another parameter (requirement /req/core/query-param-unknown).
func (p parameters) only(known ...string) error {
	for name := range p {
		if name != "f" && !slices.Contains(known, name) {
			return httpcall.BadRequest(fmt.Sprintf("there is no parameter %.100q here", name))
		}
	}
	return nil
}

// prefersHTML chooses between JSON and HTML by the parameter f, or by the header Accept.
func (q *request) prefersHTML() (bool, error) {
	switch f := q.parameters["f"]; f {
	case "json", "geojson":
		return false, nil
	case "html":
		return true, nil
	case "":
	default:
		return false, httpcall.BadRequest(fmt.Sprintf("f=%.40q: want json or html", f))
	}
	json, html := 0.0, 0.0
	for _, header := range q.Header.Values("Accept") {
		for part := range strings.SplitSeq(header, ",") {
			media, weight := weightOf(part)
			switch media {
			case "text/html", "application/xhtml+xml":
				html = max(html, weight)
			case "application/json", "application/geo+json", "application/*", "*/*",
				"application/vnd.oai.openapi+json", "application/schema+json":
				json = max(json, weight)
			}
		}
	}
	return html > json || html == json && html > 0 && firstIsHTML(q.Header.Get("Accept")), nil
}

// firstIsHTML reports whether HTML is the first type of a header.
func firstIsHTML(accept string) bool {
	media, _ := weightOf(strings.Split(accept, ",")[0])
	return media == "text/html"
}

// weightOf returns the type of an element of Accept, and its weight (RFC 9110, 12.4.2).
func weightOf(part string) (media string, weight float64) {
	media, rest, _ := strings.Cut(part, ";")
	weight = 1
	for p := range strings.SplitSeq(rest, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if name == "q" {
			weight, _ = strconv.ParseFloat(value, 64)
		}
	}
	return strings.ToLower(strings.TrimSpace(media)), weight
}

// wantsPlainJSON reports whether a client accepts JSON, and no schema in JSON.
func (q *request) wantsPlainJSON() bool {
	accept := q.Header.Get("Accept")
	return strings.Contains(accept, typeJSON) && !strings.Contains(accept, typeSchema)
}
