package rtree

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// kinds returns, for each kind of boxes, box i of n.
var kinds = []struct {
	name string
	box  func(r *rand.Rand, i, n int) [4]float64
}{
	{"uniform", func(r *rand.Rand, _, _ int) [4]float64 {
		x, y := r.Float64()*100, r.Float64()*100
		return [4]float64{x, y, x + r.Float64(), y + r.Float64()}
	}},
	{"clustered", func(r *rand.Rand, _, _ int) [4]float64 {
		c := float64(r.IntN(5) * 20)
		return point(c+r.NormFloat64(), c+r.NormFloat64())
	}},
	{"points of a grid", func(_ *rand.Rand, i, _ int) [4]float64 { return point(float64(i%100), float64(i/100%100)) }},
	{"boxes of a grid touch", func(_ *rand.Rand, i, _ int) [4]float64 {
		x, y := float64(i%100), float64(i/100%100)
		return [4]float64{x, y, x + 1, y + 1}
	}},
	{"identical", func(*rand.Rand, int, int) [4]float64 { return [4]float64{10, 10, 20, 20} }},
	{"on a line", func(r *rand.Rand, _, _ int) [4]float64 { return point(r.Float64()*100, 50) }},
	{"nested", func(_ *rand.Rand, i, n int) [4]float64 {
		d := 50 * float64(i) / float64(n)
		return [4]float64{d, d, 100 - d, 100 - d}
	}},
	{"infinite", func(r *rand.Rand, i, _ int) [4]float64 {
		x, y := r.Float64()*100, r.Float64()*100
		return [...][4]float64{
			{-inf, y, x, y},
			{x, -inf, x, inf},
			{-inf, -inf, inf, inf},
			{inf, inf, inf, inf},
			{-inf, y, -inf, y},
			point(x, y),
		}[i%6]
	}},
	{"nothing finite", func(*rand.Rand, int, int) [4]float64 { return [4]float64{-inf, -inf, inf, inf} }},
	{"huge", func(r *rand.Rand, _, _ int) [4]float64 {
		x := r.Float64() * math.MaxFloat64
		return [4]float64{-x, -x, x, x}
	}},
}

func TestSearchFindsWhatAScanFinds(t *testing.T) {
	sizes := []int{0, 1, 2, 15, 16, 17, 255, 256, 257, 5000}
	if !testing.Short() {
		sizes = append(sizes, 65_536)
	}
	for _, kind := range kinds {
		for _, n := range sizes {
			t.Run(fmt.Sprintf("%s/%d", kind.name, n), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(n), 5))
				boxes, rows := random(r, n)
				for i := range boxes {
					boxes[i] = kind.box(r, i, n)
				}
				limit := 1
				if n > 0 {
					limit += int(rows[n-1])
				}
				tree, err := Open(Build(boxes, rows), n, limit)
				if err != nil {
					t.Fatal(err)
				}
				checkBounds(t, tree, boxes)
				for _, q := range queries(r, boxes) {
					got, read, err := tree.Search(q, []int32{-1})
					if want := append([]int32{-1}, scan(boxes, rows, q)...); err != nil || !slices.Equal(got, want) {
						t.Errorf("%v: %d rows, %v, want %d; they begin with %v, want %v", q, len(got),
							err, len(want), got[:min(5, len(got))], want[:min(5, len(want))])
					}
					if read < 0 || read > int64(Size(n)) {
						t.Errorf("%v: read %d bytes of %d", q, read, Size(n))
					}
				}
			})
		}
	}
}

func checkBounds(t *testing.T, tree Tree, boxes [][4]float64) {
	t.Helper()
	want := [4]float64{inf, inf, -inf, -inf}
	for _, b := range boxes {
		want = [4]float64{min(want[0], b[0]), min(want[1], b[1]), max(want[2], b[2]), max(want[3], b[3])}
	}
	got, ok := tree.Bounds()
	if ok != (len(boxes) > 0) || ok && got != want {
		t.Errorf("bounds %v, %v, want %v", got, ok, want)
	}
}

// queries returns boxes of all sizes. Some just touch a box and some just miss it.
func queries(r *rand.Rand, boxes [][4]float64) [][4]float64 {
	q := [][4]float64{
		{-inf, -inf, inf, inf},
		{inf, inf, inf, inf},
		{-inf, -inf, -inf, -inf},
		{50, 50, 50, 50},
		{200, 200, 300, 300},
		{0, 0, 100, 100},
		{0, 40, 100, 41},
		{0.5, 0.5, 0.25, 1}, // an invalid box
		{math.NaN(), 0, 1, 1},
		{0, 0, 1, math.NaN()},
	}
	for range 5 {
		x, y, size := r.Float64()*100, r.Float64()*100, math.Exp2(r.Float64()*8-2)
		q = append(q, [4]float64{x, y, x + size, y + size})
	}
	if len(boxes) > 0 {
		b := boxes[r.IntN(len(boxes))]
		q = append(q, b, point(b[0], b[1]), point(b[2], b[3]),
			[4]float64{b[2], b[3], inf, inf},
			[4]float64{math.Nextafter(b[2], inf), b[1], inf, inf},
			[4]float64{-inf, -inf, math.Nextafter(b[0], -inf), b[3]})
	}
	return q
}

// TestSearchReadsLittle searches a grid of 256 x 256 points. The search for a point reads one node
// of each level, and a few more where nodes touch.
func TestSearchReadsLittle(t *testing.T) {
	var boxes [][4]float64
	var rows []int32
	for i := range 1 << 16 {
		boxes, rows = append(boxes, point(float64(i%256), float64(i/256))), append(rows, int32(i))
	}
	tree, err := Open(Build(boxes, rows), len(rows), len(rows))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(rows); i += 77 {
		const height = 5
		found, read, err := tree.Search(boxes[i], nil)
		if err != nil || !slices.Equal(found, rows[i:i+1]) || read < height*itemBytes ||
			read > 2*height*nodeItems*itemBytes {
			t.Fatalf("row %d: found %d, read %d bytes, %v", i, found, read, err)
		}
	}
	if found, read, _ := tree.Search(point(-1, 0), nil); found != nil || read != itemBytes {
		t.Errorf("outside: found %d, read %d bytes, want the root only", found, read)
	}
}

func TestSearchAllocatesNothing(t *testing.T) {
	boxes, rows := random(rand.New(rand.NewPCG(6, 7)), 10_000)
	limit := int(rows[len(rows)-1]) + 1
	tree, err := Open(Build(boxes, rows), len(rows), limit)
	if err != nil {
		t.Fatal(err)
	}
	space := make([]int32, 0, len(rows)+limit/32+1)
	for _, q := range [][4]float64{{0, 0, 1, 1}, {-200, -100, 200, 100}} {
		if n := testing.AllocsPerRun(10, func() { _, _, _ = tree.Search(q, space) }); n != 0 {
			t.Errorf("%v: %v allocations", q, n)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, tt := range []struct {
		name               string
		bytes, items, rows int
	}{
		{"a byte is missing", Size(5) - 1, 5, 5},
		{"a byte too many", Size(5) + 1, 5, 5},
		{"more items than rows", Size(5), 5, 4},
		{"less than no items", 0, -1, 5},
		{"more rows than int32", 0, 0, 1 << 31},
		{"huge", 0, math.MaxInt, math.MaxInt},
		{"nothing", 0, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Open(make([]byte, tt.bytes), tt.items, tt.rows); err == nil {
				t.Error("opened")
			}
		})
	}
}

func TestSearchRefuses(t *testing.T) {
	const n = 300 // 300 leaves from item 22, 19 nodes from item 3, 2 nodes, the root
	boxes, rows := make([][4]float64, n), make([]int32, n)
	for i := range rows {
		boxes[i], rows[i] = point(float64(i), 0), int32(i)
	}
	for _, tt := range []struct {
		name   string
		item   int
		offset uint64
		want   string
	}{
		{"a row beyond the batch", 100, n, "row 300 of a batch of 300"},
		{"a row beyond int32", 100, 1 << 63, "row 9223372036854775808"},
		{"a row twice", 100, 5, "two items"},
		{"a child beyond the tree", 3, 1 << 40, "item 3 has children at 1099511627776, not 22"},
		{"a node is its own child", 0, 0, "item 0 has children at 0, not 1"},
		{"a node with the children of another", 4, 22, "item 4 has children at 22, not 38"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := Build(boxes, rows)
			binary.LittleEndian.PutUint64(b[tt.item*itemBytes+32:], tt.offset)
			tree, err := Open(b, n, n)
			if err != nil {
				t.Fatal(err)
			}
			found, _, err := tree.Search([4]float64{-inf, -inf, inf, inf}, []int32{-1})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !slices.Equal(found, []int32{-1}) {
				t.Errorf("%d rows, error %v, want %q", len(found), err, tt.want)
			}
		})
	}
	t.Run("a row twice among few", func(t *testing.T) {
		b := Build(boxes, rows)
		for i := 22; i < 22+n; i++ {
			binary.LittleEndian.PutUint64(b[i*itemBytes+32:], 7)
		}
		tree, err := Open(b, n, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if found, _, err := tree.Search([4]float64{7, 0, 8, 0}, nil); err == nil {
			t.Errorf("found %d", found)
		}
	})
}

// FuzzSearch searches trees of arbitrary bytes. The rows found are ascending and in the batch, and
// the search reads no more than the tree.
func FuzzSearch(f *testing.F) {
	for _, n := range []int{0, 1, 17, 257} {
		boxes, rows := random(rand.New(rand.NewPCG(8, 9)), n)
		f.Add(Build(boxes, rows), n, 2*n+1, -180.0, -90.0, 180.0, 90.0)
		f.Add(Build(boxes, rows), n, n, 0.0, 0.0, 1.0, 1.0)
	}
	f.Fuzz(func(t *testing.T, b []byte, items, rows int, xmin, ymin, xmax, ymax float64) {
		if len(b) > 1<<20 || rows > 1<<20 {
			return
		}
		tree, err := Open(b, items, rows)
		if err != nil {
			return
		}
		tree.Bounds()
		found, read, err := tree.Search([4]float64{xmin, ymin, xmax, ymax}, nil)
		if read > int64(len(b)) || err != nil && found != nil {
			t.Fatalf("read %d of %d bytes, found %d rows, error %v", read, len(b), len(found), err)
		}
		for i, row := range found {
			if row < 0 || int(row) >= rows || i > 0 && row <= found[i-1] {
				t.Fatalf("row %d after %d of %d", row, found[max(i-1, 0)], rows)
			}
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	boxes, rows := random(rand.New(rand.NewPCG(10, 11)), 1<<16)
	var builder Builder
	var tree []byte
	b.SetBytes(int64(Size(len(rows))))
	for b.Loop() {
		tree = builder.Append(tree[:0], boxes, rows)
	}
}

func BenchmarkSearch(b *testing.B) {
	boxes, rows := random(rand.New(rand.NewPCG(10, 11)), 1<<16)
	tree, err := Open(Build(boxes, rows), len(rows), int(rows[len(rows)-1])+1)
	if err != nil {
		b.Fatal(err)
	}
	for _, q := range []struct {
		name string
		box  [4]float64
	}{
		{"city", [4]float64{8, 46, 11, 49}},
		{"country", [4]float64{0, 40, 10, 50}},
		{"quarter", [4]float64{0, 0, 180, 90}},
		{"world", [4]float64{-180, -90, 190, 100}},
	} {
		b.Run(q.name, func(b *testing.B) {
			var found []int32
			var read int64
			for b.Loop() {
				found, read, _ = tree.Search(q.box, found[:0])
			}
			b.SetBytes(read)
			b.ReportMetric(float64(len(found)), "rows")
		})
	}
}
