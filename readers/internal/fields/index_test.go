package fields

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// TestFind looks for records in random text, most of it well formed, with commas, quotes and line
// ends at all places of a block: what it finds is what a reader of one byte after the other finds.
func TestFind(t *testing.T) {
	for _, wide := range []bool{false, true} {
		t.Run(fmt.Sprintf("wide=%v", wide), func(t *testing.T) {
			if wide && !haveWide {
				t.Skip("not on this processor")
			}
			testFind(t, wide)
		})
	}
}

func testFind(t *testing.T, wide bool) {
	r := rand.New(rand.NewPCG(1, 1))
	records, doubled := 0, 0
	var x Index
	for range 30_000 {
		quote := []byte{'"', '"', '"', '\'', 0}[r.IntN(5)]
		count := 1 + r.IntN(4)
		text := randomText(r, quote, count, r.IntN(600))
		n := len(text)
		padded := append(slices.Clone(text), []byte("\",\n")...)
		padded = append(padded, make([]byte, Padding)...)
		x.find(wide, unsafe.Pointer(unsafe.SliceData(padded)), n, ',', quote, count)
		want := oneByOne(text, quote, count)
		var got [][]uint32
		for _, first := range x.Records {
			got = append(got, x.Starts[first:int(first)+count+1])
		}
		if !slices.EqualFunc(got, want.records, slices.Equal) || x.End != want.end {
			t.Fatalf("%q, quote %q, %d fields\ngot  %v, end %d\nwant %v, end %d", text, quote, count, got,
				x.End, want.records, want.end)
		}
		known := slices.DeleteFunc(slices.Clone(x.Doubled), func(at uint32) bool { return int(at) >= want.end })
		if !slices.Equal(known, want.doubled) || x.Doubled[len(x.Doubled)-1] != math.MaxUint32 ||
			!slices.IsSorted(x.Doubled) {
			t.Fatalf("%q: doubled quotes at %v, want %v", text, x.Doubled, want.doubled)
		}
		for _, c := range text[:x.End] {
			if c >= 0x80 && !x.High {
				t.Fatalf("%q is not all ASCII", text)
			}
		}
		records, doubled = records+len(got), doubled+len(known)
	}
	if records < 100_000 || doubled < 1000 {
		t.Errorf("%d records, %d doubled quotes", records, doubled)
	}
}

// TestFindMost fills the index.
func TestFindMost(t *testing.T) {
	for _, c := range []struct {
		name, line string
		fields     int
	}{{"bytes", "1\n", 1}, {"commas", ",\n", 2}, {"lines", "\n", 1}, {"quotes", "\"\"\n", 1}} {
		t.Run(c.name, func(t *testing.T) {
			text := make([]byte, Most+Padding)
			for i := range text {
				text[i] = c.line[i%len(c.line)]
			}
			var x Index
			x.Find(unsafe.Pointer(unsafe.SliceData(text)), Most, ',', '"', c.fields)
			want := Most / len(c.line)
			end := want * len(c.line)
			if c.name == "lines" {
				want = 0
			}
			if len(x.Records) != want || x.End != end {
				t.Errorf("%d records, end %d; want %d, %d", len(x.Records), x.End, want, end)
			}
		})
	}
}

// TestMasks holds assembly to what serves every processor.
func TestMasks(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var got, want [Most / block]masks
	text := make([]byte, 5*block)
	for range 20_000 {
		for i := range text {
			text[i] = []byte{
				',', '"', '\n', '\r', 0, 0x80, 0xFF, '-', '\v', '\f', '!', '#', 0x8A, 0xAC,
				1, byte(r.Uint32()),
			}[r.IntN(16)]
		}
		delimiter, quote := []byte(",\t;|")[r.IntN(4)], []byte("\"'\x00")[r.IntN(3)]
		at := r.IntN(block)
		find(&got, unsafe.Pointer(&text[at]), 4, delimiter, quote)
		findPlain(&want, unsafe.Pointer(&text[at]), 4, delimiter, quote)
		if got != want {
			t.Fatalf("%q\ngot  %x\nwant %x", text[at:], got[:4], want[:4])
		}
	}
}

// fieldIndex is what one reader finds.
type fieldIndex struct {
	records [][]uint32
	doubled []uint32
	end     int
}

// oneByOne is Find, a byte after the other.
func oneByOne(text []byte, quote byte, count int) (f fieldIndex) {
	var starts, doubled []uint32
	start, quoted := 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == quote && i+1 < len(text) && text[i+1] == quote:
			i++
			doubled = append(doubled, uint32(i))
		case quoted && c == quote:
			quoted = false
			if i+1 < len(text) && text[i+1] != ',' && text[i+1] != '\n' && text[i+1] != '\r' {
				return f
			}
		case quoted:
		case quote != 0 && c == quote:
			if i != start {
				return f
			}
			quoted = true
		case c == ',':
			starts = append(starts, uint32(start))
			start = i + 1
		case c == '\n' || c == '\r':
			if len(starts) > 0 || i > start {
				starts = append(starts, uint32(start))
				if len(starts) != count {
					return f
				}
				f.records = append(f.records, append(starts, uint32(i+1)))
				f.doubled = append(f.doubled, doubled...)
			}
			starts, doubled = nil, nil
			start = i + 1
			f.end = i + 1
		}
	}
	return f
}

// randomText returns records, most of them of count fields, with a byte changed now and then.
func randomText(r *rand.Rand, quote byte, count, size int) []byte {
	var b []byte
	field := func(letters string, most int) {
		for range r.IntN(most) {
			b = append(b, letters[r.IntN(len(letters))])
		}
	}
	for len(b) < size {
		fields := count
		if r.IntN(200) == 0 {
			fields = 1 + r.IntN(5)
		}
		for i := range fields {
			if i > 0 {
				b = append(b, ',')
			}
			if quote != 0 && r.IntN(3) == 0 {
				b = append(b, quote)
				for range r.IntN(4) {
					field("ab,\n\r\xC3\x00", 1+r.IntN(30))
					if r.IntN(4) == 0 {
						b = append(b, quote, quote)
					}
				}
				b = append(b, quote)
			} else {
				field("abc -.0\t\xC3\x00", 1+r.IntN(12))
			}
		}
		b = append(b, []string{"\n", "\n", "\n", "\r\n", "\r", "\n\n", "\n\r\n"}[r.IntN(7)]...)
	}
	if len(b) > 0 && r.IntN(4) == 0 {
		b[r.IntN(len(b))] = []byte{'"', ',', '\n', 'x', quote}[r.IntN(5)]
	}
	return b
}
