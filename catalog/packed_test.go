package catalog

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstandard(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

// zipped returns an archive of members, given as names and texts alternately.
func zipped(t *testing.T, members ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		to, err := w.Create(members[i])
		if err == nil {
			_, err = io.WriteString(to, members[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// kinds returns the text in each packing, by file name.
func kinds(t *testing.T, text string) map[string]string {
	return map[string]string{
		"a.rows.gz": gzipped(t, text), "a.rows.zst": zstandard(t, text), "a.zip": zipped(t, "notes.txt",
			"", "in/a.rows", text), "a.kmz": zipped(t, "doc.kml", text),
	}
}

// newPacked returns a world whose format is also called KML, because a KMZ archive contains nothing
// else.
func newPacked(t *testing.T, change ...func(*Config)) *world {
	return newWorld(t, append([]func(*Config){func(c *Config) { c.Formats[0].Extensions = []string{".rows", ".kml"} }},
		change...)...)
}

func TestPackedFiles(t *testing.T) {
	text := textOf(1, 3000)
	for name, content := range kinds(t, text) {
		w := newPacked(t)
		w.write(name, content)
		for _, cached := range []bool{false, true} {
			c := w.open()
			wantNames(t, c, name)
			a := wantRows(t, c, name, text)
			e, err := c.Lookup(context.Background(), name)
			if err != nil || e.Size != int64(len(content)) || a.cached != cached {
				t.Errorf("%s: %d bytes, %v, cached %v, want %d, %v", name, e.Size, err, a.cached, len(content), cached)
			}
			w.close(c)
		}
		w.wantParses(1)
		w.wantTables(1)

		// The file gets other content.
		c := w.open()
		text := textOf(2, 300)
		w.write(name, kinds(t, text)[name])
		wantRows(t, c, name, text)
		w.close(c)
		w.wantTidy()
	}
}

func TestPackedFileThatIsMalformed(t *testing.T) {
	text := textOf(1, 3000)
	for name, content := range kinds(t, text) {
		w := newPacked(t)
		c := w.open()
		var bad *readers.ParseError
		w.write(name, content[:20])
		if h, err := c.Table(t.Context(), Request{Name: name}); name != "a.zip" &&
			(!errors.As(err, &bad) || bad.Name != name || bad.Row != -1) {
			t.Errorf("%s, cut off: %v, error %v, want *ParseError of it", name, h, err)
		}
		w.write(name, kinds(t, text+"!\n")[name])
		if h, err := c.Table(t.Context(), Request{Name: name}); !errors.As(err, &bad) ||
			bad.Offset != int64(len(text)) || bad.Name == name {
			t.Errorf("%s, a malformed row in it: %v, error %v, want *ParseError of what is in it", name, h, err)
		}
		w.write(name, content)
		wantRows(t, c, name, text)
		w.close(c)
	}
}

func TestPackedFileBeyondTheLimit(t *testing.T) {
	text := textOf(1, 3000)
	w := newPacked(t, func(c *Config) { c.MaxUnpacked = int64(len(text)) })
	c := w.open()
	for name, content := range kinds(t, text) {
		w.write(name, content)
		wantRows(t, c, name, text)
		w.write(name, kinds(t, text+"\n")[name])
		var limit *readers.LimitError
		if h, err := c.Table(t.Context(), Request{Name: name}); !errors.As(err, &limit) ||
			limit.Flag != "--max-unpacked-bytes" {
			t.Errorf("%s: %v, error %v, want *LimitError", name, h, err)
		}
	}
}

// TestArchives expects that an archive has its own siblings, and that tables of archives are not
// confused: the same bytes are two archives here.
func TestArchives(t *testing.T) {
	var seen []string
	w := newPacked(t, func(c *Config) {
		c.Formats[0].Siblings = []string{".att"}
		open := c.Formats[0].Open
		c.Formats[0].Open = func(ctx context.Context, src *source.File, opts readers.Options) (readers.Layout, error) {
			s, err := src.Sibling(".att")
			if err != nil {
				return readers.Layout{}, err
			}
			text := "none"
			if s != nil {
				head, err := s.Head(100)
				if err != nil {
					return readers.Layout{}, err
				}
				text = string(head)
			}
			seen = append(seen, text)
			return open(ctx, src, opts)
		}
	})
	first, second := textOf(1, 10), textOf(2, 10)
	archive := zipped(t, "b.ATT", "attributes", "b.rows", first, "a.att", "other", "doc.kml", second)
	w.write("x.zip", archive)
	w.write("x.kmz", archive)
	w.write("x.att", "next to the archive")
	c := w.open()
	wantNames(t, c, "x.kmz", "x.zip")
	before := wantRows(t, c, "x.zip", first)
	w.write("x.att", "another text next to the archive")
	if after := wantRows(t, c, "x.zip", first); after.version != before.version {
		t.Error("a file next to an archive belongs to it")
	}
	wantRows(t, c, "x.zip", first)
	wantRows(t, c, "x.kmz", second)
	if len(seen) != 2 || seen[0] != "attributes" || seen[1] != "none" {
		t.Errorf("siblings %q", seen)
	}
	w.close(c)
	w.wantTables(2)
	c = w.open()
	wantRows(t, c, "x.kmz", second)
	wantRows(t, c, "x.zip", first)
	w.close(c)
	w.wantParses(2)
	left, err := os.ReadDir(w.cache)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if f.Name()[0] == '.' {
			t.Errorf("%s is left in the cache", f.Name())
		}
	}
}

// TestPollOfPacked requests the progress of a parse after the unpacking.
func TestPollOfPacked(t *testing.T) {
	w := newWorld(t)
	w.write("a.rows.gz", gzipped(t, largeText(1000, nil)))
	c := w.open()
	c.polls.Wait = time.Millisecond
	pause, step, _ := stepped()
	w.format.pause.Store(&pause)
	eventually(t, "half of the progress", func() error {
		h, at, err := c.Poll(t.Context(), Request{Name: "a.rows.gz"}, "")
		if h != nil || err != nil || at.Progress > 1 {
			t.Fatalf("Poll gives %v, %v, %v", h, at, err)
		}
		if at.Progress <= 0.5 {
			return fmt.Errorf("%v of it", at.Progress)
		}
		return nil
	})
	close(step)
	eventually(t, "the table", func() error {
		h, at, err := c.Poll(t.Context(), Request{Name: "a.rows.gz"}, "")
		must(t, err)
		if h == nil {
			return fmt.Errorf("%v of it", at.Progress)
		}
		h.Release()
		return nil
	})
	w.close(c)
}

// TestPackedFileWhoseTableIsLost expects that a packed file is parsed again, also if its rows are
// sent while it is unpacked.
func TestPackedFileWhoseTableIsLost(t *testing.T) {
	text := textOf(1, 3000)
	for name, content := range kinds(t, text) {
		w := newPacked(t, small)
		w.write(name, content)
		c := w.open()
		wantRows(t, c, name, text)
		c = w.lose(c)
		asText := Selection{Encoding: geoarrow.Encoding{Geometry: geoarrow.AsWKT}}
		h, s, err := c.Read(t.Context(), Request{Name: name}, asText)
		must(t, err)
		want, at := rowsOfText(text, 0), 0
		for {
			rec, err := s.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			must(t, err)
			if at, err = sameRecord(rec, want, at); err != nil {
				t.Fatal(err)
			}
		}
		h.Release()
		if at != len(want) {
			t.Errorf("%s: %d rows, want %d", name, at, len(want))
		}
		wantRows(t, c, name, text)
		w.close(c)
		w.wantParses(2)
	}
}
