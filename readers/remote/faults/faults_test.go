package faults_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers/remote/faults"
)

var content = func() []byte {
	var b bytes.Buffer
	for i := range 1000 {
		fmt.Fprintf(&b, "%d,", 1000+i)
	}
	return b.Bytes()
}()

// object serves content by net/http, with an ETag and a Last-Modified.
var object = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", `"one"`)
	http.ServeContent(w, r, "a.csv", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), bytes.NewReader(content))
})

func serve(t *testing.T, h http.Handler, plan faults.Plan) *faults.Server {
	t.Helper()
	s, err := faults.Serve(faults.NewHandlerProxy(h, plan))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// result is what a client sees of an answer.
type result struct {
	status int
	header http.Header
	body   []byte
	err    error // of the request, or of reading the body
}

func do(t *testing.T, method, url string, header ...string) result {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(r)
	if err != nil {
		return result{err: err}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return result{res.StatusCode, res.Header, body, err}
}

const signed = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"

func TestFaults(t *testing.T) {
	part := content[100:200]
	const byteRange = "bytes=100-199"
	tests := []struct {
		name   string
		fault  faults.Fault
		method string
		header []string
		check  func(result) bool
	}{
		{
			"none",
			faults.Fault{},
			"GET", nil,
			func(r result) bool { return r.status == 206 && bytes.Equal(r.body, part) },
		},
		{"503", faults.Fault{Kind: faults.SlowDown}, "GET", nil, func(r result) bool {
			return r.status == 503 && r.header.Get("Retry-After") == ""
		}},
		{
			"503 of S3",
			faults.Fault{Kind: faults.SlowDown},
			"GET",
			[]string{"Authorization", signed},
			func(r result) bool {
				return r.status == 503 && bytes.Contains(r.body, []byte("<Code>SlowDown</Code>"))
			},
		},
		{
			"503 with Retry-After",
			faults.Fault{Kind: faults.SlowDownRetryAfter, RetryAfter: 2 * time.Second},
			"GET",
			nil, func(r result) bool {
				return r.status == 503 && r.header.Get("Retry-After") == "2"
			},
		},
		{"429", faults.Fault{Kind: faults.TooManyRequests}, "GET", nil, func(r result) bool {
			return r.status == 429 && r.header.Get("Retry-After") == ""
		}},
		{"429 with Retry-After", faults.Fault{Kind: faults.TooManyRetryAfter}, "HEAD", nil, func(r result) bool {
			return r.status == 429 && r.header.Get("Retry-After") == "0"
		}},
		{"500", faults.Fault{Kind: faults.InternalError}, "GET", nil, func(r result) bool { return r.status == 500 }},
		{"drop", faults.Fault{Kind: faults.Drop}, "GET", nil, func(r result) bool { return errors.Is(r.err, io.EOF) }},
		{"reset", faults.Fault{Kind: faults.Reset, Bytes: 30}, "GET", nil, func(r result) bool {
			return r.status == 206 && errors.Is(r.err, syscall.ECONNRESET) && len(r.body) <= 30
		}},
		{"short body", faults.Fault{Kind: faults.ShortBody, Bytes: -1}, "GET", nil, func(r result) bool {
			return r.status == 206 && errors.Is(r.err, io.ErrUnexpectedEOF) && bytes.Equal(r.body, part[:50]) &&
				r.header.Get("Content-Length") == "100"
		}},
		{"trickle", faults.Fault{Kind: faults.Trickle, Interval: time.Microsecond}, "GET", nil, func(r result) bool {
			return r.status == 206 && r.err == nil && bytes.Equal(r.body, part)
		}},
		{"200 for 206", faults.Fault{Kind: faults.WholeBody}, "GET", nil, func(r result) bool {
			return r.status == 200 && bytes.Equal(r.body, content) && r.header.Get("Content-Range") == ""
		}},
		{"wrong Content-Range", faults.Fault{Kind: faults.WrongContentRange}, "GET", nil, func(r result) bool {
			return r.status == 206 && len(r.body) == 100 && bytes.Equal(r.body[:99], part[1:]) &&
				r.header.Get("Content-Range") == "bytes 101-200/"+strconv.Itoa(len(content))
		}},
		{"gzip Content-Encoding", faults.Fault{Kind: faults.GzipEncoding}, "GET", nil, func(r result) bool {
			z, err := gzip.NewReader(bytes.NewReader(r.body))
			if err != nil {
				return false
			}
			plain, err := io.ReadAll(z)
			return err == nil && r.status == 206 && r.header.Get("Content-Encoding") == "gzip" &&
				bytes.Equal(plain, part)
		}},
		{
			"ETag changed",
			faults.Fault{Kind: faults.ETagChanged},
			"GET",
			[]string{"If-Match", `"one"`},
			func(r result) bool {
				want := bytes.Clone(part)
				faults.Overwritten(want)
				return r.status == 206 && r.header.Get("ETag") == `"overwritten-one"` && bytes.Equal(r.body, want) &&
					!bytes.Equal(want, part)
			},
		},
		{
			"412",
			faults.Fault{Kind: faults.PreconditionFailed},
			"GET",
			[]string{"If-Match", `"one"`},
			func(r result) bool { return r.status == 412 },
		},
		{
			"412 of Last-Modified",
			faults.Fault{Kind: faults.PreconditionFailed},
			"GET",
			[]string{"If-Unmodified-Since", "Fri, 02 Jan 2026 03:04:05 GMT"},
			func(r result) bool { return r.status == 412 },
		},
		{"wrong size", faults.Fault{Kind: faults.WrongSize, Delta: -7}, "HEAD", nil, func(r result) bool {
			return r.status == 206 && r.header.Get("Content-Length") == "93"
		}},
		{"307", faults.Fault{Kind: faults.RedirectTemporary}, "GET", nil, func(r result) bool {
			return r.status == 307 && strings.HasSuffix(r.header.Get("Location"), "/data/a.csv?x=1")
		}},
		{
			"301",
			faults.Fault{Kind: faults.RedirectRegion},
			"GET",
			[]string{"Authorization", signed},
			func(r result) bool {
				return r.status == 301 && r.header.Get("x-amz-bucket-region") == "eu-central-1" &&
					r.header.Get("Location") == "" &&
					bytes.Contains(r.body, []byte("PermanentRedirect"))
			},
		},
		{
			"expired token",
			faults.Fault{Kind: faults.ExpiredToken},
			"GET",
			[]string{"Authorization", signed},
			func(r result) bool {
				return r.status == 403 && bytes.Contains(r.body, []byte("<Code>ExpiredToken</Code>"))
			},
		},
		{
			"time too skewed",
			faults.Fault{Kind: faults.TimeTooSkewed},
			"GET",
			[]string{"Authorization", signed},
			func(r result) bool {
				return r.status == 403 && bytes.Contains(r.body, []byte("<Code>RequestTimeTooSkewed</Code>"))
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var plan faults.Plan
			if test.fault.Kind != "" {
				plan = faults.NewScript(nil, test.fault)
			}
			s := serve(t, object, plan)
			r := do(t, test.method, s.URL+"/data/a.csv?x=1", append(test.header, "Range", byteRange)...)
			if !test.check(r) {
				t.Errorf("got status %d, header %v, error %v, body %.200q", r.status, r.header, r.err, r.body)
			}
			got := s.Stats()
			if k := test.fault.Kind; k != "" && got.Faults[k] != 1 {
				t.Errorf("faults counted: %v, want one of %s", got.Faults, k)
			}

			// The next answer is right, unless the fault lasts.
			if test.fault.Kind.Outcome() != faults.Fails {
				r := do(t, "GET", s.URL+"/data/a.csv?x=1", append(test.header, "Range", byteRange)...)
				if r.status != 206 || !bytes.Equal(r.body, part) {
					t.Errorf("next answer: status %d, error %v, body %.200q", r.status, r.err, r.body)
				}
			}
			waitFor(t, "no open connection", func() bool { return s.OpenConnections() == 0 && s.Stats().Active == 0 })
		})
	}
}

// An overwritten object stays so, until Restore.
func TestOverwritten(t *testing.T) {
	s := serve(t, object, faults.NewScript(nil, faults.Fault{Kind: faults.ETagChanged}))
	url := s.URL + "/data/a.csv"
	if r := do(t, "GET", url, "Range", "bytes=0-9", "If-Match", `"one"`); r.header.Get("ETag") != `"overwritten-one"` {
		t.Fatalf("first answer has %v", r.header)
	}
	if r := do(t, "GET", url, "Range", "bytes=0-9", "If-Match", `"one"`); r.status != http.StatusPreconditionFailed {
		t.Errorf("If-Match of the earlier version: %d, want 412", r.status)
	}
	if r := do(t, "HEAD", url); r.header.Get("ETag") != `"overwritten-one"` ||
		r.header.Get("Last-Modified") != "Fri, 02 Jan 2026 04:04:05 GMT" {
		t.Errorf("HEAD: %v", r.header)
	}
	want := bytes.Clone(content)
	faults.Overwritten(want)
	if r := do(t, "GET", url, "If-Match", `"overwritten-one"`); r.status != 200 || !bytes.Equal(r.body, want) {
		t.Errorf("new version: status %d, body %.50q, want %.50q", r.status, r.body, want)
	}
	if r := do(t, "GET", s.URL+"/data/b.csv", "If-Match", `"one"`); r.status != 200 || !bytes.Equal(r.body, content) {
		t.Errorf("another object: status %d", r.status)
	}
	s.Restore()
	if r := do(t, "GET", url, "If-Match", `"one"`); r.status != 200 || !bytes.Equal(r.body, content) {
		t.Errorf("restored: status %d", r.status)
	}
}

func TestHangEndsWithTheClient(t *testing.T) {
	s := serve(t, object, faults.NewScript(nil, faults.Fault{Kind: faults.Hang}))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "GET", s.URL+"/data/a.csv", nil)
	if _, err := http.DefaultTransport.RoundTrip(r); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the client's deadline", err)
	}
	waitFor(t, "no active request", func() bool { return s.Stats().Active == 0 && s.OpenConnections() == 0 })
}

func TestRegion(t *testing.T) {
	p := faults.NewHandlerProxy(object, nil)
	p.Region = "eu-west-1"
	s, err := faults.Serve(p)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tests := []struct {
		name, authorization string
		status              int
	}{
		{"unsigned", "", 200},
		{"another region", signed, 301},
		{"the region", strings.Replace(signed, "us-east-1", "eu-west-1", 1), 200},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := do(t, "GET", s.URL+"/data/a.csv", "Authorization", test.authorization)
			if r.status != test.status {
				t.Errorf("got %d, want %d", r.status, test.status)
			}
			if r.status == 301 && r.header.Get("x-amz-bucket-region") != "eu-west-1" {
				t.Errorf("header %v", r.header)
			}
		})
	}
}

func TestExpireToken(t *testing.T) {
	s := serve(t, object, nil)
	get := func(token string) int {
		return do(t, "GET", s.URL+"/data/a.csv", "Authorization", signed, "X-Amz-Security-Token", token).status
	}
	if got := get("first"); got != 200 {
		t.Fatalf("before: %d", got)
	}
	s.ExpireToken("first")
	if got := []int{get("first"), get("first"), get("second")}; !slices.Equal(got, []int{403, 403, 200}) {
		t.Errorf("got %v, want 403 403 200", got)
	}
}

const (
	pageS3 = `<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a</Key></Contents><Contents><Key>b</Key></Contents></ListBucketResult>`
	next   = `<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>a</Key></Contents><NextContinuationToken>t1</NextContinuationToken></ListBucketResult>`
	pageGS = `{"kind":"storage#objects","items":[{"name":"a"},{"name":"b"}]}`
	pageAz = `<EnumerationResults><Blobs><Blob><Name>a</Name></Blob><Blob><Name>b</Name></Blob></Blobs><NextMarker /></EnumerationResults>`
)

func TestListings(t *testing.T) {
	tests := []struct {
		name, page, path string
		header           []string
		kind             faults.Kind
		want             string
	}{
		{
			"S3 duplicate", pageS3, "/data?list-type=2", nil, faults.DuplicateKeys,
			strings.Replace(pageS3, "<Contents><Key>a</Key></Contents>",
				"<Contents><Key>a</Key></Contents><Contents><Key>a</Key></Contents>", 1),
		},
		{
			"S3 loop of one page", pageS3, "/data?list-type=2", nil, faults.LoopingToken,
			strings.Replace(strings.Replace(pageS3, ">false<", ">true<", 1), "</ListB",
				"<NextContinuationToken>bG9vcA</NextContinuationToken></ListB", 1),
		},
		{"S3 loop", next, "/data?list-type=2", nil, faults.LoopingToken, next},
		{
			"GCS duplicate", pageGS, "/storage/v1/b/data/o", nil, faults.DuplicateKeys,
			`{"items":[{"name":"a"},{"name":"a"},{"name":"b"}],"kind":"storage#objects"}`,
		},
		{
			"GCS loop", pageGS, "/storage/v1/b/data/o", nil, faults.LoopingToken,
			`{"items":[{"name":"a"},{"name":"b"}],"kind":"storage#objects","nextPageToken":"bG9vcA"}`,
		},
		{
			"Azure duplicate", pageAz, "/account/data?comp=list&restype=container",
			[]string{"x-ms-version", "2025-01-05"},
			faults.DuplicateKeys,
			strings.Replace(pageAz, "<Blob><Name>a</Name></Blob>",
				"<Blob><Name>a</Name></Blob><Blob><Name>a</Name></Blob>", 1),
		},
		{
			"Azure loop", pageAz, "/account/data?comp=list&restype=container",
			[]string{"x-ms-version", "2025-01-05"},
			faults.LoopingToken,
			strings.Replace(pageAz, "<NextMarker />", "<NextMarker>bG9vcA</NextMarker>", 1),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_,
					_ = io.WriteString(w, test.page)
			})
			s := serve(t, page, faults.NewScript(nil, faults.Fault{Kind: test.kind}))
			if r := do(t, "GET", s.URL+test.path, test.header...); string(r.body) != test.want {
				t.Errorf("got  %s\nwant %s", r.body, test.want)
			}
			want := test.page
			if test.kind == faults.LoopingToken {
				want = test.want
			}
			if r := do(t, "GET", s.URL+test.path, test.header...); string(r.body) != want {
				t.Errorf("second page: got  %s\nwant %s", r.body, want)
			}
			if got := s.Stats(); got.Requests[faults.List] != 2 || got.Faults[test.kind] != 1 {
				t.Errorf("counted %+v", got)
			}
		})
	}
}

// The store sees the Host that the client sent, and the headers that it signed, and no others.
func TestHeadersArePassedOn(t *testing.T) {
	var mu sync.Mutex
	var host string
	var header http.Header
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		host, header = r.Host, r.Header.Clone()
		mu.Unlock()
		object(w, r)
	}))
	defer store.Close()
	p, err := faults.NewProxy(store.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := faults.Serve(p)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if r := do(t, "GET", s.URL+"/data/a%20b.csv", "Range", "bytes=0-4", "User-Agent", "test"); r.status != 206 ||
		string(r.body) != "1000," {
		t.Fatalf("status %d, body %q", r.status, r.body)
	}
	mu.Lock()
	defer mu.Unlock()
	if want := strings.TrimPrefix(s.URL, "http://"); host != want {
		t.Errorf("Host %q, want %q", host, want)
	}
	if len(header) != 2 || header.Get("Range") != "bytes=0-4" || header.Get("User-Agent") != "test" {
		t.Errorf("headers %v", header)
	}
}

// The same seed gives the same faults to the same requests, in any order, and at most two to each.
func TestRandomDependsOnRequestsOnly(t *testing.T) {
	run := func(order []int) map[string]faults.Kind {
		plan := &faults.Random{Seed: 7, Probability: 0.5, Faults: faults.Recoverable()}
		got := map[string]faults.Kind{}
		for attempt := range 4 {
			for _, i := range order {
				r := faults.Request{
					Class: faults.Read, Method: "GET", Path: "/data/a",
					Range: fmt.Sprintf("bytes=%d-", i),
				}
				if f, ok := plan.Next(r); ok {
					if attempt >= 2 {
						t.Errorf("attempt %d of %s has fault %s", attempt, r.Range, f.Kind)
					}
					got[fmt.Sprint(i, " ", attempt)] = f.Kind
				}
			}
		}
		return got
	}
	var order []int
	for i := range 500 {
		order = append(order, i)
	}
	first := run(order)
	slices.Reverse(order)
	second := run(order)
	if len(first) < 400 || len(first) > 600 {
		t.Errorf("%d faults in 1000 requests, want about half", len(first))
	}
	if fmt.Sprint(first) != fmt.Sprint(second) {
		t.Error("the order of the requests changes their faults")
	}
}

// A client that checks what it gets, and asks again, reads the right bytes through every recoverable fault.
func TestClientRecovers(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	plan := &faults.Random{Seed: 1, Probability: 0.6, Faults: faults.Recoverable()}
	s := serve(t, object, plan)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}, Timeout: 10 * time.Second}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := worker; i < 400; i += 8 {
				start := i * 10
				got, err := patient(client, s.URL+"/data/a.csv", start, start+10)
				if err != nil || !bytes.Equal(got, content[start:start+10]) {
					t.Errorf("range %d: %q, %v", start, got, err)
				}
			}
		})
	}
	wg.Wait()
	client.CloseIdleConnections()
	waitFor(t, "no open connection", func() bool { return s.OpenConnections() == 0 })
	total := 0
	for _, n := range s.Stats().Faults {
		total += n
	}
	if total < 200 {
		t.Errorf("only %d faults were given: %v", total, s.Stats().Faults)
	}
	waitFor(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= goroutines+3 })
}

// patient reads bytes start to end of an object in as many attempts as it takes.
func patient(client *http.Client, url string, start, end int) ([]byte, error) {
	var last error
	for range 5 {
		r, err := http.NewRequest("GET", url, nil)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", start, end-1))
		r.Header.Set("If-Match", `"one"`)
		res, err := client.Do(r)
		if err != nil {
			last = err
			continue
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		switch {
		case err != nil:
			last = err
		case res.Header.Get("Content-Encoding") != "":
			last = errors.New("compressed")
		case res.StatusCode == 200 && len(body) == len(content):
			return body[start:end], nil
		case res.StatusCode == 206 &&
			res.Header.Get("Content-Range") == fmt.Sprintf("bytes %d-%d/%d", start, end-1, len(content)):
			return body, nil
		default:
			last = fmt.Errorf("status %d, %s", res.StatusCode, res.Header.Get("Content-Range"))
		}
	}
	return nil, last
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 5 s: %s", what)
		}
	}
}
