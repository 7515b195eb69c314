package text_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// stringColumn is what a column of strings is read as.
type stringColumn struct {
	offsets  []int64
	bytes    []byte
	flags    []ktext.StringFlags
	replaced int64
}

// plainStrings reads strings one by one, byte by byte.
func plainStrings(raw [][]byte, mode ktext.StringMode) stringColumn {
	c := stringColumn{offsets: []int64{0}}
	for _, text := range raw {
		flags := ktext.StringFlags(0)
		if bytes.ContainsFunc(text, func(r rune) bool { return r < 0x20 }) {
			flags |= ktext.StringControl
		}
		if !utf8.Valid(text) {
			flags |= ktext.StringNotUTF8
		}
		switch mode {
		case ktext.StringsRaw:
			c.bytes = append(c.bytes, text...)
		case ktext.StringsJSON:
			for len(text) > 0 {
				text = c.plainJSON(text, &flags)
			}
		case ktext.StringsDoubled:
			if quotes := bytes.Count(text, []byte(`""`)); quotes > 0 {
				flags |= ktext.StringEscaped
			}
			if bytes.Contains(bytes.ReplaceAll(text, []byte(`""`), nil), []byte(`"`)) {
				flags |= ktext.StringMalformed
			}
			c.bytes = append(c.bytes, bytes.ReplaceAll(text, []byte(`""`), []byte(`"`))...)
		}
		c.offsets = append(c.offsets, int64(len(c.bytes)))
		c.flags = append(c.flags, flags)
	}
	return c
}

// plainJSON reads the first byte or escape of a JSON string and gives the rest.
func (c *stringColumn) plainJSON(text []byte, flags *ktext.StringFlags) []byte {
	if text[0] != '\\' {
		c.bytes = append(c.bytes, text[0])
		return text[1:]
	}
	*flags |= ktext.StringEscaped
	if len(text) > 1 {
		if i := strings.IndexByte(`"\/bfnrt`, text[1]); i >= 0 {
			c.bytes = append(c.bytes, "\"\\/\b\f\n\r\t"[i])
			return text[2:]
		}
	}
	unit := func(b []byte) (rune, bool) {
		if len(b) < 6 || b[0] != '\\' || b[1] != 'u' || bytes.ContainsAny(b[2:6], "+-_") {
			return 0, false
		}
		v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
		return rune(v), err == nil
	}
	v, ok := unit(text)
	if !ok {
		*flags |= ktext.StringMalformed
		return text[1:]
	}
	text = text[6:]
	if utf16.IsSurrogate(v) {
		low, _ := unit(text)
		v = utf16.DecodeRune(v, low)
		if v == utf8.RuneError {
			*flags |= ktext.StringReplaced
			c.replaced++
		} else {
			text = text[6:]
		}
	}
	c.bytes = utf8.AppendRune(c.bytes, v)
	return text
}

// sameStrings reads strings on the device and compares every output with the plain reading. gap
// stands between two strings.
func sameStrings(r *kerneltest.Rig, name string, raw [][]byte, gap string, mode ktext.StringMode) {
	r.Helper()
	var text []byte
	var starts, ends []int64
	for _, s := range raw {
		text = append(text, gap...)
		starts = append(starts, int64(len(text)))
		text = append(text, s...)
		ends = append(ends, int64(len(text)))
	}
	want := plainStrings(raw, mode)
	offsets := kerneltest.Poisoned[int64](r, len(raw)+1)
	x, err := ktext.MeasureStrings(r.Set, r.Stream, kerneltest.Upload(r, text), kerneltest.Upload(r, starts),
		kerneltest.Upload(r, ends), mode, offsets)
	r.OK(err)
	defer func() { r.OK(x.Free(r.Stream)) }()
	kerneltest.SameItems(r, name+": offsets", kerneltest.Read(r, offsets), want.offsets)
	var all ktext.StringFlags
	for i, mask := range []kernels.Mask{x.Escaped, x.Control, x.NotUTF8, x.Malformed, x.Replaced} {
		got := kerneltest.Read(r, mask)
		for j, flags := range want.flags {
			all |= flags
			if bit := got[j/64] >> (j % 64) & 1; bit != uint64(flags>>i&1) {
				r.Fatalf("%s: flag %d of string %d %.60q is %d, want %d", name, i, j, raw[j], bit, flags>>i&1)
			}
		}
		if n := len(raw); n%64 != 0 && got[n/64]>>(n%64) != 0 {
			r.Fatalf("%s: flag %d is set behind the last string", name, i)
		}
	}
	if got := kerneltest.Read(r, x.Summary)[0]; got.Flags != all || got.Replaced != want.replaced {
		r.Fatalf("%s: the summary is %+v, want flags %05b and %d replaced", name, got, all, want.replaced)
	}
	out, narrow := kerneltest.Poisoned[byte](r, len(want.bytes)+3), kerneltest.Poisoned[int32](r, len(raw)+1)
	r.OK(ktext.GatherStrings(r.Set, r.Stream, x, out, narrow))
	for i, offset := range kerneltest.Read(r, narrow) {
		if int64(offset) != want.offsets[i] {
			r.Fatalf("%s: narrow offset %d is %d, want %d", name, i, offset, want.offsets[i])
		}
	}
	if got := kerneltest.Read(r, out); !bytes.Equal(got[:len(want.bytes)], want.bytes) ||
		string(got[len(want.bytes):]) != "\xa5\xa5\xa5" {
		i := 0
		for i < len(want.bytes) && got[i] == want.bytes[i] {
			i++
		}
		r.Fatalf("%s: byte %d of %d is %q, want %q", name, i, len(want.bytes), got[max(0, i-20):min(len(got), i+20)],
			want.bytes[max(0, i-20):min(len(want.bytes), i+20)])
	}
}

var stringModes = []ktext.StringMode{ktext.StringsRaw, ktext.StringsJSON, ktext.StringsDoubled}

// fragments are what strings are made of in the random tests.
var fragments = strings.Split(`a|bc|0123456789| |\n|\\|\\\\|\"|\/|\b\f\r\t|\u0041|\u00e9|\u20AC|\ud83d\uDE00|\uD83D|\uDE00|\ud83d\ud83d\ude00|"|""|""""|é|€|😀|`+
	"\x01|\xff|\xc3|\xe2\x82|\xf0\x9f\x98|\x80|\xed\xa0\x80|\xc0\x80|\xe0\x80\x80|\xf4\x90\x80\x80|\xf5\x80\x80\x80|\\|\\u|\\u12|\\u12G4|\\x|\\é|\\\x00|\\u\\u0041|\\ud83d\\u00|\\uD83D\\n", "|")

// randomString is made of the fragments of a range, up to n bytes.
func randomString(rng *rand.Rand, n, from, to int) []byte {
	var s []byte
	for len(s) < n {
		s = append(s, fragments[from+rng.IntN(to-from)]...)
	}
	return s[:n]
}

func TestStrings(t *testing.T) {
	r := kerneltest.Open(t)
	var small [][]byte
	for _, f := range fragments {
		small = append(small, []byte(f), []byte("x"+f), []byte(f+"y"), []byte("12345"+f+"678"))
		for _, g := range fragments {
			small = append(small, []byte(f+g))
		}
	}
	for _, mode := range stringModes {
		sameStrings(r, "no string", nil, "", mode)
		sameStrings(r, "one string", [][]byte{[]byte("a")}, "", mode)
		sameStrings(r, "empty strings", make([][]byte, 300), "", mode)
		sameStrings(r, "small strings", small, `","`, mode)
		sameStrings(r, "small strings, dense", small, "", mode)
	}
}

// Strings of every length up to some pieces, of plain text, of escapes, of anything.
func TestStringsOfAnyLength(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(8, 8))
	for _, kind := range []struct {
		name     string
		from, to int
	}{{"plain", 0, 4}, {"sound JSON", 0, 17}, {"quotes", 16, 21}, {"UTF-8", 20, 23}, {"anything", 0, len(fragments)}} {
		var raw [][]byte
		for n := range 300 {
			raw = append(raw, randomString(rng, n, kind.from, kind.to))
		}
		for _, n := range []int{500, 511, 512, 513, 767, 768, 769, 5000, 65535, 65536, 65537, 140000} {
			raw = append(raw, randomString(rng, n, kind.from, kind.to))
		}
		rng.Shuffle(len(raw), func(i, j int) { raw[i], raw[j] = raw[j], raw[i] })
		for _, mode := range stringModes {
			sameStrings(r, fmt.Sprintf("%s, mode %d", kind.name, mode), raw, `","`, mode)
		}
	}
}

// What reaches over the edge of two pieces, at every place before it.
func TestStringsOverPieces(t *testing.T) {
	r := kerneltest.Open(t)
	var json, doubled [][]byte
	for _, over := range fragments[4:] {
		for at := 240; at <= 257; at++ {
			s := append(bytes.Repeat([]byte{'x'}, at), over...)
			json = append(json, append(s, bytes.Repeat([]byte{'y'}, 40)...))
		}
	}
	for _, run := range []int{1, 2, 3, 13, 243, 244, 245, 255, 256, 257, 258, 512, 513, 65536, 65537} {
		for _, at := range []int{0, 1, 12, 13, 243, 244, 245, 255, 256, 257} {
			for _, then := range []string{"", "n", "ud83d\\ude00", "ude00x", "xyz"} {
				if run > 600 && at%11 != 1 {
					continue
				}
				s := append(bytes.Repeat([]byte{'x'}, at), bytes.Repeat([]byte{'\\'}, run)...)
				json = append(json, append(s, then...))
				s = append(bytes.Repeat([]byte{'x'}, at), bytes.Repeat([]byte{'"'}, run)...)
				doubled = append(doubled, append(s, then...))
			}
		}
	}
	sameStrings(r, "JSON", json, `:"`, ktext.StringsJSON)
	sameStrings(r, "doubled quotes", doubled, ",", ktext.StringsDoubled)
}

// One string that is all the text, and strings with room that does not suffice.
func TestStringsOfTheWholeText(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(9, 9))
	for _, s := range [][]byte{
		bytes.Repeat([]byte{'\\'}, 200001), bytes.Repeat([]byte{'"'}, 200001),
		randomString(rng, 300000, 0, len(fragments)),
	} {
		for _, mode := range stringModes {
			sameStrings(r, "one long string", [][]byte{s}, "", mode)
		}
	}
}

// Short strings come first, and long ones are added when it is known that there are some.
func TestShortStringsFirst(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(8, 9))
	for _, longest := range []int{256, 257, 3000} {
		var text []byte
		var starts, ends []int64
		var raw [][]byte
		short := []int64{0}
		for i := range 700 {
			s := randomString(rng, rng.IntN(100), 0, 17)
			if i%90 == 7 {
				s = randomString(rng, longest, 0, 17)
			}
			starts, text = append(starts, int64(len(text))), append(text, s...)
			ends, raw = append(ends, int64(len(text))), append(raw, s)
			size := int64(0)
			if len(s) <= 256 {
				size = int64(len(plainStrings([][]byte{s}, ktext.StringsJSON).bytes))
			}
			short = append(short, short[i]+size)
		}
		want := plainStrings(raw, ktext.StringsJSON)
		offsets := kerneltest.Poisoned[int64](r, len(raw)+1)
		x, err := ktext.MeasureShortStrings(r.Set, r.Stream, kerneltest.Upload(r, text), kerneltest.Upload(r, starts),
			kerneltest.Upload(r, ends),
			ktext.StringsJSON, offsets)
		r.OK(err)
		what := fmt.Sprintf("up to %d bytes", longest)
		kerneltest.SameItems(r, what+": offsets of short strings", kerneltest.Read(r, offsets), short)
		if got := kerneltest.Read(r, x.Summary)[0].HasLong != 0; got != (longest > 256) {
			t.Errorf("%s: long strings: %v", what, got)
		}
		out := kerneltest.Poisoned[byte](r, len(want.bytes))
		r.OK(ktext.GatherStrings(r.Set, r.Stream, x, out, gpu.Buffer[int32]{}))
		if longest > 256 {
			r.OK(ktext.MeasureLongStrings(r.Set, r.Stream, x, offsets))
			r.OK(ktext.GatherStrings(r.Set, r.Stream, x, out, gpu.Buffer[int32]{}))
		}
		kerneltest.SameItems(r, what+": offsets", kerneltest.Read(r, offsets), want.offsets)
		if !bytes.Equal(kerneltest.Read(r, out), want.bytes) {
			t.Errorf("%s: other bytes", what)
		}
		if longest > 256 && ktext.MeasureLongStrings(r.Set, r.Stream, x, offsets) == nil {
			t.Errorf("%s: no error when they are measured again", what)
		}
		r.OK(x.Free(r.Stream))
	}
}

// More strings than the blocks add up by themselves.
func TestManyStrings(t *testing.T) {
	r := kerneltest.Open(t)
	const strings = 4096*256 + 300
	starts, want := make([]int64, strings), make([]int64, strings+1)
	for i := range starts {
		starts[i], want[i+1] = want[i], want[i]+int64(i%3)/2
	}
	offsets := kerneltest.Poisoned[int64](r, strings+1)
	x, err := ktext.MeasureShortStrings(r.Set, r.Stream, kerneltest.Upload(r, bytes.Repeat([]byte{'x'},
		int(want[strings]))),
		kerneltest.Upload(r, starts), kerneltest.Upload(r, want[1:]), ktext.StringsRaw, offsets)
	r.OK(err)
	kerneltest.SameItems(r, "offsets", kerneltest.Read(r, offsets), want)
	r.OK(x.Free(r.Stream))
}

// Spans that no sound caller gives: outside of the text, backwards, over one another. Nothing is
// touched outside of the buffers.
func TestStringsOfBadSpans(t *testing.T) {
	r := kerneltest.Open(t)
	text := kerneltest.Upload(r, bytes.Repeat([]byte{'x'}, 1000))
	starts := []int64{-1, 0, 5, 990, 1 << 40, 1000, 7}
	ends := []int64{5, 1001, 4, 1 << 60, 1 << 41, 1000, 9}
	offsets := kerneltest.Poisoned[int64](r, len(starts)+1)
	x, err := ktext.MeasureStrings(r.Set, r.Stream, text, kerneltest.Upload(r, starts), kerneltest.Upload(r, ends),
		ktext.StringsJSON, offsets)
	r.OK(err)
	kerneltest.SameItems(r, "offsets", kerneltest.Read(r, offsets), []int64{0, 0, 0, 0, 0, 0, 0, 2})
	kerneltest.SameItems(r, "malformed", kerneltest.Read(r, x.Malformed), []uint64{0b0011111})
	r.OK(x.Free(r.Stream))

	starts, ends = make([]int64, 300), make([]int64, 300)
	want := make([]int64, 301)
	for i := range ends {
		ends[i] = 1000
	}
	ends[1] = 3
	for i := range want[2:] {
		want[i+2] = 3
	}
	offsets = kerneltest.Poisoned[int64](r, len(starts)+1)
	x, err = ktext.MeasureStrings(r.Set, r.Stream, text, kerneltest.Upload(r, starts), kerneltest.Upload(r, ends),
		ktext.StringsRaw, offsets)
	r.OK(err)
	kerneltest.SameItems(r, "overlapping: offsets", kerneltest.Read(r, offsets), want)
	if got := kerneltest.Read(r, x.Malformed); got[0] != ^uint64(2) {
		t.Errorf("overlapping: malformed is %x", got)
	}
	out := kerneltest.Poisoned[byte](r, 2)
	r.OK(ktext.GatherStrings(r.Set, r.Stream, x, out, gpu.Buffer[int32]{}))
	kerneltest.SameItems(r, "no room: bytes", kerneltest.Read(r, out), []byte{0xa5, 0xa5})
	r.OK(x.Free(r.Stream))
}
