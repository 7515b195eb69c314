package geojson

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// goldenChunks are as small as a feature or two, and as large as most of the files.
var goldenChunks = []int64{200, 1000, 5000}

// TestDeviceGolden reads the files of testdata, and what went wrong in the CPU engine once, with
// chunks so small that a device is asked; and again with features before them and after them.
func TestDeviceGolden(t *testing.T) {
	s := newSweep(t, goldenChunks)
	var names []string
	for _, pattern := range []string{"*.geojson", "*.geojsonl", "*.geojsons"} {
		found, err := filepath.Glob(filepath.Join("testdata", pattern))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	if len(names) < 20 {
		t.Fatalf("%d files in testdata", len(names))
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s.golden(t, filepath.Base(name), text)
	}
	for i, text := range oracleSeeds() {
		if testing.Short() && (i%20 != 0 || len(text) > longSeed) {
			continue
		}
		s.golden(t, fmt.Sprintf("%d.geojson", i), []byte(text))
	}
	t.Logf("%d files; %s", len(names), s.counts())
	s.check(t, len(names))
}

// golden reads a file in chunks of every size: as it is, and amid features like those of most
// files.
func (s *sweep) golden(t *testing.T, name string, text []byte) {
	t.Helper()
	texts := [][]byte{text}
	if amid := amidFeatures(text, filepath.Ext(name) == ".geojson"); amid != nil {
		texts = append(texts, amid)
	}
	for i, text := range texts {
		for device := range s.devices {
			for k, mode := range []string{"fail", "skip"} {
				if testing.Short() && (i+device+len(text))%2 != k { // one of the two
					continue
				}
				d := sweepDocument{
					Input: readertest.Input{
						Name: name, Text: text,
						Limits: readers.Limits{BatchRows: 1 + 6*device}, Options: map[string]any{"on_error": mode},
					},
					device: device,
				}
				if s.differs(d) != "" {
					small := d.shrink(200, func(d sweepDocument) bool { return s.differs(d) != "" })
					t.Errorf("%s, text %d, on_error %s, chunks of %d bytes, shrunk to %q\n%s", name, i,
						mode, goldenChunks[device], small.Text, s.differs(small))
				}
			}
		}
	}
}

// amidFeatures puts what an array of features has, or the lines of a sequence, ten times between
// features without anything odd; nil: there is no such array.
func amidFeatures(text []byte, collection bool) []byte {
	plain := slices.Repeat([]string{`{"type":"Feature","properties":{"n":1},"geometry":null}`}, 30)
	if !collection {
		lines := slices.Repeat([]string{strings.TrimRight(string(text), "\n")}, 10)
		return []byte(strings.Join(slices.Concat(plain, lines, plain), "\n"))
	}
	open := []byte(`"features":[`)
	if at := bytes.Index(text, []byte(`"features": [`)); at >= 0 {
		open = []byte(`"features": [`)
	}
	at, end := bytes.Index(text, open), bytes.LastIndexByte(text, ']')
	if at < 0 || end < at+len(open) {
		return nil
	}
	at += len(open)
	inside := string(text[at:end])
	if strings.TrimSpace(inside) == "" {
		return nil
	}
	return slices.Concat(text[:at], []byte(strings.Join(slices.Concat(plain, slices.Repeat([]string{inside}, 10),
		plain), ",")), text[end:])
}
