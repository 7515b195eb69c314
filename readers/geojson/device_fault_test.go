package geojson_test

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
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// faultyFile is enough for some dozen chunks of 4 KiB.
func faultyFile() readertest.Input {
	r := rand.New(rand.NewPCG(6, 9))
	text := deviceFile(r, 500, false, shapeOf(r, "Polygon"), func(i int) string { return fmt.Sprintf(`"n":%d,"s":"a"`, i) })
	return readertest.Input{Name: "a.geojson", Text: []byte(text), Limits: readers.Limits{BatchRows: 100}}
}

// faulty gives the GPU engine on cards of which calls fail. The test ends with an error if the engine was told of more or fewer faults than it counts.
func faulty(t *testing.T, faults ...func(call string) error) *geojson.Device {
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
	d, err := geojson.FaultyDevice(4<<10, func(card string, err error) {
		if err == nil || !strings.Contains(card, "GPU 0") {
			t.Errorf("told of %v on %q", err, card)
		}
		told.Add(1)
	}, cards...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.Close() // as faulty as the cards
		if n := d.Counts().Faults; n != told.Load() {
			t.Errorf("%d faults counted, %d told", n, told.Load())
		}
	})
	return d
}

// TestDeviceFaults has calls fail now and then, each of them sooner or later: the table is that of the CPU engine, and the card goes on.
func TestDeviceFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
	}{{"a call", errors.New("injected")}, {"no memory", fmt.Errorf("%w: injected", gpu.ErrMemory)}} {
		t.Run(c.name, func(t *testing.T) {
			var mu sync.Mutex
			r, armed, failed := rand.New(rand.NewPCG(6, 10)), false, map[string]int{}
			d := faulty(t, func(call string) error {
				mu.Lock()
				defer mu.Unlock()
				if !armed || call == "Free" || r.IntN(150) > 0 {
					return nil
				}
				failed[call]++
				return c.err
			})
			armed = true
			for range 3 {
				readertest.Same(t, geojson.Format(), faultyFile(), []int{0}, onDevice(d))
			}
			counts := d.Counts()
			t.Logf("%+v, %v", counts, failed)
			if counts.Faults == 0 || counts.Chunks == 0 || counts.RefusedRows == 0 || len(failed) < 3 {
				t.Errorf("%+v, %v", counts, failed)
			}
			mu.Lock()
			armed = false
			mu.Unlock()
			for range 2 {
				readertest.Same(t, geojson.Format(), faultyFile(), []int{0}, onDevice(d))
			}
			if after := d.Counts(); after.Faults != counts.Faults || after.Chunks == counts.Chunks {
				t.Errorf("%+v, and without faults %+v", counts, after)
			}
		})
	}
}

// lostAfter is a card that is lost with one of its calls.
func lostAfter(calls int64) func(string) error {
	var n atomic.Int64
	return func(string) error {
		if n.Add(1) > calls {
			return fmt.Errorf("%w: injected", gpu.ErrLost)
		}
		return nil
	}
}

// TestDeviceLost loses a card at some call: the rest of the file is read by the CPU engine, and so is every file after it, without asking the card.
func TestDeviceLost(t *testing.T) {
	for _, calls := range []int64{20, 40, 100, 300, 1000} {
		t.Run(fmt.Sprint(calls), func(t *testing.T) {
			d := faulty(t, lostAfter(calls))
			for range 2 {
				readertest.Same(t, geojson.Format(), faultyFile(), []int{0}, onDevice(d))
			}
			if c := d.Counts(); c.Faults == 0 || c.Faults > 2 || !strings.Contains(c.Reason, gpu.ErrLost.Error()) {
				t.Errorf("%+v, want a fault for each of two lanes at most", c)
			}
		})
	}
}

// TestDeviceLostOneOfTwo loses one of two cards: the other one reads on.
func TestDeviceLostOneOfTwo(t *testing.T) {
	d := faulty(t, lostAfter(400), func(string) error { return nil })
	readertest.Same(t, geojson.Format(), faultyFile(), []int{0}, onDevice(d))
	before := d.Counts()
	readertest.Same(t, geojson.Format(), faultyFile(), []int{0}, onDevice(d))
	if after := d.Counts(); before.Faults == 0 || after.Chunks-before.Chunks < 5 || after.Refused > before.Refused+2 {
		t.Errorf("%+v, then %+v", before, after)
	}
}
