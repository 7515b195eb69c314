package json_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
)

// shapeRecords are records that hold geometries, or none, and what there is among their spans.
type shapeRecords struct {
	text         []byte
	starts, ends []int64
	kinds        []kgeom.TypeKind
	want         kerneltest.Geometries
}

// randomShapeRecords gives n, of which one in `rare` has a geometry, with up to n
// blanks in front.
func randomShapeRecords(rng *rand.Rand, count, rare, blanks int) (x shapeRecords) {
	shapes := kerneltest.RandomShapes(rng.Uint64(), count, 9, false)
	for _, g := range shapes {
		x.text = append(x.text, strings.Repeat(" ", rng.IntN(1+blanks))...)
		if len(x.starts) == 0 {
			x.text = nil // the first record stands at the text's start
		}
		open := int64(len(x.text))
		x.want.Geometry()
		if rng.IntN(rare) > 0 {
			x.text = append(x.text, `{"g":null},`...)
			x.starts, x.ends, x.kinds = append(x.starts, open), append(x.ends, open), append(x.kinds, 0)
			continue
		}
		at := int64(len(x.text) + len(`{"g":`))
		x.text = fmt.Appendf(x.text, `{"g":%s},`, g.Coord)
		x.starts, x.ends, x.kinds = append(x.starts, at), append(x.ends, at+int64(len(g.Coord))),
			append(x.kinds, g.Kind)
		x.want.Read(x.text[:at+int64(len(g.Coord))], int(at), g.Kind)
	}
	x.want.End()
	return x
}

// The spans of a tile are looked for where records say that they are, and found elsewhere, too.
func TestCoordinatesOfRecords(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(11, 26))
	var before *kjson.Records
	for _, tt := range []struct{ count, rare, blanks int }{
		{1, 1, 0},
		{40, 1, 0},
		{700, 1, 20},
		{2000, 2, 0},
		{9000, 40, 0},
		{300, 3, 900},
		{20_000, 1 << 20, 0},
	} {
		x := randomShapeRecords(rng, tt.count, tt.rare, tt.blanks)
		text := kerneltest.Upload(r, x.text)
		structure, err := kjson.AllocStructure(r.Stream, len(x.text))
		r.OK(err)
		r.OK(kjson.ParseStructure(r.Set, r.Stream, text, structure, gpu.Buffer[kjson.StructureCarry]{}))
		records, err := kjson.ListRecords(r.Set, r.Stream, text, structure, kjson.RecordsComma, nil)
		r.OK(err)
		if records.Fault >= 0 || records.Count != tt.count {
			t.Fatalf("%+v: %d records, fault at %d", tt, records.Count, records.Fault)
		}
		c := kgeom.Coordinates{
			Starts: kerneltest.Upload(r, x.starts), Ends: kerneltest.Upload(r, x.ends),
			Kinds: kerneltest.Upload(r, x.kinds),
		}
		for what, of := range map[string]*kjson.Records{
			"no records": nil, "its records": records,
			"records of another text": before,
		} {
			rings, err := kjson.CountCoordinates(r.Set, r.Stream, text, structure, 2, c, of)
			r.OK(err)
			kerneltest.CheckListed(r, fmt.Sprintf("%+v, %s", tt, what), x.text, rings, len(x.starts), x.want)
			r.OK(rings.Free(r.Stream))
		}
		if before != nil {
			r.OK(before.Free(r.Stream))
		}
		before = records
		r.OK(structure.Free(r.Stream))
	}
	r.OK(before.Free(r.Stream))
}
