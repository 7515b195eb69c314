package readers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vibeflight/vibeflight/readers/source"
)

// parseParts reads the rows by Parts, whose workers copy them.
func (s *sheet) parseParts(ctx context.Context, b *Batcher, limits Limits) error {
	if len(s.bounds) == 0 {
		return b.Finish()
	}
	parts := Parts{
		From: s.start(0), To: s.end, Size: s.size, Workers: limits.Workers, Batches: b,
		Reader: func() PartReader { return sheetReader{s} },
	}
	_, row, err := parts.Read(ctx, b.Add)
	switch {
	case err != nil:
		return err
	case row != int64(len(s.rows)):
		s.t.Errorf("%d rows, want %d", row, len(s.rows))
	case s.ended != nil:
		return s.ended()
	case s.halfway > 0:
		return nil
	}
	return b.Finish()
}

// sheetReader reads parts of a sheet.
type sheetReader struct{ *sheet }

func (s sheetReader) Guess(from, stop int64) Part {
	if s.lies != nil && s.lies() {
		return Part{Failed: true}
	}
	i, _ := slices.BinarySearch(s.starts, from)
	part, err := s.from(i, stop)
	if err != nil {
		return Part{Failed: true}
	}
	return part
}

func (s sheetReader) Read(from, stop, row int64) (Part, error) {
	i, begins := slices.BinarySearch(s.starts, from)
	if !begins || int64(i) != row {
		s.t.Errorf("row %d is read at byte %d", row, from)
	}
	return s.from(i, stop)
}

var errBroken = errors.New("a broken row")

// from returns the part of the rows from row i on.
func (s sheetReader) from(i int, stop int64) (Part, error) {
	to, _ := slices.BinarySearch(s.starts, stop)
	if to <= i {
		return Part{}, errors.New("no row")
	}
	if s.broken > 0 && i <= s.broken && s.broken < to {
		return Part{Failed: true}, errBroken
	}
	p := s.part(i, to, nil)
	p.Rows, p.End = int64(to-i), to == len(s.rows)
	return s.lend(p), nil
}

// TestBatchesSideBySide: workers assemble several batches at a time, which come in order all the
// same.
func TestBatchesSideBySide(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		synctest.Test(t, func(t *testing.T) {
			s := mixedSheet(t)
			s.way, s.size = copiedByWorkers, 40
			var now, most atomic.Int64
			s.reread = func() error { // called by the worker that assembles a batch
				for n := now.Add(1); ; {
					if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
						break
					}
				}
				time.Sleep(time.Second) // until all others wait
				now.Add(-1)
				return nil
			}
			var rows []int64
			panicked, err := caughtParse(s, Limits{BatchRows: 5, Workers: workers}, func(c Chunk) error {
				rows = append(rows, c.Span.Row)
				return nil
			})
			if panicked != nil || err != nil || !slices.Equal(rows, []int64{0, 5, 10, 15, 20, 25, 30, 35}) {
				t.Errorf("%d workers: batches at rows %d, %v, %v", workers, rows, panicked, err)
			}
			if int(most.Load()) != workers {
				t.Errorf("%d workers: %d batches at a time", workers, most.Load())
			}
			s.checkReleased()
		})
	}
}

// TestBatchBeforeAnError: the error of a batch is that of the parse, and its predecessors are
// emitted, although a later row is broken and was found so while the batch was assembled.
func TestBatchBeforeAnError(t *testing.T) {
	errBatch := errors.New("a batch")
	for _, tt := range []struct {
		name    string
		fails   int  // reading again that fails
		panics  bool // instead
		broken  int  // row
		want    error
		emitted int // at least
	}{
		{"a row", 0, false, 30, errBroken, 5},
		{"a batch, then a row", 3, false, 38, errBatch, 0},
		{"a panic, then a row", 3, true, 38, nil, 0},
		{"a batch", 5, false, 0, errBatch, 0},
	} {
		for _, workers := range []int{1, 2, 3, 16} {
			t.Run(fmt.Sprintf("%s, %d workers", tt.name, workers), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := mixedSheet(t)
					s.way, s.size, s.broken = copiedByWorkers, 40, tt.broken
					var calls atomic.Int64
					s.reread = func() error {
						n := calls.Add(1)
						time.Sleep(time.Second) // so that the broken row is found first, with enough workers
						switch {
						case int(n) != tt.fails:
							return nil
						case tt.panics:
							panic(errBatch)
						}
						return errBatch
					}
					next := int64(0)
					panicked, err := caughtParse(s, Limits{BatchRows: 5, Workers: workers}, func(c Chunk) error {
						if c.Span.Row != next {
							t.Errorf("a batch at row %d, want %d", c.Span.Row, next)
						}
						next += int64(c.Columns.Rows)
						return nil
					})
					if !errors.Is(err, tt.want) || (panicked != nil) != tt.panics {
						t.Errorf("error %v, panic %v, want %v", err, panicked, tt.want)
					}
					if int(next) < 5*tt.emitted {
						t.Errorf("batches up to row %d, want %d of them", next, tt.emitted)
					}
					s.checkReleased()
				})
			})
		}
	}
}

// TestBatchesCanceled: a parse that is cancelled while batches are assembled ends, and releases
// every part.
func TestBatchesCanceled(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		for after := range int64(8) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := mixedSheet(t)
				s.way, s.size = copiedByWorkers, 30
				var calls atomic.Int64
				s.reread = func() error {
					if calls.Add(1) > after {
						cancel()
					}
					time.Sleep(time.Second)
					return nil
				}
				req := Request{Limits: Limits{BatchRows: 5, Workers: workers}}
				_, err := s.Parse(ctx, &source.File{Name: "sheet"}, req, func(Chunk) error { return nil })
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				s.checkReleased()
			})
		}
	}
}

// TestBacklogIsShort: parts are not held longer than their rows take to be copied, whether guesses
// are right or wrong.
func TestBacklogIsShort(t *testing.T) {
	for _, tt := range []struct {
		name    string
		workers int
		lies    func() bool
		most    int64
	}{
		{"one worker", 1, nil, 2},
		{"one worker, wrong guesses", 1, func() bool { return true }, 1},
		{"four workers", 4, nil, (1 + uncopiedEach + 1 + 1) * 4 * aheadEach},
		{"four workers, wrong guesses", 4, func() bool { return true }, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := randomSheet(rand.New(rand.NewPCG(1, 2)), 2000)
			s.t, s.bounds, s.way, s.size, s.lies = t, []int{0}, copiedByWorkers, 20, tt.lies
			if _, err := s.read(Limits{BatchRows: 1000, Workers: tt.workers}); err != nil {
				t.Fatal(err)
			}
			if n := s.most.Load(); n > tt.most {
				t.Errorf("%d parts were held at a time, want %d", n, tt.most)
			}
		})
	}
}
