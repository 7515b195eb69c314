package readers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// paper is a file that is nothing but where its rows begin.
//
//	rows     |0......|1..|2...........|3..|  tail
//	decoys       ^         ^    ^        ^    ^     what a guess takes for a row
//	                                      ^end    ^to
type paper struct {
	rows    []int64 // offsets
	decoys  []int64
	end, to int64
	broken  []int // numbers of rows, ascending
	row     int64 // number of the first one in the file
	size    int64
	most    int // rows of a part, which ends early with them; 0: any number

	failing, panicking float64 // chances of a guess
	panics             int     // the Read of this row does
}

// randomPaper has rows of any length around the size of the parts.
func randomPaper(r *rand.Rand, rows int) *paper {
	p := &paper{size: 1 + r.Int64N(60), end: r.Int64N(50), row: r.Int64N(9), most: max(0, r.IntN(8)-4), panics: -1}
	longest := 1 + r.Int64N(40)
	for range rows {
		p.rows = append(p.rows, p.end)
		length := 1 + r.Int64N(longest)
		if r.IntN(12) == 0 {
			length += r.Int64N(6 * p.size)
		}
		p.end += length
	}
	p.to = p.end + r.Int64N(3*p.size)
	if len(p.rows) > 0 {
		chance := []float64{0, 0.1, 0.7}[r.IntN(3)]
		for at := p.rows[0]; at < p.to; at++ {
			if _, isRow := slices.BinarySearch(p.rows, at); !isRow && r.Float64() < chance {
				p.decoys = append(p.decoys, at)
			}
		}
	}
	return p
}

func (p *paper) from() int64 {
	if len(p.rows) == 0 {
		return p.end
	}
	return p.rows[0]
}

// brokenError is the error of a row.
type brokenError struct{ at int64 }

func (e brokenError) Error() string { return fmt.Sprintf("broken at byte %d", e.at) }

// part returns the rows from row i on that begin before stop.
func (p *paper) part(i int, stop int64) (Part, error) {
	to := i
	for ; to < len(p.rows) && p.rows[to] < stop && (p.most == 0 || to-i < p.most); to++ {
		if slices.Contains(p.broken, to) {
			return Part{Failed: true}, brokenError{p.rows[to]}
		}
	}
	part := Part{
		Start: p.end, Next: p.end, End: to == len(p.rows), Starts: slices.Clone(p.rows[i:to]),
		Rows: int64(to - i),
	}
	if i < len(p.rows) {
		part.Start = p.rows[i]
	}
	if !part.End {
		part.Next = p.rows[to]
	}
	return part, nil
}

// partsTest is one Parts.Read of a paper, whose guesses end in the order that choose says.
type partsTest struct {
	*paper
	t       *testing.T
	workers int
	first   *First          // nil: nothing comes first
	choose  func(n int) int // which of n waiting guesses ends next
	takes   func(i int, p Part) error
	acts    func(step int) // called when everybody waits

	ctx     context.Context
	mu      sync.Mutex
	random  *rand.Rand
	waiting map[int64]chan struct{} // guesses, by offset
	guesses int
	parts   []*countedPart
	taken   []Part
}

type countedPart struct {
	what     string
	released int
	taken    bool
}

// lend gives a part its Release.
func (c *partsTest) lend(what string, p Part) Part {
	c.mu.Lock()
	defer c.mu.Unlock()
	counted := &countedPart{what: fmt.Sprintf("%s %d to %d", what, p.Start, p.Next)}
	c.parts = append(c.parts, counted)
	p.State = uint64(len(c.parts))
	p.Release = func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		counted.released++
	}
	return p
}

// paperReader is the worker's end.
type paperReader struct{ *partsTest }

func (r paperReader) Guess(from, stop int64) Part {
	gate := make(chan struct{})
	r.mu.Lock()
	r.guesses++
	fails, panics, named := r.random.Float64() < r.failing, r.random.Float64() < r.panicking, r.random.IntN(2) == 0
	r.waiting[from] = gate
	r.mu.Unlock()
	select {
	case <-gate:
	case <-r.ctx.Done():
		return Part{Failed: true}
	}
	if panics {
		panic("a guess")
	}
	if fails {
		if named {
			return r.lend("failed guess", Part{Start: r.rowFrom(from), Failed: true})
		}
		return Part{Failed: true}
	}
	start := r.rowFrom(from)
	d, _ := slices.BinarySearch(r.decoys, from)
	if d < len(r.decoys) && r.decoys[d] < min(start, stop) {
		return r.lend("decoy", Part{Start: r.decoys[d], Next: stop, Starts: []int64{r.decoys[d]}, Rows: 1, End: named})
	}
	if start >= stop || start >= r.end {
		return Part{Failed: true}
	}
	i, _ := slices.BinarySearch(r.rows, start)
	part, err := r.part(i, stop)
	if err != nil {
		return part
	}
	return r.lend("guess", part)
}

// rowFrom returns the offset of the first row at or after from.
func (p *paper) rowFrom(from int64) int64 {
	i, _ := slices.BinarySearch(p.rows, from)
	if i == len(p.rows) {
		return math.MaxInt64
	}
	return p.rows[i]
}

func (r paperReader) Read(from, stop, row int64) (Part, error) {
	if err := r.ctx.Err(); err != nil {
		return Part{}, err
	}
	i, isRow := slices.BinarySearch(r.rows, from)
	if !isRow && from != r.end || row != r.row+int64(i) {
		r.t.Errorf("row %d read at %d, where none begins of that number", row, from)
	}
	if r.panics >= i && (r.panics == i || r.rows[r.panics] < stop) {
		panic("a row")
	}
	part, err := r.part(i, stop)
	if err != nil {
		return part, err
	}
	return r.lend("part", part), nil
}

func (c *partsTest) take(p Part) error {
	c.mu.Lock()
	i := len(c.taken)
	c.parts[p.State-1].taken = true
	c.taken = append(c.taken, p)
	c.mu.Unlock()
	if c.takes != nil {
		return c.takes(i, p)
	}
	return nil
}

// partsOutcome is what Parts.Read gave.
type partsOutcome struct {
	end, row int64
	err      error
	panicked any
}

// run reads the paper. That no goroutine is left the bubble checks: it waits for all of them.
func (c *partsTest) run(ctx context.Context) partsOutcome {
	c.t.Helper()
	c.ctx, c.waiting = ctx, map[int64]chan struct{}{}
	done := make(chan partsOutcome, 1)
	go func() {
		var o partsOutcome
		defer func() {
			o.panicked = recover()
			done <- o
		}()
		parts := Parts{
			From: c.from(), To: c.to, Row: c.row, Size: c.size, Workers: c.workers, First: c.first,
			Reader: func() PartReader {
				return paperReader{c}
			},
		}
		o.end, o.row, o.err = parts.Read(ctx, c.take)
	}()
	for step, slept := 0, false; ; step++ {
		synctest.Wait()
		if c.acts != nil {
			c.acts(step)
			synctest.Wait()
		}
		c.mu.Lock()
		var ready []int64
		for at := range c.waiting {
			ready = append(ready, at)
		}
		slices.Sort(ready)
		if len(ready) > 0 {
			at := ready[c.choose(len(ready))]
			close(c.waiting[at])
			delete(c.waiting, at)
		}
		c.mu.Unlock()
		if len(ready) == 0 && slept {
			break
		}
		if slept = len(ready) == 0; slept {
			time.Sleep(firstLease)
		}
	}
	select {
	case o := <-done:
		return o
	default:
		c.t.Fatalf("%+v, %d workers: Read waits for nothing", c.paper, c.workers)
		return partsOutcome{}
	}
}

// check asks for the rows before the one that ended the reading, each once and in order, and for
// the Release of parts that were not taken.
func (c *partsTest) check(o partsOutcome) {
	c.t.Helper()
	var got []int64
	for _, p := range c.taken {
		got = append(got, p.Starts...)
	}
	whole := o.err == nil && o.panicked == nil
	switch {
	case whole && !slices.Equal(got, c.rows):
		c.t.Errorf("%+v, %d workers\ngot rows %d\nwant     %d", c.paper, c.workers, got, c.rows)
	case len(got) > len(c.rows) || !slices.Equal(got, c.rows[:len(got)]):
		c.t.Errorf("%+v, %d workers, %+v\ngot rows %d\nwant the first ones of %d", c.paper, c.workers, o, got, c.rows)
	case whole && (o.end != c.end || o.row != c.row+int64(len(c.rows))):
		c.t.Errorf("%+v, %d workers: ends at %d with row %d, want %d and %d", c.paper, c.workers, o.end,
			o.row, c.end, c.row+int64(len(c.rows)))
	case o.err != nil && (o.end != 0 || o.row != 0):
		c.t.Errorf("%+v, %d workers: %+v", c.paper, c.workers, o)
	}
	for _, p := range c.parts {
		want := 1
		if p.taken { // owned by the taker, which keeps it here
			want = 0
		}
		if p.released != want {
			c.t.Errorf("%+v, %d workers, %+v: %s was released %d times, want %d", c.paper, c.workers, o,
				p.what, p.released, want)
		}
	}
}

// TestPartsInEveryOrder lets the guesses at a few parts end in every order there is.
func TestPartsInEveryOrder(t *testing.T) {
	for _, c := range []struct {
		name    string
		paper   paper
		workers int
		orders  int // 0: they depend on what the others showed
	}{
		{"five parts", paper{
			rows: []int64{0, 6, 12, 18, 24, 30, 36, 42}, end: 50, to: 50, size: 10,
			panics: -1,
		}, 5, 120},
		{"a decoy in each", paper{
			rows: []int64{0, 6, 12, 18, 24, 30, 36}, decoys: []int64{1, 11, 20, 31},
			end: 40, to: 40, size: 10, panics: -1,
		}, 4, 24},
		{"a long row", paper{
			rows: []int64{0, 5, 38}, decoys: []int64{14, 25}, end: 41, to: 50, size: 10,
			panics: -1,
		}, 5, 120},
		{"two broken rows", paper{
			rows: []int64{0, 6, 12, 18, 24, 30, 36}, broken: []int{2, 5}, end: 40,
			to: 40, size: 10, panics: -1,
		}, 4, 0},
		{"two workers", paper{
			rows: []int64{0, 6, 12, 18, 24, 30, 36, 42}, decoys: []int64{31}, end: 50,
			to: 60, size: 10, panics: -1,
		}, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var choices, among []int // of the last run
			orders := 0
			for ; orders == 0 || len(choices) > 0; orders++ {
				synctest.Test(t, func(t *testing.T) {
					step := 0
					choose := func(n int) int {
						if step == len(choices) {
							choices, among = append(choices, 0), append(among, n)
						}
						step++
						return choices[step-1]
					}
					test := partsTest{
						paper: &c.paper, t: t, workers: c.workers, choose: choose,
						random: rand.New(rand.NewPCG(1, 1)),
					}
					o := test.run(t.Context())
					test.check(o)
					if len(c.paper.broken) > 0 {
						test.wantError(o, brokenError{c.paper.rows[c.paper.broken[0]]})
					}
				})
				for len(choices) > 0 && choices[len(choices)-1] == among[len(choices)-1]-1 {
					choices, among = choices[:len(choices)-1], among[:len(choices)-1]
				}
				if len(choices) > 0 {
					choices[len(choices)-1]++
				}
			}
			if c.orders > 0 && orders != c.orders {
				t.Errorf("%d orders, want %d", orders, c.orders)
			}
		})
	}
}

// slowFirst guesses parts of one row each, of which there are a hundred. Its first guess ends when
// somebody says so.
type slowFirst struct {
	size    int64
	guesses *atomic.Int64
	first   chan struct{}
}

func (r slowFirst) Guess(from, _ int64) Part {
	r.guesses.Add(1)
	if from == 0 {
		<-r.first
	}
	next := from + r.size
	return Part{Start: from, Next: next, To: next, Rows: 1, End: next == 100*r.size}
}

func (r slowFirst) Read(int64, int64, int64) (Part, error) { panic("every guess is right") }

// TestPartsAhead has the first part take long: how many the others guess meanwhile depends on their
// size.
func TestPartsAhead(t *testing.T) {
	for _, tt := range []struct {
		workers int
		size    int64
		want    int64 // the first one and those after it
	}{
		{4, 512 << 10, 17},
		{2, 1, 9},
		{16, 2 << 20, 33},
		{9, 40 << 20, 10},
		{9, math.MaxInt64 / 200, 10},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := slowFirst{size: tt.size, guesses: new(atomic.Int64), first: make(chan struct{})}
			p := Parts{To: 100 * tt.size, Size: tt.size, Workers: tt.workers, Reader: func() PartReader { return r }}
			go func() {
				synctest.Wait()
				if n := r.guesses.Load(); n != tt.want {
					t.Errorf("%d workers, parts of %d bytes: %d were guessed, want %d", tt.workers, tt.size, n, tt.want)
				}
				close(r.first)
			}()
			if end, row, err := p.Read(t.Context(), func(Part) error {
				return nil
			}); end != p.To || row != 100 || err != nil {
				t.Errorf("%d, %d, %v", end, row, err)
			}
		})
	}
}

func (c *partsTest) wantError(o partsOutcome, want error) {
	c.t.Helper()
	if !errors.Is(o.err, want) {
		c.t.Errorf("%+v, %d workers: error %v, want %v", c.paper, c.workers, o.err, want)
	}
}

// TestPartsAtRandom reads random papers with 1 to 16 workers, whose guesses are wrong, fail and
// panic, and end in a random order, all at once or some rows first.
func TestPartsAtRandom(t *testing.T) {
	runs := 1500
	if testing.Short() {
		runs = 500
	}
	errTake := errors.New("enough")
	for seed := range runs {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, uint64(seed)))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			test := partsTest{
				paper: randomPaper(r, r.IntN(120)), t: t, workers: 1 + r.IntN(16),
				choose: r.IntN, random: rand.New(rand.NewPCG(8, uint64(seed))),
			}
			p := test.paper
			p.failing, p.panicking = []float64{0, 0.1, 1}[r.IntN(3)], []float64{0, 0, 0.2, 1}[r.IntN(4)]
			if r.IntN(2) == 0 {
				rest := make(chan struct{})
				test.first = &First{End: r.Int64N(p.to + 10), Rest: rest}
				if r.IntN(2) == 0 {
					time.AfterFunc(firstLease/2, func() { close(rest) })
				}
			}
			var want error
			switch kind := r.IntN(6); {
			case len(p.rows) == 0:
			case kind == 0:
				for range 1 + r.IntN(3) {
					p.broken = append(p.broken, r.IntN(len(p.rows)))
				}
				slices.Sort(p.broken)
				want = brokenError{p.rows[p.broken[0]]}
			case kind == 1:
				p.failing, p.panics = 1, r.IntN(len(p.rows))
			case kind == 2:
				last := p.rows[r.IntN(len(p.rows))]
				test.takes = func(_ int, part Part) error {
					if part.Next > last {
						return errTake
					}
					return nil
				}
				want = errTake
			case kind == 3: // in the middle of the guesses
				at := r.IntN(8)
				test.acts = func(step int) {
					test.mu.Lock()
					defer test.mu.Unlock()
					if step != at || len(test.waiting) == 0 {
						return
					}
					cancel()
					clear(test.waiting)
					// else guesses after the end were waited for
					if n := len(test.taken); n == 0 || !test.taken[n-1].End {
						want = context.Canceled
					}
				}
			case kind == 4: // between two parts
				at := r.IntN(4)
				test.takes = func(i int, part Part) error {
					if i == at {
						cancel()
						if !part.End {
							want = context.Canceled
						}
					}
					return nil
				}
			}
			o := test.run(ctx)
			test.check(o)
			switch {
			case p.panics >= 0 && !strings.HasPrefix(fmt.Sprint(o.panicked), "a row"):
				t.Errorf("seed %d: %+v: got the panic %v, want that of a row", seed, *p, o.panicked)
			case p.panics < 0 && o.panicked != nil:
				t.Errorf("seed %d: %+v: panic: %v", seed, *p, o.panicked)
			case p.panics < 0 && !errors.Is(o.err, want):
				t.Errorf("seed %d: %+v: error %v, want %v", seed, *p, o.err, want)
			}
			if t.Failed() {
				t.FailNow()
			}
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestPartsGiveUp: in a file whose rows cannot be guessed, guessing ends; one right guess among a
// few keeps the workers at work.
func TestPartsGiveUp(t *testing.T) {
	for _, c := range []struct {
		name            string
		right           int // every n-th guess; 0: none
		atLeast, atMost int
	}{
		{"none is right", 0, maxMisses, maxMisses + 3*aheadEach + 3},
		{"some are right", maxMisses, 200, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &paper{size: 10, end: 2000, to: 2000, panics: -1}
				for i := range int64(200) {
					at := 10 * i
					if c.right == 0 || int(i)%c.right != 0 {
						p.decoys = append(p.decoys, at)
						at++
					}
					p.rows = append(p.rows, at)
				}
				p.rows[0] = 0
				test := partsTest{paper: p, t: t, workers: 3, choose: func(n int) int {
					return n - 1
				}, random: rand.New(rand.NewPCG(1, 1))}
				o := test.run(t.Context())
				test.check(o)
				if o.err != nil || test.guesses < c.atLeast || test.guesses > c.atMost {
					t.Errorf("%d guesses, want %d to %d; error %v", test.guesses, c.atLeast, c.atMost, o.err)
				}
			})
		})
	}
}
