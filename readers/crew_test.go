package readers

import (
	"strings"
	"sync/atomic"
	"testing"
)

func TestInParallel(t *testing.T) {
	for _, n := range []int{0, 1, 2, 16} {
		var calls atomic.Int32
		inParallel(n, func() { calls.Add(1) })
		if got, want := calls.Load(), int32(max(1, n)); got != want {
			t.Errorf("%d goroutines: %d calls, want %d", n, got, want)
		}
	}
}

// TestInParallelPanics: the panic of a goroutine comes out where they were waited for, with the
// place it came from.
func TestInParallelPanics(t *testing.T) {
	var calls atomic.Int32
	defer func() {
		says, _ := recover().(string)
		if !strings.HasPrefix(says, "the third\n") || !strings.Contains(says, "crew_test.go") || calls.Load() != 4 {
			t.Errorf("%d calls, panic %q", calls.Load(), says)
		}
	}()
	inParallel(4, func() {
		if calls.Add(1) == 3 {
			panic("the third")
		}
	})
}
