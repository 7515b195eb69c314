package readers

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// TestInParallelPanics: the panic of a goroutine comes out where they were waited for, with the place it came from.
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

// TestCrew: each goroutine has a tool of its own, tasks wait for a goroutine that is free, and close waits for all of them.
func TestCrew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which waits for all goroutines
		c := newCrew([]*int{new(int), new(int), new(int)}, 8)
		var began atomic.Int32
		gate := make(chan struct{})
		for range 8 {
			c.tasks <- func(tool *int) {
				*tool++ // the race detector says if two have it
				began.Add(1)
				<-gate
			}
		}
		synctest.Wait()
		if began.Load() != 3 {
			t.Errorf("%d tasks began, want 3", began.Load())
		}
		close(gate)
		c.close()
		if n := began.Load(); n != 8 {
			t.Errorf("%d tasks began, want 8", n)
		}
	})
}
