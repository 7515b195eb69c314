package catalog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/catalog/poll"
	"github.com/vibeflight/vibeflight/readers"
)

// stepped returns a pause that lets a parse take one step for each value sent. It reports when the
// parse ends early.
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

// polled opens a catalog whose polls wait hardly at all, with a file that is parsed step by step.
func (w *world) polled(lease time.Duration, text string) (c *Catalog, step chan struct{}, stopped chan error) {
	w.t.Helper()
	w.write("a.rows", text)
	c = w.open()
	c.polls.Wait, c.polls.Lease = time.Millisecond, lease
	pause, step, stopped := stepped()
	w.format.pause.Store(&pause)
	return c, step, stopped
}

func TestPollTellsProgress(t *testing.T) {
	for i := range 4 {
		cached, again := i&1 == 0, i&2 == 0 // later polls use the ID of the first one
		w := newWorld(t, memory(-1), func(c *Config) {
			if !cached {
				c.CacheDir = "" // the table then exceeds the memory limit
			}
		})
		text := largeText(1000, nil)
		c, step, _ := w.polled(time.Hour, text)
		seen, last, id := 0, 0.0, ""
		for range 10 {
			h, at, err := c.Poll(t.Context(), Request{Name: "a.rows"}, id)
			if h != nil || err != nil || at.Progress < last || at.Progress > 1 || at.ID == "" || again &&
				id != "" && at.ID != id {
				t.Fatalf("Poll gives %v, %+v, %v after %v", h, at, err, last)
			}
			if at.Progress > last {
				seen++
			}
			last = at.Progress
			if again {
				id = at.ID
			}
			step <- struct{}{}
		}
		if seen < 5 {
			t.Errorf("progress rose %d times in 10 steps, to %v", seen, last)
		}
		eventually(t, "the table", func() error {
			h, at, err := c.Poll(t.Context(), Request{Name: "a.rows"}, id)
			if err != nil {
				t.Fatal(err)
			}
			if h == nil {
				return fmt.Errorf("%v of it", at.Progress)
			}
			defer h.Release()
			if at.Progress != 1 {
				t.Errorf("progress is %v at the end", at.Progress)
			}
			return sameRows(t.Context(), h, Selection{}, rowsOfText(text, 0))
		})
		w.wantParses(1)
		must(t, c.Close())
		w.wantTidy()
	}
}

func TestPollTellsAnErrorOnce(t *testing.T) {
	for _, again := range []bool{false, true} {
		pollTellsAnErrorOnce(t, again)
	}
}

// pollTellsAnErrorOnce polls with the ID of the last poll, or without one.
func pollTellsAnErrorOnce(t *testing.T, again bool) {
	w := newWorld(t)
	c, step, _ := w.polled(time.Hour, textOf(1, 250)+"!\n")
	id := ""
	poll := func() error {
		h, at, err := c.Poll(t.Context(), Request{Name: "a.rows"}, id)
		if again {
			id = at.ID
		}
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

// poll2 polls for a table that is in memory.
func poll2(c *Catalog) error {
	c.polls.Wait = time.Hour
	h, _, err := c.Poll(context.Background(), Request{Name: "a.rows"}, "")
	h.Release()
	return err
}

func TestParseEndsWhenNobodyPolls(t *testing.T) {
	w := newWorld(t)
	c, step, stopped := w.polled(50*time.Millisecond, textOf(1, 1000))
	if h, _, err := c.Poll(t.Context(), Request{Name: "a.rows"}, ""); h != nil || err != nil {
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

// TestCancelPoll cancels one of the polls that wait for a parse.
func TestCancelPoll(t *testing.T) {
	w := newWorld(t)
	text := textOf(1, 1000)
	c, step, stopped := w.polled(time.Hour, text)
	poll := func(id string) poll.Progress {
		t.Helper()
		h, at, err := c.Poll(t.Context(), Request{Name: "a.rows"}, id)
		if h != nil || err != nil {
			t.Fatalf("Poll gives %v, %v", h, err)
		}
		return at
	}
	if c.CancelPoll(context.Background(), "nobody's") {
		t.Error("a poll was cancelled that nobody began")
	}
	alone := poll(poll("").ID)
	eventually(t, "a parse", func() error {
		if w.format.parses.Load() == 0 {
			return errText("none yet")
		}
		return nil
	})
	if !c.CancelPoll(context.Background(), alone.ID) {
		t.Error("the poll is not cancelled")
	}
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("the parse ended by %v", err)
	}
	if c.CancelPoll(context.Background(), alone.ID) {
		t.Error("the poll is cancelled twice")
	}

	// The parse continues for the other poll and for a waiting caller.
	one, other := poll(""), poll("")
	if one.ID == other.ID {
		t.Error("two polls have one ID")
	}
	waits := make(chan error, 1)
	go func() {
		h, err := c.Table(context.Background(), Request{Name: "a.rows"})
		h.Release()
		waits <- err
	}()
	eventually(t, "one waits", func() error {
		if n := c.Stats().Shared; n < 2 {
			return fmt.Errorf("%d do", n)
		}
		return nil
	})
	if !c.CancelPoll(context.Background(), one.ID) {
		t.Error("the poll is not cancelled")
	}
	close(step)
	must(t, <-waits)
	eventually(t, "the table", func() error {
		h, _, err := c.Poll(t.Context(), Request{Name: "a.rows"}, other.ID)
		must(t, err)
		if h == nil {
			return errText("none yet")
		}
		defer h.Release()
		return sameRows(t.Context(), h, Selection{}, rowsOfText(text, 0))
	})
	if c.CancelPoll(context.Background(), other.ID) {
		t.Error("a poll that is over was cancelled")
	}
	if len(stopped) > 0 {
		t.Errorf("a parse ended by %v", <-stopped)
	}
	w.close(c)
	w.wantTidy()
}

// TestCloseWhileOthersPoll closes a catalog during polls.
func TestCloseWhileOthersPoll(t *testing.T) {
	for range 5 {
		w := newWorld(t)
		w.write("a.rows", textOf(1, 500))
		c := w.open()
		c.polls.Wait = 0
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				id := ""
				for {
					h, at, err := c.Poll(context.Background(), Request{Name: "a.rows"}, id)
					h.Release()
					id = at.ID
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
		// it is still held
		must(t, sameRows(t.Context(), h, Selection{}, rowsOfText(w.read("a.rows"), 0)))
		h.Release()
		w.wantTidy()
	}
}
