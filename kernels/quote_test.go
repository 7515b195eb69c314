package kernels_test

import (
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

func TestQuoteParity(t *testing.T) {
	type test struct {
		name  string
		text  []byte
		quote byte
		style kernels.QuoteStyle
		carry kernels.QuoteCarry
	}
	var tests []test
	for _, n := range sizes {
		text := random(uint64(n), n, `"\\\ab{`)
		tests = append(
			tests,
			test{name: "random", text: text, quote: '"'},
			test{name: "from inside a string", text: text, quote: '"', carry: kernels.QuoteCarry{Inside: 1}},
			test{name: "from an escape", text: text, quote: '"', carry: kernels.QuoteCarry{Inside: 1, Escaped: 1}},
			test{
				name: "doubled", text: text, quote: '"', style: kernels.QuoteDoubled,
				carry: kernels.QuoteCarry{Inside: 1},
			},
			test{name: "another quote", text: text, quote: 'a', style: kernels.QuoteDoubled},
		)
	}
	for name, text := range hostileTexts() {
		tests = append(tests, test{name: name, text: text, quote: '"'}, test{
			name: name + ", escaped",
			text: text, quote: '"', carry: kernels.QuoteCarry{Escaped: 1},
		})
	}
	r := open(t)
	for _, tt := range tests {
		want := tt.carry
		mask := quoteParity(tt.text, tt.quote, tt.style, &want)
		c := upload(r, []kernels.QuoteCarry{tt.carry})
		inside := poisoned[uint64](r, kernels.Words(len(tt.text)))
		r.ok(r.k.QuoteParity(r.s, upload(r, tt.text), tt.quote, tt.style, inside, c))
		sameMask(t, tt.name, tt.text, read(r, inside), mask)
		if got := read(r, c)[0]; got != want {
			t.Fatalf("%s of %d bytes: the carry is %+v, want %+v", tt.name, len(tt.text), got, want)
		}
	}
}

// A text in chunks has the mask of the text.
func TestQuoteParityInChunks(t *testing.T) {
	r := open(t)
	small := []byte(`{"a\\":"\"x\\\"","b":["\\",""]}\\"`)
	var splits [][]int
	for i := range small {
		splits = append(splits, []int{i})
	}
	chunked(r, small, splits)
	large := random(7, 40000, `"\\\\\\ab`)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 10 {
		a, b := rng.IntN(len(large)), rng.IntN(len(large))
		chunked(r, large, [][]int{{min(a, b), max(a, b)}})
	}
}

// chunked compares the masks of the chunks between each set of places with those of the plain
// reading.
func chunked(r *rig, text []byte, splits [][]int) {
	r.Helper()
	for _, places := range splits {
		var want kernels.QuoteCarry
		c := upload(r, []kernels.QuoteCarry{{}})
		from := 0
		for _, to := range append(places, len(text)) {
			chunk := text[from:to]
			inside := poisoned[uint64](r, kernels.Words(len(chunk)))
			r.ok(r.k.QuoteParity(r.s, upload(r, chunk), '"', kernels.QuoteEscaped, inside, c))
			sameMask(r, "chunk", chunk, read(r, inside), quoteParity(chunk, '"', kernels.QuoteEscaped, &want))
			from = to
		}
	}
}

func TestQuoteParityRefuses(t *testing.T) {
	r := open(t)
	text := upload(r, make([]byte, 100))
	mask := poisoned[uint64](r, 2)
	tests := []struct {
		name string
		err  error
	}{
		{"a short mask", r.k.QuoteParity(r.s, text, '"', kernels.QuoteEscaped, mask.Slice(0, 1),
			gpu.Buffer[kernels.QuoteCarry]{})},
		{"a backslash as quote", r.k.QuoteParity(r.s, text, '\\', kernels.QuoteEscaped, mask,
			gpu.Buffer[kernels.QuoteCarry]{})},
		{"text at an odd address", r.k.QuoteParity(r.s, text.Slice(1, 100), '"', kernels.QuoteEscaped,
			mask, gpu.Buffer[kernels.QuoteCarry]{})},
		{"two carries", r.k.QuoteParity(r.s, text, '"', kernels.QuoteEscaped, mask,
			poisoned[kernels.QuoteCarry](r, 2))},
	}
	for _, tt := range tests {
		if tt.err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}
