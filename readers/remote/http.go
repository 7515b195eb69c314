package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/vibeflight/vibeflight/readers/source"
)

// httpStore reads files of a web server (RFC 9110). Every ranged request has If-Match with a strong
// ETag, and each answer is compared with the version, because many servers ignore If-Match.
type httpStore struct {
	client *http.Client
	base   *url.URL // of the folder, with a '/' at the end of its path; or of one file
	single string   // the key of the one file; "": base is a folder
}

// OpenHTTP returns a folder of a web server, or one file of it, whose key is the last component of
// its path. A user and a password in the URL are sent as Basic authentication. The query of a
// file's URL, which may be its signature, is sent with each request.
func OpenHTTP(u *url.URL, file bool) Store {
	s := &httpStore{base: cloneURL(u)}
	s.base.Fragment = ""
	if file {
		s.single = u.Path[strings.LastIndexByte(u.Path, '/')+1:]
	} else if !strings.HasSuffix(s.base.Path, "/") {
		s.base = s.base.JoinPath("/")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // a range is of the bytes of the file
	transport.MaxIdleConnsPerHost = DefaultRequests
	// Each request of a block has its own connection: streams of one HTTP/2 connection share its window.
	transport.ForceAttemptHTTP2 = false
	s.client = &http.Client{Transport: transport}
	return s
}

func cloneURL(u *url.URL) *url.URL { c := *u; return &c }

func (s *httpStore) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

func (s *httpStore) url(key string) string {
	if s.single != "" && key == s.single {
		return s.base.String()
	}
	u := cloneURL(s.base)
	if s.single != "" { // a sibling of the file
		u.Path = u.Path[:strings.LastIndexByte(u.Path, '/')+1]
	}
	u.Path, u.RawPath = u.Path+key, ""
	return u.String()
}

func (s *httpStore) do(ctx context.Context, method, address string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, &Failure{Err: errors.New("not a URL")}
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if u := req.URL.User; u != nil {
		password, _ := u.Password()
		req.SetBasicAuth(u.Username(), password)
		req.URL.User = nil
	}
	req.Header.Set("Accept-Encoding", "identity")
	answer, err := s.client.Do(req)
	if err != nil {
		if own := new(url.Error); errors.As(err, &own) {
			err = own.Err // without the address, which may have a signature
		}
		return nil, &Failure{Kind: Transient, Err: err}
	}
	return answer, nil
}

// Stat implements Store: by HEAD, or where a server does not allow that, by a range of one byte.
func (s *httpStore) Stat(ctx context.Context, key string) (Object, error) {
	address := s.url(key)
	answer, err := s.do(ctx, http.MethodHead, address, nil)
	if err != nil {
		return Object{}, err
	}
	_ = answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusOK && answer.ContentLength >= 0 &&
		CheckEncoding(answer.Header.Get("Content-Encoding")) == nil:
		return objectOf(key, answer, answer.ContentLength), nil
	case answer.StatusCode == http.StatusOK, answer.StatusCode == http.StatusMethodNotAllowed,
		answer.StatusCode == http.StatusNotImplemented, answer.StatusCode == http.StatusForbidden:
		// Signed URLs are often valid for GET alone.
	default:
		return Object{}, statusError(answer)
	}
	if answer, err = s.do(ctx, http.MethodGet, address, http.Header{"Range": {"bytes=0-0"}}); err != nil {
		return Object{}, err
	}
	defer discard(answer.Body)
	switch answer.StatusCode {
	case http.StatusPartialContent:
		from, to, size, ok := contentRange(answer)
		if !ok || from != 0 || to != 1 {
			return Object{}, wrongRange(answer)
		}
		return objectOf(key, answer, size), nil
	case http.StatusOK:
		if f := CheckEncoding(answer.Header.Get("Content-Encoding")); f != nil {
			return Object{}, f
		}
		if answer.ContentLength < 0 {
			return Object{}, &Failure{Err: errors.New("the server does not tell the size of the file")}
		}
		return objectOf(key, answer, answer.ContentLength), nil
	case http.StatusRequestedRangeNotSatisfiable: // an empty file has no first byte
		return objectOf(key, answer, 0), nil
	}
	return Object{}, statusError(answer)
}

// objectOf returns the object that an answer is of.
func objectOf(key string, answer *http.Response, size int64) Object {
	o := Object{Key: key, Size: size, Version: "size"}
	if at, err := http.ParseTime(answer.Header.Get("Last-Modified")); err == nil {
		o.Modified, o.Version = at, "date"
	}
	if tag := answer.Header.Get("ETag"); tag != "" {
		o.Version = source.ObjectVersion("etag:" + tag)
	}
	return o
}

// Read implements Store. A server that sends the whole object in place of a range is read only from
// the beginning of it.
func (s *httpStore) Read(ctx context.Context, o Object, from, to int64) (io.ReadCloser, error) {
	header := http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", from, to-1)}}
	if tag, ok := strings.CutPrefix(string(o.Version), "etag:"); ok && !strings.HasPrefix(tag, "W/") {
		header["If-Match"] = []string{tag}
	} else if o.Version == "date" {
		header["If-Unmodified-Since"] = []string{o.Modified.UTC().Format(http.TimeFormat)}
	}
	answer, err := s.do(ctx, http.MethodGet, s.url(o.Key), header)
	if err != nil {
		return nil, err
	}
	if err := checkAnswer(answer, o, from, to); err != nil {
		discard(answer.Body)
		return nil, err
	}
	if answer.StatusCode == http.StatusOK && from > 0 {
		_ = answer.Body.Close()
		return nil, &Failure{Kind: NoRanges, Err: errors.New("the server sends whole files only")}
	}
	if answer.StatusCode == http.StatusOK {
		return bodyPart{io.LimitReader(answer.Body, to-from), answer.Body}, nil
	}
	return answer.Body, nil
}

// bodyPart is the first part of a body. Closing it ends the connection.
type bodyPart struct {
	io.Reader
	io.Closer
}

// checkAnswer reports whether an answer has bytes [from, to) of the version.
func checkAnswer(answer *http.Response, o Object, from, to int64) error {
	size := answer.ContentLength
	switch answer.StatusCode {
	case http.StatusPartialContent:
		first, end, total, ok := contentRange(answer)
		if !ok || first != from || end != to {
			return wrongRange(answer)
		}
		size = total
		if n := answer.ContentLength; n >= 0 && n != to-from {
			return &Failure{Kind: Transient, Err: fmt.Errorf("the answer has %d bytes, not %d", n, to-from)}
		}
	case http.StatusOK:
	case http.StatusPreconditionFailed:
		return &Failure{Kind: Changed, Err: fmt.Errorf("it no longer has the version %s", o.Version)}
	case http.StatusNotFound, http.StatusGone, http.StatusRequestedRangeNotSatisfiable:
		return &Failure{Kind: Changed, Err: errors.New(answer.Status)}
	default:
		return statusError(answer)
	}
	if f := CheckEncoding(answer.Header.Get("Content-Encoding")); f != nil {
		return f
	}
	now := objectOf(o.Key, answer, size)
	if size >= 0 && size != o.Size || now.Version != o.Version ||
		o.Version == "date" && !now.Modified.Equal(o.Modified) {
		return &Failure{Kind: Changed, Err: fmt.Errorf("was %v, is %v", o.identity(), now.identity())}
	}
	return nil
}

// contentRange parses "bytes 0-99/1000" into [0, 100) of 1000.
func contentRange(answer *http.Response) (from, to, size int64, ok bool) {
	rest, ok := strings.CutPrefix(answer.Header.Get("Content-Range"), "bytes ")
	span, total, ok2 := strings.Cut(rest, "/")
	first, last, ok3 := strings.Cut(span, "-")
	from, err1 := strconv.ParseInt(first, 10, 64)
	to, err2 := strconv.ParseInt(last, 10, 64)
	size, err3 := strconv.ParseInt(total, 10, 64)
	return from, to + 1, size, ok && ok2 && ok3 && errors.Join(err1, err2, err3) == nil
}

func wrongRange(answer *http.Response) error {
	return &Failure{Kind: Transient, Err: fmt.Errorf("the answer has another Content-Range, %.60q",
		answer.Header.Get("Content-Range"))}
}

// statusError returns the failure that a status means.
func statusError(answer *http.Response) error {
	f := &Failure{Err: fmt.Errorf("HTTP status %s", answer.Status)}
	switch code := answer.StatusCode; {
	case code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable:
		f.Kind = Throttled
	case code >= 500 || code == http.StatusRequestTimeout:
		f.Kind = Transient
	case code == http.StatusNotFound || code == http.StatusGone:
		f.Kind = Missing
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		f.Kind = Denied
		f.Hint = "write a user and a password into the URL, https://user:password@host/…, or use a signed URL"
	}
	f.RetryAfter = RetryAfter(answer.Header.Get("Retry-After"))
	return f
}

// RetryAfter parses the header of that name: seconds, or a date.
func RetryAfter(text string) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(0, seconds), 3600)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// discard reads a short rest of a body, so that the connection can be used again, and closes it.
func discard(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 64<<10)
	_ = body.Close()
}
