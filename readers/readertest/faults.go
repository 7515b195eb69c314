package readertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// faultyChunk is the size of chunks on a device that fails.
const faultyChunk = 4 << 10

// DeviceFaults makes calls of devices fail while a format's GPU engine reads a file that it accepts
// completely. The file has some dozen chunks of 4 KiB.
//
//	now and then  each call at some time: the table is the CPU engine's, and the device continues
//	lost          a device, at some call: the CPU engine reads the rest, and every file after it, without
//	              asking the device
//	one of two    is lost: the other one reads on
func DeviceFaults(t *testing.T, f readers.Format, in Input) {
	for _, c := range []struct {
		name string
		err  error
	}{{"a call", errors.New("injected")}, {"no memory", fmt.Errorf("%w: injected", gpu.ErrMemory)}} {
		t.Run(c.name, func(t *testing.T) { checkFaults(t, f, in, c.err) })
	}
	for _, calls := range []int64{20, 40, 100, 300, 1000} {
		t.Run(fmt.Sprintf("lost after %d calls", calls), func(t *testing.T) {
			e := faulty(t, f, lostAfter(calls))
			for range 2 {
				e.Same(t, in)
			}
			if c := e.Counts(); c.Faults == 0 || c.Faults > 2 || !strings.Contains(c.Reason, gpu.ErrLost.Error()) {
				t.Errorf("%+v, want a fault for each of two slots at most", c)
			}
		})
	}
	t.Run("one of two lost", func(t *testing.T) {
		e := faulty(t, f, lostAfter(150), func(string) error { return nil })
		e.Same(t, in)
		before := e.Counts()
		e.Same(t, in)
		if after := e.Counts(); before.Faults == 0 || after.Chunks-before.Chunks < 5 ||
			after.Refused > before.Refused+2 {
			t.Errorf("%+v, then %+v", before, after)
		}
	})
}

// checkFaults makes calls fail with an error, until enough have.
func checkFaults(t *testing.T, f readers.Format, in Input, injected error) {
	var mu sync.Mutex
	r, armed, failed := rand.New(rand.NewPCG(6, 10)), false, map[string]int{}
	e := faulty(t, f, func(call string) error {
		mu.Lock()
		defer mu.Unlock()
		rare := 40
		if call == "Launch" { // most calls are
			rare = 150
		}
		if !armed || call == "Free" || r.IntN(rare) > 0 {
			return nil
		}
		failed[call]++
		return injected
	})
	arm := func(on bool) {
		mu.Lock()
		defer mu.Unlock()
		armed = on
	}
	arm(true)
	for range 3 {
		e.Same(t, in)
	}
	arm(false)
	counts := e.Counts()
	t.Logf("%+v, %v", counts, failed)
	if counts.Faults == 0 || counts.Chunks == 0 || counts.RefusedRows == 0 || len(failed) < 3 {
		t.Errorf("%+v, %v", counts, failed)
	}
	for range 2 {
		e.Same(t, in)
	}
	if after := e.Counts(); after.Faults != counts.Faults || after.Chunks == counts.Chunks {
		t.Errorf("%+v, and without faults %+v", counts, after)
	}
}

// faulty gives the GPU engine on devices of which calls fail. The test ends with an error if
// somebody was told of more or fewer faults than the engine counts.
func faulty(t *testing.T, f readers.Format, faults ...func(call string) error) *Device {
	t.Helper()
	var cards []*kernels.Set
	for _, fault := range faults {
		k, err := kernels.Load(gputest.OpenFaulty(t, gpu.Options{CacheDir: gputest.CacheDir()}, fault))
		if err != nil {
			t.Fatal(err)
		}
		cards = append(cards, k)
	}
	var told atomic.Int64
	pool, err := slots.Open(cards, slots.Config{
		Fault: func(card string, err error) {
			if err == nil || !strings.Contains(card, "GPU 0") {
				t.Errorf("told of %v on %q", err, card)
			}
			told.Add(1)
		},
		Plan: slots.Plan{ChunkBytes: faultyChunk, Slots: 2, Work: 2, ArenaBytes: 16 * faultyChunk},
	})
	if err != nil {
		t.Fatal(err)
	}
	e := &Device{f.GPU(pool), f, faultyChunk}
	t.Cleanup(func() {
		_ = pool.Close() // as faulty as the devices
		if n := e.Counts().Faults; n != told.Load() {
			t.Errorf("%d faults counted, %d told", n, told.Load())
		}
	})
	return e
}

// lostAfter returns a device that is lost with one of its calls.
func lostAfter(calls int64) func(string) error {
	var n atomic.Int64
	return func(string) error {
		if n.Add(1) > calls {
			return fmt.Errorf("%w: injected", gpu.ErrLost)
		}
		return nil
	}
}
