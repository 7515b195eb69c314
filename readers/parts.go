package readers

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/resident"
	"github.com/vibeflight/vibeflight/readers/timeline"
)

// Part is a run of rows that one worker read in one go, with the narrowest types that they allow.
type Part struct {
	Start, Next int64 // offsets of its first row, and of the row after its last one or of the bytes after all rows
	To          int64 // end of the rows, for a Span; at most Next
	End         bool  // no row follows: the bytes at Next are for the format to read
	Failed      bool  // no row begins at Start, or the read failed

	Columns      *geoarrow.Columns  // nil: no rows
	Starts       []int64            // offset of each row
	SiblingBytes []int64            // bytes in sibling files of the rows up to and including each one; nil: none
	Rows         int64              // row numbers that the part uses, including rows skipped under on_error: skip
	State        uint64             // for a Span
	StateAt      func(i int) uint64 // for a Span that begins with row i; nil: State, whatever the row
	CRS          *geoarrow.CRS      // for a Span
	Text         []geoarrow.ColumnID
	Summary      Summary        // rows of its Deviations count from the part's first row
	Resident     *resident.Part // the columns that a GPU keeps; nil: none
	Release      func()         // called when no slice is read any more, so that memory can be reused
}

// PartReader reads parts of one file, for one goroutine.
type PartReader interface {
	// Guess looks for the first row that begins at or after from, without knowledge of the bytes
	// before it, and reads the rows that begin before stop. Its guess may be wrong.
	Guess(from, stop int64) Part
	// Read reads the rows from the one at from, which has the number row, up to the first that
	// begins at or after stop. Its error is the one that a read of the whole file would give.
	Read(from, stop, row int64) (Part, error)
}

// Parts reads the rows of a file from one row on with several workers.
//
// A worker starts where a row seems to begin; those bytes may be inside of a string or of an
// ignored member. So a part counts only if it begins at the very byte where the previous part
// ended. The first part is right, so by induction every part that counts is. Other rows are read
// again from that byte. So the rows and the error are those of a single worker.
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
	First    *First     // rows that are parsed before all others; nil: no priority
	Batches  *Batcher   // to which take adds the parts, and whose rows the workers copy; nil: that is up to take
}

// Parts may be guessed ahead of their turn, so that a worker that loses its core for a while does
// not stall the others. The lead is limited by these bytes and by n parts per worker, and is at
// least one part per worker.
//
// A worker that loses its core while it copies rows to a batch does not stall the others either,
// until that many times the lead is not copied.
const (
	aheadBytes   = 64 << 20
	aheadEach    = 4
	uncopiedEach = 2
)

func (p *Parts) ahead() int64 {
	workers := int64(p.Workers)
	return max(workers, min(aheadEach*workers, aheadBytes/max(1, p.Size)))
}

// maxMisses is the number of wrong guesses in a row after which guessing ends, since such a file
// costs twice the work.
const maxMisses = 8

// Read calls take with the parts, in order, and returns the end of the rows and the number of the
// row that would follow. An error of take ends it. All complete batches were emitted then, and an
// error of one of them is that of Read, unless ctx is done.
func (p *Parts) Read(ctx context.Context, take func(Part) error) (end, row int64, err error) {
	r := partsRun{Parts: p, ctx: ctx, take: take, at: p.From, row: p.Row}
	r.changed.L = &r.mu
	defer r.hold()()
	return r.run()
}

// partsRun is the state of one Read. A worker whose guessed part is next commits it and the
// complete parts after it, and copies their rows to the batches, while the other workers go on
// guessing, or copy rows to other batches. So a part is often still in the caches of the core that
// parsed it, and no separate goroutine hands parts on.
//
// A worker that changes the state goes on with what there is to do. If there is more, it wakes one other
// worker, which does the same.
type partsRun struct {
	*Parts
	ctx  context.Context
	take func(Part) error

	mu         sync.Mutex
	changed    sync.Cond
	waiting    int            // workers that wait for changed
	first      int64          // number of parts with the rows of First; 0: no priority
	firstEnd   int64          // there
	held       bool           // no part after these is begun yet
	begun      int64          // parts that were guessed or are being guessed
	committed  int64          // parts that were committed
	guessed    map[int64]Part // parts that wait for their turn
	committing bool           // a worker is committing; only it may use the fields below
	blind      bool           // guessing has ended
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
		for _, part := range r.guessed { // no longer needed
			part.release()
		}
	}()
	if r.Batches != nil {
		r.Batches.shared = true
	}
	inParallel(r.Workers, func() { r.work(<-tools) })
	if r.Batches != nil {
		r.Batches.shared = false
		if r.ctx.Err() == nil { // batches are of rows before those of any other error
			r.err = cmp.Or(r.Batches.deliver(0), r.err)
		}
	}
	if r.err != nil {
		return 0, 0, r.err
	}
	return r.at, r.row, nil
}

// hold makes a part end where First does, and delays the parts after it. The caller calls stop
// after the last part.
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

// letOn lets workers begin the parts after First.
func (r *partsRun) letOn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = false
	r.changed.Broadcast()
}

// bound returns where the search for part k starts; the last part has all rows after the last such
// place.
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

// work is the loop of a worker.
func (r *partsRun) work(reader PartReader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		switch {
		case r.due():
			r.commitNext()
		case r.assembly():
			r.assemble()
		case r.over:
			return
		case r.mayGuess():
			r.guessNext(reader)
		default:
			waited := timeline.Of(r.ctx).Begin("wait for the parts before", r.bound(r.committed))
			r.waiting++
			r.changed.Wait()
			r.waiting--
			waited()
		}
	}
}

// wake wakes a worker if there is work for one more.
func (r *partsRun) wake() {
	if r.waiting > 0 && (r.due() || r.assembly() || r.mayGuess()) {
		r.changed.Signal()
	}
}

// assembly reports whether rows wait to be copied to batches. After a cancellation they need not.
func (r *partsRun) assembly() bool { return r.Batches.idle() && !(r.over && r.ctx.Err() != nil) }

// assemble copies rows to a batch.
func (r *partsRun) assemble() {
	c := r.Batches.claim()
	r.wake()
	r.mu.Unlock()
	defer r.mu.Lock()
	r.Batches.work(c)
}

// mayGuess reports whether a worker may guess another part now.
func (r *partsRun) mayGuess() bool {
	return !r.over && r.guessable() && r.begun <= r.committed+r.ahead() && (!r.held || r.begun < r.first) &&
		r.Batches.uncopiedRuns() <= uncopiedEach*r.ahead()
}

// guessable reports whether a worker should guess another part.
func (r *partsRun) guessable() bool { return !r.blind && r.bound(r.begun) < r.To }

// due reports whether the next part should be committed now: no worker commits, and the part is
// complete or will not be guessed.
func (r *partsRun) due() bool {
	if r.committing || r.over {
		return false
	}
	_, there := r.guessed[r.committed]
	return there || r.begun == r.committed && !r.guessable()
}

func (r *partsRun) guessNext(reader PartReader) {
	k := r.begun
	r.begun++
	r.wake()
	r.mu.Unlock()
	part := guarded(reader, r.bound(k), r.bound(k+1))
	runtime.Gosched() // otherwise the goroutine that sends finished rows waits up to 10 ms for the end of a time slice
	r.mu.Lock()
	r.guessed[k] = part
}

// guarded calls Guess. A panic gives an empty guess, so that the part is read again where a panic
// can be handled.
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
	r.wake()
	r.mu.Unlock()
	failed := true // or it panics
	defer func() {
		r.mu.Lock()
		r.committing, r.blind, r.over = false, r.misses >= maxMisses, failed || r.ended
		if r.committed++; r.committed == r.first && r.held {
			time.AfterFunc(firstLease, r.letOn)
		}
		if r.over {
			r.changed.Broadcast()
		}
	}()
	r.err = r.commit(part, r.bound(k+1))
	failed = r.err != nil
}

// commit commits the part up to stop, as guessed if the guess was right, or read again. If it ended
// early because its rows grew too large, further parts follow up to stop.
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
		if err := r.put(part); err != nil {
			return err
		}
		for r.Batches != nil && r.Batches.assemble() {
			// Where all guesses are wrong, no worker may be free for it.
		}
		if r.ended || r.at >= stop || r.at == from {
			return nil
		}
	}
}

// put passes on a verified part.
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

// stateAt returns the State of a Span that begins with row i.
func (p *Part) stateAt(i int) uint64 {
	if p.StateAt != nil {
		return p.StateAt(i)
	}
	return p.State
}

func (p *Part) release() {
	if p.Release != nil {
		p.Release()
	}
}
