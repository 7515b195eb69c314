package slots

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestQueueTakesTurns has chunks of two files wait for one thing: files take turns as they asked,
// and of a file the first chunk comes first.
func TestQueueTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q queue[int]
		q.give(7)
		if v, ok := q.take("a", 0); v != 7 || !ok {
			t.Fatalf("%d, %t", v, ok)
		}
		var order []string
		for _, w := range []struct {
			file string
			at   int64
		}{{"a", 30}, {"b", 5}, {"a", 10}, {"a", 20}, {"b", 1}} {
			go func() {
				v, ok := q.take(w.file, w.at)
				if v != 7 || !ok {
					t.Errorf("%d, %t", v, ok)
				}
				order = append(order, w.file+string(rune('0'+w.at/10))+string(rune('0'+w.at%10)))
				q.give(7)
			}()
			synctest.Wait()
		}
		q.give(7)
		synctest.Wait()
		if want := []string{"a10", "b01", "a20", "a30", "b05"}; !slices.Equal(order, want) {
			t.Errorf("%q, want %q", order, want)
		}
	})
}

func TestQueueShutDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q queue[int]
		var sent atomic.Int32
		for range 3 {
			go func() {
				if _, ok := q.take(nil, 0); !ok {
					sent.Add(1)
				}
			}()
		}
		synctest.Wait()
		q.shutDown()
		synctest.Wait()
		if _, ok := q.take(nil, 0); ok || sent.Load() != 3 {
			t.Errorf("%d of 3 were sent away, and then %t", sent.Load(), ok)
		}
	})
}
