package poll

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/catalog/tree"
)

// parse is a parse that the test ends.
type parse struct {
	finish chan error // nil: with a table
	begun  atomic.Int64
	ended  atomic.Bool  // by its context
	freed  atomic.Int64 // tables that were released
}

func newParse() *parse { return &parse{finish: make(chan error)} }

func (p *parse) table(ctx context.Context) (*tables.Ref, error) {
	p.begun.Add(1)
	select {
	case err := <-p.finish:
		if err != nil {
			return nil, err
		}
		return tables.NewRef(job.Job{}, nil, func() { p.freed.Add(1) }), nil
	case <-ctx.Done():
		p.ended.Store(true)
		return nil, ctx.Err()
	}
}

// named returns a job.
func named(name string) job.Job { return job.Job{Key: job.Key{Name: name}} }

// inBubble runs a test in virtual time, with a set of polls that it closes. A goroutine that is left
// fails the test.
func inBubble(t *testing.T, test func(t *testing.T, ps *Polls)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		ps := New(ctx, func(job.Job) float64 { return 0.25 })
		test(t, ps)
		end()
		ps.Close()
		if n := ps.Len(); n != 0 {
			t.Errorf("%d polls after Close", n)
		}
	})
}

// wants checks the outcome of a poll: a table, an error or progress.
func wants(t *testing.T, h *tables.Ref, at Progress, err error, table bool, want error) {
	t.Helper()
	if (h != nil) != table || !errors.Is(err, want) || (err == nil) != (want == nil) {
		t.Fatalf("got table %t, %+v, error %v; want table %t, error %v", h != nil, at, err, table, want)
	}
	h.Release()
}

func TestPoll(t *testing.T) {
	malformed := errors.New("malformed")
	for _, tt := range []struct {
		name   string
		ends   error // of the parse
		within bool  // it ends during the first poll
		after  time.Duration
		sameID bool // the second poll has the first one's ID
	}{
		{name: "a table at once", within: true},
		{name: "an error at once", within: true, ends: malformed},
		{name: "a table for the next poll", sameID: true},
		{name: "an error for the next poll", sameID: true, ends: malformed},
		{name: "an error for a poll without an ID", ends: malformed},
		{name: "a table kept for a lease", sameID: true, after: DefaultLease - 2*time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, ps *Polls) {
				p, j := newParse(), named("a")
				finish := func() { p.finish <- tt.ends }
				if tt.within {
					go finish()
					h, at, err := ps.Poll(t.Context(), j, p.table, "")
					wants(t, h, at, err, tt.ends == nil, tt.ends)
				} else {
					h, first, err := ps.Poll(t.Context(), j, p.table, "")
					wants(t, h, first, err, false, nil)
					until := time.Now().Add(DefaultLease)
					if first.ID == "" || first.Progress != 0.25 || first.Until != until {
						t.Errorf("got %+v, want a lease until %v", first, until)
					}
					finish()
					synctest.Wait()
					time.Sleep(tt.after)
					id := ""
					if tt.sameID {
						id = first.ID
					}
					h, at, err := ps.Poll(t.Context(), j, p.table, id)
					wants(t, h, at, err, tt.ends == nil, tt.ends)
				}
				if p.begun.Load() != 1 || ps.Len() != 0 {
					t.Errorf("%d parses, %d polls left", p.begun.Load(), ps.Len())
				}
			})
		})
	}
}

// TestPollGivesUp has a parse end because no call wants it any more.
func TestPollGivesUp(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(t *testing.T, ps *Polls, at Progress)
	}{
		{"no poll within the lease", func(_ *testing.T, _ *Polls, _ Progress) { time.Sleep(DefaultLease) }},
		{"cancelled", func(t *testing.T, ps *Polls, at Progress) {
			if ps.Cancel(t.Context(), "another") || !ps.Cancel(t.Context(), at.ID) || ps.Cancel(t.Context(), at.ID) {
				t.Error("Cancel ends another poll, does not end this one, or ends it twice")
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, ps *Polls) {
				p := newParse()
				h, at, err := ps.Poll(t.Context(), named("a"), p.table, "")
				wants(t, h, at, err, false, nil)
				tt.end(t, ps, at)
				synctest.Wait()
				if !p.ended.Load() || ps.Len() != 0 {
					t.Errorf("the parse has ended: %t, %d polls left", p.ended.Load(), ps.Len())
				}
			})
		})
	}
}

// TestPollRenewsTheLease polls for longer than a lease.
func TestPollRenewsTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, ps *Polls) {
		p, id := newParse(), ""
		for range 5 {
			h, at, err := ps.Poll(t.Context(), named("a"), p.table, id)
			wants(t, h, at, err, false, nil)
			id = at.ID
			time.Sleep(DefaultLease * 2 / 3)
		}
		if p.begun.Load() != 1 || p.ended.Load() {
			t.Errorf("%d parses, the first one has ended: %t", p.begun.Load(), p.ended.Load())
		}
	})
}

// TestTableIsReleasedAfterTheLease has a table that no client fetches.
func TestTableIsReleasedAfterTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, ps *Polls) {
		p := newParse()
		h, at, err := ps.Poll(t.Context(), named("a"), p.table, "")
		wants(t, h, at, err, false, nil)
		p.finish <- nil
		time.Sleep(DefaultLease - time.Second)
		if p.freed.Load() != 0 {
			t.Error("the table is released before its lease ends")
		}
		time.Sleep(2 * time.Second)
		if p.freed.Load() != 1 {
			t.Errorf("the table is released %d times", p.freed.Load())
		}
	})
}

// TestErrorIsReturnedOnce has a parse fail between two polls. The error is kept for a lease, under
// the job's key.
func TestErrorIsReturnedOnce(t *testing.T) {
	malformed := errors.New("malformed")
	for _, tt := range []struct {
		name  string
		job   job.Job
		after time.Duration
		want  error
	}{
		{"the same job", named("a"), 0, malformed},
		{"another job", named("b"), 0, nil},
		{"after a lease", named("a"), DefaultLease + time.Second, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, ps *Polls) {
				p := newParse()
				h, at, err := ps.Poll(t.Context(), named("a"), p.table, "")
				wants(t, h, at, err, false, nil)
				ps.Failed(job.Key{Name: "c"}, errors.New("of another job"))
				ps.Failed(named("a").Key, malformed)
				synctest.Wait()
				if !p.ended.Load() {
					t.Error("the poll still has a share in the parse")
				}
				time.Sleep(tt.after)
				h, at, err = ps.Poll(t.Context(), tt.job, p.table, at.ID)
				wants(t, h, at, err, false, tt.want)
				if tt.want != nil {
					h, at, err = ps.Poll(t.Context(), tt.job, p.table, "")
					wants(t, h, at, err, false, nil)
				}
			})
		})
	}
}

// TestErrorOfAWaitingCall is returned to that call only: the next one parses the file again.
func TestErrorOfAWaitingCall(t *testing.T) {
	inBubble(t, func(t *testing.T, ps *Polls) {
		p, malformed := newParse(), errors.New("malformed")
		go func() { p.finish <- malformed }()
		h, at, err := ps.Poll(t.Context(), named("a"), p.table, "")
		wants(t, h, at, err, false, malformed)
		h, at, err = ps.Poll(t.Context(), named("a"), p.table, "")
		wants(t, h, at, err, false, nil)
		if p.begun.Load() != 2 {
			t.Errorf("%d parses, want 2", p.begun.Load())
		}
	})
}

func TestPollOfACallerThatLeaves(t *testing.T) {
	inBubble(t, func(t *testing.T, ps *Polls) {
		ctx, leave := context.WithCancel(t.Context())
		leave()
		p := newParse()
		h, at, err := ps.Poll(ctx, named("a"), p.table, "")
		wants(t, h, at, err, false, context.Canceled)
		if ps.Len() != 1 || p.ended.Load() {
			t.Errorf("%d polls; the parse has ended: %t; it has a lease", ps.Len(), p.ended.Load())
		}
	})
}

func TestPrefetch(t *testing.T) {
	inBubble(t, func(t *testing.T, ps *Polls) {
		var parses []*parse
		for i := range MaxPrefetched + 2 {
			p := newParse()
			parses = append(parses, p)
			for range 3 {
				if err := ps.Prefetch(named(fmt.Sprint(i)), p.table); err != nil {
					t.Fatal(err)
				}
			}
		}
		synctest.Wait()
		for i, p := range parses {
			if want := int64(min(1, max(0, MaxPrefetched-i))); p.begun.Load() != want {
				t.Errorf("file %d is parsed %d times, want %d", i, p.begun.Load(), want)
			}
		}
		parses[0].finish <- nil
		synctest.Wait()
		if err := ps.Prefetch(named("last"), parses[MaxPrefetched+1].table); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := parses[MaxPrefetched+1].begun.Load(); n != 1 {
			t.Errorf("%d parses after one ended", n)
		}
	})
}

func TestClosed(t *testing.T) {
	inBubble(t, func(t *testing.T, ps *Polls) {
		ctx, end := context.WithCancel(t.Context())
		ps.ctx = ctx
		p := newParse()
		h, at, err := ps.Poll(t.Context(), named("a"), p.table, "")
		wants(t, h, at, err, false, nil)
		end()
		ps.Close()
		if !p.ended.Load() {
			t.Error("the parse continues")
		}
		h, at, err = ps.Poll(t.Context(), named("a"), p.table, at.ID)
		wants(t, h, at, err, false, tree.ErrClosed)
		if err := ps.Prefetch(named("b"), p.table); !errors.Is(err, tree.ErrClosed) {
			t.Errorf("Prefetch: %v", err)
		}
	})
}
