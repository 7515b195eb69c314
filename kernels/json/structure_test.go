package json_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// structure is what ParseStructure and StructureMasks give, byte by byte.
type structure struct {
	inside, open, closing, colon, comma []uint64
	depth                               []int32
}

// structureOf reads text from a carry, which it leaves as it is at the end.
func structureOf(text []byte, c *kjson.StructureCarry) structure {
	x := structure{
		inside: kerneltest.QuoteParity(text, '"', ktext.QuoteEscaped, &c.Quote),
		depth:  make([]int32, kernels.Words(len(text))),
	}
	outside := func(set string) []uint64 {
		return kerneltest.Bitmap(len(text), func(i int) bool {
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
func checkStructure(r *kerneltest.Rig, name string, text []byte, carry kjson.StructureCarry) {
	r.Helper()
	want := carry
	x := structureOf(text, &want)
	c := kerneltest.Upload(r, []kjson.StructureCarry{carry})
	got, err := kjson.AllocStructure(r.Stream, len(text))
	r.OK(err)
	defer func() { r.OK(got.Free(r.Stream)) }()
	masks, err := kjson.AllocStructureMasks(r.Stream, len(text))
	r.OK(err)
	defer func() { r.OK(masks.Free(r.Stream)) }()
	r.OK(kjson.ParseStructure(r.Set, r.Stream, kerneltest.Upload(r, text), got, c))
	r.OK(kjson.UnpackStructure(r.Set, r.Stream, got, masks))
	kerneltest.SameMask(r, name+": inside", text, kerneltest.Read(r, masks.Inside), x.inside)
	kerneltest.SameMask(r, name+": open", text, kerneltest.Read(r, masks.Open), x.open)
	kerneltest.SameMask(r, name+": close", text, kerneltest.Read(r, masks.Close), x.closing)
	kerneltest.SameMask(r, name+": colon", text, kerneltest.Read(r, masks.Colon), x.colon)
	kerneltest.SameMask(r, name+": comma", text, kerneltest.Read(r, masks.Comma), x.comma)
	for i, d := range kerneltest.Read(r, masks.Depth) {
		if d != x.depth[i] {
			r.Fatalf("%s: depth %d before byte %d, want %d", name, d, i*64, x.depth[i])
		}
	}
	if end := kerneltest.Read(r, c)[0]; end != want {
		r.Fatalf("%s: the carry is %+v, want %+v", name, end, want)
	}
}

func TestStructure(t *testing.T) {
	r := kerneltest.Open(t)
	carries := []kjson.StructureCarry{
		{},
		{Depth: 3, Quote: ktext.QuoteCarry{Inside: 1}},
		{Depth: 1 << 20, Quote: ktext.QuoteCarry{Inside: 1, Escaped: 1}},
		{Depth: -5, Quote: ktext.QuoteCarry{Escaped: 1}},
	}
	for _, n := range kerneltest.Sizes {
		for i, c := range carries {
			checkStructure(r, "random", kerneltest.Random(uint64(n+i), n, `"\\[]{}:, x1`), c)
		}
	}
	for name, text := range kerneltest.HostileTexts() {
		checkStructure(r, name, text, kjson.StructureCarry{})
		checkStructure(r, name+", escaped", text, kjson.StructureCarry{Quote: ktext.QuoteCarry{Escaped: 1}})
	}
}

// A text in chunks has the structure of the text.
func TestStructureInChunks(t *testing.T) {
	r := kerneltest.Open(t)
	small := []byte(`{"a\\":"[\"x\\\"","b":[{"\\":""}]}\\"`)
	rng := rand.New(rand.NewPCG(5, 6))
	large := kerneltest.Random(9, 60000, `"\\\\[]{}:,x`)
	for i := range 2*len(small) + 8 {
		text, at := small, i%len(small)
		if i >= 2*len(small) {
			text, at = large, rng.IntN(len(large))
		}
		var c kjson.StructureCarry
		structureOf(text[:at], &c)
		checkStructure(r, "the second chunk", text[at:], c)
	}
}

// More tiles than one group joins, with a run of backslashes and a string that reach over groups.
func TestStructureOfManyTiles(t *testing.T) {
	r := kerneltest.Open(t)
	const tile, group = 16384, 256
	text := kerneltest.Random(11, 2*group*tile+5000, `"\\[]{}:, x1`)
	copy(text[100*tile:], bytes.Repeat([]byte{'\\'}, 200*tile+1))
	copy(text[310*tile:], `"`)
	copy(text[310*tile+1:], bytes.Repeat([]byte{'['}, 210*tile))
	checkStructure(r, "many tiles", text, kjson.StructureCarry{Depth: 7, Quote: ktext.QuoteCarry{
		Inside:  1,
		Escaped: 1,
	}})
}
