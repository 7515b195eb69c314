package gen

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/source"
)

var shapefileExtensions = []string{".shp", ".shx", ".dbf", ".prj", ".cpg"}

// extensionOf is how a file of the kind is called.
func extensionOf(kind string) string {
	switch kind {
	case Buildings, Mixed:
		return ".geojson"
	case Points:
		return ".geojsonl"
	case PointsCSV, WKTCSV:
		return ".csv"
	case Shapefile:
		return ".shp"
	}
	return "." + kind
}

// writeFile writes the file at path, and the other files of a shapefile.
func writeFile(t *testing.T, path string, spec Spec) {
	t.Helper()
	create := func(extension string) *os.File {
		f, err := os.Create(strings.TrimSuffix(path, filepath.Ext(path)) + extension)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	err := error(nil)
	if spec.Kind == Shapefile {
		err = WriteShapefile(t.Context(), ShapefileFiles{
			SHP: create(".shp"), SHX: create(".shx"),
			DBF: create(".dbf"), PRJ: create(".prj"), CPG: create(".cpg"),
		}, spec)
	} else {
		err = Write(t.Context(), create(filepath.Ext(path)), spec)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// counts of features to test: none, one, and those around a chunk.
var counts = []int64{0, 1, 2, chunkFeatures - 1, chunkFeatures, chunkFeatures + 1, 3*chunkFeatures + 7}

// TestOurReaders reads each kind of file with the format that its extension has.
func TestOurReaders(t *testing.T) {
	formats := all.Formats()
	for _, kind := range Kinds() {
		t.Run(kind, func(t *testing.T) {
			format, ok := formats.ByExtension("x" + extensionOf(kind))
			if !ok {
				t.Fatalf("no format has the extension %s", extensionOf(kind))
			}
			for _, count := range []int64{1, chunkFeatures + 1} {
				path := filepath.Join(t.TempDir(), "x"+extensionOf(kind))
				writeFile(t, path, Spec{Kind: kind, Features: count, Seed: 3})
				if rows := readRows(t, format, path); rows != count {
					t.Errorf("got %d rows, want %d", rows, count)
				}
			}
		})
	}
}

func readRows(t *testing.T, format readers.Format, path string) int64 {
	t.Helper()
	src, err := source.Open(path, path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	options, err := format.ParseOptions(nil)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := format.Open(t.Context(), src, options)
	if err != nil {
		t.Fatal(err)
	}
	table, err := readers.Read(t.Context(), format, format.CPU(layout), src, readers.Limits{}.WithDefaults(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return table.Rows
}

func TestValidCSV(t *testing.T) {
	for _, count := range counts {
		records, err := csv.NewReader(bytes.NewReader(write(t, Spec{
			Kind: PointsCSV, Features: count,
			Seed: 9,
		}))).ReadAll()
		if err != nil || int64(len(records)) != count+1 {
			t.Fatalf("%d records: got %d, %v", count, len(records)-1, err)
		}
		for i, r := range records[1:] {
			lat, lon := number(t, r[1]), number(t, r[2])
			_, noDate := time.Parse(time.DateOnly, r[5])
			if math.Abs(lat) > 85 || math.Abs(lon) > 180 || noDate != nil || !slices.Contains(streets, r[4]) {
				t.Fatalf("record %d: got %q", i, r)
			}
		}
		records, err = csv.NewReader(bytes.NewReader(write(t, Spec{Kind: WKTCSV, Features: count, Seed: 9}))).ReadAll()
		if err != nil || int64(len(records)) != count+1 {
			t.Fatalf("%d records of WKT: got %d, %v", count, len(records)-1, err)
		}
		for _, r := range records[1:] {
			checkPolygon(t, r[2])
		}
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestValidWKT(t *testing.T) {
	for _, count := range counts {
		lines := strings.SplitAfter(string(write(t, Spec{Kind: WKT, Features: count, Seed: 9})), "\n")
		if int64(len(lines)) != count+1 {
			t.Fatalf("got %d lines, want %d", len(lines)-1, count)
		}
		for _, line := range lines[:count] {
			checkPolygon(t, strings.TrimSuffix(line, "\n"))
		}
	}
}

// checkPolygon tells of text that is no polygon with one closed ring in Florida.
func checkPolygon(t *testing.T, text string) {
	t.Helper()
	inner, opened := strings.CutPrefix(text, "POLYGON ((")
	inner, closed := strings.CutSuffix(inner, "))")
	if !opened || !closed {
		t.Fatalf("%q is no polygon", text)
	}
	checkRing(t, strings.Split(inner, ", "), " ")
}

// checkRing takes positions as x, separator, y, and the rest after another separator.
func checkRing(t *testing.T, positions []string, separator string) {
	t.Helper()
	if len(positions) < 5 || positions[0] != positions[len(positions)-1] {
		t.Fatalf("%q is no ring", positions)
	}
	for _, p := range positions {
		ordinates := strings.Split(p, separator)
		if x, y := number(t, ordinates[0]), number(t, ordinates[1]); x < -87.7 || x > -79.9 || y < 24.4 || y > 31.1 {
			t.Fatalf("%q is not in Florida", p)
		}
	}
}

func TestValidDBF(t *testing.T) {
	for _, count := range counts {
		b := write(t, Spec{Kind: DBF, Features: count, Seed: 9})
		head, record := int64(binary.LittleEndian.Uint16(b[8:])), int64(binary.LittleEndian.Uint16(b[10:]))
		if got := int64(binary.LittleEndian.Uint32(b[4:])); got != count || int64(len(b)) != head+count*record+1 ||
			b[head-1] != '\r' || b[len(b)-1] != 0x1a {
			t.Fatalf("%d records: header says %d of %d bytes in a file of %d", count, got, record, len(b))
		}
		for i := range count {
			r := b[head+i*record:][:record]
			at, fields := 1, map[string]string{}
			for d := int64(32); b[d] != '\r'; d += 32 {
				name, size := string(bytes.TrimRight(b[d:d+11], "\x00")), int(b[d+16])
				fields[name] = string(r[at : at+size])
				at += size
			}
			_, noDate := time.Parse("20060102", fields["SALEDATE"])
			value := strings.TrimSpace(fields["VALUE"])
			if int64(at) != record || r[0] != ' ' || noDate != nil || !strings.Contains("TF", fields["ACTIVE"]) ||
				fields["AREA_SQM"][10] != '.' || !strings.HasPrefix(fields["PARCEL_ID"], "P-") ||
				value != "" && number(t, value) < 1e6 {
				t.Fatalf("record %d: got %q", i, r)
			}
			number(t, fields["ZIP"])
			number(t, fields["YEAR"])
			number(t, strings.TrimSpace(fields["AREA_SQM"]))
		}
	}
}

func TestValidXML(t *testing.T) {
	for _, c := range []struct {
		kind, feature, coordinates string
	}{
		{KML, "Placemark", "coordinates"},
		{GML, "parcels", "posList"},
	} {
		for _, count := range []int64{0, 1, chunkFeatures + 1} {
			features, text := int64(0), ""
			for d := xml.NewDecoder(bytes.NewReader(write(t, Spec{Kind: c.kind, Features: count, Seed: 9}))); ; {
				token, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v", c.kind, err)
				}
				switch token := token.(type) {
				case xml.CharData:
					text = string(token)
				case xml.EndElement:
					switch token.Name.Local {
					case c.feature:
						features++
					case c.coordinates:
						checkText(t, c.kind, text)
					}
				}
			}
			if features != count {
				t.Errorf("%s: got %d features, want %d", c.kind, features, count)
			}
		}
	}
}

// checkText reports an invalid list of positions.
func checkText(t *testing.T, kind, text string) {
	t.Helper()
	words := strings.Fields(text)
	if kind == KML {
		for _, tuple := range words {
			if ordinates := strings.Split(tuple, ","); len(ordinates) != 3 || ordinates[2] != "0" ||
				number(t, ordinates[0]) > -79 || number(t, ordinates[1]) < 24 {
				t.Fatalf("%q is no position", tuple)
			}
		}
		return
	}
	var positions []string
	for i := 0; i+1 < len(words); i += 2 {
		positions = append(positions, words[i]+" "+words[i+1])
	}
	checkRing(t, positions, " ")
}
