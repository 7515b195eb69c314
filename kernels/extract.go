package kernels

import "github.com/vibeflight/vibeflight/gpu"

// Extracted counts what ExtractNumbers found.
type Extracted struct {
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
func (k *Set) ExtractNumbers(s *gpu.Stream, start, end, region Mask, starts, ends gpu.Buffer[int64],
	found gpu.Buffer[Extracted],
) error {
	w := k.begin(s, "extract numbers")
	countSpans(w, starts, ends)
	w.need(found.Len() <= 1, "%d counts", found.Len())
	extractPairs(w, start, end, region, extractTiles(w, start, end, region, found), starts, ends)
	return w.done()
}

// AllocNumbers is ExtractNumbers into buffers of the right length, which the caller frees. It waits
// for the device to count.
func (k *Set) AllocNumbers(s *gpu.Stream, start, end, region Mask) (starts, ends gpu.Buffer[int64],
	found Extracted, err error,
) {
	w := k.begin(s, "extract numbers")
	count := take[Extracted](w, 1)
	tile := extractTiles(w, start, end, region, count)
	found = only(w, count)
	starts, ends = give[int64](w, found.Numbers), give[int64](w, found.Numbers)
	extractPairs(w, start, end, region, tile, starts, ends)
	if starts, err = handed(w, starts); err != nil {
		_ = ends.Free(s) // the first error is the one to tell
		return starts, gpu.Buffer[int64]{}, found, err
	}
	return starts, ends, found, nil
}

// extractTiles counts the pairs, by tile and in all.
func extractTiles(w *work, start, end, region Mask, found gpu.Buffer[Extracted]) gpu.Buffer[pairTile] {
	words := start.Len()
	w.need(end.Len() == words, "%d words of ends for %d of starts", end.Len(), words)
	w.need(region.Len() == words || region.Len() == 0, "%d words of region for %d of starts", region.Len(), words)
	tiles := tilesOf(start)
	tile := take[pairTile](w, int(tiles))
	w.launch("extract_tiles", tiles, block, start.Arg(), end.Arg(), region.Arg(), gpu.Int(words), tile.Arg())
	w.launch("extract_scan", 1, scanBlock, tile.Arg(), gpu.Int(tiles), found.Arg())
	return tile
}

// extractPairs lists the pairs.
func extractPairs(w *work, start, end, region Mask, tile gpu.Buffer[pairTile], starts, ends gpu.Buffer[int64]) {
	w.launch("extract_pairs", tilesOf(start), block, start.Arg(), end.Arg(), region.Arg(), gpu.Int(start.Len()),
		tile.Arg(), starts.Arg(), ends.Arg(), gpu.Int(starts.Len()))
}
