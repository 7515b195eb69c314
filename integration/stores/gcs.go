package main

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/pkg/xattr"
)

// startGCS runs fake-gcs-server over a mirror of the root folder.
//
// What it lacks is added here: a generation for each file and for each replacement of it, conditions on
// the generation of reads, and pages of at most 1,000 names.
func startGCS(_ context.Context, o options) (*store, error) {
	m := &mirror{
		from: o.root, to: filepath.Join(o.scratch, "gcs", url.PathEscape(o.bucket)),
		seen: map[string]string{}, generations: map[string]int64{},
	}
	if err := os.MkdirAll(m.to, 0o755); err != nil {
		return nil, err
	}
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{
		StorageRoot: filepath.Dir(m.to), NoListener: true, Scheme: "http", PublicHost: "127.0.0.1",
	})
	if err != nil {
		return nil, err
	}
	endpoint, stop, err := serve(delay(o.latency, m.handler(o.bucket, server.HTTPHandler())))
	if err != nil {
		return nil, err
	}
	return &store{
		Announcement: Announcement{
			URL:      "gs://" + o.bucket,
			Endpoint: endpoint,
			Bucket:   o.bucket,
			Env:      map[string]string{"STORAGE_EMULATOR_HOST": strings.TrimPrefix(endpoint, "http://")},
		},
		stop: func() { stop(); server.Stop() },
	}, nil
}

// mirror links the files of a folder into another one, with the attributes that fake-gcs-server wants.
type mirror struct {
	from, to string

	mu          sync.Mutex
	seen        map[string]string // name to identity of the file that was linked
	generations map[string]int64  // by name
	generation  int64             // the last one that was given
}

func (m *mirror) handler(bucket string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		name, listing := objectName(r, bucket)
		query := r.URL.Query()
		if listing && !query.Has("maxResults") {
			query.Set("maxResults", "1000")
			r.URL.RawQuery = query.Encode()
		}
		m.mu.Lock()
		err := m.update(name)
		switch content := name != "" &&
			(query.Get("alt") == "media" || !strings.HasPrefix(r.URL.Path, "/storage/v1/")); {
		case err != nil:
			m.mu.Unlock()
			http.Error(w, err.Error(), http.StatusInternalServerError)
		case content:
			m.mu.Unlock()
			want := r.Header.Get("x-goog-if-generation-match")
			if v := query.Get("ifGenerationMatch"); v != "" {
				want = v
			}
			c := &conditional{ResponseWriter: w, mirror: m, name: name, want: want}
			next.ServeHTTP(c, r)
			c.sendHeader()
		default: // attributes, which nobody replaces while they are read
			answer := httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			m.mu.Unlock()
			maps.Copy(w.Header(), answer.Header())
			w.WriteHeader(answer.Code)
			_, _ = answer.Body.WriteTo(w)
		}
	})
}

// objectName returns the object that a request is for, in any of the APIs' paths. It is empty for a listing.
func objectName(r *http.Request, bucket string) (name string, listing bool) {
	p, api := r.URL.EscapedPath(), false
	for _, prefix := range []string{"/download/storage/v1/b", "/storage/v1/b"} {
		if rest, ok := strings.CutPrefix(p, prefix); ok {
			p, api = rest, true
			break
		}
	}
	p = strings.TrimPrefix(p, "/"+url.PathEscape(bucket))
	if api {
		if listing = strings.TrimSuffix(p, "/") == "/o"; listing {
			return "", true
		}
		var ok bool
		if p, ok = strings.CutPrefix(p, "/o/"); !ok {
			return "", false
		}
	}
	name, _ = url.PathUnescape(strings.TrimPrefix(p, "/"))
	return name, false
}

// update brings the mirror up to date: one file, or all if name is empty. The caller holds the lock.
func (m *mirror) update(name string) error {
	if name != "" {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil
		}
		return m.updateFile(name)
	}
	present := map[string]bool{}
	err := filepath.WalkDir(m.from, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(m.from, p)
		if err != nil {
			return err
		}
		present[filepath.ToSlash(name)] = true
		return m.updateFile(filepath.ToSlash(name))
	})
	if err != nil {
		return err
	}
	for name := range m.seen {
		if !present[name] {
			if err := m.updateFile(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *mirror) updateFile(name string) error {
	from, to := filepath.Join(m.from, filepath.FromSlash(name)), filepath.Join(m.to, filepath.FromSlash(name))
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && info.IsDir()) {
		if m.seen[name] == "" {
			return nil // a client wrote it, or nobody did
		}
		delete(m.seen, name)
		delete(m.generations, name)
		return os.Remove(to)
	}
	if err != nil {
		return err
	}
	identity := identityOf(info)
	if m.seen[name] == identity {
		return nil
	}
	attributes, err := m.attributes(from, info)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	fresh := m.to + ".fresh"
	if err := link(from, fresh); err != nil {
		return err
	}
	if err := xattr.Set(fresh, "user.metadata", attributes); err != nil {
		return fmt.Errorf("%s: the folder's file system has no extended attributes: %w", from, err)
	}
	if err := os.Rename(fresh, to); err != nil {
		return err
	}
	m.seen[name], m.generations[name] = identity, m.generation
	return nil
}

// attributes are those that fake-gcs-server stores with an object. The generation grows with each change.
func (m *mirror) attributes(name string, info os.FileInfo) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if _, err := io.Copy(sum, f); err != nil {
		return nil, err
	}
	m.generation = max(m.generation+1, info.ModTime().UnixMicro())
	modified := info.ModTime().Format("2006-01-02T15:04:05.999999Z07:00")
	return json.Marshal(map[string]any{
		"StorageClass": "STANDARD",
		"ContentType":  mime.TypeByExtension(filepath.Ext(name)),
		"Crc32c":       base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum.Sum32())),
		"Etag":         strconv.FormatInt(m.generation, 36),
		"Created":      modified,
		"Updated":      modified,
		"Generation":   m.generation,
	})
}

// link makes to a copy of from that later writes to the name from do not change, by a hard link if possible.
func link(from, to string) error {
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if os.Link(from, to) == nil {
		return nil
	}
	content, err := os.Open(from)
	if err != nil {
		return err
	}
	defer content.Close()
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, content); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// conditional answers 412 when the object that the server is about to send has another generation.
//
// fake-gcs-server reads the generation by name, and opens the file later, before its first write. The
// header waits for that write, so that a file which was replaced in between does not get out.
type conditional struct {
	http.ResponseWriter
	mirror *mirror
	name   string
	want   string // generation, or empty

	status  int
	sent    bool
	refused bool
}

func (c *conditional) WriteHeader(status int) { c.status = status }

func (c *conditional) Write(b []byte) (int, error) {
	c.sendHeader()
	if c.refused {
		return len(b), nil
	}
	return c.ResponseWriter.Write(b)
}

func (c *conditional) sendHeader() {
	if c.sent {
		return
	}
	c.sent = true
	if c.status == 0 {
		c.status = http.StatusOK
	}
	generation := c.Header().Get("X-Goog-Generation")
	if c.status >= 300 || generation == "" {
		c.ResponseWriter.WriteHeader(c.status)
		return
	}
	c.mirror.mu.Lock()
	current, mirrored := c.mirror.generations[c.name]
	c.mirror.mu.Unlock()
	replaced := mirrored && strconv.FormatInt(current, 10) != generation
	if !replaced && (c.want == "" || c.want == generation) {
		c.ResponseWriter.WriteHeader(c.status)
		return
	}
	c.refused = true
	clear(c.Header())
	if replaced && (c.want == "" || c.want == strconv.FormatInt(current, 10)) {
		http.Error(c.ResponseWriter, "the object was replaced during the request", http.StatusServiceUnavailable)
		return
	}
	conditionFailed(c.ResponseWriter, generation)
}
