package all_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/source"
)

// packedRead parses a file of a name and content, as a server does, and says how often it was read.
func packedRead(t *testing.T, name string, content []byte) (table *readers.Table, reads int, err error) {
	t.Helper()
	return packedReadBy(t, name, content, nil)
}

// packedReadBy is packedRead with the parser of an engine; nil: the CPU engine.
func packedReadBy(t *testing.T, name string, content []byte, engine readers.Engine) (table *readers.Table,
	reads int, err error,
) {
	t.Helper()
	at := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(at, content, 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open(name, at)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	format, ok, _ := all.Formats().OfName(name)
	if !ok {
		t.Fatalf("%s is of no format", name)
	}
	options, err := format.ParseOptions(nil)
	if err != nil {
		t.Fatal(err)
	}
	limits := readers.Limits{Workers: 2, BatchRows: 1000}
	err = all.Formats().ReadLayer(t.Context(), format, src, "", source.UnpackOptions{Workers: 2},
		func(content *source.File) error {
			reads++
			layout, err := format.Open(t.Context(), content, options)
			if err != nil {
				return err
			}
			parser := format.CPU(layout)
			if engine != nil {
				parser = engine.Parser(layout)
			}
			table, err = readers.Read(t.Context(), format, parser, content, limits, nil)
			return err
		})
	return table, reads, err
}

func gzipMember(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(content)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// texts are files of formats that may be packed.
func texts() map[string][]byte {
	var features, rows, places strings.Builder
	features.WriteString(`{"type":"FeatureCollection","features":[`)
	rows.WriteString("id,name,lon,lat\n")
	places.WriteString(`<?xml version="1.0" encoding="ISO-8859-1"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>`)
	for i := range 30_000 {
		if i > 0 {
			features.WriteByte(',')
		}
		x, y := float64(i%360)-180, float64(i*7919%180)-90
		fmt.Fprintf(&features, `{"type":"Feature","properties":{"id":%d,"name":"n%d"},`, i, i*i)
		fmt.Fprintf(&features, `"geometry":{"type":"Point","coordinates":[%v,%v]}}`, x, y)
		fmt.Fprintf(&rows, "%d,n%d,%v,%v\n", i, i*i, x, y)
		if i < 5000 {
			fmt.Fprintf(&places, "<Placemark><name>caf\xe9 %d</name>", i) // not UTF-8
			fmt.Fprintf(&places, "<Point><coordinates>%v,%v</coordinates></Point></Placemark>", x, y)
		}
	}
	features.WriteString("]}\n")
	places.WriteString("</Document></kml>\n")
	return map[string][]byte{
		"a.geojson": []byte(features.String()), "a.csv": []byte(rows.String()), "a.kml": []byte(places.String()),
	}
}

// packedInWays gives packed files of a content.
func packedInWays(t *testing.T, content []byte) map[string][]byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	half, rest := content[:len(content)/2], content[len(content)/2:]
	return map[string][]byte{
		"one.gz": gzipMember(t, content), "two.gz": append(gzipMember(t, half), gzipMember(t, rest)...),
		"one.zst": w.EncodeAll(content, nil), "two.zst": w.EncodeAll(rest, w.EncodeAll(half, nil)),
	}
}

func sameTable(a, b *readers.Table) bool {
	return a.Rows == b.Rows && reflect.DeepEqual(a.Starts, b.Starts) && reflect.DeepEqual(a.Batches, b.Batches)
}

// A file that is parsed while it is unpacked gives the table of the plain file.
func TestParseWhileUnpacking(t *testing.T) {
	for name, content := range texts() {
		want, _, err := packedRead(t, name, content)
		if err != nil {
			t.Fatal(err)
		}
		for how, b := range packedInWays(t, content) {
			got, _, err := packedRead(t, name+filepath.Ext(how), b)
			if err != nil || !sameTable(got, want) {
				t.Errorf("%s, %s: another table than that of the plain file, %v", name, how, err)
			}
		}
	}
}

// TestParseWhileUnpackingOnDevice gives the chunks of packed files to a device, which gets them when
// they are unpacked.
func TestParseWhileUnpackingOnDevice(t *testing.T) {
	for name, content := range texts() {
		if name == "a.kml" { // recoded: it is unpacked as a whole
			continue
		}
		want, _, err := packedRead(t, name, content)
		if err != nil {
			t.Fatal(err)
		}
		format, _, _ := all.Formats().OfName(name)
		device := readertest.NewDevice(t, format, 128<<10)
		for how, b := range packedInWays(t, content) {
			before := device.Counts().Chunks
			got, _, err := packedReadBy(t, name+filepath.Ext(how), b, device)
			if err != nil || !sameTable(got, want) {
				t.Errorf("%s, %s: another table than that of the plain file, %v", name, how, err)
			}
			if device.Counts().Chunks == before {
				t.Errorf("%s, %s: no chunk was accepted", name, how)
			}
		}
	}
}

// What is wrong with a packed file is the error, whatever a parser has made of the bytes before.
func TestErrorWhileUnpacking(t *testing.T) {
	for name, content := range texts() {
		wrongText := bytes.Clone(content)
		copy(wrongText[len(content)/3:], "\x00<{[\x00") // an error of the parser, long before that of the packing
		for how, b := range packedInWays(t, wrongText) {
			ext := filepath.Ext(how)
			var bad *readers.ParseError
			_, _, err := packedRead(t, name+ext, b)
			if name != "a.csv" && (!errors.As(err, &bad) || bad.Format != strings.TrimPrefix(filepath.Ext(name), ".")) {
				t.Errorf("%s, %s: %v, want an error of the parser", name, how, err)
			}
			b = bytes.Clone(b)
			b[len(b)-3] ^= 1 // a checksum or a length
			packing := map[string]string{".gz": "gzip", ".zst": "zstd"}[ext]
			_, _, err = packedRead(t, name+ext, b)
			if !errors.As(err, &bad) || bad.Format != packing || bad.Name != name+ext {
				t.Errorf("%s, %s: %v, want an error of %s", name, how, err, packing)
			}
			_, _, again := packedRead(t, name+ext, b)
			if fmt.Sprint(again) != fmt.Sprint(err) {
				t.Errorf("%s, %s: %v, and the next time %v", name, how, err, again)
			}
		}
	}
}

// A file whose size turns out to be another one is read a second time, with the right table.
func TestSecondReadOfAPackedFile(t *testing.T) {
	content := texts()["a.geojson"]
	want, _, err := packedRead(t, "a.geojson", content)
	if err != nil {
		t.Fatal(err)
	}
	second := gzipMember(t, content[len(content)-1000:])
	second[9] = 200 // no member of an operating system that there is: it is not looked for
	b := append(gzipMember(t, content[:len(content)-1000]), second...)
	for range 50 {
		got, reads, err := packedRead(t, "a.geojson.gz", b)
		if err != nil || !sameTable(got, want) {
			t.Fatalf("%d reads: another table than that of the plain file, %v", reads, err)
		}
		if reads == 2 {
			return
		}
	}
	t.Error("the file was never read twice")
}
