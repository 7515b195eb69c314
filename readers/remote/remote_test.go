package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/remote/faults"
	"github.com/vibeflight/vibeflight/readers/source"
)

// randomBytes returns a content that differs everywhere.
func randomBytes(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// site is a web server with files, and the number of its requests.
type site struct {
	files    map[string][]byte
	etag     func(name string) string // "": no ETag
	modified time.Time                // zero: no Last-Modified
	noRanges bool
	requests atomic.Int64
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	name := strings.TrimPrefix(r.URL.Path, "/")
	content, ok := s.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if s.etag != nil {
		w.Header().Set("ETag", s.etag(name))
	}
	if s.noRanges {
		if !s.modified.IsZero() {
			w.Header().Set("Last-Modified", s.modified.Format(http.TimeFormat))
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		if r.Method != http.MethodHead {
			_, _ = w.Write(content)
		}
		return
	}
	http.ServeContent(w, r, "", s.modified, bytes.NewReader(content))
}

func one(string) string { return `"one"` }

// quick are options with which a fault costs a test little time.
func quick(t *testing.T) remote.Options {
	return remote.Options{
		Unpack: source.UnpackOptions{Dir: t.TempDir()}, Block: 64 << 10, Deadline: 5 * time.Second,
		Stall: 250 * time.Millisecond, Hedge: 100 * time.Millisecond,
	}
}

func openSite(t *testing.T, address string, o remote.Options) *remote.Root {
	t.Helper()
	root, err := remote.Openers{}.Open(t.Context(), address+"/", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// readAll reads a file, in order.
func readAll(ctx context.Context, root *remote.Root, key string) ([]byte, error) {
	f, err := root.Open(ctx, key, key)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	f.PrefetchAll()
	return io.ReadAll(io.NewSectionReader(f, 0, f.Size))
}

func TestVersions(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name     string
		etag     func(string) string
		modified time.Time
		want     source.ObjectVersion
		weak     bool
	}{
		{"ETag", one, at, `etag:"one"`, false},
		{"weak ETag", func(string) string { return `W/"one"` }, at, `etag:W/"one"`, false},
		{"Last-Modified", nil, at, "date", true},
		{"neither", nil, time.Time{}, "size", true},
	} {
		for _, noRanges := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, ranges %t", tt.name, !noRanges), func(t *testing.T) {
				content := randomBytes(300_000)
				server := httptest.NewServer(&site{
					files: map[string][]byte{"a.csv": content}, etag: tt.etag,
					modified: tt.modified, noRanges: noRanges,
				})
				defer server.Close()
				root := openSite(t, server.URL, quick(t))
				f, err := root.Open(t.Context(), "a.csv", "a.csv")
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if f.Identity.Object != tt.want || f.Identity.Weak() != tt.weak {
					t.Errorf("version %q, weak %t", f.Identity.Object, f.Identity.Weak())
				}
				for _, span := range [][2]int64{{299_990, 300_000}, {0, 10}, {65_530, 196_610}, {0, 300_000}} {
					got := make([]byte, span[1]-span[0])
					if _, err := f.ReadAt(got, span[0]); err != nil || !bytes.Equal(got, content[span[0]:span[1]]) {
						t.Errorf("bytes %v: %v", span, err)
					}
				}
			})
		}
	}
}

// TestChange replaces a file while it is read. The rest of it must not be read.
func TestChange(t *testing.T) {
	for _, kind := range []string{"etag", "date", "ignored If-Match"} {
		t.Run(kind, func(t *testing.T) {
			version := "one"
			modified := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			content := randomBytes(300_000)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if kind != "date" {
					w.Header().Set("ETag", `"`+version+`"`)
				}
				if kind == "ignored If-Match" {
					r.Header.Del("If-Match")
				}
				http.ServeContent(w, r, "", modified, bytes.NewReader(content))
			}))
			defer server.Close()
			root := openSite(t, server.URL, quick(t))
			f, err := root.Open(t.Context(), "a.csv", "a.csv")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			b := make([]byte, 10)
			if _, err := f.ReadAt(b, 0); err != nil {
				t.Fatal(err)
			}
			version, modified = "two", modified.Add(time.Second)
			_, err = f.ReadAt(b, 200_000)
			if !errors.Is(err, source.ErrChanged) || !strings.Contains(err.Error(), server.URL+"/a.csv") {
				t.Errorf("%v, want ErrChanged with the URL", err)
			}
			if n := root.Stats().Changed; n != 1 {
				t.Errorf("%d changes counted", n)
			}
		})
	}
}

// TestRequests counts the requests for a file of many blocks, and for parts of it.
func TestRequests(t *testing.T) {
	content := randomBytes(40 * 64 << 10)
	s := &site{files: map[string][]byte{"a.csv": content}, etag: one}
	server := httptest.NewServer(s)
	defer server.Close()
	o := quick(t)
	o.Block, o.Hedge = 4*64<<10, time.Minute
	root := openSite(t, server.URL, o)
	got, err := readAll(t.Context(), root, "a.csv")
	if err != nil || !bytes.Equal(got, content) {
		t.Fatal("the content differs", err)
	}
	if n := s.requests.Swap(0); n > 10+1 {
		t.Errorf("%d requests for 10 blocks, want one for each, and one for the size", n)
	}
	f, err := root.Open(t.Context(), "a.csv", "a.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Prefetch([2]int64{100, 200}, [2]int64{300, 70_000}, [2]int64{2_000_000, 2_000_100})
	for _, off := range []int64{100, 60_000, 2_000_000} {
		b := make([]byte, 100)
		if _, err := f.ReadAt(b, off); err != nil || !bytes.Equal(b, content[off:off+100]) {
			t.Errorf("byte %d: %v", off, err)
		}
	}
	if n := s.requests.Load(); n != 1+2 {
		t.Errorf("%d requests, want one for the size and one for each of two places", n)
	}
}

// TestNoRanges reads a file of many blocks from a server that sends whole files only. Once that is
// known, one request brings all of it.
func TestNoRanges(t *testing.T) {
	content := randomBytes(60 * 64 << 10)
	s := &site{files: map[string][]byte{"a.csv": content}, etag: one, noRanges: true}
	server := httptest.NewServer(s)
	defer server.Close()
	o := quick(t)
	o.Requests = 4
	got, err := readAll(t.Context(), openSite(t, server.URL, o), "a.csv")
	if err != nil || !bytes.Equal(got, content) {
		t.Fatal("the content differs", err)
	}
	if n := s.requests.Load(); n > 2+2*4 {
		t.Errorf("%d requests for 60 blocks", n)
	}
}

func TestErrors(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "secret") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	root := openSite(t, server.URL, quick(t))
	if _, err := root.Open(t.Context(), "x", "none.csv"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	_, err := root.Open(t.Context(), "x", "secret.csv")
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "user and a password") {
		t.Errorf("denied: %v", err)
	}
	for _, text := range []string{"s3://bucket/a", "http://", "gs://b/"} {
		if _, err := (remote.Openers{}).Open(t.Context(), text, quick(t)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// TestSecrets checks that neither a password nor a signature appears in an error.
func TestSecrets(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if user != "me" || password != "hunter2" || r.URL.RawQuery != "sig=abc" {
			t.Errorf("user %q, query %q", user, r.URL.RawQuery)
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	u, _ := url.Parse(server.URL)
	u.User, u.RawQuery, u.Path = url.UserPassword("me", "hunter2"), "sig=abc", "/a.csv"
	root, key, err := remote.Openers{}.OpenFile(t.Context(), u.String(), quick(t))
	if err != nil {
		t.Fatal(err)
	}
	_, err = root.Open(t.Context(), remote.Address(u.String()), key)
	if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "abc") {
		t.Errorf("%v", err)
	}
}

func TestList(t *testing.T) {
	pages := map[string]string{
		"/": `<a href="?C=M">sort</a><a href="../">up</a><a href="a.csv">a</a><A HREF='b/'>b</A>` +
			`<a href="/b/">again</a><a href="http://other/x.csv">x</a>`,
		"/b/":   `<a href="/">up</a><a href="c%20d.csv">c</a><a href=".hidden">h</a><a href="e/">e</a>`,
		"/b/e/": `<p>nothing`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page, ok := pages[r.URL.Path]; ok {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, page)
			return
		}
		w.Header().Set("ETag", `"`+r.URL.Path+`"`)
		_, _ = io.WriteString(w, r.URL.Path)
	}))
	defer server.Close()
	root := openSite(t, server.URL, quick(t))
	var got []string
	err := root.List(t.Context(), "", func(o remote.Object) error {
		got = append(got, fmt.Sprint(o.Key, " ", o.Size, " ", o.Version))
		return nil
	})
	want := []string{`a.csv 6 etag:"/a.csv"`, `b/c d.csv 10 etag:"/b/c d.csv"`}
	if slices.Sort(got); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// TestFaults reads files through a proxy that gives faults, until there were enough of them. Each
// read gives the right bytes or an error that names the file, within its deadline.
func TestFaults(t *testing.T) {
	want := int64(10_000)
	if testing.Short() {
		want = 200
	}
	content := randomBytes(5*64<<10 + 17)
	all := faults.Recoverable()
	all = append(all, faults.Fault{Kind: faults.ETagChanged}, faults.Fault{Kind: faults.PreconditionFailed},
		faults.Fault{Kind: faults.WrongSize}, faults.Fault{Kind: faults.Trickle}, faults.Fault{Kind: faults.Hang})
	before := runtime.NumGoroutine()
	var given, reads, failed int64
	for seed := uint64(1); given < want; seed++ {
		proxy := faults.NewHandlerProxy(&site{files: map[string][]byte{"a.csv": content}, etag: one},
			&faults.Random{Seed: seed, Probability: 0.3, Faults: all})
		server, err := faults.Serve(proxy)
		if err != nil {
			t.Fatal(err)
		}
		root := openSite(t, server.URL, quick(t))
		for range 20 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			got, err := readAll(ctx, root, "a.csv")
			late := ctx.Err() != nil
			cancel()
			reads++
			switch {
			case late:
				t.Fatalf("seed %d: a read did not end", seed)
			case err == nil && !bytes.Equal(got, content):
				changed := slices.Clone(content)
				faults.Overwritten(changed)
				if !bytes.Equal(got, changed) {
					t.Fatalf("seed %d: a read gave wrong bytes", seed)
				}
			case err != nil:
				failed++
				if !errors.Is(err, source.ErrChanged) || !strings.Contains(err.Error(), "/a.csv: ") {
					t.Errorf("seed %d: %v", seed, err)
				}
				proxy.Restore()
			}
		}
		stats := proxy.Stats()
		for _, n := range stats.Faults {
			given += int64(n)
		}
		_ = root.Close()
		if n := connectionsLeft(server); n > 0 {
			t.Errorf("seed %d: %d connections are left", seed, n)
		}
		server.Close()
	}
	t.Logf("%d faults, %d reads, %d of a file that changed", given, reads, failed)
	for range 100 {
		if runtime.NumGoroutine() <= before+2 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestEncoded reads files that a server sends with a Content-Encoding. They are refused at once.
func TestEncoded(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, `<a href="get.csv">1</a><a href="all.csv">2</a><a href="plain.csv">3</a>`)
			return
		}
		switch {
		case r.URL.Path == "/all.csv", r.URL.Path == "/get.csv" && r.Method == http.MethodGet:
			w.Header().Set("Content-Encoding", "gzip")
		case r.URL.Path == "/plain.csv":
			w.Header().Set("Content-Encoding", "aws-chunked")
		}
		w.Header().Set("ETag", `"one"`)
		if r.URL.Path == "/all.csv" {
			_, _ = w.Write(randomBytes(100))
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(randomBytes(1000)))
	}))
	defer server.Close()
	o := quick(t)
	o.Deadline = time.Minute
	root := openSite(t, server.URL, o)
	for _, name := range []string{"get.csv", "all.csv"} {
		began := time.Now()
		requests.Store(0)
		_, err := readAll(t.Context(), root, name)
		if err == nil || !strings.Contains(err.Error(), `/`+name+`: it is sent with the Content-Encoding "gzip"`) ||
			!strings.Contains(err.Error(), "store it without that header") {
			t.Errorf("%s: %v", name, err)
		}
		if took, n := time.Since(began), requests.Load(); took > 5*time.Second || n > 8 {
			t.Errorf("%s: %v and %d requests", name, took, n)
		}
	}
	if got, err := readAll(t.Context(), root, "plain.csv"); err != nil || !bytes.Equal(got, randomBytes(1000)) {
		t.Errorf("plain.csv: %v", err)
	}
	var listed []string
	err := root.List(t.Context(), "", func(o remote.Object) error {
		listed = append(listed, o.Key)
		return nil
	})
	if slices.Sort(listed); err != nil || !slices.Equal(listed, []string{"get.csv", "plain.csv"}) {
		t.Errorf("%q, %v", listed, err)
	}
}

// connectionsLeft returns the number of connections that are open a moment after the root was closed.
func connectionsLeft(server *faults.Server) (n int) {
	for range 100 {
		if n = server.OpenConnections(); n == 0 {
			return 0
		}
		time.Sleep(20 * time.Millisecond)
	}
	return n
}

// TestUnavailable reads from a server that is always busy: the read ends at its deadline, and the
// error tells what happened.
func TestUnavailable(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.Header().Set("Content-Length", "1000000")
			w.Header().Set("ETag", `"one"`)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	o := quick(t)
	o.Deadline = 300 * time.Millisecond
	_, err := readAll(t.Context(), openSite(t, server.URL, o), "a.csv")
	if err == nil || !strings.Contains(err.Error(), "503") || !strings.Contains(err.Error(), "attempts") {
		t.Errorf("%v", err)
	}
}

// TestCancel ends a read that waits for a server.
func TestCancel(t *testing.T) {
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.Header().Set("Content-Length", "1000000")
			return
		}
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(stop)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	o := quick(t)
	o.Stall, o.Deadline = time.Minute, time.Minute
	if _, err := readAll(ctx, openSite(t, server.URL, o), "a.csv"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestHedge requests a block twice if its answer is late, compared with others.
func TestHedge(t *testing.T) {
	content := randomBytes(8 * 64 << 10)
	for _, tt := range []struct {
		name   string
		pause  func(n int64) time.Duration // before the answer to request n, from 1
		hedges int64
	}{
		{"one answer is late", func(n int64) time.Duration {
			if n == 5 {
				return time.Minute
			}
			return 0
		}, 1},
		{"all answers are slow", func(int64) time.Duration { return 150 * time.Millisecond }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var gets atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("ETag", `"one"`)
				if r.Method == http.MethodGet {
					select {
					case <-time.After(tt.pause(gets.Add(1))):
					case <-r.Context().Done():
						return
					}
				}
				http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
			}))
			defer server.Close()
			o := quick(t)
			o.Requests, o.Stall, o.Deadline = 1, time.Minute, time.Minute
			if tt.hedges > 0 {
				o.Requests = 2
			}
			root := openSite(t, server.URL, o)
			got, err := readAll(t.Context(), root, "a.csv")
			if err != nil || !bytes.Equal(got, content) {
				t.Fatal("the content differs", err)
			}
			if n := root.Stats().Hedges; n != tt.hedges {
				t.Errorf("%d hedges, want %d", n, tt.hedges)
			}
		})
	}
}
