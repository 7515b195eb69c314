package faults

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// An object that was overwritten has the same size, other digits in its bytes, a new ETag and
// generation, and a later Last-Modified. Text stays valid, so that only its identity shows the change.

// change overwrites the object with this path.
func (p *Proxy) change(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == nil {
		p.changed = map[string]bool{}
	}
	p.changed[path] = true
}

func (p *Proxy) isChanged(path string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed[path]
}

const newETag = "overwritten-"

// conditionFails answers a request for the earlier version of an overwritten object with 412, and
// reports whether it did. A condition on the new version is met, and taken out for the store, which does
// not know that version; a store that checks signatures then refuses a request that has it signed.
func (w *answer) conditionFails(r *http.Request, req Request) bool {
	query := r.URL.Query()
	match, generation := r.Header.Get("If-Match"), generationOf(r, query)
	stale := match != "" && match != "*" && !strings.Contains(match, newETag)
	if n, err := strconv.ParseInt(generation, 10, 64); err == nil && n&newGeneration == 0 {
		stale = true
	}
	if stale {
		w.preconditionFailed(req)
		return true
	}
	if match != "*" {
		r.Header.Del("If-Match")
	}
	r.Header.Del("X-Goog-If-Generation-Match")
	if query.Has("ifGenerationMatch") {
		query.Del("ifGenerationMatch")
		r.URL.RawQuery = query.Encode()
	}
	return false
}

// isStale reports whether a request wants the object only if it is older than the answer, which has the
// time of the new version.
func isStale(r *http.Request, res *http.Response) bool {
	since, err := http.ParseTime(r.Header.Get("If-Unmodified-Since"))
	modified, err2 := http.ParseTime(res.Header.Get("Last-Modified"))
	return err == nil && err2 == nil && modified.After(since)
}

func (w *answer) preconditionFailed(req Request) {
	code := "PreconditionFailed"
	switch req.dialect {
	case azure:
		code = "ConditionNotMet"
	case gcs:
		code = "conditionNotMet"
	}
	w.fail(req, http.StatusPreconditionFailed, code, "At least one of the pre-conditions you specified did not hold")
}

// newGeneration marks the generations of overwritten objects.
const newGeneration = 1 << 62

// overwrite makes the store's answer that of the new version.
func overwrite(res *http.Response, req Request) {
	if etag := res.Header.Get("ETag"); etag != "" {
		weak := ""
		if strings.HasPrefix(etag, "W/") {
			weak = "W/"
		}
		res.Header.Set("ETag", weak+`"`+newETag+strings.Trim(strings.TrimPrefix(etag, "W/"), `"`)+`"`)
	}
	if n, err := strconv.ParseInt(res.Header.Get("X-Goog-Generation"), 10, 64); err == nil {
		res.Header.Set("X-Goog-Generation", strconv.FormatInt(n|newGeneration, 10))
	}
	if t, err := http.ParseTime(res.Header.Get("Last-Modified")); err == nil {
		res.Header.Set("Last-Modified", t.Add(time.Hour).UTC().Format(http.TimeFormat))
	}
	for name := range res.Header {
		lower := strings.ToLower(name)
		if lower == "x-goog-hash" || lower == "content-md5" || strings.HasPrefix(lower, "x-amz-checksum") ||
			lower == "x-ms-content-crc64" {
			res.Header.Del(name)
		}
	}
	switch req.Class {
	case Read:
		body := res.Body
		res.Body = struct {
			io.Reader
			io.Closer
		}{otherDigits{body}, body}
	case Head:
		if req.Method == http.MethodHead {
			return
		}
		var attributes map[string]any
		rewriteJSON(res, &attributes, func() bool {
			if n, err := strconv.ParseInt(stringOf(attributes["generation"]), 10, 64); err == nil {
				attributes["generation"] = strconv.FormatInt(n|newGeneration, 10)
			}
			attributes["etag"] = newETag + stringOf(attributes["etag"])
			delete(attributes, "crc32c")
			delete(attributes, "md5Hash")
			return true
		})
	}
}

func stringOf(v any) string {
	s, _ := v.(string)
	return s
}

// otherDigits replaces digits: 1 by 2, 2 by 3, up to 9 by 1. It keeps 0, so that no number gets a
// leading zero.
type otherDigits struct{ r io.Reader }

func (o otherDigits) Read(b []byte) (int, error) {
	n, err := o.r.Read(b)
	Overwritten(b[:n])
	return n, err
}

// Overwritten changes the bytes of an object into those of the version that ETagChanged serves.
func Overwritten(b []byte) {
	for i, c := range b {
		switch {
		case c >= '1' && c < '9':
			b[i] = c + 1
		case c == '9':
			b[i] = '1'
		}
	}
}
