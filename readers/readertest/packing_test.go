package readertest

import (
	"archive/zip"
	"bytes"
	"slices"
	"testing"
)

// TestPackings takes files apart and puts them together again, unchanged and with other parts.
func TestPackings(t *testing.T) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, name := range []string{"a.xml", "b/c.xml"} {
		m, err := w.Create(name)
		if err == nil {
			_, err = m.Write([]byte("content of " + name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var blobs []byte
	blobs = (&blob{kind: []byte("OSMHeader")}).appendTo(blobs, []byte("the header"))
	blobs = (&blob{kind: []byte("OSMData"), compressed: true}).appendTo(blobs, bytes.Repeat([]byte("data"), 100))
	for _, c := range []struct {
		name    string
		packing Packing
		text    []byte
		parts   int
	}{
		{"archive", Archive, archive.Bytes(), 2},
		{"pages", Pages(4), []byte("0123456789"), 3},
		{"blobs", Blobs, blobs, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			parts, ok := c.packing.Unpack(c.text)
			if !ok || len(parts) != c.parts {
				t.Fatalf("got %d parts, %v, want %d", len(parts), ok, c.parts)
			}
			again, ok := c.packing.Unpack(c.packing.Pack(c.text, parts))
			if !ok || !slices.EqualFunc(again, parts, bytes.Equal) {
				t.Errorf("packed unchanged: got %q, want %q", again, parts)
			}
			parts[1] = append([]byte("x"), parts[1]...)
			packed := c.packing.Pack(c.text, parts)
			if c.name == "pages" {
				if string(packed) != "0123x45689" {
					t.Errorf("got %q: a page keeps its length", packed)
				}
				return
			}
			if again, ok = c.packing.Unpack(packed); !ok || !slices.EqualFunc(again, parts, bytes.Equal) {
				t.Errorf("packed with another part: got %q, want %q", again, parts)
			}
		})
	}
	if _, ok := Archive.Unpack([]byte("x")); ok {
		t.Error("a text without members has parts")
	}
	if parts, ok := Blobs.Unpack([]byte("\x00\x00\x01\x00x")); ok {
		t.Errorf("a blob without its header: %q", parts)
	}
}
