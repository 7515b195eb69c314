package text_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// occurrences is PatternMatch, byte by byte.
func occurrences(text, pattern []byte, inside []uint64, check int) []uint64 {
	if check < 0 {
		check = len(pattern) - 1
	}
	return kerneltest.Bitmap(len(text), func(i int) bool {
		return bytes.HasPrefix(text[i:], pattern) && (inside == nil || inside[(i+check)/64]>>((i+check)%64)&1 == 0)
	})
}

// checkPattern compares PatternMatch with the plain reading.
func checkPattern(r *kerneltest.Rig, name string, text, pattern []byte, inside []uint64, check int) {
	r.Helper()
	var mask kernels.Mask
	if inside != nil {
		mask = kerneltest.Upload(r, inside)
	}
	hits := kerneltest.Poisoned[uint64](r, kernels.Words(len(text)))
	r.OK(ktext.PatternMatch(r.Set, r.Stream, kerneltest.Upload(r, text), pattern, mask, check, hits))
	kerneltest.SameMask(r, name, text, kerneltest.Read(r, hits), occurrences(text, pattern, inside, check))
}

func TestPatternMatch(t *testing.T) {
	r := kerneltest.Open(t)
	r.Set.UseGeneric()
	compiled := kerneltest.Open(t)
	for i, n := range kerneltest.Sizes {
		text := kerneltest.Random(uint64(n), n, "ab")
		inside := kerneltest.Random(uint64(n+1), 8*kernels.Words(n), "\x00\xff\x0f\x81")
		mask := make([]uint64, kernels.Words(n))
		for j, b := range inside {
			mask[j/8] |= uint64(b) << (j % 8 * 8)
		}
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		for _, length := range []int{1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 127, 128, 129, 255, 256} {
			pattern := kerneltest.Random(uint64(length), length, "ab")
			if at := n - length - i%3; at >= 0 {
				pattern = text[at : at+length] // occurs once at least, near the end
			}
			switch i % 3 {
			case 0:
				checkPattern(r, "random", text, pattern, nil, -1)
			case 1:
				checkPattern(r, "random outside of strings", text, pattern, mask, -1)
			default:
				checkPattern(r, "random with another check", text, pattern, mask, rng.IntN(length))
			}
		}
		checkPattern(compiled, "compiled in", text, []byte("abbab"), mask, 1)
	}
	key := []byte(`"coordinates":`)
	json := bytes.Repeat([]byte(`{"type":"Point","coordinates":[1,2],"x":"\"coordinates\":[9]"},`), 700)
	hostile := []struct {
		name          string
		text, pattern string
	}{
		{"all candidates, all hits", strings.Repeat("a", 20000), strings.Repeat("a", 256)},
		{"all candidates, no hits", strings.Repeat("a", 20000), strings.Repeat("a", 100) + "b" +
			strings.Repeat("a", 100)},
		{"NULs", strings.Repeat("\x00", 1000), "\x00\x00\x00"},
		{"bytes from 128 on", strings.Repeat("\xff\x80\xfe", 1000), "\xfe\xff\x80\xfe\xff"},
		{"the text is the pattern", "POLYGON", "POLYGON"},
		{"the text lacks a byte", "POLYGO", "POLYGON"},
	}
	for _, on := range []*kerneltest.Rig{r, compiled} {
		checkPattern(on, "a key", json, key, kerneltest.QuoteParity(json, '"', ktext.QuoteEscaped,
			&ktext.QuoteCarry{}), -1)
		for _, tt := range hostile {
			checkPattern(on, tt.name, []byte(tt.text), []byte(tt.pattern), nil, -1)
		}
	}
}

// Chunks that overlap by all but one byte of the pattern have the hits of the text.
func TestPatternMatchInChunks(t *testing.T) {
	r := kerneltest.Open(t)
	text, pattern := kerneltest.Random(4, 300, "ab"), []byte("abaab")
	for at := len(pattern); at < len(text); at += 7 {
		first := occurrences(text[:at], pattern, nil, -1)
		begin := at - len(pattern) + 1
		checkPattern(r, "the first chunk", text[:at], pattern, nil, -1)
		checkPattern(r, "the second chunk", text[begin:], pattern, nil, -1)
		second := occurrences(text[begin:], pattern, nil, -1)
		kerneltest.SameMask(t, "both", text, kerneltest.Bitmap(len(text), func(i int) bool {
			return i < at && first[i/64]>>(i%64)&1 != 0 || i >= begin && second[(i-begin)/64]>>((i-begin)%64)&1 != 0
		}), occurrences(text, pattern, nil, -1))
	}
}

func TestPatternRefused(t *testing.T) {
	r := kerneltest.Open(t)
	text, hits := kerneltest.Upload(r, make([]byte, 100)), kerneltest.Poisoned[uint64](r, 2)
	tests := []struct {
		name    string
		pattern string
		check   int
	}{
		{"no pattern", "", -1},
		{"257 bytes", strings.Repeat("x", 257), -1},
		{"a check behind the pattern", "abc", 3},
		{"a check before the pattern", "abc", -2},
	}
	for _, tt := range tests {
		if err := ktext.PatternMatch(r.Set, r.Stream, text, []byte(tt.pattern), kernels.Mask{}, tt.check,
			hits); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
	if err := ktext.PatternMatch(r.Set, r.Stream, text, []byte("x"), hits.Slice(0, 1), -1, hits); err == nil {
		t.Error("a short mask of strings: no error")
	}
}
