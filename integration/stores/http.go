package main

import (
	"compress/gzip"
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// startHTTP serves the folder by net/http: with ranges, If-Match, If-Range and strong ETags, unless
// options take them away. A folder's page lists its files as links.
func startHTTP(_ context.Context, o options) (*store, error) {
	endpoint, stop, err := serve(delay(o.latency, fileHandler(o)))
	if err != nil {
		return nil, err
	}
	return &store{Announcement: Announcement{URL: endpoint + "/", Endpoint: endpoint}, stop: stop}, nil
}

// serve runs a handler on a free port of loopback.
func serve(h http.Handler) (endpoint string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }()
	return "http://" + l.Addr().String(), func() { _ = server.Close() }, nil
}

// delay waits before each answer.
func delay(latency time.Duration, h http.Handler) http.Handler {
	if latency == 0 {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(latency):
			h.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

func fileHandler(o options) http.Handler {
	list := http.FileServer(http.Dir(o.root))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := filepath.Join(o.root, filepath.FromSlash(path.Clean("/"+r.URL.Path)))
		f, err := os.Open(name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if info.IsDir() {
			list.ServeHTTP(w, r)
			return
		}
		if !o.noETag {
			sum := md5.Sum([]byte(identityOf(info)))
			w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:])+`"`)
		}
		modified := info.ModTime()
		if o.noLastModified {
			modified = time.Time{}
		}
		ranged := r.Header.Get("Range") != "" && !o.noRanges
		if o.gzip && !ranged && r.Method == http.MethodGet &&
			strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			serveCompressed(w, r, f)
			return
		}
		if o.noRanges {
			r.Header.Del("Range")
			r.Header.Del("If-Range")
			w = withoutRanges{w}
		}
		http.ServeContent(w, r, info.Name(), modified, f)
	})
}

// serveCompressed sends a whole file as gzip, without a length, as servers do that compress on the fly.
func serveCompressed(w http.ResponseWriter, r *http.Request, f *os.File) {
	etag := w.Header().Get("ETag")
	if match := r.Header.Get("If-Match"); match != "" && match != "*" && match != etag {
		http.Error(w, "the file has changed", http.StatusPreconditionFailed)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Vary", "Accept-Encoding")
	w.Header().Set("Content-Type", "application/octet-stream")
	if etag != "" {
		w.Header().Set("ETag", "W/"+etag)
	}
	_ = http.NewResponseController(w).Flush() // or else a short answer gets a length
	z := gzip.NewWriter(w)
	if _, err := f.WriteTo(z); err != nil {
		panic(http.ErrAbortHandler) // the client sees a broken body, never a short one
	}
	if err := z.Close(); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// withoutRanges takes away the header by which net/http offers ranges.
type withoutRanges struct{ http.ResponseWriter }

func (w withoutRanges) WriteHeader(status int) {
	w.Header().Del("Accept-Ranges")
	w.ResponseWriter.WriteHeader(status)
}

// conditionFailed writes what GCS answers when a condition on the generation is not met.
func conditionFailed(w http.ResponseWriter, generation string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(http.StatusPreconditionFailed)
	_, _ = fmt.Fprintf(w,
		`{"error":{"code":412,"message":"the generation is %s","errors":[{"reason":"conditionNotMet"}]}}`, generation)
}
