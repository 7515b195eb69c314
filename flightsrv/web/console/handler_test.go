//go:build !noconsole

package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

// sources returns the paths of what the console is built of.
func sources(t *testing.T) []string {
	t.Helper()
	paths := []string{"build.mjs", "package-lock.json", "package.json", "tsconfig.json"}
	err := filepath.WalkDir("src", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}

// TestBuiltFilesAreCurrent computes the digest of the sources as build.mjs does.
func TestBuiltFilesAreCurrent(t *testing.T) {
	m, err := load()
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	for _, path := range sources(t) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		h.Write(fmt.Appendf(nil, "%s\n%d\n", path, len(b)))
		h.Write(b)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != m.Sources {
		t.Errorf("the sources have the digest %s, and the built files are of %s: run make console", got, m.Sources)
	}
}

// TestSourcesWriteNoHTML forbids what would read text of files as HTML or as a program.
func TestSourcesWriteNoHTML(t *testing.T) {
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|` +
		`setHTML|srcdoc|createContextualFragment|DOMParser|\beval\(|new Function|javascript:|https?://[a-z]`)
	for _, path := range sources(t) {
		if !strings.HasPrefix(path, "src/") || strings.HasSuffix(path, ".svg") || strings.HasSuffix(path, ".arrows") {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(b), "\n") {
			if found := forbidden.FindString(line); found != "" {
				t.Errorf("%s:%d: %s", path, i+1, found)
			}
		}
	}
}

func TestBuiltFilesAreSmall(t *testing.T) {
	const limit = 1_500_000
	m, err := load()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for name, f := range m.Files {
		sum += len(f.br)
		if b, err := f.plain(); err != nil || int64(len(b)) != f.Bytes {
			t.Errorf("%s has %d bytes, the manifest %d: %v", name, len(b), f.Bytes, err)
		}
	}
	if sum > limit {
		t.Errorf("the built files have %d bytes, at most %d", sum, limit)
	}
}

func TestServe(t *testing.T) {
	mux := http.NewServeMux()
	Register(mux)
	m, err := load()
	if err != nil {
		t.Fatal(err)
	}
	index, err := m.Files["index.html"].plain()
	if err != nil {
		t.Fatal(err)
	}
	script := regexp.MustCompile(`/console/main-\w+\.js`).FindString(string(index))
	for _, tt := range []struct {
		name, path, accept       string
		status                   int
		encoding, cache, contain string
	}{
		{"page", "/", "gzip, br", 200, "br", "no-cache", script},
		{"gzip alone", "/", "gzip", 200, "gzip", "no-cache", script},
		{"br refused", "/", "br;q=0, gzip", 200, "gzip", "no-cache", script},
		{"no compression", "/", "", 200, "", "no-cache", script},
		{"file", script, "br", 200, "br", "immutable", "vibeflight"},
		{"unknown file", "/console/nope.js", "br", 404, "", "no-store", ""},
		{"manifest", "/console/manifest.json", "br", 404, "", "no-store", ""},
		{"path beyond", "/console/..%2fdoc.go", "br", 404, "", "no-store", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, tt.path, nil)
			r.Header.Set("Accept-Encoding", tt.accept)
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, r)
			h := w.Header()
			if w.Code != tt.status || h.Get("Content-Encoding") != tt.encoding ||
				!strings.Contains(h.Get("Cache-Control"), tt.cache) {
				t.Fatalf("status %d, header %v", w.Code, h)
			}
			if body := decoded(t, h.Get("Content-Encoding"), w.Body.Bytes()); !strings.Contains(body, tt.contain) {
				t.Errorf("the body %.200q has no %q", body, tt.contain)
			}
			if tt.status == 200 && h.Get("Content-Security-Policy") != policy {
				t.Errorf("policy %q", h.Get("Content-Security-Policy"))
			}
		})
	}
}

func decoded(t *testing.T, encoding string, b []byte) string {
	t.Helper()
	var from io.Reader = bytes.NewReader(b)
	switch encoding {
	case "br":
		from = brotli.NewReader(from)
	case "gzip":
		z, err := gzip.NewReader(from)
		if err != nil {
			t.Fatal(err)
		}
		from = z
	}
	out, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
