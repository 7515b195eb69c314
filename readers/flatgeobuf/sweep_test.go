package flatgeobuf_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gogama/flatgeobuf/flatgeobuf/flat"

	"github.com/vibeflight/vibeflight/readers/flatgeobuf"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestSweep reads random files of every kind and type, many of them with mistakes and flipped bits.
func TestSweep(t *testing.T) {
	readertest.Sweep{
		Format: flatgeobuf.Format(), Documents: 600, Variants: []readertest.Variant{windows, parallel},
		Document: func(seed uint64) readertest.Input {
			r := rand.New(rand.NewPCG(seed, 9))
			in := readertest.Input{Name: "a.fgb", Text: sweepFile(r)}
			in.Options = map[string]any{"on_error": []string{"fail", "skip", "null", "repair"}[r.IntN(4)]}
			return in
		},
	}.CPU(t)
}

// sweepFile returns a random file. Of three, one has flipped bits or is cut.
func sweepFile(r *rand.Rand) []byte {
	kinds := []flat.GeometryType{
		unknown, point, lineString, polygon, multiPoint, multiLineString,
		multiPolygon, collection,
	}
	f := fgbFile{kind: kinds[r.IntN(len(kinds))]}
	for i := range r.IntN(6) {
		f.columns = append(f.columns, fgbColumn{fmt.Sprint("c", i%4), flat.ColumnType(r.IntN(15))})
	}
	careless := r.IntN(3) == 0
	for range r.IntN(40) {
		var s *shape
		if r.IntN(8) > 0 {
			kind := f.kind
			if kind == unknown || careless && r.IntN(10) == 0 {
				kind = kinds[r.IntN(len(kinds))]
			}
			one := sweepShape(r, kind, 3)
			s = &one
		}
		f.features = append(f.features, feature(s, sweepValues(r, f.columns, careless)...))
	}
	if r.IntN(2) == 0 {
		f.count, f.nodes = uint64(len(f.features)), uint16(2*r.IntN(3))
		if r.IntN(20) == 0 {
			f.count++
		}
	}
	text := f.bytes()
	if r.IntN(3) == 0 {
		for range 1 + r.IntN(3) {
			text[r.IntN(len(text))] ^= 1 << r.IntN(8)
		}
	}
	if r.IntN(10) == 0 {
		text = text[:r.IntN(len(text))]
	}
	return text
}

func sweepShape(r *rand.Rand, kind flat.GeometryType, depth int) shape {
	s := shape{kind: kind}
	switch {
	case kind == multiPolygon || kind == collection:
		for range r.IntN(4) {
			member := polygon
			if kind == collection {
				member = flat.GeometryType(1 + r.IntN(6+min(1, depth)))
			}
			s.parts = append(s.parts, sweepShape(r, member, depth-1))
		}
		return s
	case r.IntN(8) == 0:
		return s
	}
	n := 1
	if kind != point {
		n = r.IntN(9)
	}
	s.xy = sweepOrdinates(r, 2*n)
	if r.IntN(3) == 0 {
		s.z = sweepOrdinates(r, n)
	}
	if r.IntN(5) == 0 {
		s.m = sweepOrdinates(r, n)
	}
	if r.IntN(20) == 0 {
		s.t = sweepOrdinates(r, n)
	}
	if (kind == polygon || kind == multiLineString) && r.IntN(2) == 0 {
		s.ends = []uint32{uint32(r.IntN(n + 1)), uint32(n)}
	}
	return s
}

func sweepOrdinates(r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		switch r.IntN(6) {
		case 0:
			v[i] = nan
		case 1:
			v[i] = math.Float64frombits(r.Uint64())
		default:
			v[i] = float64(r.IntN(20) - 10)
		}
	}
	return v
}

func sweepValues(r *rand.Rand, columns []fgbColumn, careless bool) (values [][]byte) {
	times := []string{
		"2020-01-31", "2020-01-31T10:11:12", "2020-01-31T10:11:12.123456", "2020-01-31T10:11:12Z",
		"2020-01-31T10:11:12+02:00", "10:11", "never",
	}
	some := times[r.IntN(len(times))]
	widths := []int{1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8}
	for i, c := range columns {
		if r.IntN(5) == 0 {
			continue
		}
		var v any
		switch k := int(c.kind); {
		case c.kind == flat.ColumnTypeBool:
			v = r.IntN(2) == 0
		case k < len(widths):
			b := make([]byte, widths[k])
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			v = b
		case c.kind == flat.ColumnTypeJson:
			v = []string{"[1, 2]", `{"a":null}`, `"é"`, "7"}[r.IntN(4)]
		case c.kind == flat.ColumnTypeDateTime && r.IntN(8) > 0:
			v = some
		default:
			v = []string{"", "a", "é", "2020-01-01", times[r.IntN(len(times))]}[r.IntN(5)]
		}
		if careless && r.IntN(30) == 0 {
			v = "\xff"
		}
		values = append(values, value(uint16(i), v))
	}
	r.Shuffle(len(values), func(i, k int) { values[i], values[k] = values[k], values[i] })
	return values
}
