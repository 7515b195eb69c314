package engines

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// lines are what a log holds.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) log() zerolog.Logger { return zerolog.New(l) }

// entry is a line of the log.
type entry struct {
	Level, Device, Error, Message string
	Suppressed                    int
}

func (l *lines) entries(t *testing.T) []entry {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []entry
	for line := range bytes.Lines(l.text.Bytes()) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// TestFaultsAreCountedAndLogged has two devices fail: each gets a line a second at most, which says
// how many had none.
func TestFaultsAreCountedAndLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lines
		f := faults{log: out.log()}
		for i := range 100 { // 2.5 s
			f.add("GPU 0", fmt.Errorf("launch %d", i))
			time.Sleep(25 * time.Millisecond)
		}
		f.add("GPU 1", errors.New("lost\nindeed"))
		const message = "a GPU failed: the CPU engine reads its rows"
		want := []entry{
			{"warn", "GPU 0", "launch 0", message, 0},
			{"warn", "GPU 0", "launch 40", message, 39},
			{"warn", "GPU 0", "launch 80", message, 39},
			{"warn", "GPU 1", "lost\nindeed", message, 0},
		}
		if got := out.entries(t); !slices.Equal(got, want) {
			t.Errorf("logged %+v\nwant %+v", got, want)
		}
		for _, tt := range []struct {
			device string
			n      int64
			last   string
		}{{"GPU 0", 100, "launch 99"}, {"GPU 1", 1, "lost; indeed"}, {"GPU 2", 0, ""}} {
			if n, last := f.count(tt.device); n != tt.n || last != tt.last {
				t.Errorf("%s: %d faults, the last %q, want %d and %q", tt.device, n, last, tt.n, tt.last)
			}
		}
	})
}

// TestFaultsOfSeveralGoroutines is for the race detector.
func TestFaultsOfSeveralGoroutines(t *testing.T) {
	var out lines
	f := faults{log: out.log()}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				f.add("GPU 0", errors.New("lost"))
			}
		})
	}
	all.Wait()
	if n, _ := f.count("GPU 0"); n != 800 {
		t.Errorf("%d faults, want 800", n)
	}
}
