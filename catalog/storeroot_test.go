package catalog

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers/remote"
)

// TestLookupEndsWithItsCaller looks a file up on a web server that does not answer.
func TestLookupEndsWithItsCaller(t *testing.T) {
	var hangs atomic.Bool
	asked := make(chan struct{}, 100)
	text := textOf(1, 20)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(`<a href="a.rows">a</a>`))
			return
		}
		if hangs.Load() {
			asked <- struct{}{}
			<-r.Context().Done()
			return
		}
		w.Header().Set("ETag", `"one"`)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
	}))
	defer server.Close()
	w := newWorld(t, func(c *Config) {
		c.Roots = []Root{{URL: server.URL + "/"}}
		c.Store = func(ctx context.Context, url string) (*remote.Root, error) {
			return remote.Openers{}.Open(ctx, url, remote.Options{})
		}
	})
	c := w.open()
	time.Sleep(1100 * time.Millisecond) // a description is used for a second
	hangs.Store(true)
	for name, look := range map[string]func(ctx context.Context) error{
		"Lookup": func(ctx context.Context) error { _, err := c.Lookup(ctx, "a.rows"); return err },
		"Check":  func(ctx context.Context) error { return c.Check(ctx, Request{Name: "a.rows"}) },
		"Table": func(ctx context.Context) error {
			_, err := c.Table(ctx, Request{Name: "a.rows", Options: map[string]any{"format": "rows"}})
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-asked
			cancel()
		}()
		began := time.Now()
		if err := look(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want %v", name, err, context.Canceled)
		}
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("%s took %v after its caller had left", name, took)
		}
	}
	hangs.Store(false)
	if len(c.List(context.Background(), "", "")) != 1 {
		t.Error("the file is no longer listed")
	}
	if rows := w.readRows(c, "a.rows", Selection{}); len(rows) != 20 {
		t.Errorf("%d rows, want 20", len(rows))
	}
	hangs.Store(true) // closing does not wait for the server either
	time.Sleep(1100 * time.Millisecond)
	done := make(chan error, 1)
	go func() {
		_, err := c.Lookup(context.Background(), "a.rows")
		done <- err
	}()
	<-asked
	w.close(c)
	if err := <-done; err == nil {
		t.Error("no error after the catalog was closed")
	}
}
