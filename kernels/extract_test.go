package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// extracted is ExtractNumbers, byte by byte. region may be nil.
func extracted(start, end, region []uint64) (starts, ends []int64, found kernels.Extracted) {
	starts, ends = []int64{}, []int64{}
	waits := int64(-1)
	for i := range 64 * len(start) {
		if region != nil && !bit(region, i) {
			waits = -1
			continue
		}
		if bit(start, i) {
			waits = int64(i)
			found.Dropped++
		}
		if !bit(end, i) {
			continue
		}
		found.Dropped++
		if waits >= 0 {
			starts, ends = append(starts, waits), append(ends, int64(i)+1)
			found.Numbers++
			found.Dropped -= 2
		}
		waits = -1
	}
	return starts, ends, found
}

// checkExtracted compares ExtractNumbers, with room and without, with the plain way.
func checkExtracted(r *rig, what string, start, end, region []uint64) {
	r.Helper()
	wantStarts, wantEnds, want := extracted(start, end, region)
	a, b, c := upload(r, start), upload(r, end), gpu.Buffer[uint64]{}
	if region != nil {
		c = upload(r, region)
	}
	for _, room := range []int{len(wantStarts), len(wantStarts) / 2} {
		starts, ends, found := poisoned[int64](r, room), poisoned[int64](r, room), poisoned[kernels.Extracted](r, 1)
		r.ok(r.k.ExtractNumbers(r.s, a, b, c, starts, ends, found))
		sameItems(r, what+", starts", read(r, starts), wantStarts[:room])
		sameItems(r, what+", ends", read(r, ends), wantEnds[:room])
		sameItems(r, what+", counts", read(r, found), []kernels.Extracted{want})
	}
	starts, ends, found, err := r.k.AllocNumbers(r.s, a, b, c)
	r.ok(err)
	sameItems(r, what+", allocated starts", read(r, starts), wantStarts)
	sameItems(r, what+", allocated ends", read(r, ends), wantEnds)
	if found != want {
		r.Fatalf("%s: found %+v, want %+v", what, found, want)
	}
	freed(r, starts)
	freed(r, ends)
}

func TestExtractNumbers(t *testing.T) {
	r := open(t)
	for _, n := range []int{0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 2048, 16383, 16384, 16385, 140000} {
		rng := rand.New(rand.NewPCG(uint64(n), 7))
		region := bitmap(n, func(i int) bool { return i/100%3 != 1 })
		// One event in so many bytes, from every byte to none but a few in a tile.
		for _, each := range []int{1, 2, 10, 9000} {
			start := bitmap(n, func(int) bool { return rng.IntN(each) == 0 })
			end := bitmap(n, func(int) bool { return rng.IntN(each) == 0 })
			what := fmt.Sprintf("%d bytes, one event in %d", n, each)
			checkExtracted(r, what, start, end, nil)
			checkExtracted(r, what+", region", start, end, region)
			checkExtracted(r, what+", same", start, start, nil)
		}
		all := bitmap(n, func(int) bool { return true })
		none := bitmap(n, func(int) bool { return false })
		checkExtracted(r, fmt.Sprint(n, " starts and ends"), all, all, nil)
		checkExtracted(r, fmt.Sprint(n, " starts"), all, none, nil)
		checkExtracted(r, fmt.Sprint(n, " ends"), none, all, nil)
		checkExtracted(r, fmt.Sprint(n, " without a region"), all, all, none)
	}
}

// One pair, or half of one, from every place to every other around words, warps and tiles.
func TestExtractNumbersFarApart(t *testing.T) {
	r := open(t)
	const n = 3 * 16384
	places := []int{0, 63, 64, 2048, 16383, 16384, 32768, n - 1}
	all := bitmap(n, func(int) bool { return true })
	for _, a := range places {
		for _, b := range places {
			start, end, gap := make([]uint64, n/64), make([]uint64, n/64), slices.Clone(all)
			start[a/64], end[b/64] = 1<<(a%64), 1<<(b%64)
			middle := (a + b) / 2
			gap[middle/64] &^= 1 << (middle % 64)
			what := fmt.Sprintf("from %d to %d", a, b)
			checkExtracted(r, what, start, end, nil)
			checkExtracted(r, what+" over a gap", start, end, gap)
		}
	}
}

// What NumberBoundaries finds in text that is no list of numbers stays in step.
func TestExtractNumbersOfText(t *testing.T) {
	r := open(t)
	tests := []struct {
		name, text string
		want       []string
		dropped    int64
	}{
		{"numbers", "[1,-2.5e3, 44 ]", []string{"1", "-2.5e3", "44"}, 0},
		{"words", "[12,12abc,5,true,false,null,7]", []string{"12", "5", "7"}, 3},
		{"text before", "abc5,6", []string{"6"}, 1},
		{"not a number", "[1-2,3]", []string{"1-2", "3"}, 0},
		{"cut in front", "5]", []string{"5"}, 0},
		{"a sign before a word", "[-x,3]", []string{"3"}, 1},
		{"a sign before a list", "[-[3]]", []string{"-", "3"}, 0},
		{"nothing", "[]", nil, 0},
	}
	for _, tt := range tests {
		text := []byte(tt.text)
		start, end := poisoned[uint64](r, 1), poisoned[uint64](r, 1)
		r.ok(r.k.NumberBoundaries(r.s, upload(r, text), gpu.Buffer[uint64]{}, kernels.Separators{
			Before: -1,
			Behind: -1,
		}, start, end))
		starts, ends, found, err := r.k.AllocNumbers(r.s, start, end, gpu.Buffer[uint64]{})
		r.ok(err)
		from, to := read(r, starts), read(r, ends)
		var got []string
		for i := range from {
			got = append(got, tt.text[from[i]:to[i]])
		}
		sameItems(t, tt.name, got, tt.want)
		if found.Dropped != tt.dropped {
			t.Errorf("%s: %q: %d dropped, want %d", tt.name, tt.text, found.Dropped, tt.dropped)
		}
		freed(r, starts)
		freed(r, ends)
	}
}

func TestExtractNumbersRefuses(t *testing.T) {
	r := open(t)
	mask, list := upload(r, make([]uint64, 3)), poisoned[int64](r, 10)
	none := gpu.Buffer[kernels.Extracted]{}
	tests := []struct {
		name string
		err  error
	}{
		{"few ends", r.k.ExtractNumbers(r.s, mask, mask.Slice(0, 2), gpu.Buffer[uint64]{}, list, list, none)},
		{"a short region", r.k.ExtractNumbers(r.s, mask, mask, mask.Slice(0, 2), list, list, none)},
		{"lists of two lengths", r.k.ExtractNumbers(r.s, mask, mask, mask, list, list.Slice(0, 9), none)},
		{"two counts", r.k.ExtractNumbers(r.s, mask, mask, mask, list, list, poisoned[kernels.Extracted](r, 2))},
	}
	for _, tt := range tests {
		if tt.err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}
