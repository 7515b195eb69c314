package number

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// Extraction counts what ExtractNumbers found.
type Extraction struct {
	Numbers int64 // pairs of a start and an end
	Dropped int64 // starts and ends that are part of none
}

// pairTile is PairTile of extract.cu.
type pairTile struct {
	Pairs, Waits     int64
	Events, FirstEnd uint32
}

// ExtractNumbers pairs the starts and ends that NumberBoundaries found: an end with the nearest
// start before it or at the same byte, if neither another end nor a byte outside region lies
// between them. So no list gets out of step with the other, whatever the text is.
//
//	start, end    masks of as many words
//	region        of as many words: only its bytes count; or none
//	starts, ends  half-open, ascending, equally many elements; what does not fit is left out
//	found         one element, which counts all, whether they fitted or not; or none
//
//	text    1 2 , 1 2 a b c , 5 , t r u e
//	start   1 . . 1 . . . . . 1 . . . . .
//	end     . 1 . . . . . . . 1 . . . . 1
//	starts  0                 9             Dropped 2
//	ends    2                 10
//
// Three launches; reads the masks twice and writes 16 bytes a number.
func ExtractNumbers(k *kernels.Set, s *gpu.Stream, start, end, region kernels.Mask, starts, ends gpu.Buffer[int64],
	found gpu.Buffer[Extraction],
) error {
	w := k.Begin(s, "extract numbers")
	kernels.CountSpans(w, starts, ends)
	w.Need(found.Len() <= 1, "%d counts", found.Len())
	extractPairs(w, start, end, region, extractTiles(w, start, end, region, found), starts, ends)
	return w.Done()
}

// AllocNumbers is ExtractNumbers into buffers of the right length, which the caller frees. It waits
// for the device to count.
func AllocNumbers(k *kernels.Set, s *gpu.Stream, start, end, region kernels.Mask) (starts, ends gpu.Buffer[int64],
	found Extraction, err error,
) {
	w := k.Begin(s, "extract numbers")
	count := kernels.Scratch[Extraction](w, 1)
	tile := extractTiles(w, start, end, region, count)
	found = kernels.ReadOne(w, count)
	starts, ends = kernels.Result[int64](w, found.Numbers), kernels.Result[int64](w, found.Numbers)
	extractPairs(w, start, end, region, tile, starts, ends)
	if starts, err = kernels.Finish(w, starts); err != nil {
		_ = ends.Free(s) // the first error is the one to tell
		return starts, gpu.Buffer[int64]{}, found, err
	}
	return starts, ends, found, nil
}

// extractTiles counts the pairs, by tile and in all.
func extractTiles(w *kernels.Call, start, end, region kernels.Mask, found gpu.Buffer[Extraction]) gpu.Buffer[pairTile] {
	words := start.Len()
	w.Need(end.Len() == words, "%d words of ends for %d of starts", end.Len(), words)
	w.Need(region.Len() == words || region.Len() == 0, "%d words of region for %d of starts", region.Len(), words)
	tiles := kernels.TilesOf(start)
	tile := kernels.Scratch[pairTile](w, int(tiles))
	w.Launch("extract_tiles", tiles, kernels.Block, start.Arg(), end.Arg(), region.Arg(), gpu.Int(words), tile.Arg())
	w.Launch("extract_scan", 1, kernels.ScanBlock, tile.Arg(), gpu.Int(tiles), found.Arg())
	return tile
}

// extractPairs lists the pairs.
func extractPairs(w *kernels.Call, start, end, region kernels.Mask, tile gpu.Buffer[pairTile], starts,
	ends gpu.Buffer[int64],
) {
	w.Launch("extract_pairs", kernels.TilesOf(start), kernels.Block, start.Arg(), end.Arg(), region.Arg(),
		gpu.Int(start.Len()),
		tile.Arg(), starts.Arg(), ends.Arg(), gpu.Int(starts.Len()))
}
