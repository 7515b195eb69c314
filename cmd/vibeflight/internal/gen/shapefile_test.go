package gen

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestValidShapefile(t *testing.T) {
	for _, count := range counts {
		path := filepath.Join(t.TempDir(), "x.shp")
		spec := Spec{Kind: Shapefile, Features: count, Seed: 9}
		writeFile(t, path, spec)
		base := strings.TrimSuffix(path, ".shp")
		shp, shx := readFile(t, path), readFile(t, base+".shx")
		if spec.Kind = DBF; !bytes.Equal(readFile(t, base+".dbf"), write(t, spec)) {
			t.Errorf("%d records: the .dbf is not that of the kind dbf", count)
		}
		if string(readFile(t, base+".cpg")) != "UTF-8" || !bytes.HasPrefix(readFile(t, base+".prj"),
			[]byte("GEOGCS[")) {
			t.Error("the .prj or .cpg says nothing")
		}
		for _, b := range [][]byte{shp, shx} {
			if binary.BigEndian.Uint32(b) != 9994 || int(binary.BigEndian.Uint32(b[24:]))*2 != len(b) ||
				!bytes.Equal(b[28:100], shp[28:100]) {
				t.Fatalf("%d records: got the header % x for %d bytes", count, b[:100], len(b))
			}
		}
		if int64(len(shx)) != 100+8*count {
			t.Fatalf("%d records: %d bytes of .shx", count, len(shx))
		}
		box := [4]float64{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
		at := 100
		for i := range count {
			at += checkShape(t, shp[at:], shx[100+8*i:], i, at, &box)
		}
		if at != len(shp) || count > 0 && box != [4]float64(doubles(shp[36:68])) {
			t.Fatalf("%d records: end at byte %d of %d in the box %v", count, at, len(shp), box)
		}
	}
}

// checkShape checks record i, at a byte of the file, and gives its length.
func checkShape(t *testing.T, b, index []byte, i int64, at int, box *[4]float64) int {
	t.Helper()
	size := 2 * int(binary.BigEndian.Uint32(b[4:]))
	if int64(binary.BigEndian.Uint32(b)) != i+1 || int(binary.BigEndian.Uint32(index))*2 != at ||
		!bytes.Equal(index[4:8], b[4:8]) {
		t.Fatalf("record %d at byte %d: header % x, index % x", i, at, b[:8], index[:8])
	}
	n := int(binary.LittleEndian.Uint32(b[48:]))
	if binary.LittleEndian.Uint32(b[8:]) != 5 || binary.LittleEndian.Uint32(b[44:]) != 1 ||
		binary.LittleEndian.Uint32(b[52:]) != 0 || size != 48+16*n || n < 5 {
		t.Fatalf("record %d: % x", i, b[8:56])
	}
	own, positions, area := doubles(b[12:44]), doubles(b[56:56+16*n]), 0.0
	got := [4]float64{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for k := 0; k < len(positions); k += 2 {
		x, y := positions[k], positions[k+1]
		got = [4]float64{min(got[0], x), min(got[1], y), max(got[2], x), max(got[3], y)}
		if k > 0 {
			area += (x - positions[k-2]) * (y + positions[k-1]) / 2
		}
		if text := strconv.FormatFloat(x, 'f', -1, 64); len(text) > len("-87.123456") {
			t.Fatalf("record %d: x is %s, which 6 decimals are not nearest to", i, text)
		}
	}
	if !slices.Equal(own, got[:]) || area <= 0 || !slices.Equal(positions[:2], positions[len(positions)-2:]) {
		t.Fatalf("record %d: box %v, want %v; area %g, wants to be clockwise and closed", i, own, got, area)
	}
	*box = [4]float64{min(box[0], got[0]), min(box[1], got[1]), max(box[2], got[2]), max(box[3], got[3])}
	return 8 + size
}

func doubles(b []byte) (v []float64) {
	for ; len(b) > 0; b = b[8:] {
		v = append(v, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return v
}

// full is a file that has no room.
type full struct{ io.WriterAt }

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestShapefileErrors(t *testing.T) {
	files := func() ShapefileFiles {
		room := func(name string) *os.File {
			f, err := os.Create(filepath.Join(t.TempDir(), name))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = f.Close() })
			return f
		}
		return ShapefileFiles{SHP: room("shp"), SHX: room("shx"), DBF: io.Discard, PRJ: io.Discard, CPG: io.Discard}
	}
	for _, c := range []struct {
		name string
		full func(*ShapefileFiles)
	}{
		{"shp", func(f *ShapefileFiles) { f.SHP = full{} }},
		{"shx", func(f *ShapefileFiles) { f.SHX = full{} }},
		{"dbf", func(f *ShapefileFiles) { f.DBF = full{} }},
		{"prj", func(f *ShapefileFiles) { f.PRJ = full{} }},
		{"cpg", func(f *ShapefileFiles) { f.CPG = full{} }},
	} {
		f := files()
		c.full(&f)
		if err := WriteShapefile(t.Context(), f, Spec{Kind: Shapefile, Features: 10}); !errors.Is(err, errFull) {
			t.Errorf("no room for .%s: got %v", c.name, err)
		}
	}
	w := shapeWriter{to: files(), bytes: shpMaxBytes - 10}
	if _, err := w.Write(make([]byte, 136)); err == nil || !strings.Contains(err.Error(),
		"can't hold more than 4294967294 bytes") {
		t.Errorf("beyond 4 GiB: got %v", err)
	}
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Kind: Shapefile, Features: 1}, "a shapefile is several files"},
		{Spec{Kind: DBF, Features: math.MaxUint32 + 1}, "can't hold 4294967296 records"},
		{Spec{Kind: GML, Features: -1}, "-1 features are too few"},
	} {
		if err := Write(t.Context(), io.Discard, c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %s", c.spec, err, c.want)
		}
	}
}

func TestShapefileProgress(t *testing.T) {
	const total = chunkFeatures + 5
	last := int64(0)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "x.shp"), Spec{Kind: Shapefile, Features: total, Progress: func(done, of int64) {
		if done <= last || of != total {
			t.Errorf("%d of %d after %d", done, of, last)
		}
		last = done
	}})
	if last != total {
		t.Errorf("got %d features, want %d", last, total)
	}
}
