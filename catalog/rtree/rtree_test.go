package rtree

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

var inf = math.Inf(1)

func TestLayoutOfOneRow(t *testing.T) {
	// 1, 2, 3, 4
	const item = "000000000000f03f" + "0000000000000040" + "0000000000000840" + "0000000000001040"
	const want = item + "0100000000000000" + item + "0700000000000000"
	if got := hex.EncodeToString(Build([][4]float64{{1, 2, 3, 4}}, []int32{7})); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestLayoutOfThreeLevels has a grid of 4 x 4 points, one of them twice. Their order along the
// curve is
//
//	y 3   5  6  9 10
//	  2   4  7  8 11
//	  1   3  2 13 12
//	  0   0  1 14 15
//	    x 0  1  2  3
func TestLayoutOfThreeLevels(t *testing.T) {
	var boxes [][4]float64
	var rows []int32
	for y := range 4 {
		for x := range 4 {
			boxes = append(boxes, point(float64(x), float64(y)))
			rows = append(rows, int32(10*y+x))
		}
	}
	boxes, rows = append(boxes, point(0, 0)), append(rows, 99)
	want := strings.Fields(`
		0,0,3,3:1
		0,0,3,3:3  0,0,0,0:19
		3,0,3,0:3  2,0,2,0:2  2,1,2,1:12 3,1,3,1:13  3,2,3,2:23 3,3,3,3:33 2,3,2,3:32 2,2,2,2:22
		1,2,1,2:21 1,3,1,3:31 0,3,0,3:30 0,2,0,2:20  0,1,0,1:10 1,1,1,1:11 1,0,1,0:1  0,0,0,0:0
		0,0,0,0:99`)
	b := Build(boxes, rows)
	if len(b) != len(want)*itemBytes || len(b) != Size(17) {
		t.Fatalf("%d bytes, Size %d, want %d", len(b), Size(17), len(want)*itemBytes)
	}
	for i, want := range want {
		it := itemAt(b, i)
		if got := fmt.Sprintf("%v,%v,%v,%v:%d", it.float(0), it.float(1), it.float(2), it.float(3),
			it.offset()); got != want {
			t.Errorf("item %d: %s, want %s", i, got, want)
		}
	}
}

// TestLayoutAsGDAL rebuilds the index of a FlatGeobuf file. testdata/gdal.index has the index of
// 300 random rectangles, written by GDAL 3.12.4 with SPATIAL_INDEX=YES.
func TestLayoutAsGDAL(t *testing.T) {
	want, err := os.ReadFile("testdata/gdal.index")
	if err != nil {
		t.Fatal(err)
	}
	const n = 300
	var boxes [][4]float64
	var rows []int32
	leaf := len(want)/itemBytes - n
	for i := range n {
		boxes, rows = append(boxes, itemAt(want, leaf+i).box()), append(rows, int32(i))
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, k int) { boxes[i], boxes[k] = boxes[k], boxes[i] })
	got := Build(boxes, rows)
	if len(got) != len(want) {
		t.Fatalf("%d bytes, want %d", len(got), len(want))
	}
	for i := range len(want) / itemBytes {
		g, w := itemAt(got, i), itemAt(want, i)
		if g.box() != w.box() || i < leaf && g.offset() != w.offset() {
			t.Errorf("item %d: %v %d, want %v %d", i, g.box(), g.offset(), w.box(), w.offset())
		}
	}
}

// TestHilbert compares with the common algorithm, which rotates the rest of the square at each
// step.
func TestHilbert(t *testing.T) {
	usual := func(x, y uint32) (place uint32) {
		for s := uint32(1 << 15); s > 0; s /= 2 {
			var rx, ry uint32
			if x&s != 0 {
				rx = 1
			}
			if y&s != 0 {
				ry = 1
			}
			place += s * s * ((3 * rx) ^ ry)
			if ry == 0 {
				if rx == 1 {
					x, y = 0xffff-x, 0xffff-y
				}
				x, y = y, x
			}
		}
		return place
	}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 100_000 {
		x, y := r.Uint32()&0xffff, r.Uint32()&0xffff
		if i < 4 {
			x, y = uint32(i&1)*0xffff, uint32(i>>1)*0xffff
		}
		if got, want := hilbert(x, y), usual(x, y); got != want {
			t.Fatalf("hilbert(%#x, %#x) is %#x, want %#x", x, y, got, want)
		}
	}
}

func TestCell(t *testing.T) {
	for _, tt := range []struct {
		name   string
		in     interval
		lo, hi float64
		want   uint32
	}{
		{"first", interval{-10, 10}, -10, -10, 0},
		{"last", interval{-10, 10}, 10, 10, 65535},
		{"middle", interval{-10, 10}, -1, 1, 32767},
		{"no width", interval{5, 5}, 5, 5, 0},
		{"all", interval{-10, 10}, -inf, inf, 32767},
		{"to the left", interval{-10, 10}, -inf, -inf, 0},
		{"to the right", interval{-10, 10}, inf, inf, 65535},
		{"nothing is finite", interval{inf, -inf}, -inf, inf, 0},
		{"width beyond float64", interval{-math.MaxFloat64, math.MaxFloat64}, 0, 0, 0},
		{"sum beyond float64", interval{0, math.MaxFloat64}, math.MaxFloat64, math.MaxFloat64, 65535},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.in.cell(tt.lo, tt.hi); got != tt.want {
				t.Errorf("cell of [%v, %v] in %v: %d, want %d", tt.lo, tt.hi, tt.in, got, tt.want)
			}
		})
	}
}

func TestBuildDoesNotDependOnWhatTheBuilderDidBefore(t *testing.T) {
	var b Builder
	for _, n := range []int{70_000, 3, 0, 5000, 70_000} {
		boxes, rows := random(rand.New(rand.NewPCG(uint64(n), 1)), n)
		got := b.Append([]byte("before"), boxes, rows)
		if want := "before" + string(Build(boxes, rows)); string(got) != want {
			t.Errorf("%d boxes: another tree", n)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name  string
		boxes [][4]float64
	}{
		{"NaN", [][4]float64{{0, 0, 1, 1}, {0, nan, 1, 1}}},
		{"min beyond max", [][4]float64{{0, 0, 1, 1}, {2, 0, 1, 1}}},
		{"no box", [][4]float64{{0, 0, 1, 1}, {inf, inf, -inf, -inf}}},
		{"fewer boxes than rows", [][4]float64{{0, 0, 1, 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("a tree, want a panic")
				}
			}()
			Build(tt.boxes, []int32{0, 1})
		})
	}
}

func TestSize(t *testing.T) {
	for _, tt := range []struct{ items, want int }{
		{0, 0},
		{1, 1 + 1},
		{16, 16 + 1},
		{17, 17 + 2 + 1},
		{256, 256 + 16 + 1},
		{257, 257 + 17 + 2 + 1},
		{math.MaxInt32, 1<<31 - 1 + 1<<27 + 1<<23 + 1<<19 + 1<<15 + 1<<11 + 1<<7 + 1<<3 + 1},
	} {
		if got := Size(tt.items); got != tt.want*itemBytes {
			t.Errorf("Size(%d) is %d, want %d", tt.items, got, tt.want*itemBytes)
		}
	}
}

func point(x, y float64) [4]float64 { return [4]float64{x, y, x, y} }

// random returns n boxes of random rows.
func random(r *rand.Rand, n int) ([][4]float64, []int32) {
	boxes, rows := make([][4]float64, n), make([]int32, n)
	row := int32(0)
	for i := range boxes {
		x, y := r.Float64()*360-180, r.Float64()*180-90
		boxes[i] = [4]float64{x, y, x + r.ExpFloat64()/10, y + r.ExpFloat64()/10}
		rows[i] = row
		row += 1 + r.Int32N(2)
	}
	return boxes, rows
}

// scan returns the expected result of Search.
func scan(boxes [][4]float64, rows []int32, q [4]float64) []int32 {
	if !(q[0] <= q[2] && q[1] <= q[3]) {
		return nil
	}
	var found []int32
	for i, b := range boxes {
		if max(b[0], q[0]) <= min(b[2], q[2]) && max(b[1], q[1]) <= min(b[3], q[3]) {
			found = append(found, rows[i])
		}
	}
	slices.Sort(found)
	return found
}
