package flightsrv

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc/codes"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers"
)

// syncBuffer is a log that a server writes while a test reads it.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func emptyCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(t.Context(), catalog.Config{
		Roots:   []catalog.Root{{Dir: t.TempDir()}},
		Formats: readers.Registry{fakeFormat()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// closed serves for no time at all.
func closed(t *testing.T, s *Server) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := s.Serve(ctx); err != nil {
		t.Error(err)
	}
}

func TestConfigErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := emptyCatalog(t)
	for _, test := range []struct {
		name  string
		cfg   Config
		words string
	}{
		{"no catalog", Config{}, "catalog"},
		{"everyone", Config{Catalog: c, Listen: []string{"0.0.0.0:0"}}, "--insecure"},
		{"everyone, IPv6", Config{Catalog: c, Listen: []string{"[::]:0"}}, "--insecure"},
		{"no host", Config{Catalog: c, Listen: []string{":0"}}, "--insecure"},
		{
			"second one",
			Config{Catalog: c, Listen: []string{"127.0.0.1:0", "192.0.2.1:8815"}},
			"--listen 192.0.2.1:8815",
		},
		{"no port", Config{Catalog: c, Listen: []string{"127.0.0.1"}}, "port"},
		{"other scheme", Config{Catalog: c, Listen: []string{"http://127.0.0.1:1"}}, "host:port or unix:///path"},
		{"relative socket", Config{Catalog: c, Listen: []string{"unix://x.sock"}}, "absolute"},
		{"file in the way", Config{Catalog: c, Listen: []string{"unix://" + file}}, "not a socket"},
		{"no folder", Config{Catalog: c, Listen: []string{"unix://" + file + "/x"}}, "not a directory"},
		{"long socket", Config{Catalog: c, Listen: []string{"unix:///tmp/" + strings.Repeat("x", 200)}}, "at most 107"},
		{"message bytes", Config{Catalog: c, MaxMessageBytes: 1}, "--max-message-bytes 1"},
		{"advertise", Config{Catalog: c, Advertise: []string{"grpc+tcp://"}}, "--advertise"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := New(test.cfg)
			if err == nil {
				closed(t, s)
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), test.words) {
				t.Errorf("%v does not hold %q", err, test.words)
			}
		})
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "precious" {
		t.Errorf("the file in the way: %q, %v", b, err)
	}
}

func TestInsecureListensForEveryone(t *testing.T) {
	s, err := New(Config{Catalog: emptyCatalog(t), Listen: []string{"0.0.0.0:0", "localhost:0"}, Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range s.Addrs() {
		if _, port, err := net.SplitHostPort(a); err != nil || port == "0" {
			t.Errorf("%s: no real port", a)
		}
	}
	closed(t, s)
}

func TestUnixSocket(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "v.sock")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	if err := stale.Close(); err != nil {
		t.Fatal(err)
	}
	t.Run("serve", func(t *testing.T) { testUnixSocket(t, path) })
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func testUnixSocket(t *testing.T, path string) {
	f := serve(t, map[string]string{"a.fake": "rows=10"}, func(c *Config) { c.Listen = []string{"unix://" + path} })
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if g, err := f.get(t, "a.fake"); err != nil || g.rows != 10 {
		t.Errorf("got %v", err)
	}
	if _, err := New(Config{Catalog: f.catalog, Listen: []string{"unix://" + path}}); err == nil ||
		!strings.Contains(err.Error(), "another server") {
		t.Errorf("a second server: %v", err)
	}
	if got := f.server.Addrs(); got[0] != "unix://"+path {
		t.Errorf("Addrs %v", got)
	}
}

func TestDrain(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "slow.fake"), []byte("fail=slow"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(t.Context(), catalog.Config{
		Roots:   []catalog.Root{{Dir: dir}},
		Formats: readers.Registry{fakeFormat()},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := New(Config{Catalog: c, Listen: []string{"127.0.0.1:0"}, Drain: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	client := dial(t, s.Addrs()[0])
	defer client.Close()
	mute, err := net.Dial("tcp", s.Addrs()[0]) // a connection that never says a word
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	asked := make(chan error, 1)
	go func() {
		_, err := client.GetFlightInfo(context.Background(), pathOf("slow.fake"))
		asked <- err
	}()
	for c.Stats().Parsing == 0 {
		time.Sleep(time.Millisecond)
	}
	began := time.Now()
	stop()
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("Serve does not return")
	}
	if d := time.Since(began); d < 200*time.Millisecond {
		t.Errorf("returned after %v, before the drain was over", d)
	}
	wantStatus(t, <-asked, codes.Unavailable)
}

func TestCancelledParse(t *testing.T) {
	f := serve(t, map[string]string{"slow.fake": "fail=slow"})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := f.client.GetFlightInfo(ctx, pathOf("slow.fake"))
	wantStatus(t, err, codes.DeadlineExceeded)
	stream, err := f.client.DoGet(ctx, &flight.Ticket{Ticket: []byte("slow.fake")})
	if err == nil {
		_, err = stream.Recv()
	}
	wantStatus(t, err, codes.DeadlineExceeded)
	eventually(t, "the parse ends", func() bool { return f.catalog.Stats().Parsing == 0 })
}

// eventually waits for what happens soon, but on another goroutine.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so after 10 s: %s", what)
		}
	}
}
