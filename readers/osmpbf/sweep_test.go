package osmpbf_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/osmpbf"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestSweep reads random files, of each layer, many of them damaged: the same table, or the same
// error, with one worker and with several.
func TestSweep(t *testing.T) {
	readertest.Sweep{
		Format: osmpbf.Format(), Documents: 2000, Variants: []readertest.Variant{parallel},
		Document: func(seed uint64) readertest.Input {
			r := rand.New(rand.NewPCG(seed, 35))
			in := readertest.Input{Name: "a.pbf", Text: sweepFile(r), Layer: osmpbf.Layers[r.IntN(5)]}
			in.Options = map[string]any{"on_error": []string{"fail", "skip", "null", "repair"}[r.IntN(4)]}
			in.Limits = readers.Limits{BatchRows: []int{0, 1, 2, 5}[r.IntN(4)]}
			return in
		},
	}.CPU(t)
}

// FuzzLayers reads any bytes as each layer.
func FuzzLayers(f *testing.F) {
	f.Add(square(), uint8(0))
	for seed := range uint64(8) {
		f.Add(sweepFile(rand.New(rand.NewPCG(seed, 36))), uint8(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte, how uint8) {
		in := readertest.Input{Name: "a.pbf", Text: text, Layer: osmpbf.Layers[how%5]}
		in.Options = map[string]any{"on_error": []string{"fail", "skip", "null"}[how/5%3]}
		in.Limits = readers.Limits{BatchRows: int(how / 15 % 4)}
		if _, _ = readertest.Check(t, osmpbf.Format(), in); !t.Failed() {
			readertest.Same(t, osmpbf.Format(), in, []int{int(how), int(how) + 1}, parallel)
		}
	})
}

// sweepFile returns a random file. Of two, one is damaged.
func sweepFile(r *rand.Rand) []byte {
	keys := table("type", "multipolygon", "route", "building", "yes", "highway", "area", "no", "name", "é", "outer",
		"inner", "subarea", "created_by", "layer", "-1", "\x01\"", "a\xff")
	texts := uint64(18)
	if r.IntN(4) == 0 {
		texts++ // with the one that is not UTF-8
	}
	tags := func(m message) message {
		var k, v []uint64
		for range r.IntN(4) {
			k, v = append(k, 1+r.Uint64N(texts-1)), append(v, 1+r.Uint64N(texts-1))
		}
		if len(k) == 0 {
			return m
		}
		return m.numbers(2, k...).numbers(3, v...)
	}
	groups := [][]byte{}
	for range 1 + r.IntN(3) {
		var ids, lats, lons []int64
		var kv []uint64
		id := r.Int64N(20)
		for range r.IntN(30) {
			id += 1 + r.Int64N(2)
			ids, lats, lons = append(ids, id), append(lats, r.Int64N(4)*1e7), append(lons, r.Int64N(4)*1e7)
			for range r.IntN(3) {
				kv = append(kv, 1+r.Uint64N(texts-1), 1+r.Uint64N(texts-1))
			}
			kv = append(kv, 0)
		}
		groups = append(groups, message{}.bytes(2, message{}.deltas(1, ids...).deltas(8, lats...).deltas(9, lons...).
			numbers(10, kv...)))
	}
	var ways, relations message
	count := r.IntN(30)
	for id := range count {
		var refs []int64
		for range r.IntN(6) {
			refs = append(refs, r.Int64N(30))
		}
		if len(refs) > 0 && r.IntN(2) == 0 {
			refs = append(refs, refs[0])
		}
		ways = ways.bytes(3, tags(message{}.number(1, uint64(id))).deltas(8, refs...))
	}
	for id := range r.IntN(12) {
		var roles, types []uint64
		var members []int64
		for range r.IntN(6) {
			roles, types = append(roles, r.Uint64N(14)), append(types, []uint64{0, 1, 1, 1, 1, 2}[r.IntN(6)])
			members = append(members, r.Int64N(int64(count)+2))
		}
		m := message{}.number(1, uint64(id))
		if r.IntN(4) == 0 {
			m = tags(m)
		} else {
			m = m.numbers(2, 1).numbers(3, 2+r.Uint64N(3))
		}
		relations = relations.bytes(4, m.numbers(8, roles...).deltas(9, members...).numbers(10, types...))
	}
	groups = append(groups, ways, relations)
	var blocks [][]byte
	for g := range slices.Chunk(groups, 1+r.IntN(len(groups))) {
		blocks = append(blocks, block(keys, g...))
	}
	if r.IntN(8) == 0 {
		r.Shuffle(len(blocks), func(i, k int) { blocks[i], blocks[k] = blocks[k], blocks[i] })
	}
	if r.IntN(2) > 0 {
		return osmFile(blocks...)
	}
	for range 1 + r.IntN(3) { // within blocks, whose lengths stay right
		b := blocks[r.IntN(len(blocks))]
		at := r.IntN(len(b))
		switch r.IntN(3) {
		case 0:
			b[at] ^= 1 << r.IntN(8)
		case 1:
			b[at] = byte(r.Uint32())
		default:
			copy(b[at:], b[r.IntN(len(b)):])
		}
	}
	text := osmFile(blocks...)
	if r.IntN(6) == 0 {
		text[r.IntN(len(text))] ^= 1 << r.IntN(8)
	}
	if r.IntN(20) == 0 {
		text = text[:r.IntN(len(text))]
	}
	return text
}
