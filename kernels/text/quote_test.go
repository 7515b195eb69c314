package text_test

import (
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

func TestQuoteParity(t *testing.T) {
	type test struct {
		name  string
		text  []byte
		quote byte
		style ktext.QuoteStyle
		carry ktext.QuoteCarry
	}
	var tests []test
	for _, n := range kerneltest.Sizes {
		text := kerneltest.Random(uint64(n), n, `"\\\ab{`)
		tests = append(
			tests,
			test{name: "random", text: text, quote: '"'},
			test{name: "from inside a string", text: text, quote: '"', carry: ktext.QuoteCarry{Inside: 1}},
			test{name: "from an escape", text: text, quote: '"', carry: ktext.QuoteCarry{Inside: 1, Escaped: 1}},
			test{
				name: "doubled", text: text, quote: '"', style: ktext.QuoteDoubled,
				carry: ktext.QuoteCarry{Inside: 1},
			},
			test{name: "another quote", text: text, quote: 'a', style: ktext.QuoteDoubled},
		)
	}
	for name, text := range kerneltest.HostileTexts() {
		tests = append(tests, test{name: name, text: text, quote: '"'}, test{
			name: name + ", escaped",
			text: text, quote: '"', carry: ktext.QuoteCarry{Escaped: 1},
		})
	}
	r := kerneltest.Open(t)
	for _, tt := range tests {
		want := tt.carry
		mask := kerneltest.QuoteParity(tt.text, tt.quote, tt.style, &want)
		c := kerneltest.Upload(r, []ktext.QuoteCarry{tt.carry})
		inside := kerneltest.Poisoned[uint64](r, kernels.Words(len(tt.text)))
		r.OK(ktext.QuoteParity(r.Set, r.Stream, kerneltest.Upload(r, tt.text), tt.quote, tt.style, inside, c))
		kerneltest.SameMask(t, tt.name, tt.text, kerneltest.Read(r, inside), mask)
		if got := kerneltest.Read(r, c)[0]; got != want {
			t.Fatalf("%s of %d bytes: the carry is %+v, want %+v", tt.name, len(tt.text), got, want)
		}
	}
}

// A text in chunks has the mask of the text.
func TestQuoteParityInChunks(t *testing.T) {
	r := kerneltest.Open(t)
	small := []byte(`{"a\\":"\"x\\\"","b":["\\",""]}\\"`)
	var splits [][]int
	for i := range small {
		splits = append(splits, []int{i})
	}
	chunked(r, small, splits)
	large := kerneltest.Random(7, 40000, `"\\\\\\ab`)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 10 {
		a, b := rng.IntN(len(large)), rng.IntN(len(large))
		chunked(r, large, [][]int{{min(a, b), max(a, b)}})
	}
}

// chunked compares the masks of the chunks between each set of places with those of the plain
// reading.
func chunked(r *kerneltest.Rig, text []byte, splits [][]int) {
	r.Helper()
	for _, places := range splits {
		var want ktext.QuoteCarry
		c := kerneltest.Upload(r, []ktext.QuoteCarry{{}})
		from := 0
		for _, to := range append(places, len(text)) {
			chunk := text[from:to]
			inside := kerneltest.Poisoned[uint64](r, kernels.Words(len(chunk)))
			r.OK(ktext.QuoteParity(r.Set, r.Stream, kerneltest.Upload(r, chunk), '"', ktext.QuoteEscaped, inside, c))
			kerneltest.SameMask(r, "chunk", chunk, kerneltest.Read(r, inside),
				kerneltest.QuoteParity(chunk, '"', ktext.QuoteEscaped, &want))
			from = to
		}
	}
}

func TestQuoteParityRefuses(t *testing.T) {
	r := kerneltest.Open(t)
	text := kerneltest.Upload(r, make([]byte, 100))
	mask := kerneltest.Poisoned[uint64](r, 2)
	tests := []struct {
		name string
		err  error
	}{
		{"a short mask", ktext.QuoteParity(r.Set, r.Stream, text, '"', ktext.QuoteEscaped, mask.Slice(0, 1),
			gpu.Buffer[ktext.QuoteCarry]{})},
		{"a backslash as quote", ktext.QuoteParity(r.Set, r.Stream, text, '\\', ktext.QuoteEscaped, mask,
			gpu.Buffer[ktext.QuoteCarry]{})},
		{"text at an odd address", ktext.QuoteParity(r.Set, r.Stream, text.Slice(1, 100), '"', ktext.QuoteEscaped,
			mask, gpu.Buffer[ktext.QuoteCarry]{})},
		{"two carries", ktext.QuoteParity(r.Set, r.Stream, text, '"', ktext.QuoteEscaped, mask,
			kerneltest.Poisoned[ktext.QuoteCarry](r, 2))},
	}
	for _, tt := range tests {
		if tt.err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}
