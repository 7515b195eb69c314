package faults

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Proxy passes requests to a store, and gives the faults of its plan. Set the fields before its first request.
type Proxy struct {
	Plan    Plan          // nil for no faults
	Latency time.Duration // before each answer

	// Region is that of the buckets. A request that is signed for another one gets 301 with
	// x-amz-bucket-region. Empty for no check.
	Region string

	// RedirectTo is the base URL of the Location of RedirectTemporary; empty for the proxy itself.
	RedirectTo string

	upstream *url.URL
	client   http.RoundTripper

	mu      sync.Mutex
	stats   Stats
	changed map[string]bool   // paths of objects that were overwritten
	loops   map[string][]byte // pages that name themselves as the next, by path and prefix
	expired map[string]bool   // tokens
}

// Stats counts what a proxy has seen and done.
type Stats struct {
	Requests  map[Class]int
	Faults    map[Kind]int
	Statuses  map[int]int // of answers, faults included; 0 for no answer
	BytesSent int64       // of bodies
	Active    int         // requests that have no complete answer yet
	MaxActive int
}

// NewProxy returns a proxy for the server at a URL of the form http://host:port.
func NewProxy(upstream string, plan Plan) (*Proxy, error) {
	u, err := url.Parse(upstream)
	if err != nil {
		return nil, err
	}
	return &Proxy{Plan: plan, upstream: u, client: &http.Transport{
		DisableCompression: true, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute,
	}}, nil
}

// NewHandlerProxy returns a proxy for a handler.
func NewHandlerProxy(upstream http.Handler, plan Plan) *Proxy {
	return &Proxy{Plan: plan, upstream: &url.URL{Scheme: "http", Host: "upstream"}, client: handlerTransport{upstream}}
}

// Stats returns the counts up to now.
func (p *Proxy) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Requests, s.Faults, s.Statuses = maps.Clone(s.Requests), maps.Clone(s.Faults), maps.Clone(s.Statuses)
	return s
}

// Restore ends what lasts: overwritten objects are as they were, listings end, tokens are valid.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed, p.loops, p.expired = nil, nil, nil
}

// ExpireToken refuses requests with this session token from now on.
func (p *Proxy) ExpireToken(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.expired == nil {
		p.expired = map[string]bool{}
	}
	p.expired[token] = true
}

// CloseIdleConnections closes connections to the store that no request uses.
func (p *Proxy) CloseIdleConnections() {
	if t, ok := p.client.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := classify(r)
	p.begin(req)
	defer p.end()
	out := &answer{ResponseWriter: w, proxy: p}
	defer out.count()

	if p.Latency > 0 && !sleep(r.Context(), p.Latency) {
		return
	}
	if p.refuse(out, r, req) {
		return
	}
	var fault Fault
	if p.Plan != nil && req.Class != Other {
		fault, _ = p.Plan.Next(req)
	}
	if p.answerWithout(out, r, req, fault) {
		return
	}
	p.forward(out, r, req, fault)
}

// begin and end count the requests.
func (p *Proxy) begin(r Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stats.Requests == nil {
		p.stats = Stats{Requests: map[Class]int{}, Faults: map[Kind]int{}, Statuses: map[int]int{}}
	}
	p.stats.Requests[r.Class]++
	p.stats.Active++
	p.stats.MaxActive = max(p.stats.MaxActive, p.stats.Active)
}

func (p *Proxy) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Active--
}

// gave counts a fault.
func (p *Proxy) gave(k Kind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Faults[k]++
}

// refuse answers requests that are signed for another region or with an expired token.
func (p *Proxy) refuse(w *answer, r *http.Request, req Request) bool {
	if region := signedRegion(r); p.Region != "" && region != "" && region != p.Region {
		p.gave(RedirectRegion)
		w.redirectRegion(r, req, p.Region)
		return true
	}
	token := r.Header.Get("X-Amz-Security-Token")
	p.mu.Lock()
	expired := token != "" && p.expired[token]
	p.mu.Unlock()
	if expired {
		p.gave(ExpiredToken)
		w.fail(req, http.StatusForbidden, "ExpiredToken", "The provided token has expired.")
	}
	return expired
}

// signedRegion returns the region in the credential scope of a signature, version 4.
func signedRegion(r *http.Request) string {
	scope := r.URL.Query().Get("X-Amz-Credential")
	if _, after, ok := strings.Cut(r.Header.Get("Authorization"), "Credential="); ok {
		scope, _, _ = strings.Cut(after, ",")
	}
	if parts := strings.Split(scope, "/"); len(parts) == 5 {
		return parts[2]
	}
	return ""
}

// forward gets the store's answer, and passes it on with the fault.
func (p *Proxy) forward(w *answer, r *http.Request, req Request, fault Fault) {
	sent := r.Clone(r.Context())
	sent.URL.Scheme, sent.URL.Host = p.upstream.Scheme, p.upstream.Host
	sent.RequestURI = "" // Host stays: it is signed
	sent.Header.Del("Connection")
	if sent.Header.Get("User-Agent") == "" {
		sent.Header["User-Agent"] = nil // so that the transport adds none
	}
	if r.ContentLength == 0 {
		sent.Body = nil
	}
	changed := p.isChanged(req.Path)
	if changed && w.conditionFails(sent, req) {
		return
	}
	get := p.client.RoundTrip
	if fault.Kind == WholeBody {
		get = p.whole
	}
	res, err := get(sent)
	if err != nil {
		w.broken(r, err)
		return
	}
	defer res.Body.Close()
	if changed {
		overwrite(res, req)
		if isStale(sent, res) {
			w.preconditionFailed(req)
			return
		}
	}
	p.answerWith(w, r, req, res, fault)
}

// whole gets the whole object for a ranged request.
//
// A signature may cover the range, and the store then refuses the request without it. In that case the
// object is put together from the range that the store does give, with zeros around it.
func (p *Proxy) whole(r *http.Request) (*http.Response, error) {
	unranged := r.Clone(r.Context())
	unranged.Header.Del("Range")
	unranged.Header.Del("X-Ms-Range")
	res, err := p.client.RoundTrip(unranged)
	if err != nil || res.StatusCode == http.StatusOK {
		return res, err
	}
	_ = res.Body.Close()

	res, err = p.client.RoundTrip(r)
	if err != nil || res.StatusCode != http.StatusPartialContent {
		return res, err
	}
	start, end, size, ok := parseContentRange(res.Header.Get("Content-Range"))
	if !ok {
		return res, nil
	}
	res.StatusCode = http.StatusOK
	res.Header.Del("Content-Range")
	res.Header.Set("Content-Length", strconv.FormatInt(size, 10))
	body := res.Body
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(zeros(start), body, zeros(size-end-1)), body}
	return res, nil
}

// zeros is a reader of n zero bytes.
func zeros(n int64) io.Reader { return io.LimitReader(zero{}, n) }

type zero struct{}

func (zero) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// sleep waits, and reports whether the client is still there.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// handlerTransport sends requests to a handler in this process.
type handlerTransport struct{ handler http.Handler }

func (t handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, out := io.Pipe()
	w := &pipeWriter{header: http.Header{}, started: make(chan struct{}), out: out}
	ctx, cancel := context.WithCancel(r.Context())
	served := r.Clone(ctx)
	served.RequestURI = r.URL.RequestURI()
	if served.Body == nil {
		served.Body = http.NoBody
	}
	go func() {
		defer cancel()
		defer func() {
			if cause := recover(); cause != nil {
				_ = out.CloseWithError(errors.New("the handler gave up"))
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			w.WriteHeader(http.StatusOK)
			_ = out.Close()
		}()
		t.handler.ServeHTTP(w, served)
	}()
	select {
	case <-w.started:
	case <-r.Context().Done():
		cancel()
		_ = body.CloseWithError(r.Context().Err())
		return nil, r.Context().Err()
	}
	res := &http.Response{
		StatusCode: w.status, Header: w.sent, Body: body, Request: r, ContentLength: -1,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if n, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64); err == nil {
		res.ContentLength = n
	}
	return res, nil
}

type pipeWriter struct {
	header  http.Header
	once    sync.Once
	started chan struct{}
	status  int
	sent    http.Header
	out     *io.PipeWriter
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.started)
	})
}

func (w *pipeWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.out.Write(b)
}

// Server is a proxy that listens on loopback, and counts its connections.
type Server struct {
	*Proxy
	URL string

	server   *http.Server
	listener *countingListener
}

// Serve starts a server for a proxy. Close ends it.
func Serve(p *Proxy) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Proxy: p, URL: "http://" + l.Addr().String(), listener: &countingListener{Listener: l}}
	s.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute, ErrorLog: quiet()}
	go func() { _ = s.server.Serve(s.listener) }()
	return s, nil
}

// Close ends the server and all of its connections.
func (s *Server) Close() {
	_ = s.server.Close()
	s.CloseIdleConnections()
}

// OpenConnections returns how many connections clients have open.
func (s *Server) OpenConnections() int { return int(s.listener.open.Load()) }

// Connections returns how many connections clients have opened.
func (s *Server) Connections() int { return int(s.listener.total.Load()) }
