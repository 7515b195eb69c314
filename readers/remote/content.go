package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/readers/source"
)

// content is the bytes of one version of an object. They are fetched in blocks, and kept in
// temporary files, so that no byte is fetched twice:
//
//	object     │ page │ page │ page │ page │ page │ page │ …   64 KiB each
//	state        have   have  pending pending   -      -
//	requests                 └─── a block ───┘
//
// A read of an absent page fetches it before all queued blocks. The first such read fetches one
// page, and reads that follow each other fetch twice as many each time. Prefetch queues blocks, of
// which up to Options.Requests are fetched at a time.
type content struct {
	root   *Root
	object Object
	ctx    context.Context // of all reads
	cancel context.CancelFunc
	temp   *stripes
	stop   func() bool

	mu      sync.Mutex
	more    sync.Cond // a page arrived, or err was set
	pages   []pageState
	queue   []block // to be fetched, the first one first
	workers int     // goroutines that fetch
	wg      sync.WaitGroup
	step    int // pages of the next block of reads that follow each other
	last    int // the page after the last block that a read requested
	err     error

	whole sync.Mutex // held while a server without ranges sends the object
}

type pageState uint8

const (
	absent pageState = iota
	pending
	have
)

// pageBytes is the number of bytes whose arrival is recorded together.
const pageBytes = 64 << 10

// block is a run of pages [from, to) that one request fetches.
type block struct{ from, to int }

func newContent(ctx context.Context, r *Root, o Object) (*content, error) {
	temp, err := newStripes(r.Location(o.Key), r.options.Unpack, o.Size, r.options.Block)
	if err != nil {
		return nil, err
	}
	c := &content{root: r, object: o, temp: temp, pages: make([]pageState, (o.Size+pageBytes-1)/pageBytes), step: 1}
	c.ctx, c.cancel = context.WithCancel(ctx)
	c.more.L = &c.mu
	c.stop = context.AfterFunc(c.ctx, func() { c.fail(context.Cause(c.ctx)) })
	return c, nil
}

// Stat implements source.Content.
func (c *content) Stat() (fs.FileInfo, error) { return objectInfo{c.object}, nil }

// Close implements source.Content. It ends all requests and waits for them.
func (c *content) Close() error {
	c.stop()
	c.cancel()
	c.fail(fs.ErrClosed)
	c.wg.Wait()
	return c.temp.Close()
}

// ReadAt implements io.ReaderAt. It waits until the bytes are there.
func (c *content) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("%s: negative offset", c.root.Location(c.object.Key))
	}
	n := int(min(int64(len(p)), c.object.Size-off))
	if n <= 0 {
		return 0, io.EOF
	}
	if err := c.wait(int(off/pageBytes), int((off+int64(n)-1)/pageBytes)+1); err != nil {
		return 0, err
	}
	n, err := c.temp.ReadAt(p[:n], off)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// wait fetches the pages [from, to) that are absent, and waits for all of them.
func (c *content) wait(from, to int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := from; i < to; {
		switch {
		case c.err != nil:
			return c.err
		case c.pages[i] == have:
			i++
		case c.pages[i] == absent:
			c.demand(i, to)
		default:
			c.more.Wait()
		}
	}
	return nil
}

// demand requests the absent pages from page i on, at least to page to; c.mu is held. Reads that
// follow each other request twice as many pages each time.
func (c *content) demand(i, to int) {
	if i != c.last {
		c.step = 1
	}
	to = max(to, i+c.step)
	if small := int(c.root.options.Block / pageBytes); len(c.pages) <= small {
		to = len(c.pages) // one request for a small file
	} else {
		c.step = min(2*c.step, small)
	}
	to = min(to, len(c.pages))
	c.last = to
	c.enqueue(true, i, to)
}

// Prefetch implements source.Prefetcher. Gaps of up to an eighth of a block are fetched with
// the spans next to them.
func (c *content) Prefetch(spans ...[2]int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	gap := max(1, int(c.root.options.Block/pageBytes/8))
	var run block
	flush := func() { c.enqueue(false, run.from, run.to) }
	for _, s := range spans {
		s[0], s[1] = max(0, s[0]), min(s[1], c.object.Size)
		if s[0] >= s[1] {
			continue
		}
		next := block{int(s[0] / pageBytes), int((s[1]-1)/pageBytes) + 1}
		if run.from < run.to && next.from >= run.from && next.from <= run.to+gap {
			run.to = max(run.to, next.to)
			continue
		}
		flush()
		run = next
	}
	flush()
}

// enqueue queues the absent pages of [from, to) in blocks, first or last; c.mu is held.
func (c *content) enqueue(first bool, from, to int) {
	if c.err != nil {
		return
	}
	size := int(c.root.options.Block / pageBytes)
	var blocks []block
	for i := from; i < to; i++ {
		if c.pages[i] != absent {
			continue
		}
		b := block{i, i}
		// Blocks end at multiples of their size, so that pages fetched earlier shorten the first
		// block only.
		for end := min(to, (i/size+1)*size); b.to < end && c.pages[b.to] == absent; b.to++ {
			c.pages[b.to] = pending
		}
		blocks = append(blocks, b)
		i = b.to - 1
	}
	if first {
		c.queue = append(blocks, c.queue...)
	} else {
		c.queue = append(c.queue, blocks...)
	}
	for c.workers < min(len(c.queue), c.root.options.Requests) {
		c.workers++
		c.wg.Go(c.work)
	}
}

// work fetches blocks until the queue is empty.
func (c *content) work() {
	for {
		c.mu.Lock()
		if len(c.queue) == 0 || c.err != nil {
			c.workers--
			c.mu.Unlock()
			return
		}
		b := c.queue[0]
		c.queue = c.queue[1:]
		c.mu.Unlock()
		if err := c.fetch(b); err != nil {
			c.fail(err)
		}
	}
}

// fail ends all reads with an error. The first one counts.
func (c *content) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		if errors.Is(err, source.ErrChanged) {
			c.root.stats.changed.Add(1)
		}
	}
	c.more.Broadcast()
}

// arrived marks pages as kept.
func (c *content) arrived(from, to int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := from; i < to; i++ {
		c.pages[i] = have
	}
	c.more.Broadcast()
}

// missing returns the first page of a block that is not there, or b.to.
func (c *content) missing(b block) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for b.from < b.to && c.pages[b.from] == have {
		b.from++
	}
	return b.from
}

// bytes returns the place of a block in the object.
func (c *content) bytes(b block) (from, to int64) {
	return int64(b.from) * pageBytes, min(int64(b.to)*pageBytes, c.object.Size)
}

// errStalled is the cause of an attempt that was given up.
var errStalled = errors.New("no page of 64 KiB came for too long")

// fetch fetches the pages of a block. A failed request is repeated from the first page that is
// missing. A slow one gets a competitor.
func (c *content) fetch(b block) error {
	from, to := c.bytes(b)
	if err := c.temp.Reserve(to - from); err != nil {
		return err
	}
	again := newRetry(c.root.options.Deadline)
	for {
		before := c.missing(b)
		err := c.hedged(b)
		if kind, _ := kindOf(err); kind == NoRanges {
			err = c.fetchWhole()
		}
		now := c.missing(b)
		if now == b.to {
			return nil
		}
		if now > before {
			again.progress()
		}
		var space *source.RoomError
		if errors.As(err, &space) {
			return err
		}
		if err = again.again(c.ctx, err); err != nil {
			return c.root.failed(c.object.Key, err)
		}
		c.root.stats.retries.Add(1)
	}
}

// fetchWhole fetches the object by one request, since the server sends no ranges.
func (c *content) fetchWhole() error {
	c.whole.Lock()
	defer c.whole.Unlock()
	all := block{0, len(c.pages)}
	if c.missing(all) == all.to {
		return nil
	}
	return c.request(c.ctx, all, func() {})
}

// hedged requests a block. If the answer is late, compared with those to other requests, it makes a
// second request for the rest, and the first one that is complete wins.
func (c *content) hedged(b block) error {
	ctx, cancel := context.WithCancel(c.ctx)
	results := make(chan error, 2)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	late := time.NewTimer(time.Hour)
	late.Stop()
	defer late.Stop()
	try := func(begun func()) { running.Go(func() { results <- c.attempt(ctx, b, begun) }) }
	from, to := c.bytes(b)
	try(func() { late.Reset(c.root.options.Hedge + c.root.pace.usual(to-from)) })
	for inFlight := 1; ; {
		select {
		case err := <-results:
			if inFlight--; err == nil || inFlight == 0 {
				return err
			}
		case <-late.C:
			c.root.stats.hedges.Add(1)
			inFlight++
			try(func() {})
		}
	}
}

// attempt makes one request for the missing pages of a block. It calls begun when it has waited for
// its turn.
func (c *content) attempt(ctx context.Context, b block, begun func()) error {
	b.from = c.missing(b)
	if b.from == b.to {
		return nil
	}
	return c.request(ctx, b, begun)
}

// request requests a block.
func (c *content) request(ctx context.Context, b block, begun func()) error {
	if err := c.root.limit.acquire(ctx); err != nil {
		return err
	}
	begun()
	c.root.stats.requests.Add(1)
	from, to := c.bytes(b)
	start := time.Now()
	err := c.root.watched(ctx, func(ctx context.Context, progress func()) error { return c.receive(ctx, b, progress) })
	if err == nil {
		c.root.pace.record(to-from, time.Since(start))
	}
	kind, _ := kindOf(err)
	c.root.limit.release(err != nil && kind == Throttled)
	return err
}

// receive reads the answer to one request. It calls progress for each page.
func (c *content) receive(ctx context.Context, b block, progress func()) error {
	from, to := c.bytes(b)
	body, err := c.root.store.Read(ctx, c.object, from, to)
	if err != nil {
		return err
	}
	defer body.Close()
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for from < to {
		part := (*buf)[:min(int64(len(*buf)), to-from)]
		n, err := io.ReadAtLeast(body, part, min(pageBytes, len(part)))
		c.root.stats.bytes.Add(int64(n))
		if n > 0 {
			if _, err := c.temp.WriteAt(part[:n], from); err != nil {
				return &Failure{Err: err} // of the disk: the request is not repeated
			}
			first := int(from / pageBytes)
			from += int64(n)
			last := int(from / pageBytes)
			if from == c.object.Size {
				last = len(c.pages)
			}
			c.arrived(first, last)
			progress()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// buffers are for pieces on their way to the temporary file. A piece is written when it has a page,
// so that the page is at once available to reads, and has more if more has arrived.
var buffers = sync.Pool{New: func() any { b := make([]byte, pieceBytes); return &b }}

const pieceBytes = 4 * pageBytes

// causeOf returns why a request ended: that it was given up, or err.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errStalled) {
		return cause
	}
	return err
}
