package tablefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
)

// Remote is a table file on another machine.
type Remote interface {
	Size() int64
	// Fetch writes bytes [from, end) of the file to the same offsets of to. It is safe for
	// concurrent use.
	Fetch(ctx context.Context, to io.WriterAt, from, end int64) error
}

// ErrUnfetched is wrapped by errors of Check and Search for bytes of a remote file that cannot be
// fetched. These errors also wrap readers.ErrDamaged, because the batch cannot be used.
var ErrUnfetched = errors.New("its bytes cannot be fetched")

const (
	pieceBytes = 64 << 10 // unit of what is fetched
	// openBytes is the size of the first fetch, from the end of the file. A smaller file is fetched
	// as a whole.
	openBytes  = 256 << 10
	rangeBytes = 4 << 20  // maximum size of one request
	aheadBytes = 32 << 20 // maximum size of what is fetched in advance
	maxFetches = 6        // requests at a time, for one file
	// minRun is the number of batches in a row that are read before the following ones are fetched in
	// advance.
	minRun = 2
)

// sparse is the local copy of a remote file. Its bytes are fetched when they are needed:
//
//	file     │ block │ block │ block │ block │ block │ …   64 KiB each
//	blocks      nil   pending pending arrived arrived
//	requests          └─ one fetch ─┘
//
// Blocks that are absent or pending have no defined content in the mapping. Code reads a region only
// after verify, which waits for its blocks.
type sparse struct {
	file   files.File
	remote Remote
	size   int64
	ctx    context.Context // of all fetches
	cancel context.CancelFunc
	slots  chan struct{} // limits the requests

	fetched atomic.Int64 // bytes
	bodies  atomic.Int64 // messages that were not verified yet

	mu     sync.Mutex
	blocks []*fetch // nil: absent
}

// fetch is a request for some neighboring blocks.
type fetch struct {
	done chan struct{}
	err  error // set before done is closed
}

// arrived is the fetch of all blocks that are in the file.
var arrived = func() *fetch {
	f := &fetch{done: make(chan struct{})}
	close(f.done)
	return f
}()

func newSparse(ctx context.Context, f files.File, r Remote) *sparse {
	s := &sparse{
		file: f, remote: r, size: r.Size(), slots: make(chan struct{}, maxFetches),
		blocks: make([]*fetch, (r.Size()+pieceBytes-1)/pieceBytes),
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// need fetches bytes [from, end) and waits for them.
func (s *sparse) need(from, end int64) error {
	for {
		wait := s.start(from, end)
		if wait == nil {
			return nil
		}
		<-wait.done
		if wait.err != nil {
			return fmt.Errorf("%w: %w", ErrUnfetched, wait.err)
		}
	}
}

// ahead begins to fetch bytes [from, end), without waiting.
func (s *sparse) ahead(from, end int64) { s.start(from, end) }

// start begins to fetch the blocks of bytes [from, end) that are absent. It returns a fetch that is
// under way for one of the blocks, or nil if all of them arrived.
func (s *sparse) start(from, end int64) (pending *fetch) {
	if from >= end {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	last := int((end - 1) / pieceBytes)
	for i := int(from / pieceBytes); i <= last; i++ {
		if s.blocks[i] == nil {
			f := &fetch{done: make(chan struct{})}
			to := i
			for ; to <= last && to-i < rangeBytes/pieceBytes && s.blocks[to] == nil; to++ {
				s.blocks[to] = f
			}
			go s.run(f, i, to)
		}
		if pending == nil && s.blocks[i] != arrived {
			pending = s.blocks[i]
		}
	}
	return pending
}

// run fetches blocks [i, to).
func (s *sparse) run(f *fetch, i, to int) {
	from, end := int64(i)*pieceBytes, min(int64(to)*pieceBytes, s.size)
	err := s.request(from, end)
	s.mu.Lock()
	defer s.mu.Unlock()
	state := arrived
	if err != nil {
		state = nil // the next need tries again
	}
	for ; i < to; i++ {
		s.blocks[i] = state
	}
	f.err = err
	close(f.done)
}

func (s *sparse) request(from, end int64) error {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
	if err := s.remote.Fetch(s.ctx, s.file, from, end); err != nil {
		return err
	}
	s.fetched.Add(end - from)
	return nil
}

// openTail fetches what Open reads: tail and footer.
func (s *sparse) openTail() error {
	if s.size < tailBytes {
		return damaged(s.file.Name(), fmt.Errorf("it has %d bytes", s.size))
	}
	first := max(0, s.size-openBytes)
	if s.size <= 4*openBytes {
		first = 0
	}
	if err := s.need(first, s.size); err != nil {
		return err
	}
	last := make([]byte, tailBytes)
	if err := readAt(s.file, last, s.size-tailBytes); err != nil {
		return err
	}
	t, err := parseTail(last, s.size)
	if err != nil {
		return damaged(s.file.Name(), err)
	}
	return s.need(t.footer.offset, s.size)
}

// OpenRemote is Open for a remote file. f is a file of the same size without content, to which the
// bytes of the remote file are written when they are needed. Fetches end with ctx and with the last
// Release.
//
// verified is called by the Check that has verified the last batch; it may be nil.
func OpenRemote(ctx context.Context, f files.File, r Remote, verified func()) (*File, error) {
	s := newSparse(ctx, f, r)
	if err := s.openTail(); err != nil {
		s.cancel()
		return nil, err
	}
	file, err := Open(f)
	if err != nil {
		s.cancel()
		return nil, err
	}
	s.bodies.Store(int64(len(file.bodies)))
	file.sparse, file.verified = s, verified
	return file, nil
}

// BytesFetched returns how many bytes of a remote file were fetched.
func (f *File) BytesFetched() int64 {
	if f.sparse == nil {
		return 0
	}
	return f.sparse.fetched.Load()
}

// fetchBody begins to fetch batch i, and the following ones if those before it were read.
func (f *File) fetchBody(i int) {
	run := 0
	for run < i && f.bodies[i-1-run].good.Load() && run < len(f.bodies) {
		run++
	}
	from, end := f.bodies[i].offset, f.bodies[i].end()
	if run >= minRun {
		limit := from + aheadBytes
		for k := i + 1; k < len(f.bodies) && k <= i+run; k++ {
			next := &f.bodies[k]
			if next.offset < end || next.offset > end+pieceBytes || next.end() > limit {
				break
			}
			end = next.end()
		}
	}
	f.sparse.ahead(from, end)
}

// fetchTrees begins to fetch the index of batch i together with those of the following batches that
// a search for a box will read.
func (f *File) fetchTrees(i int, box [4]float64) {
	boxes := f.table.Boxes
	from, end := f.trees[i].offset, f.trees[i].end()
	for k := i + 1; k < len(f.trees) && len(boxes) == len(f.trees); k++ {
		next, b := &f.trees[k], boxes[k]
		meets := box[0] <= b[2] && b[0] <= box[2] && box[1] <= b[3] && b[1] <= box[3]
		if !meets || f.items[k] == 0 || f.matchesAll(k, box) || next.offset < end ||
			next.offset > end+pieceBytes || next.end() > from+rangeBytes {
			break
		}
		end = next.end()
	}
	f.sparse.ahead(from, end)
}

// verifiedBody counts the verified messages of a remote file.
func (f *File) verifiedBody() {
	if f.sparse.bodies.Add(-1) == 0 && f.verified != nil {
		f.verified()
	}
}

// FetchRest fetches what remains of a remote file after its batches, such as indices, and verifies it.
// The local file then equals the remote one.
func (f *File) FetchRest() error {
	if err := f.sparse.need(0, f.sparse.size); err != nil {
		return err
	}
	for i := range f.trees {
		if f.items[i] == 0 {
			continue
		}
		if _, err := f.verify(&f.trees[i]); err != nil {
			return damaged(f.name, fmt.Errorf("index of batch %d: %w", i, err))
		}
	}
	return nil
}
