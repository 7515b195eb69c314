package kernels_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
)

// sameHex decodes spans of digits on the device and with package hex. What the bytes of a bad span
// are is not compared.
func sameHex(r *rig, name string, digits []string, gap string) {
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
	textDev, startsDev, offsetsDev := upload(r, text), upload(r, starts), poisoned[int64](r, len(digits)+1)
	badDev := poisoned[uint64](r, kernels.Words(len(digits)))
	r.ok(r.k.HexOffsets(r.s, textDev, startsDev, upload(r, ends), offsetsDev, badDev))
	sameItems(r, name+": offsets", read(r, offsetsDev), offsets)
	sameItems(r, name+": odd", read(r, badDev), bitmap(len(odd), func(i int) bool { return odd[i] }))
	out := poisoned[byte](r, len(want)+5)
	r.ok(r.k.HexBytes(r.s, textDev, startsDev, offsetsDev, out, badDev))
	sameItems(r, name+": bad", read(r, badDev), bitmap(len(bad), func(i int) bool { return bad[i] }))
	got := read(r, out)
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
	r := open(t)
	rng := rand.New(rand.NewPCG(2, 2))
	digits := func(n int) string { return string(random(rng.Uint64(), n, "0123456789abcdefABCDEF")) }
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
	r := open(t)
	text := upload(r, []byte("00112233445566778899"))
	starts, ends := upload(r, []int64{-2, 0, 8, 0, 1 << 40}), upload(r, []int64{2, 22, 4, 20, 1 << 41})
	offsets, bad := poisoned[int64](r, 6), poisoned[uint64](r, 1)
	r.ok(r.k.HexOffsets(r.s, text, starts, ends, offsets, bad))
	sameItems(r, "offsets", read(r, offsets), []int64{0, 0, 0, 0, 10, 10})
	sameItems(r, "bad", read(r, bad), []uint64{0b10111})
	out := poisoned[byte](r, 9)
	r.ok(r.k.HexBytes(r.s, text, starts, offsets, out, bad))
	sameItems(r, "bytes", read(r, out), []byte{0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88})
}

func TestHexRefuses(t *testing.T) {
	r := open(t)
	text, spans, offsets, bad := upload(r, make([]byte, 64)), upload(r, make([]int64, 65)), poisoned[int64](r, 66),
		poisoned[uint64](r, 2)
	tests := []struct {
		name string
		err  error
	}{
		{"fewer ends", r.k.HexOffsets(r.s, text, spans, spans.Slice(0, 64), offsets, bad)},
		{"too few offsets", r.k.HexOffsets(r.s, text, spans, spans, offsets.Slice(0, 65), bad)},
		{"a short mask", r.k.HexOffsets(r.s, text, spans, spans, offsets, bad.Slice(0, 1))},
		{"text at an odd address", r.k.HexBytes(r.s, text.Slice(1, 64), spans, offsets, text, bad)},
		{"offsets of other spans", r.k.HexBytes(r.s, text, spans, offsets.Slice(0, 65), text, bad)},
		{"another mask", r.k.HexBytes(r.s, text, spans, offsets, text, bad.Slice(0, 1))},
	}
	for _, tt := range tests {
		if tt.err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}
