//go:build linux

package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vibeflight/vibeflight/flightsrv/admission"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// Open opens the file. It returns an error if another file has its name now.
func (f File) Open() (*os.File, error) {
	file, err := os.Open(f.Name)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if uint64(st.Dev) != f.Dev || st.Ino != f.Inode {
		return nil, errors.Join(fmt.Errorf("%s: another file of this name", f.Name), file.Close())
	}
	return file, nil
}

// hasName reports whether the file still has its name.
func (f File) hasName() bool {
	var st unix.Stat_t
	return unix.Stat(f.Name, &st) == nil && uint64(st.Dev) == f.Dev && st.Ino == f.Inode
}

const (
	watchEvery  = 20 * time.Millisecond // the memory of workers in use
	watchSlack  = 64 << 20              // beyond MemoryBytes
	restBytes   = 64 << 20              // that an unused worker may hold; a quarter of MemoryBytes if that is more
	unusedBytes = 16 << 20              // that an unused worker may hold when others need memory
	ownBytes    = 32 << 20              // of each worker, not counted: threads and what DuckDB does not count
	stallTime   = 10 * time.Second      // without a request for the next rows, while others wait for a worker
	forgetTime  = time.Second           // between two checks for removed files
	idleTime    = 5 * time.Minute       // of unused workers, except the warm ones
	takeWait    = time.Minute           // maximum wait for a worker
)

// Pool starts workers, and keeps some of them.
type Pool struct {
	cfg     Config
	resolve duck.Resolver

	landlock atomic.Bool
	version  atomic.Pointer[startReply]

	mu      sync.Mutex
	all     []*process // the most recently used last
	started int        // all, and those that are starting
	queue   admission.Line[chan *process]
	closed  bool
	stop    chan struct{}
	watched sync.WaitGroup
}

// NewPool starts the first worker. The error of a spatial extension that can't be loaded states the
// reason.
func NewPool(cfg Config, resolve duck.Resolver) (*Pool, error) {
	if duck.LibraryVersion() == "" {
		return nil, duck.ErrNoSQL
	}
	cfg.Max, cfg.Warm = max(1, cfg.Max), max(1, cfg.Warm)
	if cfg.QueryBytes == 0 {
		cfg.QueryBytes = cfg.MemoryBytes
	}
	// The size of a thread's stack is this limit at the start of the process.
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_STACK, &limit) == nil && limit.Max >= stackBytes {
		limit.Cur = stackBytes
		_ = unix.Setrlimit(unix.RLIMIT_STACK, &limit) // smaller stacks end statements earlier
	}
	p := &Pool{cfg: cfg, resolve: resolve, stop: make(chan struct{})}
	first, err := p.Take(context.Background(), anyDatabase)
	if err != nil {
		return nil, err
	}
	first.Rest()
	p.watched.Add(1)
	go p.watch()
	return p, nil
}

// setInfo records the information of the first worker.
func (p *Pool) setInfo(reply startReply) {
	if p.version.Swap(&reply) == nil {
		for _, text := range p.Unprotected() {
			p.cfg.Log.Warn().Str("missing", text).Msg("the kernel does not confine workers for SQL as much as it could")
		}
	}
}

// Unprotected returns the protections of workers that the kernel does not have.
func (p *Pool) Unprotected() []string {
	var missing []string
	if !p.landlock.Load() {
		missing = append(missing, noLandlock)
	}
	if r := p.version.Load(); r != nil {
		missing = append(missing, r.Unprotected...)
	}
	return missing
}

// Spatial reports whether workers have the spatial extension.
func (p *Pool) Spatial() bool { return p.cfg.Spatial != "" }

// Version is DuckDB's version.
func (p *Pool) Version() string { return p.version.Load().Version }

var errClosed = errors.New("the workers for SQL are closed")

// Take starts the exclusive use of a worker, preferably of one that prefers accepts. Users whose calls
// wait take turns.
func (p *Pool) Take(ctx context.Context, prefers func(Database) bool) (Database, error) {
	user := admission.Of(ctx).Name
	w, start, wait, err := p.find(user, prefers)
	switch {
	case err != nil:
		return nil, err
	case w != nil:
		return w, nil
	case start:
		return p.add(ctx)
	}
	late := time.NewTimer(takeWait)
	defer late.Stop()
	select {
	case w := <-wait:
		return p.resumeWorker(ctx, w)
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late.C:
		err = &duck.Error{
			Kind: duck.Memory, Position: -1,
			Message: fmt.Sprintf("all %d workers of --sql-workers are in use", p.cfg.Max),
		}
	case <-p.stop:
		err = errClosed
	}
	p.leave(user, wait)
	return nil, err
}

func anyDatabase(Database) bool { return true }

// find returns an unused worker, preferably one that prefers accepts, or the right to start one, or a
// place in the queue. A nil in the queue's channel is the right to start one.
func (p *Pool) find(user string, prefers func(Database) bool) (
	w *process, start bool, wait chan *process, err error,
) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, nil, errClosed
	}
	if p.queue.Len() == 0 {
		for _, w := range slices.Backward(p.all) {
			if prefers(w) && w.take() {
				return w, false, nil, nil
			}
		}
		if p.started < p.cfg.Max {
			p.started++
			return nil, true, nil, nil
		}
		for _, w := range p.all { // that rest for longest
			if w.take() {
				return w, false, nil, nil
			}
		}
	}
	wait = make(chan *process, 1)
	p.queue.Push(user, wait)
	return nil, false, wait, nil
}

func (p *Pool) resumeWorker(ctx context.Context, w *process) (Database, error) {
	if w == nil {
		return p.add(ctx)
	}
	return w, nil
}

// leave leaves the queue, and passes on what it received meanwhile.
func (p *Pool) leave(user string, wait chan *process) {
	p.mu.Lock()
	waited := p.queue.Remove(user, wait)
	p.mu.Unlock()
	if waited {
		return
	}
	if w := <-wait; w != nil {
		w.Rest()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started--
	p.makeRoom()
}

// makeRoom passes the right to start a worker to the first call in the queue; p.mu is held.
func (p *Pool) makeRoom() {
	if p.started >= p.cfg.Max || p.closed {
		return
	}
	if _, wait, ok := p.queue.Pop(nil); ok {
		p.started++
		wait <- nil
	}
}

// add starts a worker. The caller has the right to.
func (p *Pool) add(ctx context.Context) (Database, error) {
	w, err := p.start(ctx)
	p.mu.Lock()
	if err != nil {
		p.started--
		p.makeRoom()
		p.mu.Unlock()
		return nil, err
	}
	closed := p.closed
	p.all = append(p.all, w)
	p.mu.Unlock()
	if closed {
		w.kill(errClosed)
		<-w.ended
		return nil, errClosed
	}
	if !w.Alive() { // it ended before it was registered
		<-w.ended
		p.remove(w)
	}
	return w, nil
}

func (p *Pool) remove(w *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.all, w); i >= 0 {
		p.all = slices.Delete(p.all, i, i+1)
		p.started--
		p.makeRoom()
	}
}

// take starts the use of an unused worker.
func (w *process) take() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy || w.killReason != nil {
		return false
	}
	w.busy = true
	return true
}

// Resume starts the use of the worker again, if it is unused.
func (w *process) Resume() bool { return w.take() }

// End ends the worker's process.
func (w *process) End() bool {
	w.kill(errClosed)
	w.Rest()
	return true
}

// Rest ends the use of the worker, or passes it to the first call that waits. It ends a worker that
// holds much of the shared memory: DuckDB does not free it, and the next statement would be charged
// with it.
func (w *process) Rest() {
	p := w.pool
	if w.countedMemory() > max(restBytes, p.cfg.MemoryBytes/4) {
		w.kill(errClosed)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.all, w)
	if i < 0 {
		return // it has ended
	}
	p.all = append(slices.Delete(p.all, i, i+1), w)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.killReason == nil {
		if _, wait, ok := p.queue.Pop(nil); ok {
			wait <- w
			return
		}
	}
	w.busy, w.resting = false, time.Now()
}

// Close ends all workers.
func (p *Pool) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	all := slices.Clone(p.all)
	close(p.stop)
	p.mu.Unlock()
	for _, w := range all {
		w.kill(errClosed)
	}
	for _, w := range all {
		<-w.ended
	}
	p.watched.Wait()
	return nil
}

// watch ends the largest worker while all together exceed their memory, and unused workers above
// the number that is kept.
func (p *Pool) watch() {
	defer p.watched.Done()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var looked time.Time
	for {
		select {
		case <-p.stop:
			return
		case now := <-tick.C:
			if now.Sub(looked) >= forgetTime {
				looked = now
				p.forgetFiles()
			}
		}
		p.mu.Lock()
		all := slices.Clone(p.all)
		p.mu.Unlock()
		p.limitMemory(all)
		p.endStalled(all)
		p.trim(all)
	}
}

// forgetFiles makes unused workers unmap removed files, whose mappings take memory or disk.
func (p *Pool) forgetFiles() {
	p.mu.Lock()
	all := slices.Clone(p.all)
	p.mu.Unlock()
	for _, w := range all {
		w.forget()
	}
}

// limitMemory ends a worker while all together exceed their memory: the largest unused one,
// otherwise the largest.
func (p *Pool) limitMemory(all []*process) {
	var total int64
	held := make(map[*process]int64, len(all))
	for _, w := range all {
		held[w] = w.countedMemory()
		total += held[w]
	}
	for _, w := range all {
		if p.cfg.QueryBytes < p.cfg.MemoryBytes && held[w] > p.cfg.QueryBytes+watchSlack {
			w.kill(memoryError("--query-memory", p.cfg.QueryBytes))
		}
	}
	if total <= p.cfg.MemoryBytes+watchSlack {
		return
	}
	slices.SortFunc(all, func(a, b *process) int { return cmp.Compare(held[b], held[a]) })
	for _, w := range all {
		if held[w] > unusedBytes && w.take() {
			w.kill(errClosed)
			return
		}
	}
	if held[all[0]] > 0 {
		all[0].kill(memoryError("--sql-memory", p.cfg.MemoryBytes))
	}
}

func memoryError(flag string, limit int64) error {
	return &duck.Error{
		Kind: duck.Memory, Position: -1,
		Message: fmt.Sprintf("the statement took more memory than the %d bytes of %s", limit, flag),
	}
}

// countedMemory returns the bytes of memory that count for the limit.
func (w *process) countedMemory() int64 {
	return max(0, anonymousBytes(w.cmd.Process.Pid)-w.base-ownBytes)
}

// endStalled ends a worker whose rows are not fetched while statements wait for a worker.
func (p *Pool) endStalled(all []*process) {
	p.mu.Lock()
	waiting := p.queue.Len()
	p.mu.Unlock()
	if waiting == 0 {
		return
	}
	for _, w := range all {
		if w.stalled() {
			w.kill(&duck.Error{
				Kind: duck.Memory, Position: -1,
				Message: fmt.Sprintf("the client took no rows for %v while other statements waited for a worker",
					stallTime),
			})
			return
		}
	}
}

// stalled reports whether the worker has rows that were not fetched within stallTime.
func (w *process) stalled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open > 0 && w.requests == 0 && time.Since(w.lastRequest) > stallTime
}

func (p *Pool) trim(all []*process) {
	slices.SortStableFunc(all, func(a, b *process) int { return cmp.Compare(b.idleSince(), a.idleSince()) })
	for i, w := range all {
		if at := w.idleSince(); i < p.cfg.Warm || at == 0 || time.Since(time.Unix(0, at)) < idleTime {
			continue
		}
		if w.take() {
			w.kill(errClosed)
		}
	}
}

// idleSince is the time of the end of the last use, in nanoseconds; 0 while it is in use.
func (w *process) idleSince() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy {
		return 0
	}
	return w.resting.UnixNano()
}
