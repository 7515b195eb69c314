package number_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
)

// extracted is ExtractNumbers, byte by byte. region may be nil.
func extracted(start, end, region []uint64) (starts, ends []int64, found knumber.Extraction) {
	starts, ends = []int64{}, []int64{}
	waits := int64(-1)
	for i := range 64 * len(start) {
		if region != nil && !kerneltest.Bit(region, i) {
			waits = -1
			continue
		}
		if kerneltest.Bit(start, i) {
			waits = int64(i)
			found.Dropped++
		}
		if !kerneltest.Bit(end, i) {
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
func checkExtracted(r *kerneltest.Rig, what string, start, end, region []uint64) {
	r.Helper()
	wantStarts, wantEnds, want := extracted(start, end, region)
	a, b, c := kerneltest.Upload(r, start), kerneltest.Upload(r, end), gpu.Buffer[uint64]{}
	if region != nil {
		c = kerneltest.Upload(r, region)
	}
	for _, room := range []int{len(wantStarts), len(wantStarts) / 2} {
		starts, ends, found := kerneltest.Poisoned[int64](r, room), kerneltest.Poisoned[int64](r, room),
			kerneltest.Poisoned[knumber.Extraction](r, 1)
		r.OK(knumber.ExtractNumbers(r.Set, r.Stream, a, b, c, starts, ends, found))
		kerneltest.SameItems(r, what+", starts", kerneltest.Read(r, starts), wantStarts[:room])
		kerneltest.SameItems(r, what+", ends", kerneltest.Read(r, ends), wantEnds[:room])
		kerneltest.SameItems(r, what+", counts", kerneltest.Read(r, found), []knumber.Extraction{want})
	}
	starts, ends, found, err := knumber.AllocNumbers(r.Set, r.Stream, a, b, c)
	r.OK(err)
	kerneltest.SameItems(r, what+", allocated starts", kerneltest.Read(r, starts), wantStarts)
	kerneltest.SameItems(r, what+", allocated ends", kerneltest.Read(r, ends), wantEnds)
	if found != want {
		r.Fatalf("%s: found %+v, want %+v", what, found, want)
	}
	kerneltest.Freed(r, starts)
	kerneltest.Freed(r, ends)
}

func TestExtractNumbers(t *testing.T) {
	r := kerneltest.Open(t)
	for _, n := range []int{0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 2048, 16383, 16384, 16385, 140000} {
		rng := rand.New(rand.NewPCG(uint64(n), 7))
		region := kerneltest.Bitmap(n, func(i int) bool { return i/100%3 != 1 })
		// One event in n bytes, from every byte to none but a few in a tile.
		for _, each := range []int{1, 2, 10, 9000} {
			start := kerneltest.Bitmap(n, func(int) bool { return rng.IntN(each) == 0 })
			end := kerneltest.Bitmap(n, func(int) bool { return rng.IntN(each) == 0 })
			what := fmt.Sprintf("%d bytes, one event in %d", n, each)
			checkExtracted(r, what, start, end, nil)
			checkExtracted(r, what+", region", start, end, region)
			checkExtracted(r, what+", same", start, start, nil)
		}
		all := kerneltest.Bitmap(n, func(int) bool { return true })
		none := kerneltest.Bitmap(n, func(int) bool { return false })
		checkExtracted(r, fmt.Sprint(n, " starts and ends"), all, all, nil)
		checkExtracted(r, fmt.Sprint(n, " starts"), all, none, nil)
		checkExtracted(r, fmt.Sprint(n, " ends"), none, all, nil)
		checkExtracted(r, fmt.Sprint(n, " without a region"), all, all, none)
	}
}

// One pair, or half of one, from every place to every other around words, warps and tiles.
func TestExtractNumbersFarApart(t *testing.T) {
	r := kerneltest.Open(t)
	const n = 3 * 16384
	places := []int{0, 63, 64, 2048, 16383, 16384, 32768, n - 1}
	all := kerneltest.Bitmap(n, func(int) bool { return true })
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
	r := kerneltest.Open(t)
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
		start, end := kerneltest.Poisoned[uint64](r, 1), kerneltest.Poisoned[uint64](r, 1)
		r.OK(knumber.NumberBoundaries(r.Set, r.Stream, kerneltest.Upload(r, text), gpu.Buffer[uint64]{},
			knumber.Separators{
				Before: -1,
				Behind: -1,
			}, start, end))
		starts, ends, found, err := knumber.AllocNumbers(r.Set, r.Stream, start, end, gpu.Buffer[uint64]{})
		r.OK(err)
		from, to := kerneltest.Read(r, starts), kerneltest.Read(r, ends)
		var got []string
		for i := range from {
			got = append(got, tt.text[from[i]:to[i]])
		}
		kerneltest.SameItems(t, tt.name, got, tt.want)
		if found.Dropped != tt.dropped {
			t.Errorf("%s: %q: %d dropped, want %d", tt.name, tt.text, found.Dropped, tt.dropped)
		}
		kerneltest.Freed(r, starts)
		kerneltest.Freed(r, ends)
	}
}

func TestExtractNumbersRefuses(t *testing.T) {
	r := kerneltest.Open(t)
	mask, list := kerneltest.Upload(r, make([]uint64, 3)), kerneltest.Poisoned[int64](r, 10)
	none := gpu.Buffer[knumber.Extraction]{}
	tests := []struct {
		name string
		err  error
	}{
		{"few ends", knumber.ExtractNumbers(r.Set, r.Stream, mask, mask.Slice(0, 2), gpu.Buffer[uint64]{},
			list, list, none)},
		{"a short region", knumber.ExtractNumbers(r.Set, r.Stream, mask, mask, mask.Slice(0, 2), list, list, none)},
		{"lists of two lengths", knumber.ExtractNumbers(r.Set, r.Stream, mask, mask, mask, list,
			list.Slice(0, 9), none)},
		{"two counts", knumber.ExtractNumbers(r.Set, r.Stream, mask, mask, mask, list, list,
			kerneltest.Poisoned[knumber.Extraction](r, 2))},
	}
	for _, tt := range tests {
		if tt.err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}
