package catalog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers"
)

// stepped gives a pause in which a parse takes one step for each value sent, and tells when it ends early.
func stepped() (pause func(context.Context, int64) error, step chan struct{}, stopped chan error) {
	step, stopped = make(chan struct{}), make(chan error, 100)
	return func(ctx context.Context, _ int64) error {
		select {
		case <-step:
			return nil
		case <-ctx.Done():
			stopped <- ctx.Err()
			return ctx.Err()
		}
	}, step, stopped
}

// polled opens a catalog whose polls wait for no time to speak of, over a file that is parsed step by step.
func (w *world) polled(lease time.Duration, text string) (c *Catalog, step chan struct{}, stopped chan error) {
	w.t.Helper()
	w.write("a.rows", text)
	c = w.open()
	c.pollWait, c.pollLease = time.Millisecond, lease
	pause, step, stopped := stepped()
	w.format.pause.Store(&pause)
	return c, step, stopped
}

func TestPollTellsProgress(t *testing.T) {
	for _, cached := range []bool{true, false} {
		w := newWorld(t, memory(-1), func(c *Config) {
			if !cached {
				c.CacheDir = "" // then the table is beyond what may be kept
			}
		})
		text := largeText(1000, nil)
		c, step, _ := w.polled(time.Hour, text)
		seen, last := 0, 0.0
		for range 10 {
			h, progress, err := c.Poll(t.Context(), Request{Name: "a.rows"})
			if h != nil || err != nil || progress < last || progress > 1 {
				t.Fatalf("Poll gives %v, %v, %v after %v", h, progress, err, last)
			}
			if progress > last {
				seen++
			}
			last = progress
			step <- struct{}{}
		}
		if seen < 5 {
			t.Errorf("progress rose %d times in 10 steps, to %v", seen, last)
		}
		eventually(t, "the table", func() error {
			h, progress, err := c.Poll(t.Context(), Request{Name: "a.rows"})
			if err != nil {
				t.Fatal(err)
			}
			if h == nil {
				return fmt.Errorf("%v of it", progress)
			}
			defer h.Release()
			if progress != 1 {
				t.Errorf("progress is %v at the end", progress)
			}
			return sameRows(t.Context(), c, h, Selection{}, rowsOfText(text, 0))
		})
		w.wantParses(1)
		must(t, c.Close())
		w.wantTidy()
	}
}

func TestPollTellsAnErrorOnce(t *testing.T) {
	w := newWorld(t)
	c, step, _ := w.polled(time.Hour, textOf(1, 250)+"!\n")
	poll := func() error {
		h, _, err := c.Poll(t.Context(), Request{Name: "a.rows"})
		if h != nil {
			t.Fatal("a table of a malformed file")
		}
		return err
	}
	must(t, poll())
	step <- struct{}{}
	must(t, poll())
	step <- struct{}{}
	var bad *readers.ParseError
	eventually(t, "the error", func() error {
		if err := poll(); !errors.As(err, &bad) {
			if err != nil {
				t.Fatal(err)
			}
			return errText("none yet")
		}
		return nil
	})
	w.wantParses(1)
	w.format.pause.Store(nil)
	w.write("a.rows", textOf(1, 250))
	w.want(c, "a.rows")
	must(t, poll2(c))
	w.close(c)
	w.wantTidy()
}

// poll2 polls for a table that is there.
func poll2(c *Catalog) error {
	c.pollWait = time.Hour
	h, _, err := c.Poll(context.Background(), Request{Name: "a.rows"})
	h.Release()
	return err
}

func TestParseEndsWhenNobodyPolls(t *testing.T) {
	w := newWorld(t)
	c, step, stopped := w.polled(50*time.Millisecond, textOf(1, 1000))
	if h, _, err := c.Poll(t.Context(), Request{Name: "a.rows"}); h != nil || err != nil {
		t.Fatalf("Poll gives %v, %v", h, err)
	}
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("the parse ended by %v", err)
	}
	close(step)
	w.want(c, "a.rows")
	w.close(c)
	w.wantTidy()
}

// A catalog may be closed while it is asked.
func TestCloseWhileOthersPoll(t *testing.T) {
	for range 5 {
		w := newWorld(t)
		w.write("a.rows", textOf(1, 500))
		c := w.open()
		c.pollWait = 0
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for {
					h, _, err := c.Poll(context.Background(), Request{Name: "a.rows"})
					h.Release()
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		h, err := c.Table(t.Context(), Request{Name: "a.rows"})
		must(t, err)
		must(t, c.Close())
		wg.Wait()
		must(t, sameRows(t.Context(), c, h, Selection{}, rowsOfText(w.read("a.rows"), 0))) // it is still held
		h.Release()
		w.wantTidy()
	}
}
