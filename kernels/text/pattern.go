package text

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// MaxPattern is the length of the longest pattern.
const MaxPattern = 256

// PatternMatch sets bit i of hits if pattern stands at byte i of text, all of it within the text.
// Occurrences may overlap, and all count.
//
//	text     n bytes
//	pattern  1 to MaxPattern bytes
//	inside   Words(n) words, or none. With it an occurrence counts only if its byte number check lies outside
//	         of strings
//	check    a place in the pattern; -1: its last byte. `"name":` in JSON has its colon there, which is in a
//	         string only if all of it is
//	hits     Words(n) words, overwritten
//
//	text     { " a " : " \ " a \ " : " }     pattern "a":  (the second is part of a string)
//	hits     . 1 . . . . . . . . . . . .
//
// Of a chunk's last len(pattern)-1 bytes no occurrence begins: the next chunk is to begin with
// them, and nothing is found twice. One launch that reads text once. Patterns are compiled in where
// there is a compiler.
func PatternMatch(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], pattern []byte, inside kernels.Mask, check int,
	hits kernels.Mask,
) error {
	w := k.Begin(s, "pattern match")
	n := w.CheckText(text)
	w.CheckMask("hits", hits, n)
	if inside.Len() > 0 {
		w.CheckMask("inside", inside, n)
	}
	w.Need(len(pattern) > 0 && len(pattern) <= MaxPattern, "a pattern of %d bytes", len(pattern))
	w.Need(check >= -1 && check < len(pattern), "byte %d of a pattern of %d is to be outside of strings",
		check, len(pattern))
	if w.Err != nil {
		return w.Done()
	}
	if check < 0 {
		check = len(pattern) - 1
	}
	probes, places := probesOf(pattern)
	words := patternWords(pattern)
	f, constant, err := k.Specialize("pattern_match", patternDefines(words, len(pattern), probes, places, check)...)
	w.Fail(err)
	var bytes gpu.Buffer[uint64] // of the pattern, where it isn't compiled in
	if !constant {
		bytes = kernels.Scratch[uint64](w, len(words))
		if w.Err == nil {
			w.Err = gpu.Upload(s, bytes, words)
		}
	}
	w.LaunchKernel(f, kernels.Blocks(kernels.Blocks(n, kernels.WordBytes), kernels.Block-1), kernels.Block,
		text.Arg(), gpu.Int(n), inside.Arg(), bytes.Arg(),
		gpu.Int(len(pattern)),
		gpu.Int(probes), gpu.Int(places), gpu.Int(check), hits.Arg())
	return w.Done()
}

// patternWords is the pattern in words, the first byte lowest.
func patternWords(pattern []byte) []uint64 {
	padded := append([]byte(nil), pattern...)
	for len(padded)%8 != 0 {
		padded = append(padded, 0)
	}
	words := make([]uint64, len(padded)/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(padded[8*i:])
	}
	return words
}

// patternDefines stand for pattern_match's arguments.
func patternDefines(words []uint64, length int, probes, places uint32, check int) []string {
	var list strings.Builder
	for i, v := range words {
		if i > 0 {
			list.WriteByte(',')
		}
		fmt.Fprintf(&list, "%#xull", v)
	}
	return []string{
		fmt.Sprintf("LENGTH=%du", length), fmt.Sprintf("PROBES=%#xu", probes), fmt.Sprintf("PLACES=%#xu", places),
		fmt.Sprintf("CHECK=%du", check), "PATTERN=" + list.String(),
	}
}

// probesOf chooses up to 4 bytes of pattern that tell it from other text best, all of them if it is
// no longer. They lie in its first 64 bytes. The first is the lowest byte of probes, its place the
// lowest of places.
func probesOf(pattern []byte) (probes, places uint32) {
	pattern = pattern[:min(len(pattern), 64)]
	var taken [64]bool
	var seen [256]bool
	for i := range min(len(pattern), 4) {
		best, cost := 0, 1<<30
		for at, b := range pattern {
			c := commonness(b)
			if seen[b] {
				c += 10 // says little that is new
			}
			if !taken[at] && c < cost {
				best, cost = at, c
			}
		}
		taken[best], seen[pattern[best]] = true, true
		probes |= uint32(pattern[best]) << (8 * i)
		places |= uint32(best) << (8 * i)
	}
	return probes, places
}

// commonness says, roughly, how often a byte is met in geospatial text, which is made of numbers
// and of a few names over and over.
func commonness(b byte) int {
	switch {
	case b >= '0' && b <= '9' || strings.IndexByte(".,", b) >= 0:
		return 9
	case strings.IndexByte(" -[]()<>{}\":=\r\n\t", b) >= 0:
		return 8
	case strings.IndexByte("aeinorst", b) >= 0:
		return 5
	case b >= 'a' && b <= 'z':
		return 4
	case b >= 'A' && b <= 'Z':
		return 3
	}
	return 1
}
