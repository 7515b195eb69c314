package device_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"
)

// rowsOf returns a file of lines that end at these offsets.
func rowsOf(ends ...int) []byte {
	text := bytes.Repeat([]byte("x"), ends[len(ends)-1])
	for _, end := range ends {
		text[end-1] = '\n'
	}
	return text
}

func TestProbeChunk(t *testing.T) {
	const piece, most = 16 << 10, 1 << 20
	for _, tt := range []struct {
		name       string
		ends       []int // of the file's lines
		from, stop int64
		start, end int64
	}{
		{"in the midst", []int{10, 20, 30, 40, 50}, 5, 25, 10, 30},
		{"at rows", []int{10, 20, 30, 40, 50}, 20, 30, 20, 30},
		{"at the first row", []int{10, 20, 30}, 0, 15, 0, 20},
		{"the rest", []int{10, 20, 30, 40, 50}, 15, math.MaxInt64, 20, 40},
		{"the last row", []int{10, 20, 30}, 15, math.MaxInt64, 20, 20},
		{"inside of the last row", []int{10, 20, 30}, 25, math.MaxInt64, -1, -1},
		{"none before stop", []int{10, 20, 90, 100}, 30, 80, 90, 90},
		{"a long row", []int{10, 20, 20 + piece, 30 + piece, 40 + piece}, 5, 25, 10, 20 + piece},
		{"a row as long as a piece", []int{10, 20, 20 + piece + 5, 100 + piece}, 5, 25, 10, 25 + piece},
		{"a longer one", []int{10, 20, 20 + 9*piece, 100 + 9*piece}, 5, 25, 10, 20 + 9*piece},
		{"one that is too long to see", []int{10, 20, 3 * most, 4 * most, 4*most + 9}, 30, 2 * most, -1, -1},
		{
			"stop in one that is too long to see",
			[]int{10, 20, 5 * most, 5*most + 10, 5*most + 20},
			5, 25,
			10, 5*most + 10,
		},
		{"a long last row", []int{10, 20, 30, 30 + 2*piece}, 5, math.MaxInt64, 10, 30},
		{"a last row that is too long to see", []int{10, 20, 30, 30 + 3*most}, 5, math.MaxInt64, 10, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newLines(string(rowsOf(tt.ends...))).probe
			for range 2 { // the second time its memory is there
				start, end, err := p.Chunk(tt.from, tt.stop)
				if start != tt.start || end != tt.end || err != nil {
					t.Errorf("[%d, %d) of lines that end at %d: %d, %d, %v, want %d, %d", tt.from, tt.stop,
						tt.ends, start, end, err, tt.start, tt.end)
				}
			}
		})
	}
}

// torn is a file that can be read up to an offset.
type torn int64

var errTorn = errors.New("torn")

func (f torn) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > int64(f) {
		return 0, errTorn
	}
	return copy(p, bytes.Repeat([]byte("x\n"), len(p)/2+1)), nil
}

func TestProbeOfATornFile(t *testing.T) {
	for _, tt := range []struct {
		from, stop int64
		whole      bool
	}{{10, 100_000, true}, {10, 500_000, false}, {10, math.MaxInt64, false}, {500_000, 600_000, false}} {
		t.Run(fmt.Sprint(tt.from, tt.stop), func(t *testing.T) {
			p := newLines("").probe
			p.Src, p.End = torn(400_000), 1_000_000
			_, _, err := p.Chunk(tt.from, tt.stop)
			if tt.whole != (err == nil) || err != nil && !errors.Is(err, errTorn) {
				t.Errorf("%v, want an error: %t", err, !tt.whole)
			}
		})
	}
}
