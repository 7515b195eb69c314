package host

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// TestSpare has two parses overlap: there is a processor more from the first one's beginning on,
// until some time after the last one's end.
func TestSpare(t *testing.T) {
	cores := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(cores)
	synctest.Test(t, func(t *testing.T) {
		s := NewExtraProcessor()
		want := func(when string, n int) {
			t.Helper()
			synctest.Wait()
			if got := runtime.GOMAXPROCS(0); got != n {
				t.Errorf("%s: %d processors, want %d", when, got, n)
			}
		}
		first := s.Parsing()
		want("a parse", cores+1)
		second := s.Parsing()
		want("two parses", cores+1)
		first()
		time.Sleep(2 * s.delay)
		want("one is over", cores+1)
		second()
		want("both are over", cores+1)
		third := s.Parsing()
		time.Sleep(2 * s.delay)
		want("another one soon after", cores+1)
		third()
		time.Sleep(2 * s.delay)
		want("nothing for a while", cores)
	})
}
