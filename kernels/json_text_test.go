package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

func TestRankSpans(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(4, 9))
	for _, n := range sizes {
		mask := bitmap(n, func(int) bool { return rng.IntN(3) > 0 })
		before := make([]int64, n+1)
		for i := range n {
			before[i+1] = before[i] + int64(mask[i/64]>>(i%64)&1)
		}
		var starts, ends, wantStarts, wantEnds []int64
		for range 1 + n/50 {
			a, b := rng.IntN(n+1), rng.IntN(n+1)
			starts, ends = append(starts, int64(a)), append(ends, int64(b))
			wantStarts, wantEnds = append(wantStarts, before[a]), append(wantEnds, before[b])
		}
		bits, from, to := upload(r, mask), upload(r, starts), upload(r, ends)
		ranks, err := r.k.Rank(r.s, bits)
		r.ok(err)
		r.ok(r.k.RankSpans(r.s, ranks, from, to))
		if got := read(r, ranks.Total())[0]; got != before[n] {
			t.Errorf("%d bits: %d are set, want %d", n, got, before[n])
		}
		if !slices.Equal(read(r, from), wantStarts) || !slices.Equal(read(r, to), wantEnds) {
			t.Errorf("%d bits: other ranks", n)
		}
		r.ok(ranks.Free(r.s))
	}
}

func TestMembersOfKinds(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(4, 10))
	for _, rows := range []int{0, 1, 40, 700} {
		m := randomMembers(rng, rows, 5, 0, 9)
		owner, field, kind := upload(r, m.owner), upload(r, m.ownerField), upload(r, m.kind)
		for want := int32(-1); want < 2; want++ {
			marked := poisoned[uint64](r, kernels.Words(len(m.kind)))
			r.ok(r.k.MembersOfKinds(r.s, owner, field, want, kind, kernels.Kinds(kernels.ValueObject,
				kernels.ValueArray), marked))
			sameMask(t, fmt.Sprintf("%d rows, owner %d", rows, want), make([]byte, len(m.kind)),
				read(r, marked), bitmap(len(m.kind), func(i int) bool {
					if o := m.owner[i]; want < 0 && o >= 0 || want >= 0 && (o < 0 || m.ownerField[o] != want) {
						return false
					}
					return m.kind[i] == kernels.ValueObject || m.kind[i] == kernels.ValueArray
				}))
		}
	}
}

// TestStringsOfTwoTexts has strings of one text in some rows, and of another one in the others.
func TestStringsOfTwoTexts(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(4, 11))
	var texts [2][]byte
	var starts, ends [2][]int64
	var want []byte
	wantOffsets := []int64{0}
	for range 900 {
		which := rng.IntN(2)
		s := random(rng.Uint64(), rng.IntN(1+rng.IntN(700)), "abc")
		for i := range texts {
			starts[i] = append(starts[i], int64(len(texts[i])))
			if i == which {
				texts[i] = append(texts[i], s...)
			}
			ends[i] = append(ends[i], int64(len(texts[i])))
		}
		want = append(want, s...)
		wantOffsets = append(wantOffsets, int64(len(want)))
	}
	var columns [2]*kernels.Strings
	var offsets [2]gpu.Buffer[int64]
	for i := range texts {
		offsets[i] = poisoned[int64](r, len(wantOffsets))
		var err error
		columns[i], err = r.k.MeasureStrings(r.s, upload(r, texts[i]), upload(r, starts[i]), upload(r, ends[i]),
			kernels.StringMode(i), offsets[i])
		r.ok(err)
		r.Cleanup(func() { r.ok(columns[i].Free(r.s)) })
	}
	r.ok(r.k.AddOffsets(r.s, offsets[0], offsets[1]))
	if !slices.Equal(read(r, offsets[0]), wantOffsets) {
		t.Fatal("other offsets")
	}
	out := poisoned[byte](r, len(want))
	for i := range columns {
		r.ok(r.k.GatherStrings(r.s, columns[i].At(offsets[0]), out, gpu.Buffer[int32]{}))
	}
	if !slices.Equal(read(r, out), want) {
		t.Error("other strings")
	}
}
