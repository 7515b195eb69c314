package number

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"unsafe"
)

// texts are the inputs of the benchmarks: numbers between commas.
var texts = []struct {
	name   string
	append func(b []byte, i int, r *rand.Rand) []byte
}{
	{"coordinates=6", regional(4)},
	{"coordinates=7", regional(5)},
	{"coordinates=9", regional(7)},
	{"coordinates=14", regional(12)},
	{"coordinates=17", regional(-1)},
	{"mercator=shortest", func(b []byte, _ int, r *rand.Rand) []byte {
		return strconv.AppendFloat(b, 13358338+1e5*r.Float64(), 'f', -1, 64)
	}},
	{"world=shortest", func(b []byte, _ int, r *rand.Rand) []byte { // any sign, trailing zeros cut: hard to predict
		return strconv.AppendFloat(b, float64(r.IntN(360e6)-180e6)/1e6, 'f', -1, 64)
	}},
	{"properties=small", func(b []byte, _ int, r *rand.Rand) []byte {
		return strconv.AppendInt(b, int64(r.IntN(4)), 10)
	}},
	{"properties=ids", func(b []byte, i int, _ *rand.Rand) []byte {
		return strconv.AppendInt(b, int64(1000000+i), 10)
	}},
	{"properties=epoch", func(b []byte, _ int, r *rand.Rand) []byte {
		return strconv.AppendInt(b, 1600000000+int64(r.IntN(1e8)), 10)
	}},
	{"properties=12.25", func(b []byte, _ int, r *rand.Rand) []byte {
		return strconv.AppendFloat(b, float64(r.IntN(10000))/100, 'f', -1, 64)
	}},
}

// regional returns longitudes and latitudes of Florida by turns, with n decimals.
func regional(decimals int) func(b []byte, i int, r *rand.Rand) []byte {
	return func(b []byte, i int, r *rand.Rand) []byte {
		v := -87.6 + 7.6*r.Float64()
		if i&1 == 1 {
			v = 24.5 + 6.5*r.Float64()
		}
		return strconv.AppendFloat(b, v, 'f', decimals, 64)
	}
}

var sink float64

func BenchmarkFloat(b *testing.B) {
	benchmark(b, "Float", func(q unsafe.Pointer, size int) {
		for p := 0; p < size; p++ {
			var v float64
			v, p = Float(q, p)
			sink += v
		}
	})
}

func BenchmarkNumber(b *testing.B) {
	benchmark(b, "Number", func(q unsafe.Pointer, size int) {
		for p := 0; p < size; p++ {
			var n Num
			n, p = Number(q, p)
			sink += n.Float
		}
	})
}

func BenchmarkStrconv(b *testing.B) {
	benchmark(b, "strconv", func(q unsafe.Pointer, size int) {
		text := unsafe.String((*byte)(q), size)
		for p := 0; p < size; p++ {
			first := p
			for text[p] != ',' {
				p++
			}
			v, _ := strconv.ParseFloat(text[first:p], 64)
			sink += v
		}
	})
}

func benchmark(b *testing.B, by string, read func(q unsafe.Pointer, size int)) {
	for _, t := range texts {
		var text []byte
		r := rand.New(rand.NewPCG(3, 4))
		for i := range 20000 {
			text = append(t.append(text, i, r), ',')
		}
		size := len(text)
		text = append(text, make([]byte, Padding)...)
		b.Run(fmt.Sprintf("%s/by=%s", t.name, by), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				read(unsafe.Pointer(&text[0]), size)
			}
		})
	}
}
