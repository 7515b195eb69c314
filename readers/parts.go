package readers

import (
	"context"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/timeline"
)

// Part is a run of rows that one worker read in one go, with the narrowest types that they allow.
type Part struct {
	Start, Next int64 // offsets of its first row, and of the row behind its last one or of what is behind all rows
	To          int64 // end of the rows, for a Span; not behind Next
	End         bool  // no row follows: what stands at Next is for others to read
	Failed      bool  // what begins at Start is no run of rows, or the read failed

	Columns *geoarrow.Columns // nil: no rows
	Starts  []int64           // offset of each row
	Beside  []int64           // bytes that the rows up to each one and with it have in another file; nil: none
	Rows    int64             // numbers that the rows take up: those left out under on_error: skip count
	State   uint64            // for a Span
	CRS     *geoarrow.CRS     // for a Span
	Text    []geoarrow.ColumnID
	Summary Summary // rows of its Deviations count from the part's first row
	Release func()  // says that Columns, Starts and Next to are no longer read, so that their memory may serve again
}

// PartReader reads parts of one file, for one goroutine.
type PartReader interface {
	// Guess looks for the first row that begins at or behind from, without knowing what stands
	// before, and reads the rows that begin before stop. What it takes for a row may be none.
	Guess(from, stop int64) Part
	// Read reads the rows from the one at from, which is row number row, to the first that begins
	// at or behind stop. Its error is the one that reading the file from its first byte gives.
	Read(from, stop, row int64) (Part, error)
}

// Parts reads the rows of a file from one row on with several workers.
//
// A worker begins where a row seems to begin: bytes that look so may stand inside of a string, or
// in a member that nobody reads. So a part counts only if it begins at the very byte at which the
// part before it ended, which is known to be right from the first part on. Else these rows are read
// again from that byte. What is given is thus what a single worker gives from the first row to the
// last, and so is the error.
//
//	rows      ....|...row..|..row...|...row..|.....row......|..row..|..
//	parts         from               +Size               +2*Size
//	guesses       ^Start            ^Start              x in a string: read again from where the part before ended
type Parts struct {
	From, To int64 // offset of the first row; end of the file
	Row      int64 // its number
	Size     int64 // bytes from one guess to the next
	Workers  int
	Reader   func() PartReader
	Columns  *ColumnSet // of the rows before; nil: any part may follow
	First    *First     // rows that come before all others; nil: all rows are equal
}

// Parts may be guessed before their turn, so that a worker whose core is taken away for a while
// keeps few others waiting: as many as these are bytes, and no more than n for each worker,
// or else one for each.
const (
	aheadBytes = 32 << 20
	aheadEach  = 4
)

func (p *Parts) ahead() int64 {
	workers := int64(p.Workers)
	return max(workers, min(aheadEach*workers, aheadBytes/max(1, p.Size)))
}

// maxMisses is after how many wrong guesses in a row nobody guesses any more: such a file costs
// twice the work.
const maxMisses = 8

// Read hands the parts to take, in order, and gives where the rows end and the number of the row
// that would follow. An error of take ends it.
func (p *Parts) Read(ctx context.Context, take func(Part) error) (end, row int64, err error) {
	r := partsRun{Parts: p, ctx: ctx, take: take, at: p.From, row: p.Row}
	r.changed.L = &r.mu
	defer r.hold()()
	return r.run()
}

// partsRun is one Read. Who has guessed a part and finds that its turn has come commits it, and
// those behind it that are there, while the others go on guessing: what is taken then is still in
// the caches of the core that made it, and nobody waits for a goroutine that only hands on.
type partsRun struct {
	*Parts
	ctx  context.Context
	take func(Part) error

	mu         sync.Mutex
	changed    sync.Cond
	first      int64          // parts that end where those rows do that come first; 0: none come first
	firstEnd   int64          // there
	held       bool           // nobody begins a part behind those
	begun      int64          // parts that somebody guesses, or did
	committed  int64          // parts that were taken or read again
	guessed    map[int64]Part // parts whose turn has not come
	committing bool           // somebody does, who alone may touch what stands below
	blind      bool           // nobody guesses any more
	over       bool           // nothing is left to do

	exact  PartReader // made when a guess fails
	at     int64      // where the next row begins
	row    int64      // its number
	ended  bool
	misses int
	err    error
}

func (r *partsRun) run() (end, row int64, err error) {
	r.guessed = map[int64]Part{}
	tools := make(chan PartReader, r.Workers)
	for range r.Workers {
		tools <- r.Reader()
	}
	defer func() {
		for _, part := range r.guessed { // of no use any more
			part.release()
		}
	}()
	inParallel(r.Workers, func() { r.work(<-tools) })
	if r.err != nil {
		return 0, 0, r.err
	}
	return r.at, r.row, nil
}

// hold has parts end where First does, and holds back those behind them. The caller calls stop
// behind the last part.
func (r *partsRun) hold() (stop func()) {
	f := r.First
	if f == nil || f.End <= r.From || f.End >= r.To {
		return func() {}
	}
	r.first, r.firstEnd, r.held = (f.End-r.From+r.Size-1)/r.Size, f.End, true
	over := make(chan struct{})
	go func() {
		select {
		case <-f.Rest:
		case <-r.ctx.Done():
		case <-over:
			return
		}
		r.letOn()
	}()
	return func() { close(over) }
}

// letOn has the parts behind those that come first begun.
func (r *partsRun) letOn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = false
	r.changed.Broadcast()
}

// bound is where part k is looked for; what begins behind the last such place is the last part's.
func (r *partsRun) bound(k int64) int64 {
	at := r.From + k*r.Size
	switch {
	case r.first == 0:
	case k < r.first:
		at = r.From + k*((r.firstEnd-r.From)/r.first)
	default:
		at = r.firstEnd + (k-r.first)*r.Size
	}
	if at < r.To {
		return at
	}
	return math.MaxInt64
}

// work is what each worker does.
func (r *partsRun) work(reader PartReader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.over {
		switch {
		case r.due():
			r.commitNext()
		case r.guessable() && r.begun <= r.committed+r.ahead() && (!r.held || r.begun < r.first):
			r.guessNext(reader)
		default:
			waited := timeline.Of(r.ctx).Begin("wait for the parts before", r.bound(r.committed))
			r.changed.Wait()
			waited()
		}
	}
}

// guessable reports whether there is a part that somebody should guess.
func (r *partsRun) guessable() bool { return !r.blind && r.bound(r.begun) < r.To }

// due reports whether a part is to be committed and nobody does: one that is there, or that nobody
// will guess.
func (r *partsRun) due() bool {
	if r.committing {
		return false
	}
	_, there := r.guessed[r.committed]
	return there || r.begun == r.committed && !r.guessable()
}

func (r *partsRun) guessNext(reader PartReader) {
	k := r.begun
	r.begun++
	r.mu.Unlock()
	part := guarded(reader, r.bound(k), r.bound(k+1))
	runtime.Gosched() // who sends the rows that are there waits for up to 10 ms otherwise, until a time slice is over
	r.mu.Lock()
	r.guessed[k] = part
}

// guarded is a Guess that took nothing if it panics: then the part is read again where a panic can
// be dealt with.
func guarded(reader PartReader, from, stop int64) (part Part) {
	defer func() {
		if recover() != nil {
			part = Part{Failed: true}
		}
	}()
	return reader.Guess(from, stop)
}

// commitNext commits the part whose turn it is.
func (r *partsRun) commitNext() {
	k := r.committed
	part, there := r.guessed[k]
	if !there {
		part.Failed = true
		r.begun++
	}
	delete(r.guessed, k)
	r.committing = true
	r.mu.Unlock()
	failed := true // or it panics
	defer func() {
		r.mu.Lock()
		r.committing, r.blind, r.over = false, r.misses >= maxMisses, failed || r.ended
		if r.committed++; r.committed == r.first && r.held {
			time.AfterFunc(firstLease, r.letOn)
		}
		r.changed.Broadcast()
	}()
	r.err = r.commit(part, r.bound(k+1))
	failed = r.err != nil
}

// commit takes the part up to stop: as it was guessed, if that is right, else read again. One that
// ended early, because its rows grew too large, is followed by others up to there.
func (r *partsRun) commit(part Part, stop int64) error {
	switch {
	case r.at >= stop: // one row is longer than the part
		part.release()
		return nil
	case part.Failed || part.Start != r.at || !r.Columns.Fits(part.Columns):
		r.misses++
		part.release()
		return r.read(stop)
	}
	r.misses = 0
	if err := r.put(part); err != nil || r.ended || r.at >= stop {
		return err
	}
	return r.read(stop)
}

// read reads the rows up to stop.
func (r *partsRun) read(stop int64) error {
	if r.exact == nil {
		r.exact = r.Reader()
	}
	for {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		from := r.at
		part, err := r.exact.Read(from, stop, r.row)
		if err != nil {
			return err
		}
		if err := r.put(part); err != nil || r.ended || r.at >= stop || r.at == from {
			return err
		}
	}
}

// put hands on a part that is right.
func (r *partsRun) put(part Part) error {
	if err := r.ctx.Err(); err != nil {
		part.release()
		return err
	}
	r.at, r.ended = part.Next, part.End
	part.Summary.Deviations.Shift(r.row)
	r.row += part.Rows
	return r.take(part)
}

func (p *Part) release() {
	if p.Release != nil {
		p.Release()
	}
}
