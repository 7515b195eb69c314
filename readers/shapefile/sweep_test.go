package shapefile_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/shapefile"
)

// TestSweep reads random shapefiles of every type, most of them with mistakes.
func TestSweep(t *testing.T) {
	readertest.Sweep{
		Format: shapefile.Format(), Documents: 500, Variants: []readertest.Variant{windows, parallel},
		Document: func(seed uint64) readertest.Input { return sweepInput(rand.New(rand.NewPCG(seed, 8))) },
	}.CPU(t)
}

// sweepInput returns a random shapefile with its siblings and options.
func sweepInput(r *rand.Rand) readertest.Input {
	kinds := []uint32{
		point, polyLine, polygon, multiPoint, pointZ, polyLineZ, polygonZ, multiPointZ,
		pointM, polyLineM, polygonM, multiPointM, multiPatch,
	}
	kind := kinds[r.IntN(len(kinds))]
	careless := r.IntN(4) == 0
	var contents [][]byte
	for range r.IntN(40) {
		switch {
		case r.IntN(8) == 0:
			contents = append(contents, nothing)
		case careless && r.IntN(10) == 0:
			contents = append(contents, sweepShape(r, kinds[r.IntN(len(kinds))]))
		case careless && r.IntN(10) == 0:
			contents = append(contents, mutated(r, sweepShape(r, kind)))
		default:
			contents = append(contents, sweepShape(r, kind))
		}
		if n := len(contents) - 1; len(contents[n])%2 == 1 {
			contents[n] = append(contents[n], 0)
		}
	}
	in := readertest.Input{
		Name: "a.shp", Text: shpFrom(r.IntN(2), kind, contents...), Options: map[string]any{},
		Siblings: map[string][]byte{},
	}
	in.Options["on_error"] = []string{"fail", "skip", "null", "repair"}[r.IntN(4)]
	if r.IntN(3) > 0 {
		in.Siblings[".dbf"] = sweepTable(r, len(contents), careless)
		in.Siblings[".dbt"] = make([]byte, 512)
		for range 3 { // texts of up to three blocks
			memo := append([]byte(strings.Repeat("x", r.IntN(1400))), 0x1A)
			in.Siblings[".dbt"] = append(in.Siblings[".dbt"], append(memo, make([]byte, -len(memo)&511)...)...)
		}
	}
	if r.IntN(3) == 0 {
		in.Siblings[".cpg"] = []byte("UTF-8")
	}
	if r.IntN(3) == 0 {
		sweepIndex(r, &in, contents)
	}
	if r.IntN(4) == 0 {
		in.Text = mutated(r, in.Text)
	}
	if r.IntN(8) == 0 {
		in.Limits.MaxFeatureBytes = int64(20 + r.IntN(1500))
	}
	return in
}

// sweepIndex puts the records in another order, or not, and an index next to them.
func sweepIndex(r *rand.Rand, in *readertest.Input, contents [][]byte) {
	base := 1
	if len(in.Text) > 103 && in.Text[103] == 0 {
		base = 0
	}
	head := in.Text[:100:100]
	in.Text = head
	entries := make([]uint32, 2*len(contents))
	order := r.Perm(len(contents))
	if r.IntN(2) == 0 { // the first one stays in front, as the number of it counts
		for i := range order {
			order[i] = i
		}
	} else if i := indexOf(order, 0); i >= 0 {
		order[0], order[i] = order[i], order[0]
	}
	for _, i := range order {
		if r.IntN(10) == 0 {
			in.Text = append(in.Text, make([]byte, 2*r.IntN(20))...) // a gap
		}
		entries[2*i], entries[2*i+1] = uint32(len(in.Text)), uint32(len(contents[i]))
		in.Text = append(big.AppendUint32(big.AppendUint32(in.Text, uint32(base+i)), uint32(len(contents[i])/2)),
			contents[i]...)
	}
	in.Siblings[".shx"] = shx(entries...)
	if r.IntN(4) == 0 {
		in.Siblings[".shx"] = mutated(r, in.Siblings[".shx"])
	}
}

func indexOf(list []int, what int) int {
	for i, v := range list {
		if v == what {
			return i
		}
	}
	return -1
}

func sweepTable(r *rand.Rand, rows int, careless bool) []byte {
	fields := []field{{"I", 'N', 4, 0}, {"W", 'N', 20, 0}, {"F", 'F', 8, 3}, {"T", 'C', 6, 0}, {"M", 'M', 10, 0}}
	if careless && r.IntN(4) == 0 {
		rows += r.IntN(5) - 2
	}
	var records []string
	for range rows {
		wide := strconv.Itoa(r.IntN(1000))
		switch r.IntN(30) {
		case 0:
			wide = "99999999999999999999"
		case 1:
			wide = "9007199254740993"
		case 2:
			wide = "1.5"
		}
		v := fmt.Sprintf("%4d%20s%8.3f%6s", r.IntN(10000), wide, r.Float64()*100,
			[]string{"", "abc", "caf\xe9", "é"}[r.IntN(4)]+"      ")
		if careless && r.IntN(20) == 0 {
			v = "  x1" + v[4:]
		}
		memo := strconv.Itoa(max(0, r.IntN(20)-16))
		records = append(records, string(" \x00*     "[r.IntN(8)])+(v + "      ")[:38]+strings.Repeat(" ", 9)+memo)
	}
	b := dbf(fields, records...)
	if careless && r.IntN(4) == 0 {
		b = mutated(r, b)
	}
	return b
}

func sweepShape(r *rand.Rand, kind uint32) []byte {
	ordinate := func() float64 {
		switch r.IntN(30) {
		case 0:
			return math.NaN()
		case 1:
			return -1e39
		case 2:
			return math.Copysign(0, -1)
		}
		return float64(r.IntN(20))
	}
	ordinatesOf := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = ordinate()
		}
		return v
	}
	z, m := kind > 10 && kind < 20 || kind == multiPatch, kind > 10
	if kind%10 == point && kind != multiPatch {
		n := 2
		if z {
			n++
		}
		if m && r.IntN(3) > 0 {
			n++
		}
		return at(kind, ordinatesOf(n)...)
	}
	var of []xy
	var all xy
	var types []uint32
	for range r.IntN(5) {
		p := square(ordinate(), ordinate(), float64(r.IntN(10)))
		switch r.IntN(4) {
		case 0:
			p = ordinatesOf(2 * (3 + r.IntN(8)))
		case 1:
			p = hole(float64(r.IntN(20)), float64(r.IntN(20)), float64(r.IntN(5)))
		}
		of, all, types = append(of, p), append(all, p...), append(types, uint32(r.IntN(6)))
	}
	var more [][]byte
	if z {
		more = append(more, ordinates(ordinatesOf(len(all)/2)...))
	}
	if m && r.IntN(3) > 0 {
		more = append(more, ordinates(ordinatesOf(len(all)/2)...))
	}
	switch kind {
	case multiPoint, multiPointZ, multiPointM:
		return several(kind, all, more...)
	case multiPatch:
		return patch(kind, types, of, more...)
	}
	return parts(kind, of, more...)
}

// mutated changes, takes out or puts in a few bytes.
func mutated(r *rand.Rand, text []byte) []byte {
	text = append([]byte(nil), text...)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(text))
		if r.IntN(2) == 0 {
			at = r.IntN(min(len(text), 200))
		}
		switch r.IntN(8) {
		case 0:
			text = text[:at+1]
		case 1:
			text = append(text[:at], text[at+1:]...)
		case 2:
			text = append(text[:at:at], append([]byte{byte(r.Uint32())}, text[at:]...)...)
		default:
			text[at] = []byte{0, 1, 0x20, 0x2A, 0xFF, 0x80, byte(r.Uint32())}[r.IntN(7)]
		}
		if len(text) == 0 {
			return text
		}
	}
	return text
}
