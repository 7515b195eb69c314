package filegdb_test

import (
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/readers/readertest"
)

var write = flag.Bool("write", false, "write the goldens that tests make")

// general are the kinds of lines and polygons whose flags say what they have.
const (
	anyLine    = 50
	anyPolygon = 51
	withCurves = 0x20000000
	withZ      = 0x80000000
	withM      = 0x40000000
)

// madeGoldens are the goldens that tests make, by name and the golden whose system tables they have.
func madeGoldens() map[string]struct {
	like string
	*builder
} {
	curved := (&builder{geometry: 4}).field("id", kindObjectID, false).field("SHAPE", kindGeometry, true)
	square := []float64{0, 0, 0, 10, 10, 10, 10, 0, 0, 0}
	for _, shape := range [][]byte{
		parts(anyPolygon|withCurves, arc(1, 5, 15, 0x80), 1, nil, square),
		parts(anyPolygon|withCurves, slices.Concat(arc(0, 20, 0, 0x80)), 1, nil, []float64{0, 0, 0, 0}),
		parts(anyPolygon|withCurves, slices.Concat(bezier(1, 0, 20, 10, 20), arc(2, 10, 5, 0)), 2, nil, square),
		parts(anyPolygon|withCurves, ellipse(1, 5, 10, 0, 5, 0.5, 0x1000), 1, nil, square),
		parts(anyPolygon|withCurves, arc(5, 5, 4.5, 0x80), 1, nil, square, []float64{4, 4, 6, 4, 6, 6, 4, 6, 4, 4}),
		parts(anyPolygon, nil, 0, nil, square),
	} {
		curved.rowIn(len(curved.rows), nil, blob(shape))
		curved.rows[len(curved.rows)-1].b = append([]byte{0}, blob(shape)...)
	}
	wide := (&builder{utf16: true}).field("id", kindObjectID, false)
	wide.field("text", kindString, true).field("xml", kindXML, true)
	for _, v := range []string{"", "é 😀", "plain"} {
		row := slices.Concat([]byte{0}, blob(text16(v)), blob([]byte(v)))
		wide.rows = append(wide.rows, madeRow{len(wide.rows), row})
	}
	wide.rows = append(wide.rows, madeRow{5, []byte{3}})
	times := (&builder{version4: true, blocks: []int{0, 3}}).field("id", kindObjectID, false)
	for _, f := range []struct {
		name string
		kind byte
	}{
		{"day", kindDate},
		{"time", kindTime},
		{"offset", kindOffsetTime},
		{"guid", kindGUID},
		{"global", kindGlobalID},
		{"big", kindInt64},
	} {
		times.field(f.name, f.kind, true)
	}
	guid := make([]byte, 16)
	for i := range guid {
		guid[i] = byte(0x11 * i)
	}
	for i, slot := range []int{0, 1023, 3 * 1024, 3*1024 + 7} {
		at := floats(nil, 45000.25+float64(i))
		row := slices.Concat([]byte{0}, floats(nil, 45000+float64(i)), floats(nil, float64(i)/8), at,
			binary.LittleEndian.AppendUint16(nil, uint16(60*i-60)), guid, guid,
			binary.LittleEndian.AppendUint64(nil, uint64(i)<<40))
		times.rows = append(times.rows, madeRow{slot, row})
	}
	times.rows = append(times.rows, madeRow{3*1024 + 9, []byte{0x3f}})
	patch := (&builder{geometry: 9, flags: 0x80}).field("id", kindObjectID, false).field("SHAPE", kindGeometry, true)
	patch.rows = append(patch.rows, madeRow{0, append([]byte{0}, blob(fanAndRing())...)})
	return map[string]struct {
		like string
		*builder
	}{
		"multipatch.gdb": {"polygons.gdb", patch},
		"curves.gdb":     {"polygons.gdb", curved},
		"wide.gdb":       {"types.gdb", wide},
		"sparse.gdb":     {"types.gdb", times},
	}
}

// fanAndRing is a MultiPatch of a triangle strip and of an outer ring.
func fanAndRing() []byte {
	return slices.Concat(varuints(nil, 32, 10, 0, 2, 0, 0, 0, 0, 4, 0, 2),
		varints(nil, 400000, 300000, 1000, 0, 0, 1000, 1000, 0, 0, 0, 1000, 0, 0, 1000, -1000, 0, 0, -1000, 0, 0),
		varints(nil, 100000, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}

// TestMadeGoldens holds the files of testdata against those that tests make.
func TestMadeGoldens(t *testing.T) {
	all := goldens(t)
	for name, m := range madeGoldens() {
		in := m.in(golden(all, m.like))
		if *write {
			folder := filepath.Join("testdata", name)
			if err := os.MkdirAll(folder, 0o777); err != nil {
				t.Fatal(err)
			}
			in.Members["a00000001.gdbtable"] = in.Text
			for member, text := range in.Members {
				if err := os.WriteFile(filepath.Join(folder, member), text, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			continue
		}
		table := golden(all, name).Members
		for _, member := range []string{madeTable, madeIndex} {
			if string(table[member]) != string(in.Members[member]) {
				t.Errorf("%s/%s is not what the test makes: go test -write", name, member)
			}
		}
	}
}

var _ = readertest.Input{}
