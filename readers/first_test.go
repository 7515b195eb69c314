package readers

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// notedGuesses reads a file of one row a part, and notes where each part was looked for.
type notedGuesses struct {
	mu    *sync.Mutex
	spans *[][2]int64
	to    int64
}

func (r notedGuesses) Guess(from, stop int64) Part {
	r.mu.Lock()
	defer r.mu.Unlock()
	*r.spans = append(*r.spans, [2]int64{from, stop})
	next := min(stop, r.to)
	return Part{Start: from, Next: next, To: next, Rows: 1, End: next == r.to}
}

func (r notedGuesses) Read(int64, int64, int64) (Part, error) { panic("every guess is right") }

// noted returns where the parts were looked for so far, in order.
func (r notedGuesses) noted() [][2]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	spans := slices.Clone(*r.spans)
	slices.SortFunc(spans, func(a, b [2]int64) int { return int(a[0] - b[0]) })
	return spans
}

// TestFirst: parts end where the first rows do, and those after them wait for Rest, for the lease
// or for the end of the parse.
func TestFirst(t *testing.T) {
	for _, tt := range []struct {
		name     string
		end      int64
		held     int // parts before Rest is closed
		last     int64
		all      int
		goOn     func(rest chan struct{}, cancel func())
		canceled bool
	}{
		{"rest is closed", 250, 3, 250, 11, func(rest chan struct{}, _ func()) { close(rest) }, false},
		{"the lease is over", 250, 3, 250, 11, func(chan struct{}, func()) { time.Sleep(firstLease) }, false},
		{"canceled", 250, 3, 250, 0, func(_ chan struct{}, cancel func()) { cancel() }, true},
		{"less than a part", 10, 1, 10, 11, func(rest chan struct{}, _ func()) { close(rest) }, false},
		{"a whole number of parts", 300, 3, 300, 10, func(rest chan struct{}, _ func()) { close(rest) }, false},
		{"nothing", 0, 10, 1000, 10, func(chan struct{}, func()) {}, false},
		{"all", 1000, 10, 1000, 10, func(chan struct{}, func()) {}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				rest := make(chan struct{})
				r := notedGuesses{mu: new(sync.Mutex), spans: new([][2]int64), to: 1000}
				p := Parts{To: 1000, Size: 100, Workers: 4, Reader: func() PartReader { return r }}
				done := make(chan error)
				go func() {
					p.First = &First{End: tt.end, Rest: rest}
					_, _, err := p.Read(ctx, func(Part) error { return nil })
					done <- err
				}()
				synctest.Wait()
				if got := r.noted(); len(got) != tt.held || min(got[len(got)-1][1], 1000) != tt.last {
					t.Errorf("parts %d before the rest, want %d up to %d", got, tt.held, tt.last)
				}
				tt.goOn(rest, cancel)
				if err := <-done; errors.Is(err, context.Canceled) != tt.canceled {
					t.Error(err)
				}
				if got := r.noted(); !tt.canceled && len(got) != tt.all {
					t.Errorf("parts %d, want %d", got, tt.all)
				}
			})
		})
	}
}

// TestFirstChunk: a chunk that a caller waits for is emitted by the Add that completes it, others
// by one that comes later.
func TestFirstChunk(t *testing.T) {
	rows := func(from, n int) Part {
		p := Part{Columns: &geoarrow.Columns{Rows: n}, To: int64(from + n)}
		for i := range n {
			p.Starts = append(p.Starts, int64(from+i))
		}
		return p
	}
	for _, first := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			req, at := Request{Span: Span{To: 40}, Limits: Limits{BatchRows: 10}}, []int64{}
			if first {
				req.First = &First{End: 10}
			}
			b := NewBatcher(t.Context(), nil, &source.File{}, req, func(c Chunk) error {
				at = append(at, c.Span.Row)
				return nil
			})
			defer b.Close()
			if err := b.Add(rows(0, 25)); err != nil {
				t.Fatal(err)
			}
			if first && (len(at) == 0 || at[0] != 0) {
				t.Errorf("chunks %d after the first part", at)
			}
			synctest.Wait()
			if err := errors.Join(b.Add(rows(25, 15)), b.Finish()); err != nil ||
				!slices.Equal(at, []int64{0, 10, 20, 30}) {
				t.Errorf("chunks %d, %v", at, err)
			}
		})
	}
}
