package catalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// gated returns a parse that waits until open is closed. It sends to started when it begins, and to
// ended the state of its context.
func gated() (parse parseFunc, open, started chan struct{}, ended chan error) {
	open, started, ended = make(chan struct{}), make(chan struct{}, 100), make(chan error, 100)
	return func(ctx context.Context, src *source.File) (*readers.Table, error) {
		started <- struct{}{}
		select {
		case <-open:
		case <-ctx.Done():
		}
		ended <- ctx.Err()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return sized(ctx, src)
	}, open, started, ended
}

// wantWaiters waits until the parse in progress has the given number of callers.
func (l *lab) wantWaiters(want int) {
	l.t.Helper()
	eventually(l.t, "waiters", func() error {
		if n := l.tables.Stats().Waiting; n != want {
			return fmt.Errorf("%d wait, want %d", n, want)
		}
		return nil
	})
}

// TestParsingIsTold expects one event for each parse, and one for its end, however it ends. A table
// that is found causes no event.
func TestParsingIsTold(t *testing.T) {
	var begun, ended atomic.Int64
	l := newLab(t, "", func(ctx context.Context, src *source.File) (*readers.Table, error) {
		if begun.Load() != ended.Load()+1 {
			t.Errorf("%s: %d parses were told, %d ended", src.Name, begun.Load(), ended.Load())
		}
		switch src.Name {
		case "panics.fake":
			panic("of the parser")
		case "fails.fake":
			return nil, errors.New("malformed")
		}
		return sized(ctx, src)
	}, func(c *Config) {
		c.Parsing = func() func() {
			begun.Add(1)
			return func() { ended.Add(1) }
		}
	})
	for i, name := range []string{"a.fake", "panics.fake", "fails.fake"} {
		l.write(name, "12345")
		h, err := l.Table(t.Context(), Request{Name: name})
		if (err == nil) != (name == "a.fake") {
			t.Fatalf("%s: %v", name, err)
		}
		if err == nil {
			h.Release()
			l.table(name).Release()
		}
		if n := int64(i + 1); begun.Load() != n || ended.Load() != n {
			t.Errorf("%s: %d parses were told, %d ended, want %d", name, begun.Load(), ended.Load(), n)
		}
	}
}

func TestOneParseForManyAskers(t *testing.T) {
	parse, open, _, _ := gated()
	l := newLab(t, "", parse)
	l.write("a.fake", "12345")
	const callers = 100
	held := make([]*TableRef, callers)
	var wg sync.WaitGroup
	for i := range held {
		wg.Go(func() {
			h, err := l.Table(t.Context(), Request{Name: "a.fake"})
			if err != nil {
				t.Error(err)
				return
			}
			held[i] = h
		})
	}
	l.wantWaiters(callers)
	close(open)
	wg.Wait()
	if n := l.parses.Load(); n != 1 {
		t.Errorf("%d parses, want 1", n)
	}
	for _, h := range held {
		if h == nil || h.Table != held[0].Table || h.Version != held[0].Version || h.Cached {
			t.Fatalf("callers got different answers: %+v and %+v", h, held[0])
		}
		h.Release()
	}
	if h := l.table("a.fake"); !h.Cached || h.Table != held[0].Table {
		t.Error("the table was not kept")
	}
	s := l.Stats()
	if s.Misses != 1 || s.Shared != callers-1 || s.Hits != 1 || s.Parses != 1 || s.HeldTables != 1 {
		t.Errorf("stats %+v, want 1 miss, %d shared, 1 hit, 1 parse, 1 held", s, callers-1)
	}
}

func TestOneWaiterGoes(t *testing.T) {
	parse, open, started, ended := gated()
	l := newLab(t, "", parse)
	l.write("a.fake", "1")
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := l.Table(ctx, Request{Name: "a.fake"})
		first <- err
	}()
	<-started
	second := make(chan error)
	go func() {
		h, err := l.Table(t.Context(), Request{Name: "a.fake"})
		h.Release()
		second <- err
	}()
	l.wantWaiters(2)
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the waiter who went got %v, want context.Canceled", err)
	}
	close(open)
	if err := <-second; err != nil {
		t.Errorf("the waiter who stayed got %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the parse was ended: %v", err)
	}
	if s := l.Stats(); s.HeldTables != 0 || s.Tables != 1 {
		t.Errorf("stats %+v, want one table that nobody holds", s)
	}
}

func TestAllWaitersGo(t *testing.T) {
	parse, open, started, ended := gated()
	l := newLab(t, "", parse)
	l.write("a.fake", "1")
	ctx, cancel := context.WithCancel(t.Context())
	const callers = 3
	gone := make(chan error)
	for range callers {
		go func() {
			_, err := l.Table(ctx, Request{Name: "a.fake"})
			gone <- err
		}()
	}
	<-started
	l.wantWaiters(callers)
	cancel()
	for range callers {
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("a waiter got %v, want context.Canceled", err)
		}
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the parse's context says %v, want context.Canceled", err)
	}
	// A later caller does not get the end of a parse that others gave up.
	close(open)
	l.parse("a.fake")
	if n := l.parses.Load(); n != 2 {
		t.Errorf("%d parses, want 2", n)
	}
}

func TestNobodyJoinsAParseThatWasGivenUp(t *testing.T) {
	begun, givenUp, end := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var n atomic.Int64
	l := newLab(t, "", func(ctx context.Context, src *source.File) (*readers.Table, error) {
		if n.Add(1) > 1 {
			return sized(ctx, src)
		}
		close(begun)
		<-ctx.Done()
		close(givenUp)
		<-end // ends slowly
		return nil, ctx.Err()
	})
	l.write("a.fake", "1")
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := l.Table(ctx, Request{Name: "a.fake"})
		first <- err
	}()
	<-begun
	cancel()
	if err := <-first; err == nil {
		t.Error("a cancelled caller got a table")
	}
	<-givenUp
	time.AfterFunc(20*time.Second, func() {
		if n.Load() == 1 { // otherwise the test would wait forever
			close(end)
		}
	})
	if _, err := l.Table(t.Context(), Request{Name: "a.fake"}); err != nil {
		t.Errorf("the next caller got %v", err)
	}
	if n.Load() == 2 {
		close(end)
	}
}

func TestCloseEndsParses(t *testing.T) {
	parse, _, started, _ := gated()
	l := newLab(t, "", parse)
	l.write("a.fake", "1")
	got := make(chan error)
	go func() {
		_, err := l.Table(t.Context(), Request{Name: "a.fake"})
		got <- err
	}()
	<-started
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := <-got; !errors.Is(err, ErrClosed) {
		t.Errorf("the waiter got %v, want ErrClosed", err)
	}
}

func TestFileChangesDuringParse(t *testing.T) {
	for _, tt := range []struct {
		name    string
		changes int64
		fail    bool // the parse ends with an error of its own, as for a truncated file
		parses  int64
		want    error
	}{
		{"once", 1, false, 2, nil},
		{"once, malformed", 1, true, 2, nil},
		{"always", 100, false, 2, source.ErrChanged},
	} {
		for _, ask := range []struct {
			how   string
			table func(*lab) (*TableRef, error)
		}{
			{"", func(l *lab) (*TableRef, error) { return l.Table(t.Context(), Request{Name: "a.fake"}) }},
			{", polled", func(l *lab) (*TableRef, error) {
				l.polls.Wait = time.Minute
				h, _, err := l.Poll(t.Context(), Request{Name: "a.fake"}, "")
				return h, err
			}},
		} {
			t.Run(tt.name+ask.how, func(t *testing.T) {
				var dir string
				var n atomic.Int64
				l := newLab(t, "", func(ctx context.Context, src *source.File) (*readers.Table, error) {
					if i := n.Add(1); i <= tt.changes {
						if err := os.WriteFile(filepath.Join(dir, "a.fake"), []byte(strings.Repeat("x", int(i)+1)),
							0o644); err != nil {
							t.Error(err)
						}
						if tt.fail {
							return nil, errors.New("malformed")
						}
					}
					return sized(ctx, src)
				})
				dir = l.dir
				l.write("a.fake", "1")
				h, err := ask.table(l)
				if !errors.Is(err, tt.want) {
					t.Errorf("error %v, want %v", err, tt.want)
				}
				if err == nil && h.Table.Bytes != 2 {
					t.Errorf("table of %d bytes, want that of the new file, 2", h.Table.Bytes)
				}
				if n := l.parses.Load(); n != tt.parses {
					t.Errorf("%d parses, want %d", n, tt.parses)
				}
			})
		}
	}
}

func TestErrorsAreNotKept(t *testing.T) {
	bad := &readers.ParseError{Name: "a.fake", Err: errors.New("bad")}
	var n atomic.Int64
	l := newLab(t, "", func(ctx context.Context, src *source.File) (*readers.Table, error) {
		switch n.Add(1) {
		case 1:
			return nil, bad
		case 2:
			panic("our bug")
		}
		return sized(ctx, src)
	})
	l.write("a.fake", "1")
	var perr *readers.ParseError
	if _, err := l.Table(t.Context(), Request{Name: "a.fake"}); !errors.As(err, &perr) {
		t.Errorf("error %v, want the *readers.ParseError", err)
	}
	if _, err := l.Table(t.Context(), Request{Name: "a.fake"}); err == nil || !strings.Contains(err.Error(),
		"our bug") {
		t.Errorf("error %v, want one that tells of the panic", err)
	}
	l.parse("a.fake")
	if s := l.Stats(); s.ParseErrors != 2 || s.Parses != 3 {
		t.Errorf("stats %+v, want 3 parses, 2 of them errors", s)
	}
}

func TestRefusals(t *testing.T) {
	l := newLab(t, "", sized, func(c *Config) {
		c.MaxFileBytes = 5
		c.Options = func(name string) map[string]any {
			if strings.HasPrefix(name, "blue") {
				return map[string]any{"colour": "blue"}
			}
			return nil
		}
	})
	l.write("a.fake", "12345")
	l.write("big.fake", "123456")
	l.write("blue.fake", "1")
	l.parse("a.fake")
	var limit *readers.LimitError
	if _, err := l.Table(t.Context(), Request{Name: "big.fake"}); !errors.As(err, &limit) ||
		limit.Flag != "--max-file-bytes" || limit.Limit != 5 {
		t.Errorf("big.fake: error %v, want a *readers.LimitError", err)
	}
	var option *readers.OptionError
	if _, err := l.Table(t.Context(), Request{Name: "a.fake", Options: map[string]any{"color": "red"}}); !errors.As(err,
		&option) || option.Option != "color" {
		t.Errorf("unknown option: error %v, want a *readers.OptionError", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Table(ctx, Request{Name: "blue.fake"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v, want context.Canceled", err)
	}

	operator := l.table("blue.fake")
	same, err := l.Table(t.Context(), Request{Name: "blue.fake", Options: map[string]any{"colour": "blue"}})
	if err != nil || same.Version != operator.Version || !same.Cached {
		t.Errorf("the operator's value given by a ticket: %+v, %v, want the kept table", same, err)
	}
	red, err := l.Table(t.Context(), Request{Name: "blue.fake", Options: map[string]any{"colour": "red"}})
	if err != nil || red.Version == operator.Version || red.Cached {
		t.Errorf("the ticket's value: %+v, %v, want another table", red, err)
	}
	if _, version, ok := l.Peek(t.Context(), "blue.fake"); !ok || version != operator.Version {
		t.Errorf("Peek gives version %s, %v, want that of the operator's options, %s", version, ok, operator.Version)
	}
}
