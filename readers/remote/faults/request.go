package faults

import (
	"net/http"
	"net/url"
	"strings"
)

// Request is what a plan sees of a request.
type Request struct {
	Class  Class
	Method string
	Path   string // escaped, without the query
	Query  string // without signatures
	Range  string // the Range header, or Azure's x-ms-range

	dialect dialect
	prefix  string // of a listing
}

// dialect is the API that a client speaks.
type dialect int

const (
	plain dialect = iota
	s3
	gcs
	azure
)

// classify reads what a request is for from its method, path, query and headers.
func classify(r *http.Request) Request {
	query := r.URL.Query()
	c := Request{
		Method: r.Method, Path: r.URL.EscapedPath(), Query: unsigned(query), Range: r.Header.Get("Range"),
		dialect: dialectOf(r, query), prefix: query.Get("prefix"),
	}
	if c.Range == "" {
		c.Range = r.Header.Get("X-Ms-Range")
	}
	switch {
	case r.Method == http.MethodHead:
		c.Class = Head
	case r.Method != http.MethodGet:
		c.Class = Other
	case isListing(c, query):
		c.Class = List
	case isSubresource(c, query):
		c.Class = Other
	case c.dialect == gcs && strings.HasPrefix(c.Path, "/storage/v1/") && query.Get("alt") != "media":
		c.Class = Head
	default:
		c.Class = Read
	}
	return c
}

// unsigned encodes a query without what differs from one request to the next.
func unsigned(query url.Values) string {
	kept := url.Values{}
	for name, values := range query {
		if !strings.HasPrefix(strings.ToLower(name), "x-amz-") && name != "sig" && name != "x-id" {
			kept[name] = values
		}
	}
	return kept.Encode()
}

func dialectOf(r *http.Request, query url.Values) dialect {
	switch {
	case r.Header.Get("X-Ms-Version") != "":
		return azure
	case strings.Contains(r.URL.Path, "/storage/v1/"), r.Header.Get("X-Goog-Api-Client") != "":
		return gcs
	case strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-"), query.Has("X-Amz-Signature"),
		query.Has("list-type"),
		r.Header.Get("Amz-Sdk-Invocation-Id") != "", r.Header.Get("X-Amz-Content-Sha256") != "":
		return s3
	}
	return plain
}

func isListing(c Request, query url.Values) bool {
	switch c.dialect {
	case s3:
		return query.Has("list-type")
	case gcs:
		return strings.HasPrefix(c.Path, "/storage/v1/b/") && strings.HasSuffix(strings.TrimSuffix(c.Path, "/"), "/o")
	case azure:
		return query.Get("comp") == "list"
	}
	return strings.HasSuffix(c.Path, "/")
}

// isSubresource reports whether a GET is for something of a bucket, such as its location.
func isSubresource(c Request, query url.Values) bool {
	switch c.dialect {
	case s3:
		return !strings.Contains(strings.Trim(c.Path, "/"), "/")
	case gcs:
		return strings.HasPrefix(c.Path, "/storage/v1/b") && !strings.Contains(c.Path, "/o/")
	case azure:
		return query.Has("comp") || query.Has("restype")
	}
	return false
}
