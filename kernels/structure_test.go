package kernels_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
)

// structure is what ParseStructure and StructureMasks give, byte by byte.
type structure struct {
	inside, open, closing, colon, comma []uint64
	depth                               []int32
}

// structureOf reads text from a carry, which it leaves as it is at the end.
func structureOf(text []byte, c *kernels.StructureCarry) structure {
	x := structure{
		inside: quoteParity(text, '"', kernels.QuoteEscaped, &c.Quote),
		depth:  make([]int32, kernels.Words(len(text))),
	}
	outside := func(set string) []uint64 {
		return bitmap(len(text), func(i int) bool {
			if x.inside[i/64]>>(i%64)&1 != 0 {
				return false
			}
			for _, b := range []byte(set) {
				if text[i] == b {
					return true
				}
			}
			return false
		})
	}
	x.open, x.closing, x.colon, x.comma = outside("[{"), outside("]}"), outside(":"), outside(",")
	for i := range text {
		if i%64 == 0 {
			x.depth[i/64] = int32(c.Depth)
		}
		c.Depth += int64(x.open[i/64]>>(i%64)&1) - int64(x.closing[i/64]>>(i%64)&1)
	}
	return x
}

// check runs the kernels on text and compares all they give with the plain reading.
func checkStructure(r *rig, name string, text []byte, carry kernels.StructureCarry) {
	r.Helper()
	want := carry
	x := structureOf(text, &want)
	c := upload(r, []kernels.StructureCarry{carry})
	got, err := kernels.AllocStructure(r.s, len(text))
	r.ok(err)
	defer func() { r.ok(got.Free(r.s)) }()
	masks, err := kernels.AllocStructureMasks(r.s, len(text))
	r.ok(err)
	defer func() { r.ok(masks.Free(r.s)) }()
	r.ok(r.k.ParseStructure(r.s, upload(r, text), got, c))
	r.ok(r.k.StructureMasks(r.s, got, masks))
	sameMask(r, name+": inside", text, read(r, masks.Inside), x.inside)
	sameMask(r, name+": open", text, read(r, masks.Open), x.open)
	sameMask(r, name+": close", text, read(r, masks.Close), x.closing)
	sameMask(r, name+": colon", text, read(r, masks.Colon), x.colon)
	sameMask(r, name+": comma", text, read(r, masks.Comma), x.comma)
	for i, d := range read(r, masks.Depth) {
		if d != x.depth[i] {
			r.Fatalf("%s: depth %d before byte %d, want %d", name, d, i*64, x.depth[i])
		}
	}
	if end := read(r, c)[0]; end != want {
		r.Fatalf("%s: the carry is %+v, want %+v", name, end, want)
	}
}

func TestStructure(t *testing.T) {
	r := open(t)
	carries := []kernels.StructureCarry{
		{},
		{Depth: 3, Quote: kernels.QuoteCarry{Inside: 1}},
		{Depth: 1 << 20, Quote: kernels.QuoteCarry{Inside: 1, Escaped: 1}},
		{Depth: -5, Quote: kernels.QuoteCarry{Escaped: 1}},
	}
	for _, n := range sizes {
		for i, c := range carries {
			checkStructure(r, "random", random(uint64(n+i), n, `"\\[]{}:, x1`), c)
		}
	}
	for name, text := range hostileTexts() {
		checkStructure(r, name, text, kernels.StructureCarry{})
		checkStructure(r, name+", escaped", text, kernels.StructureCarry{Quote: kernels.QuoteCarry{Escaped: 1}})
	}
}

// A text in chunks has the structure of the text.
func TestStructureInChunks(t *testing.T) {
	r := open(t)
	small := []byte(`{"a\\":"[\"x\\\"","b":[{"\\":""}]}\\"`)
	rng := rand.New(rand.NewPCG(5, 6))
	large := random(9, 60000, `"\\\\[]{}:,x`)
	for i := range 2*len(small) + 8 {
		text, at := small, i%len(small)
		if i >= 2*len(small) {
			text, at = large, rng.IntN(len(large))
		}
		var c kernels.StructureCarry
		structureOf(text[:at], &c)
		checkStructure(r, "the second chunk", text[at:], c)
	}
}

// More tiles than one group joins, with a run of backslashes and a string that reach over groups.
func TestStructureOfManyTiles(t *testing.T) {
	r := open(t)
	const tile, group = 16384, 256
	text := random(11, 2*group*tile+5000, `"\\[]{}:, x1`)
	copy(text[100*tile:], bytes.Repeat([]byte{'\\'}, 200*tile+1))
	copy(text[310*tile:], `"`)
	copy(text[310*tile+1:], bytes.Repeat([]byte{'['}, 210*tile))
	checkStructure(r, "many tiles", text, kernels.StructureCarry{Depth: 7, Quote: kernels.QuoteCarry{
		Inside:  1,
		Escaped: 1,
	}})
}
