package tablefile

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
)

// countdown is a context that ends after n calls of Err.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestFinishEndsWithItsContext ends the context at each call of Err in Finish. There are several
// calls for each batch, also for batches that Append wrote. Nothing is written afterwards.
func TestFinishEndsWithItsContext(t *testing.T) {
	for _, appended := range []bool{false, true} {
		asked := int64(0)
		for done := false; !done; asked++ {
			table := small(t)
			w := NewWriter(create(t))
			final := *table
			if appended {
				final.Batches = nil
				for _, b := range table.Batches {
					view, err := w.Append(b)
					if err != nil {
						t.Fatal(err)
					}
					final.Batches = append(final.Batches, view)
				}
			}
			ctx := &countdown{Context: t.Context()}
			ctx.left.Store(asked)
			err := w.Finish(ctx, &final)
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatalf("ended after %d questions: %v", asked, err)
			}
			if err != nil && ctx.left.Load() < -1 {
				t.Errorf("ended after %d questions: went on, and asked again", asked)
			}
			done = err == nil
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		calls := int64(2) // a check of the batch, and its index
		if !appended {
			calls++ // and the batch itself
		}
		if n := int64(len(small(t).Batches)); asked <= calls*n {
			t.Errorf("appended: %v: the context was asked for %d times over %d batches", appended, asked-1, n)
		}
	}
}

// TestMeasureEndsWithItsContext expects that no geometry is read after the context has ended.
func TestMeasureEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	table := readers.Table{Batches: small(t).Batches}
	if err := table.Measure(ctx); !errors.Is(err, context.Canceled) || table.Boxes != nil {
		t.Errorf("got %v and %d boxes, want none", err, len(table.Boxes))
	}
}
