package text_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// sameHex decodes spans of digits on the device and with package hex. What the bytes of a bad span
// are is not compared.
func sameHex(r *kerneltest.Rig, name string, digits []string, gap string) {
	r.Helper()
	var text, want []byte
	var starts, ends []int64
	offsets := []int64{0}
	var odd, bad []bool
	for _, d := range digits {
		text = append(text, gap...)
		starts = append(starts, int64(len(text)))
		text = append(text, d...)
		ends = append(ends, int64(len(text)))
		b, err := hex.DecodeString(d)
		odd, bad = append(odd, len(d)%2 != 0), append(bad, err != nil)
		if len(d)%2 == 0 {
			want = append(append(want, b...), make([]byte, len(d)/2-len(b))...)
		}
		offsets = append(offsets, int64(len(want)))
	}
	textDev, startsDev, offsetsDev := kerneltest.Upload(r, text), kerneltest.Upload(r, starts),
		kerneltest.Poisoned[int64](r, len(digits)+1)
	badDev := kerneltest.Poisoned[uint64](r, kernels.Words(len(digits)))
	r.OK(ktext.HexOffsets(r.Set, r.Stream, textDev, startsDev, kerneltest.Upload(r, ends), offsetsDev, badDev))
	kerneltest.SameItems(r, name+": offsets", kerneltest.Read(r, offsetsDev), offsets)
	kerneltest.SameItems(r, name+": odd", kerneltest.Read(r, badDev), kerneltest.Bitmap(len(odd), func(i int) bool {
		return odd[i]
	}))
	out := kerneltest.Poisoned[byte](r, len(want)+5)
	r.OK(ktext.HexBytes(r.Set, r.Stream, textDev, startsDev, offsetsDev, out, badDev))
	kerneltest.SameItems(r, name+": bad", kerneltest.Read(r, badDev), kerneltest.Bitmap(len(bad), func(i int) bool {
		return bad[i]
	}))
	got := kerneltest.Read(r, out)
	for i := range digits {
		if a, b := offsets[i], offsets[i+1]; !bad[i] && !bytes.Equal(got[a:b], want[a:b]) {
			r.Fatalf("%s: span %d %.80q is %x, want %x", name, i, digits[i], got[a:b], want[a:b])
		}
	}
	if string(got[len(want):]) != "\xa5\xa5\xa5\xa5\xa5" {
		r.Fatalf("%s: bytes are written behind the last one", name)
	}
}

func TestHex(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(2, 2))
	digits := func(n int) string { return string(kerneltest.Random(rng.Uint64(), n, "0123456789abcdefABCDEF")) }
	var every, lengths, points []string
	for c := range 256 {
		every = append(every, string([]byte{byte(c), '0'}), string([]byte{'f', byte(c)}), "0011223344556677"+
			string([]byte{byte(c)})+"899aabbccddeeff")
	}
	for n := range 140 {
		lengths = append(lengths, digits(n))
	}
	for range 700 {
		points = append(points, digits(42))
	}
	long := digits(70000)
	tests := []struct {
		name   string
		digits []string
	}{
		{"no span", nil},
		{"an empty span", []string{""}},
		{"one byte", []string{"fF"}},
		{"every byte as a digit", every},
		{"every length", lengths},
		{"points", points},
		{"one long span", []string{long}},
		{"a long span that is bad everywhere", []string{"00", string(bytes.Repeat([]byte{'g'}, 40000)), "11"}},
		{"many empty spans between two", append(append([]string{"0a0b0c"}, slices.Repeat([]string{""}, 5000)...),
			"0d0e0f")},
		{"around a long span", []string{"01", "2", "", long, "", "03"}},
	}
	for _, tt := range tests {
		for _, gap := range []string{"", ",", "\n\""} {
			sameHex(r, fmt.Sprintf("%s, gap %q", tt.name, gap), tt.digits, gap)
		}
	}
}

// Spans that no sound caller gives have no bytes, and bytes without room are left out.
func TestHexOfBadSpans(t *testing.T) {
	r := kerneltest.Open(t)
	text := kerneltest.Upload(r, []byte("00112233445566778899"))
	starts, ends := kerneltest.Upload(r, []int64{-2, 0, 8, 0, 1 << 40}),
		kerneltest.Upload(r, []int64{2, 22, 4, 20, 1 << 41})
	offsets, bad := kerneltest.Poisoned[int64](r, 6), kerneltest.Poisoned[uint64](r, 1)
	r.OK(ktext.HexOffsets(r.Set, r.Stream, text, starts, ends, offsets, bad))
	kerneltest.SameItems(r, "offsets", kerneltest.Read(r, offsets), []int64{0, 0, 0, 0, 10, 10})
	kerneltest.SameItems(r, "bad", kerneltest.Read(r, bad), []uint64{0b10111})
	out := kerneltest.Poisoned[byte](r, 9)
	r.OK(ktext.HexBytes(r.Set, r.Stream, text, starts, offsets, out, bad))
	kerneltest.SameItems(r, "bytes", kerneltest.Read(r, out), []byte{0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88})
}

func TestHexRefuses(t *testing.T) {
	r := kerneltest.Open(t)
	text, spans, offsets, bad := kerneltest.Upload(r, make([]byte, 64)), kerneltest.Upload(r, make([]int64, 65)),
		kerneltest.Poisoned[int64](r, 66),
		kerneltest.Poisoned[uint64](r, 2)
	tests := []struct {
		name string
		err  error
	}{
		{"fewer ends", ktext.HexOffsets(r.Set, r.Stream, text, spans, spans.Slice(0, 64), offsets, bad)},
		{"too few offsets", ktext.HexOffsets(r.Set, r.Stream, text, spans, spans, offsets.Slice(0, 65), bad)},
		{"a short mask", ktext.HexOffsets(r.Set, r.Stream, text, spans, spans, offsets, bad.Slice(0, 1))},
		{"text at an odd address", ktext.HexBytes(r.Set, r.Stream, text.Slice(1, 64), spans, offsets, text, bad)},
		{"offsets of other spans", ktext.HexBytes(r.Set, r.Stream, text, spans, offsets.Slice(0, 65), text, bad)},
		{"another mask", ktext.HexBytes(r.Set, r.Stream, text, spans, offsets, text, bad.Slice(0, 1))},
	}
	for _, tt := range tests {
		if tt.err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}
