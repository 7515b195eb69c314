package number_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
)

// boundaries is NumberBoundaries, byte by byte.
func boundaries(text []byte, inside []uint64, between knumber.Separators) (start, end []uint64) {
	list := between.Bytes
	if list == "" {
		list = ",[]{}: \t\r\n"
	}
	separates := func(i int) bool {
		c := 0
		switch {
		case i < 0:
			c = between.Before
		case i == len(text):
			c = between.Behind
		default:
			c = int(text[i])
		}
		return c < 0 || strings.IndexByte(list, byte(c)) >= 0
	}
	in := func(i int, set string) bool {
		return strings.IndexByte(set, text[i]) >= 0 && (inside == nil || !kerneltest.Bit(inside, i))
	}
	initial := "0123456789+-"
	if between.Points {
		initial += "."
	}
	start = kerneltest.Bitmap(len(text), func(i int) bool { return in(i, initial) && separates(i-1) })
	end = kerneltest.Bitmap(len(text), func(i int) bool { return in(i, "0123456789+-.eE") && separates(i+1) })
	return start, end
}

// separatorSets are ways to ask, by name.
var separatorSets = map[string]knumber.Separators{
	"whole file":          {Before: -1, Behind: -1},
	"after and before ,":  {Before: ',', Behind: ','},
	"after and before 5":  {Before: '5', Behind: '5'},
	"points":              {Points: true, Before: -1, Behind: -1},
	"semicolon":           {Bytes: ";", Before: ';', Behind: 'x'},
	"nine":                {Bytes: "abcdefgh;", Before: 'a', Behind: ';'},
	"sixteen, a zero too": {Bytes: ",;()[]{}<>:|\t\n \x00", Before: 0, Behind: 0},
	"a zero":              {Bytes: ",\x00", Before: 'x', Behind: 'x'},
	"bytes from 80 on":    {Bytes: "\x80\xff", Before: 0xff, Behind: 0x7f},
}

func TestNumberBoundaries(t *testing.T) {
	r := kerneltest.Open(t)
	const alphabet = "00123456789+-..eEx,,,;[]{}: \t\r\n\x00\x80\xff()|"
	for name, between := range separatorSets {
		for _, n := range kerneltest.Sizes {
			text := kerneltest.Random(uint64(n), n, alphabet)
			for _, inside := range [][]uint64{nil, kerneltest.Bitmap(n, func(i int) bool { return i%7 < 2 })} {
				b, start, end := gpu.Buffer[uint64]{}, kerneltest.Poisoned[uint64](r, kernels.Words(n)),
					kerneltest.Poisoned[uint64](r, kernels.Words(n))
				if inside != nil {
					b = kerneltest.Upload(r, inside)
				}
				r.OK(knumber.NumberBoundaries(r.Set, r.Stream, kerneltest.Upload(r, text), b, between, start, end))
				wantStart, wantEnd := boundaries(text, inside, between)
				kerneltest.SameMask(t, fmt.Sprintf("%s, %d bytes, start", name, n), text,
					kerneltest.Read(r, start), wantStart)
				kerneltest.SameMask(t, fmt.Sprintf("%s, %d bytes, end", name, n), text,
					kerneltest.Read(r, end), wantEnd)
			}
		}
	}
}

// Every byte as a separator and next to one.
func TestNumberBoundariesOfEveryByte(t *testing.T) {
	r := kerneltest.Open(t)
	var text []byte
	for c := range 256 {
		text = append(text, ',', byte(c), ',', '1', byte(c), '1')
	}
	for _, between := range separatorSets {
		start, end := kerneltest.Poisoned[uint64](r, kernels.Words(len(text))),
			kerneltest.Poisoned[uint64](r, kernels.Words(len(text)))
		r.OK(knumber.NumberBoundaries(r.Set, r.Stream, kerneltest.Upload(r, text), gpu.Buffer[uint64]{},
			between, start, end))
		wantStart, wantEnd := boundaries(text, nil, between)
		kerneltest.SameMask(t, "start", text, kerneltest.Read(r, start), wantStart)
		kerneltest.SameMask(t, "end", text, kerneltest.Read(r, end), wantEnd)
	}
}

// A text cut anywhere has the boundaries of the text, if each chunk is told the bytes next to it.
func TestNumberBoundariesInChunks(t *testing.T) {
	r := kerneltest.Open(t)
	text := []byte("[-1.5e+3,22, 3 ],[.4,5.,666]")
	wantStart, wantEnd := boundaries(text, nil, knumber.Separators{Points: true, Before: -1, Behind: -1})
	for cut := range len(text) + 1 {
		start, end := make([]uint64, 1), make([]uint64, 1)
		for _, span := range [][2]int{{0, cut}, {cut, len(text)}} {
			chunk := text[span[0]:span[1]]
			if len(chunk) == 0 {
				continue
			}
			between := knumber.Separators{Points: true, Before: -1, Behind: -1}
			if span[0] > 0 {
				between.Before = int(text[span[0]-1])
			}
			if span[1] < len(text) {
				between.Behind = int(text[span[1]])
			}
			a, b := kerneltest.Poisoned[uint64](r, 1), kerneltest.Poisoned[uint64](r, 1)
			r.OK(knumber.NumberBoundaries(r.Set, r.Stream, kerneltest.Upload(r, chunk), gpu.Buffer[uint64]{},
				between, a, b))
			start[0] |= kerneltest.Read(r, a)[0] << span[0]
			end[0] |= kerneltest.Read(r, b)[0] << span[0]
		}
		kerneltest.SameMask(t, fmt.Sprintf("cut at %d, start", cut), text, start, wantStart)
		kerneltest.SameMask(t, fmt.Sprintf("cut at %d, end", cut), text, end, wantEnd)
	}
}

func TestNumberBoundariesRefuses(t *testing.T) {
	r := kerneltest.Open(t)
	text, mask := kerneltest.Upload(r, make([]byte, 100)), kerneltest.Poisoned[uint64](r, 2)
	none := gpu.Buffer[uint64]{}
	tests := []struct {
		name               string
		between            knumber.Separators
		inside, start, end kernels.Mask
	}{
		{"17 separators", knumber.Separators{Bytes: "abcdefghijklmnopq"}, none, mask, mask},
		{"a byte of 256", knumber.Separators{Before: 256}, none, mask, mask},
		{"a byte of -2", knumber.Separators{Behind: -2}, none, mask, mask},
		{"a short inside", knumber.Separators{}, mask.Slice(0, 1), mask, mask},
		{"a short start", knumber.Separators{}, none, mask.Slice(0, 1), mask},
		{"a short end", knumber.Separators{}, none, mask, mask.Slice(0, 1)},
	}
	for _, tt := range tests {
		if knumber.NumberBoundaries(r.Set, r.Stream, text, tt.inside, tt.between, tt.start, tt.end) == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}
