package faults

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// answer writes one answer, and counts it.
type answer struct {
	http.ResponseWriter
	proxy  *Proxy
	status int
	bytes  int64
}

func (w *answer) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *answer) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (w *answer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *answer) count() {
	w.proxy.mu.Lock()
	defer w.proxy.mu.Unlock()
	w.proxy.stats.Statuses[w.status]++
	w.proxy.stats.BytesSent += w.bytes
}

// answerWithout gives the faults for which the store is not asked. It reports whether it did.
func (p *Proxy) answerWithout(w *answer, r *http.Request, req Request, f Fault) bool {
	seconds := strconv.Itoa(int(f.RetryAfter / time.Second))
	switch f.Kind {
	case SlowDownRetryAfter, TooManyRetryAfter:
		w.Header().Set("Retry-After", seconds)
	}
	switch f.Kind {
	case SlowDown, SlowDownRetryAfter:
		w.fail(req, http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate.")
	case TooManyRequests, TooManyRetryAfter:
		w.fail(req, http.StatusTooManyRequests, "TooManyRequests", "Please reduce your request rate.")
	case InternalError:
		w.fail(req, http.StatusInternalServerError, "InternalError",
			"We encountered an internal error. Please try again.")
	case ExpiredToken:
		status := http.StatusForbidden
		if req.dialect == gcs {
			status = http.StatusUnauthorized
		}
		w.fail(req, status, "ExpiredToken", "The provided token has expired.")
	case TimeTooSkewed:
		w.fail(req, http.StatusForbidden, "RequestTimeTooSkewed",
			"The difference between the request time and the current time is too large.")
	case RedirectRegion:
		w.redirectRegion(r, req, p.Region)
	case RedirectTemporary:
		base := p.RedirectTo
		if base == "" {
			base = "http://" + r.Host
		}
		w.Header().Set("Location", base+r.URL.RequestURI())
		w.fail(req, http.StatusTemporaryRedirect, "TemporaryRedirect",
			"Please re-send this request to the specified temporary endpoint.")
	case Drop:
		p.gave(f.Kind)
		panic(http.ErrAbortHandler)
	case Hang:
		p.gave(f.Kind)
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case PreconditionFailed:
		p.change(req.Path)
		p.gave(f.Kind)
		return false // forward looks at the condition; without one the client gets the new object
	default:
		if page := p.loop(req); page != nil {
			w.Header().Set("Content-Type", "application/xml")
			if req.dialect == gcs {
				w.Header().Set("Content-Type", "application/json")
			}
			_, _ = w.Write(page)
			return true
		}
		return false
	}
	p.gave(f.Kind)
	return true
}

// answerWith passes the store's answer on, with the fault in it. A fault that the answer cannot have,
// as it is an error or has no body, is not given and not counted.
func (p *Proxy) answerWith(w *answer, r *http.Request, req Request, res *http.Response, f Fault) {
	ok := res.StatusCode == http.StatusOK || res.StatusCode == http.StatusPartialContent
	partial := res.StatusCode == http.StatusPartialContent
	switch {
	case !ok:
		w.pass(res)
	case f.Kind == Reset || f.Kind == ShortBody || f.Kind == Trickle:
		p.cut(w, r, res, f)
	case f.Kind == WholeBody && !partial:
		p.gave(f.Kind)
		w.pass(res)
	case f.Kind == WrongContentRange && partial:
		p.shift(w, res, f)
	case f.Kind == GzipEncoding && partial:
		p.compress(w, res, f)
	case f.Kind == ETagChanged && partial:
		p.gave(f.Kind)
		if !p.isChanged(req.Path) {
			p.change(req.Path)
			overwrite(res, req)
		}
		w.pass(res)
	case f.Kind == WrongSize:
		p.wrongSize(w, req, res, f)
	case f.Kind == LoopingToken || f.Kind == DuplicateKeys:
		p.page(w, req, res, f)
	default:
		w.pass(res)
	}
}

// pass writes the store's answer as it is.
func (w *answer) pass(res *http.Response) {
	w.header(res)
	if _, err := io.Copy(w, res.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (w *answer) header(res *http.Response) {
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.Header().Del("Connection")
	if res.Header.Get("Date") == "" {
		w.Header()["Date"] = nil
	}
	w.WriteHeader(res.StatusCode)
}

// broken answers when the store gives no answer, which is no fault of the plan.
func (w *answer) broken(r *http.Request, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	http.Error(w, "faults: "+err.Error(), http.StatusBadGateway)
}

// fail writes an error as the API's servers do.
func (w *answer) fail(req Request, status int, code, message string) {
	w.failWith(req, status, code, message, "")
}

func (w *answer) failWith(req Request, status int, code, message, more string) {
	w.Header().Del("Content-Length")
	var body string
	switch req.dialect {
	case gcs:
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		b, _ := json.Marshal(map[string]any{"error": map[string]any{
			"code": status, "message": message, "errors": []any{map[string]string{"reason": code, "message": message}},
		}})
		body = string(b)
	case s3, azure:
		w.Header().Set("Content-Type", "application/xml")
		if req.dialect == azure {
			w.Header().Set("X-Ms-Error-Code", code)
		}
		body = `<?xml version="1.0" encoding="UTF-8"?>` + "\n<Error><Code>" + code + "</Code><Message>" + message +
			"</Message>" + more + "<RequestId>fault</RequestId></Error>"
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		body = message + "\n"
	}
	w.WriteHeader(status)
	if req.Method != http.MethodHead {
		_, _ = io.WriteString(w, body)
	}
}

// redirectRegion answers as S3 does when a bucket is in another region: 301 without a Location.
func (w *answer) redirectRegion(r *http.Request, req Request, region string) {
	if region == "" {
		region = "eu-central-1"
	}
	w.Header().Set("X-Amz-Bucket-Region", region)
	w.failWith(req, http.StatusMovedPermanently, "PermanentRedirect",
		"The bucket you are attempting to access must be addressed using the specified endpoint.",
		"<Endpoint>"+r.Host+"</Endpoint>")
}

// cut sends a part of the body, or all of it slowly.
func (p *Proxy) cut(w *answer, r *http.Request, res *http.Response, f Fault) {
	size := res.ContentLength
	n := f.Bytes
	if n < 0 {
		n = size / 2
	}
	if f.Kind != Trickle && (size <= 0 || n >= size) {
		w.pass(res)
		return
	}
	p.gave(f.Kind)
	w.header(res)
	control := http.NewResponseController(w)
	if f.Kind == Trickle {
		interval := f.Interval
		if interval == 0 {
			interval = time.Second
		}
		for {
			if _, err := io.CopyN(w, res.Body, 1); err != nil {
				return
			}
			if control.Flush() != nil || !sleep(r.Context(), interval) {
				panic(http.ErrAbortHandler)
			}
		}
	}
	_, _ = io.CopyN(w, res.Body, n)
	_ = control.Flush()
	if f.Kind == Reset {
		conn, _, err := control.Hijack()
		if err == nil {
			time.Sleep(time.Millisecond) // most of what was sent arrives
			if tcp, ok := conn.(interface{ SetLinger(seconds int) error }); ok {
				_ = tcp.SetLinger(0)
			}
			_ = conn.Close()
			return
		}
	}
	panic(http.ErrAbortHandler)
}

// shift answers with the range that begins one byte later.
func (p *Proxy) shift(w *answer, res *http.Response, f Fault) {
	start, end, size, ok := parseContentRange(res.Header.Get("Content-Range"))
	if !ok {
		w.pass(res)
		return
	}
	p.gave(f.Kind)
	res.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start+1, end+1, max(size, end+2)))
	_, _ = io.CopyN(io.Discard, res.Body, 1)
	body := res.Body
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(body, zeros(1)), body}
	w.pass(res)
}

// compress answers with the bytes of the range as gzip.
func (p *Proxy) compress(w *answer, res *http.Response, f Fault) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.Copy(z, res.Body); err != nil || z.Close() != nil {
		panic(http.ErrAbortHandler)
	}
	p.gave(f.Kind)
	res.Header.Set("Content-Encoding", "gzip")
	res.Header.Set("Content-Length", strconv.Itoa(b.Len()))
	res.Body = io.NopCloser(&b)
	w.pass(res)
}

// wrongSize answers a HEAD with a size that is not the object's.
func (p *Proxy) wrongSize(w *answer, req Request, res *http.Response, f Fault) {
	delta := f.Delta
	if delta == 0 {
		delta = 1
	}
	if req.Method == http.MethodHead {
		if size, err := strconv.ParseInt(res.Header.Get("Content-Length"), 10, 64); err == nil && size+delta >= 0 {
			p.gave(f.Kind)
			res.Header.Set("Content-Length", strconv.FormatInt(size+delta, 10))
		}
		w.pass(res)
		return
	}
	var attributes map[string]any
	rewriteJSON(res, &attributes, func() bool {
		size, err := strconv.ParseInt(fmt.Sprint(attributes["size"]), 10, 64)
		if err != nil || size+delta < 0 {
			return false
		}
		attributes["size"] = strconv.FormatInt(size+delta, 10)
		p.gave(f.Kind)
		return true
	})
	w.pass(res)
}

// rewriteJSON decodes the body of an answer into v, and encodes it again if change reports true.
func rewriteJSON(res *http.Response, v any, change func() bool) {
	body, err := io.ReadAll(res.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if json.Unmarshal(body, v) == nil && change() {
		body, _ = json.Marshal(v)
	}
	setBody(res, body)
}

func setBody(res *http.Response, body []byte) {
	res.Header.Set("Content-Length", strconv.Itoa(len(body)))
	res.ContentLength = int64(len(body))
	res.Body = io.NopCloser(bytes.NewReader(body))
}

// parseContentRange reads "bytes 0-9/100".
func parseContentRange(s string) (start, end, size int64, ok bool) {
	n, err := fmt.Sscanf(s, "bytes %d-%d/%d", &start, &end, &size)
	return start, end, size, n == 3 && err == nil && start <= end && end < size
}

// generationOf returns the condition on the generation in a request to GCS.
func generationOf(r *http.Request, query url.Values) string {
	if v := query.Get("ifGenerationMatch"); v != "" {
		return v
	}
	return strings.TrimSpace(r.Header.Get("X-Goog-If-Generation-Match"))
}
