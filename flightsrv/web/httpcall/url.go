package httpcall

import (
	"net/http"
	"net/url"
	"strings"
)

// BaseURL returns the URL of the server as its client wrote it, without a path. A proxy tells it in
// the headers X-Forwarded-Proto and X-Forwarded-Host; they go back to the client that sends them, and
// to nobody else.
func BaseURL(r *http.Request) string {
	scheme, host := "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	if p := r.Header.Get("X-Forwarded-Proto"); p == "http" || p == "https" {
		scheme = p
	}
	if h := r.Header.Get("X-Forwarded-Host"); h != "" && isHost(h) {
		host = h
	}
	return scheme + "://" + host
}

// isHost reports whether a text is a host with or without a port.
func isHost(text string) bool {
	u, err := url.Parse("//" + text)
	return err == nil && u.Host == text && !strings.ContainsAny(text, `"'<>`)
}

// PathOf returns the name of an entry as a path, with its slashes.
func PathOf(name string) string { return (&url.URL{Path: name}).EscapedPath() }
