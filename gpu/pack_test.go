package gpu

import (
	"math"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/gpu/internal/driver"
)

// TestPack compares packed arguments with those added one by one, and counts allocations.
func TestPack(t *testing.T) {
	fields := struct{ a, b, c uint64 }{7, 8, 9}
	args := []Arg{Int(int32(-1)), Struct(&fields), Int(5), Pointer[float64]{address: 6}.Arg()}
	var want driver.Args
	want.Add(math.MaxUint64)
	want.Add(7, 8, 9)
	want.Add(5)
	want.Add(6)
	if got := pack(args); !slices.Equal(got.Words, want.Words) || !slices.Equal(got.Ends, want.Ends) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := testing.AllocsPerRun(100, func() { pack(args) }); n > 2 {
		t.Errorf("%v allocations, want 2", n)
	}
}
