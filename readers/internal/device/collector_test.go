package device_test

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/source"
)

// parserFunc is a parser of one function.
type parserFunc func(req readers.Request) (readers.Summary, error)

func (f parserFunc) Parse(_ context.Context, _ *source.File, req readers.Request,
	_ func(readers.Chunk) error,
) (readers.Summary, error) {
	return f(req)
}

// collectorPercent is GOGC as it is; math.MaxUint64: off.
func collectorPercent() uint64 {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestCollectorPauses looks at GOGC during parses, one within the other, and after them, when they
// fail and panic too.
func TestCollectorPauses(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(77))
	var parse func(depth int, span readers.Span, end error) error
	looked := 0
	parse = func(depth int, span readers.Span, end error) error {
		p := device.New(nil, func(readers.Layout, *device.Engine) readers.Parser {
			return parserFunc(func(readers.Request) (readers.Summary, error) {
				want := uint64(math.MaxUint64)
				if span.Inside {
					want = 77
				}
				if depth > 0 {
					_ = parse(depth-1, span, end)
				}
				looked++
				if got := collectorPercent(); got != want {
					t.Errorf("GOGC %d during a parse, want %d", got, want)
				}
				if end == nil {
					panic("of the parser")
				}
				return readers.Summary{}, end
			})
		}).Parser(readers.Layout{})
		defer func() { _ = recover() }()
		_, err := p.Parse(t.Context(), nil, readers.Request{Span: span}, nil)
		return err
	}
	for _, span := range []readers.Span{{To: -1}, {From: 10, To: 20, Inside: true}} {
		for _, end := range []error{errors.New("some"), nil} {
			_ = parse(2, span, end)
			if got := collectorPercent(); got != 77 {
				t.Fatalf("GOGC %d after all parses, want 77", got)
			}
		}
	}
	if looked != 12 {
		t.Errorf("looked %d times", looked)
	}
}
