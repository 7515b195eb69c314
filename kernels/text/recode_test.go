package text_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"github.com/vibeflight/vibeflight/gpu"
	kfixed "github.com/vibeflight/vibeflight/kernels/fixed"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// TestRecode holds texts of several code pages against what x/text makes of them.
func TestRecode(t *testing.T) {
	r := kerneltest.Open(t)
	for _, page := range []*charmap.Charmap{
		charmap.ISO8859_1, charmap.CodePage437, charmap.Windows1252,
		charmap.Windows1251,
	} {
		upper, rng := kerneltest.CodePage(page), rand.New(rand.NewPCG(3, 6))
		for _, n := range []int{1, 33, 256, 257, 700} {
			var texts []string
			for i := range n {
				b := make([]byte, []int{0, 1, 7, 8, 9, 16, 255, 256, rng.IntN(40)}[i%9])
				for k := range b {
					if b[k] = byte(rng.IntN(256)); rng.IntN(3) > 0 {
						b[k] &= 0x7f
					}
				}
				texts = append(texts, string(b))
			}
			if n%2 == 1 { // nothing odd
				for i, text := range texts {
					texts[i] = strings.Map(func(c rune) rune {
						if c >= 0x80 {
							return '\u00e9'
						}
						return c
					}, text)
					texts[i], _ = charmap.Windows1252.NewEncoder().String(texts[i])
					texts[i] = texts[i][:min(len(texts[i]), ktext.RecodedBytes)]
				}
			}
			sameRecoded(r, fmt.Sprintf("%v, %d texts", page, n), texts, page, upper)
		}
	}
}

// sameRecoded has a device recode texts.
func sameRecoded(r *kerneltest.Rig, name string, texts []string, page *charmap.Charmap, upper ktext.CodePage) {
	r.Helper()
	var starts, ends, offsets []int64
	all, want, odd, total := []byte("x"), []string{}, uint32(0), int64(0)
	for _, text := range texts {
		starts = append(starts, int64(len(all)))
		all = append(all, text...)
		ends = append(ends, int64(len(all)))
		all = append(all, "\xff "...)
		var b strings.Builder
		for _, c := range []byte(text) {
			if v := page.DecodeByte(c); v != '\uFFFD' {
				b.WriteRune(v)
			} else {
				odd = kfixed.FixedHigh
			}
		}
		want, offsets = append(want, b.String()), append(offsets, total)
		total += int64(b.Len())
	}
	offsets = append(offsets, total)
	text, from, to, table, found := kerneltest.Upload(r, all), kerneltest.Upload(r, starts),
		kerneltest.Upload(r, ends), kerneltest.Upload(r, upper[:]),
		kerneltest.Upload(r, []uint32{0})
	sums := kerneltest.Poisoned[int64](r, len(offsets))
	r.OK(ktext.MeasureRecoded(r.Set, r.Stream, text, from, to, table, sums, found))
	kerneltest.SameItems(r, name, kerneltest.Read(r, sums), offsets)
	if got := kerneltest.Read(r, found)[0]; got != odd {
		r.Fatalf("%s: odd are %#x, want %#x", name, got, odd)
	}
	out := kerneltest.Poisoned[byte](r, int(total))
	r.OK(ktext.GatherRecoded(r.Set, r.Stream, text, from, to, table, sums, out))
	if got := string(kerneltest.Read(r, out)); got != strings.Join(want, "") {
		r.Fatalf("%s: got %q, want %q", name, got, want)
	}
	if total == 0 {
		return
	}
	short := kerneltest.Poisoned[byte](r, int(total-1))
	r.OK(ktext.GatherRecoded(r.Set, r.Stream, text, from, to, table, sums, short))
	fits := 0
	for i := range want { // the last text that has bytes is left out
		if offsets[i] < total && offsets[i+1] == total {
			fits = int(offsets[i])
		}
	}
	if got := string(kerneltest.Read(r, short)[:fits]); got != strings.Join(want, "")[:fits] {
		r.Fatalf("%s: with too little room, got %q, want %q", name, got, want)
	}
}

func TestRecodeRefuses(t *testing.T) {
	r := kerneltest.Open(t)
	text, spans, offsets, odd := kerneltest.Upload(r, make([]byte, 64)), kerneltest.Poisoned[int64](r, 3),
		kerneltest.Poisoned[int64](r, 4),
		kerneltest.Upload(r, []uint32{0})
	page := kerneltest.Upload(r, make([]uint32, 128))
	for name, err := range map[string]error{
		"half a page":     ktext.MeasureRecoded(r.Set, r.Stream, text, spans, spans, page.Slice(0, 64), offsets, odd),
		"too few offsets": ktext.MeasureRecoded(r.Set, r.Stream, text, spans, spans, page, offsets.Slice(0, 3), odd),
		"too few ends":    ktext.GatherRecoded(r.Set, r.Stream, text, spans, spans.Slice(0, 2), page, offsets, text),
		"no odd": ktext.MeasureRecoded(r.Set, r.Stream, text, spans, spans, page, offsets,
			gpu.Buffer[uint32]{}),
		"an odd address": ktext.GatherRecoded(r.Set, r.Stream, text.Slice(1, 64), spans, spans, page, offsets, text),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
