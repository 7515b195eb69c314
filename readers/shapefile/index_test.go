package shapefile_test

import (
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/shapefile"
)

// shx returns an index with pairs of the offset and the length of the content of each record, in
// bytes.
func shx(entries ...uint32) []byte {
	b := shp(point)
	for _, e := range entries {
		b = big.AppendUint32(b, e/2)
	}
	return b
}

func index(b []byte) map[string][]byte { return map[string][]byte{".shx": b} }

// A file that was changed in place is read by the .shx.
func TestMovedShapes(t *testing.T) {
	// Shape 1 was a MultiPoint of two points, as long as it was when the file was written; it has
	// three now, and was moved after the others. Shape 2 has one where it had two.
	one, two, three := several(multiPoint, xy{1, 1}), several(multiPoint, xy{1, 1, 2, 2}),
		several(multiPoint, xy{1, 1, 2, 2, 3, 3})
	file := shp(multiPoint, two, two, one) // records at 100, 180, 260; contents of 72, 72, 56 bytes
	moved := join(file, big.AppendUint32(big.AppendUint32(nil, 1), uint32(len(three)/2)), three)
	shrunk := put(put(moved, 187, byte(len(one)/2)), 188+36, 1)
	right := index(shx(324, 88, 180, 56, 260, 56))
	const points = "geometry: geoarrow.multipoint xy: MULTIPOINT ((1 1), (2 2), (3 3)) | MULTIPOINT ((1 1)) | " +
		"MULTIPOINT ((1 1))"
	check(t, siblingFiles{siblings: right}, []shpCase{
		{"moved and shrunk", shrunk, points, 0},
		{
			"a malformed shape", put(shrunk, 332, 9),
			"record 0, geometry: the shape is a type 9 in a file of MultiPoint",
			332,
		},
		{"a gap with a wrong length", put(shrunk, 187, 30), "record 2: the record has the number 64, expected 3", 248},
	})
	right[".dbf"] = number("   1", "*  2", "   3")[".dbf"]
	check(t, siblingFiles{siblings: right}, []shpCase{
		{"with attributes", shrunk, "N: int32: 1 | 3\ngeometry: geoarrow.multipoint xy: MULTIPOINT ((1 1), (2 2), " +
			"(3 3)) | MULTIPOINT ((1 1))", 0},
	})
	right[".dbf"], right[".cpg"] = dbf([]field{{"C", 'C', 2, 0}}, " a\xff", " b ", " \xffc"), []byte("UTF-8")
	check(t, siblingFiles{siblings: right}, []shpCase{
		{
			"with replaced characters, so that batches read parts of parts again", shrunk,
			"C: string: \"a\ufffd\" | \"b\" | \"\ufffdc\"\n" + points + "\ncrs: none\nreplaced characters: 2", 0,
		},
	})
	right[".dbf"] = number("   1", "   2", "   3")[".dbf"]
	check(t, skipping(right), []shpCase{
		{
			"with a malformed shape", put(shrunk, 332, 9),
			"N: int32: 2 | 3\ngeometry: geoarrow.multipoint xy: MULTIPOINT ((1 1)) | MULTIPOINT ((1 1))\ncrs: " +
				"none\nskipped: 1 at [324]", 0,
		},
	})
	for _, c := range []struct {
		name  string
		index []byte
	}{
		{"none", nil},
		{"empty", shx()},
		{"another place", shx(100, 72, 180, 56, 262, 56)},
		{"another length", shx(324, 88, 180, 58, 260, 56)},
		{"another number", shx(324, 88, 260, 56, 180, 56)},
		{"before the records", shx(324, 88, 180, 56, 0, 56)},
		{"after the file", shx(324, 88, 180, 56, 1<<31, 56)},
	} {
		siblings := index(c.index)
		if c.index == nil {
			delete(siblings, ".shx")
		}
		check(t, siblingFiles{siblings: siblings}, []shpCase{{
			"moved, and the .shx is of no use: " + c.name,
			moved, "record 3: the record has the number 1, expected 4", 324,
		}})
	}
}

// S4: whatever the .shx of a file whose records follow each other says, the table is the same.
func TestIndexDoesNotMatter(t *testing.T) {
	file := shp(point, at(point, 1, 2), nothing, at(point, 3, 4)) // records at 100, 128, 140
	rng := rand.New(rand.NewPCG(5, 6))
	noise := make([]byte, 124)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	for _, c := range []struct {
		name  string
		index []byte
	}{
		{"right", shx(100, 20, 128, 4, 140, 20)},
		{"S4: missing", nil},
		{"S4: short", shx(100, 20, 128, 4)},
		{"S4: cut", shx(100, 20, 128, 4, 140, 20)[:122]},
		{"its header is cut", shx()[:50]},
		{"empty", []byte{}},
		{"of other shapes", shx(100, 4, 112, 20, 140, 20)},
		{"the first and the last change places", shx(140, 20, 128, 4, 100, 20)},
		{"of one shape, three times", shx(100, 20, 100, 20, 100, 20)},
		{"long", shx(100, 20, 128, 4, 140, 20, 168, 20)},
		{"noise", noise},
	} {
		siblings := index(c.index)
		if c.index == nil {
			delete(siblings, ".shx")
		}
		for _, mode := range []string{"fail", "repair"} {
			with := siblingFiles{siblings: siblings, options: map[string]any{"on_error": mode}}
			check(t, with, []shpCase{{
				c.name + ", " + mode, file,
				"geometry: geoarrow.point xy: POINT (1 2) | null | POINT (3 4)", 0,
			}})
		}
	}
}

// FuzzIndex reads a file that has moved shapes with any .shx.
func FuzzIndex(f *testing.F) {
	file := shp(point, at(point, 1, 2), at(point, 3, 4))
	moved := join(file, big.AppendUint32(big.AppendUint32(nil, 1), 10), at(point, 5, 6))
	f.Add(moved, shx(156, 20, 128, 20))
	f.Add(file, shx(100, 20, 128, 20))
	f.Fuzz(func(t *testing.T, file, index []byte) {
		in := readertest.Input{Name: "a.shp", Text: file, Siblings: map[string][]byte{".shx": index}}
		_, _ = readertest.Check(t, shapefile.Format(), in) // an error is checked there
		readertest.Same(t, shapefile.Format(), in, []int{1, 30, 100}, windows, parallel)
	})
}

// Records that are in one another are not what the .shx may lead to: each of n records would hold
// nearly the whole file.
func TestNestedRecords(t *testing.T) {
	// a MultiPoint of k points takes 40 + 16k bytes, so each of the inner ones is three points of
	// the one around it
	const n, head = 20, 48
	var file []byte
	var entries []uint32
	for i := range n {
		content := uint32(40 + head*(n-1-i))
		entries = append(entries, uint32(100+head*i), content)
		file = big.AppendUint32(big.AppendUint32(file, uint32(i+1)), content/2)
		file = append(file, join(words(multiPoint), doubles(0, 0, 0, 0), words(uint32(3*(n-1-i))))...)
	}
	entries = append(entries, 100+head*n, 56)
	file = append(big.AppendUint32(big.AppendUint32(file, n+1), 28), several(multiPoint, xy{1, 2})...)
	check(t, siblingFiles{siblings: index(shx(entries...))}, []shpCase{
		{
			"nested", join(shp(multiPoint), file),
			"record 1: the record has the number 21, expected 2; records must follow each other", 100 + head*n,
		},
	})
}
