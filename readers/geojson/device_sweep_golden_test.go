package geojson

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestDeviceGolden reads the files of testdata, and texts that the CPU engine once read wrongly. They
// are so small that chunks are a feature or two, or as large as most of the files.
func TestDeviceGolden(t *testing.T) {
	list := readertest.NewDevices(t, Format(), 200, 1000, 5000)
	list.Golden(t, goldenInputs)
	for i, text := range oracleSeeds() {
		if testing.Short() && (i%20 != 0 || len(text) > longSeed) {
			continue
		}
		in := readertest.Input{Name: fmt.Sprintf("%d.geojson", i), Text: []byte(text)}
		list.Same(t, goldenInputs(in)...)
	}
	list.Accepted(t, 20, 0.1)
}

// goldenInputs are a file as it is, and with its features between those of most files.
func goldenInputs(in readertest.Input) (inputs []readertest.Input) {
	amid := in
	amid.Text = amidFeatures(in.Text, filepath.Ext(in.Name) == ".geojson")
	for _, in := range []readertest.Input{in, amid} {
		modes := readertest.Modes(in)[:2]
		if i := len(in.Text) % 2; testing.Short() {
			modes = modes[i : i+1]
		}
		for i, in := range modes {
			if in.Limits.BatchRows = 1 + 6*i; in.Text != nil {
				inputs = append(inputs, in)
			}
		}
	}
	return inputs
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
