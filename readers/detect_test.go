package readers

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/vibeflight/vibeflight/readers/source"
)

// registry has a text format, a shapefile's and a KML's.
func registry() Registry {
	return Registry{
		{Name: "text", Extensions: []string{".geojson"}, Siblings: []string{".xsd"}, Sniff: func(head []byte) bool {
			return bytes.HasPrefix(head, []byte("TEXT"))
		}},
		{
			Name: "shapes", Extensions: []string{".shp"}, Siblings: []string{".dbf", ".prj"}, Binary: true,
			Sniff: func([]byte) bool {
				return true
			},
		},
		{Name: "records", Extensions: []string{".dbf"}, Siblings: []string{".cpg"}},
		{Name: "kml", Extensions: []string{".kml"}},
	}
}

func gz(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zst(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

// zipped returns an archive of members that hold their own names.
func zipped(t *testing.T, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		to, err := w.Create(name)
		if err == nil {
			_, err = io.WriteString(to, name)
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

func TestDetectAndUnpack(t *testing.T) {
	for _, tt := range []struct {
		name, file, content string
		format              string // "": not listed
		inner, text         string // after Unpack; "": it fails with
		wrong               string
	}{
		{"plain", "a.geojson", "x", "text", "a.geojson", "x", ""},
		{"gzip", "a.geojson.gz", gz(t, "x"), "text", "a.geojson.gz/a.geojson", "x", ""},
		{"zstd, upper case", "a.GEOJSON.ZST", zst(t, "x"), "text", "a.GEOJSON.ZST/a.GEOJSON", "x", ""},
		{
			"gzip that is none", "a.geojson.gz", "some text, not gzip", "text", "", "",
			"a.geojson.gz: gzip: byte 10: no gzip member begins here",
		},
		{"by content", "a.json.gz", gz(t, "TEXT"), "text", "a.json.gz/a.json", "TEXT", ""},
		{"by content, no extension", "a.zst", zst(t, "TEXT"), "text", "a.zst/a", "TEXT", ""},
		{"unknown content", "a.json.gz", gz(t, "other"), "", "", "", ""},
		{"no gzip and no extension", "a.gz", "some text, not gzip", "", "", "", ""},
		{"unknown extension", "a.pdf.gz", gz(t, "TEXT"), "", "", "", ""},
		{"packed twice", "a.geojson.gz.gz", gz(t, gz(t, "x")), "", "", "", ""},
		{"a binary format", "a.shp.gz", gz(t, "x"), "", "", "", ""},
		{
			"zip of a shapefile", "a.zip", zipped(t, "readme.txt", "gis/a.dbf", "gis/a.prj", "gis/a.shp"),
			"shapes", "a.zip/gis/a.shp", "gis/a.shp", "",
		},
		{"zip of a dbf", "a.zip", zipped(t, "gis/a.dbf", "other/a.shx"), "records", "a.zip/gis/a.dbf", "gis/a.dbf", ""},
		{"zip of several", "a.zip", zipped(t, "b.kml", "a.geojson"), "kml", "a.zip/b.kml", "b.kml", ""},
		{"zip of nothing that we know", "a.zip", zipped(t, "a.txt", "b.zip"), "", "", "", ""},
		{"empty zip", "a.zip", zipped(t), "", "", "", ""},
		{"zip that is none", "a.zip", "text", "", "", "", ""},
		{"kmz", "a.kmz", zipped(t, "files/z.kml", "doc.kml"), "kml", "a.kmz/doc.kml", "doc.kml", ""},
		{
			"kmz without doc.kml", "a.KMZ", zipped(t, "image.png", "files/z.KML", "b.kml"), "kml",
			"a.KMZ/files/z.KML", "files/z.KML", "",
		},
		{
			"kmz without kml", "a.kmz", zipped(t, "a.geojson"), "kml", "", "",
			"a.kmz: kmz: byte 147: no member of the archive is a kml file",
		},
		{"kmz that is none", "a.kmz", "text", "kml", "", "", "a.kmz: kmz: byte 4: not a zip archive"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			f, ok, err := registry().Detect("folder/"+tt.file, func() (*source.File, error) {
				return source.Open(tt.file, path)
			})
			if err != nil || ok != (tt.format != "") || ok && f.Name != tt.format {
				t.Fatalf("%s, %v, %v, want %q", f.Name, ok, err, tt.format)
			}
			if !ok {
				return
			}
			src, err := source.Open(tt.file, path)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			content, err := registry().Unpack(t.Context(), f, src, source.UnpackOptions{Dir: t.TempDir()})
			if tt.wrong != "" {
				var bad *ParseError
				if !errors.As(err, &bad) || content != nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("error %v, want *ParseError with %q", err, tt.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer content.Close()
			head, err := content.Head(100)
			if err != nil || string(head) != tt.text || content.Name != tt.inner {
				t.Errorf("%s holds %q, %v, want %s with %q", content.Name, head, err, tt.inner, tt.text)
			}
		})
	}
}

func TestUnpackBeyondLimits(t *testing.T) {
	for file, text := range map[string]string{
		"a.geojson.gz": gz(t, "some text"), "a.geojson.zst": zst(t, "some text"),
		"a.zip": zipped(t, "name.geojson"),
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := source.Open(file, path)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		var limit *LimitError
		content, err := registry().Unpack(t.Context(), registry()[0], src, source.UnpackOptions{MaxBytes: 5})
		if !errors.As(err, &limit) || content != nil || limit.Flag != "--max-unpacked-bytes" || limit.Limit != 5 {
			t.Errorf("%s: error %v, want *LimitError", file, err)
		}
	}
}

func TestDetectOfAFileThatCannotBeOpened(t *testing.T) {
	for _, name := range []string{"a.json", "a.zip", "a.json.gz"} {
		if _, ok, err := registry().Detect(name, func() (*source.File, error) {
			return nil, os.ErrPermission
		}); ok || !errors.Is(err, os.ErrPermission) {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
}
