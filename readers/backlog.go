package readers

// A chunk is assembled by one goroutine at a time, and several chunks side by side: a worker
// of the parse that is free takes the first chunk that has rows to copy. So only what decides
// which rows are in which chunk is done in the order of the file, and that takes microseconds for
// each part.
//
//	parts committed    1 2 3 4 5 6 7 8 9 …      in order; each goes to the backlog of its chunk
//	chunk 1            [1 2 3]                  by one worker
//	chunk 2                  [4 5 6]            by another, at the same time
//	chunk 3                        [7 8 9]      …
//
// With one worker, each part is copied as soon as it is committed.

// backlog is the rows of a chunk that are not copied yet.
type backlog struct {
	runs  []run
	ended bool // none follow
	taken bool // a goroutine copies rows of the chunk, or has completed it
}

// idle reports whether there is work and no goroutine does it.
func (l *backlog) idle() bool { return !l.taken && (len(l.runs) > 0 || l.ended) }

// push adds rows to the backlog of a chunk.
func (b *Batcher) push(c *batch, r run) {
	b.mu.Lock()
	c.backlog.runs = append(c.backlog.runs, r)
	b.mu.Unlock()
	b.uncopied.Add(1)
	b.assembleAlone()
}

// complete ends the backlog of a chunk.
func (b *Batcher) complete(c *batch) {
	b.mu.Lock()
	c.backlog.ended = true
	b.mu.Unlock()
	b.assembleAlone()
}

// assembleAlone does the work that there is, unless there are workers for it.
func (b *Batcher) assembleAlone() {
	for !b.shared && b.assemble() {
	}
}

// assemble works on a chunk that waits for a goroutine. It returns false if no chunk waits.
func (b *Batcher) assemble() bool {
	c := b.claim()
	b.work(c)
	return c != nil
}

// work copies the rows that wait in a chunk that the caller has claimed, and completes the chunk if
// it has all of them. nil is no chunk. Any number of goroutines may call it.
func (b *Batcher) work(c *batch) {
	for c != nil {
		b.mu.Lock()
		runs, ended := c.backlog.runs, c.backlog.ended
		c.backlog.runs = nil
		c.backlog.taken = ended || len(runs) > 0
		b.mu.Unlock()
		if len(runs) == 0 && !ended {
			return
		}
		c.addAll(runs, ended)
		b.uncopied.Add(-int64(len(runs)))
		if ended {
			close(c.done)
			return
		}
	}
}

// claim returns the first chunk that waits for a goroutine, and marks it as taken; nil if no chunk
// waits.
func (b *Batcher) claim() *batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.firstIdle()
	if c != nil {
		c.backlog.taken = true
	}
	return c
}

// idle reports whether a chunk waits for a goroutine.
func (b *Batcher) idle() bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.firstIdle() != nil
}

func (b *Batcher) firstIdle() *batch {
	for _, c := range b.waiting {
		if c.backlog.idle() {
			return c
		}
	}
	return nil
}

// uncopiedRuns returns how many runs of rows are not copied yet.
func (b *Batcher) uncopiedRuns() int64 {
	if b == nil {
		return 0
	}
	return b.uncopied.Load()
}

// drop releases the rows that are not copied.
func (b *Batcher) drop() {
	for _, c := range b.waiting {
		releaseAll(c.backlog.runs)
	}
	b.waiting, b.open = nil, nil
}

func releaseAll(runs []run) {
	for _, r := range runs {
		r.part.done()
	}
}
