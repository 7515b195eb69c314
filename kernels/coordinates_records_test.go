package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// shapeRecords are records that hold geometries, or none, and what there is among their spans.
type shapeRecords struct {
	text         []byte
	starts, ends []int64
	kinds        []kernels.TypeKind
	want         geometries
}

// randomShapeRecords gives so many, of which one in `rare` has a geometry, with up to so many
// blanks in front.
func randomShapeRecords(rng *rand.Rand, count, rare, blanks int) (x shapeRecords) {
	shapes := randomShapes(rng.Uint64(), count, 9, false)
	for _, g := range shapes {
		x.text = append(x.text, strings.Repeat(" ", rng.IntN(1+blanks))...)
		if len(x.starts) == 0 {
			x.text = nil // the first record stands at the text's start
		}
		open := int64(len(x.text))
		x.want.geometry()
		if rng.IntN(rare) > 0 {
			x.text = append(x.text, `{"g":null},`...)
			x.starts, x.ends, x.kinds = append(x.starts, open), append(x.ends, open), append(x.kinds, 0)
			continue
		}
		at := int64(len(x.text) + len(`{"g":`))
		x.text = fmt.Appendf(x.text, `{"g":%s},`, g.coord)
		x.starts, x.ends, x.kinds = append(x.starts, at), append(x.ends, at+int64(len(g.coord))),
			append(x.kinds, g.kind)
		x.want.read(x.text[:at+int64(len(g.coord))], int(at), g.kind)
	}
	x.want.end()
	return x
}

// The spans of a tile are looked for where records say that they are, and found elsewhere, too.
func TestCoordinatesOfRecords(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(11, 26))
	var before *kernels.Records
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
		text := upload(r, x.text)
		structure, err := kernels.AllocStructure(r.s, len(x.text))
		r.ok(err)
		r.ok(r.k.ParseStructure(r.s, text, structure, gpu.Buffer[kernels.StructureCarry]{}))
		records, err := r.k.ListRecords(r.s, text, structure, kernels.RecordsComma, nil)
		r.ok(err)
		if records.Fault >= 0 || records.Count != tt.count {
			t.Fatalf("%+v: %d records, fault at %d", tt, records.Count, records.Fault)
		}
		c := kernels.Coordinates{Starts: upload(r, x.starts), Ends: upload(r, x.ends), Kinds: upload(r, x.kinds)}
		for what, of := range map[string]*kernels.Records{
			"no records": nil, "its records": records,
			"records of another text": before,
		} {
			rings, err := r.k.CountCoordinates(r.s, text, structure, 2, c, of)
			r.ok(err)
			checkListed(r, fmt.Sprintf("%+v, %s", tt, what), x.text, rings, len(x.starts), x.want)
			r.ok(rings.Free(r.s))
		}
		if before != nil {
			r.ok(before.Free(r.s))
		}
		before = records
		r.ok(structure.Free(r.s))
	}
	r.ok(before.Free(r.s))
}
