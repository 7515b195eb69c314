//go:build !noconsole

package console

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
)

//go:embed assets
var assets embed.FS

// policy is the Content-Security-Policy of the pages. All that they load is of this server. Images of data: and
// blob: are those that MapLibre makes.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"connect-src 'self'; font-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'"

// manifest describes the built files.
type manifest struct {
	Sources string          `json:"sources"` // SHA-256 of what they are built of, in hexadecimal
	Files   map[string]file `json:"files"`
}

// file is a built file.
type file struct {
	Type  string `json:"type"` // the media type
	Bytes int64  `json:"bytes"`

	br    []byte
	plain func() ([]byte, error) // decompressed
	gz    func() ([]byte, error)
}

// Register adds the console to a mux: its page at / and its files below /console/.
func Register(mux *http.ServeMux) {
	m, err := load()
	if err != nil {
		panic(err) // the embedded files do not belong together
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		m.serve(w, r, "index.html")
	})
	mux.HandleFunc("GET /console/{name}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // the names have digests
		m.serve(w, r, r.PathValue("name"))
	})
}

// load reads the embedded files.
func load() (*manifest, error) {
	b, err := assets.ReadFile("assets/manifest.json")
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("assets/manifest.json: %w", err)
	}
	for name, f := range m.Files {
		if f.br, err = assets.ReadFile("assets/" + name + ".br"); err != nil {
			return nil, err
		}
		f.plain = sync.OnceValues(func() ([]byte, error) {
			return io.ReadAll(brotli.NewReader(bytes.NewReader(f.br)))
		})
		f.gz = sync.OnceValues(func() ([]byte, error) { return gzipped(f.plain) })
		m.Files[name] = f
	}
	return &m, nil
}

func gzipped(plain func() ([]byte, error)) ([]byte, error) {
	b, err := plain()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err = w.Write(b)
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), err
}

// serve answers with a file in an encoding that the client accepts. Browsers accept br from localhost and over TLS
// only.
func (m *manifest) serve(w http.ResponseWriter, r *http.Request, name string) {
	f, ok := m.Files[name]
	h := w.Header()
	if !ok {
		h.Set("Cache-Control", "no-store")
		http.NotFound(w, r)
		return
	}
	body, encoding := f.br, "br"
	var err error
	switch accepted := r.Header.Get("Accept-Encoding"); {
	case accepts(accepted, "br"):
	case accepts(accepted, "gzip"):
		encoding = "gzip"
		body, err = f.gz()
	default:
		encoding = ""
		body, err = f.plain()
	}
	if err != nil {
		http.Error(w, "the built file is damaged", http.StatusInternalServerError)
		return
	}
	h.Set("Content-Type", f.Type)
	h.Set("Content-Security-Policy", policy)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Add("Vary", "Accept-Encoding")
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(body) // the client may have left
}

// accepts reports whether a list of encodings (RFC 9110, section 12.5.3) has one by its name.
func accepts(list, name string) bool {
	for one := range strings.SplitSeq(list, ",") {
		coding, parameters, _ := strings.Cut(one, ";")
		if strings.EqualFold(strings.TrimSpace(coding), name) {
			q := strings.TrimPrefix(strings.ReplaceAll(parameters, " ", ""), "q=")
			v, err := strconv.ParseFloat(q, 64)
			return err != nil || v > 0
		}
	}
	return false
}
