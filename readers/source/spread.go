package source

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// spread unpacks a file with several workers. A scanner finds where members of a gzip file, or
// frames of a zstd file, begin, and how long their contents are; workers unpack segments of them,
// each to its place. What the scanner finds may be wrong. So a segment counts only if the one before
// it ended at the very byte where it begins, in the file and in the content, and if every checksum
// is right.
//
//	file      | member | member | member | member …
//	segments  | from            | from   | from     the last one is open: its end is not found yet
//	content   | at                     | at     | at
//
// Any mistake ends the spread. Then one worker unpacks the file, and returns the error.
type spread struct {
	*unpacking
	unread atomic.Bool // the file can't be read
	spare  sync.Pool   // pieces that segments held

	mu      sync.Mutex
	changed sync.Cond
	front   *segment // the first one that is not over; nil before the first
	next    *segment // the first one that no worker has
	last    *segment // open while the scanner runs
	windows int64    // bytes of the windows that workers have
	busy    int      // workers that have a segment
	all     bool     // no segment follows the last
	err     error
}

// segment is a run of members or frames that one worker unpacks. spread.mu guards it.
type segment struct {
	from, to int64 // in the file; to is known when it is closed
	seen     int64 // no segment begins before this byte
	closed   bool
	window   int64 // bytes that the decoder needs
	at       int64 // of the content; < 0: it is known when the segments before are over
	bytes    int64 // of content; < 0: unknown
	written  int64 // bytes of content that a worker has begun to write
	landed   int64 // of those, bytes that are in the temporary file
	held     [][]byte
	holds    int64 // bytes there
	over     bool
	next     *segment
}

const (
	segmentBytes   = 1 << 20   // packed bytes after which a segment ends with the next member
	segmentContent = 8 << 20   // bytes of content after which it does
	heldBytes      = 16 << 20  // of a segment whose place is not known yet; then its worker waits
	windowBytes    = 256 << 20 // of all windows
	largeWindow    = 8 << 20   // one that has a segment of its own
	stagedBytes    = 4 << 20   // packed bytes of a segment that stages unpack side by side
)

// errMisled says that a file is not what the scanner took it for.
var errMisled = errors.New("the members are not where they seemed to be")

func newSpread(u *unpacking) *spread {
	s := &spread{unpacking: u}
	s.changed.L = &s.mu
	return s
}

// decoder decodes the segments of one worker.
type decoder interface {
	// content gives the content of a segment that is read from in.
	content(s *spread, seg *segment, in *stream) (io.Reader, error)
	// close ends the decoder; nothing reads in any more.
	close()
}

func (s *spread) run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { s.fail(ctx.Err()) })()
	var running sync.WaitGroup
	for range s.workers {
		running.Go(func() {
			w := spreadWorker{s: s}
			if packing, _ := PackingOf(s.f.Name); packing == Gzip {
				w.decoder = &gzipDecoder{}
			} else {
				w.decoder = &zstdDecoder{}
			}
			defer w.decoder.close()
			for seg := s.take(); seg != nil; seg = s.take() {
				if err := w.unpack(ctx, seg); err != nil {
					s.fail(err)
				}
				s.give(seg)
			}
		})
	}
	if err := s.scan(); err != nil {
		s.fail(err)
	}
	running.Wait()
	return s.err
}

// scan finds the segments.
func (s *spread) scan() (err error) {
	scan := s.scanFrames
	if packing, _ := PackingOf(s.f.Name); packing == Gzip {
		scan = s.scanMembers
	}
	content, err := scan()
	if err != nil {
		return err
	}
	if content >= 0 && content <= s.t.limit {
		s.promised <- content
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = true
	s.changed.Broadcast()
	return nil
}

// fail ends the spread. The first error counts.
func (s *spread) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.changed.Broadcast()
}

// open begins a segment, where the one before ends.
func (s *spread) open(from, window int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seg := &segment{from: from, seen: from, window: window, bytes: -1}
	if before := s.last; before == nil {
		s.front = seg
	} else {
		if seg.at = -1; before.at >= 0 && before.bytes >= 0 {
			seg.at = before.at + before.bytes
		}
		before.next = seg
		if s.front == before && before.over {
			s.front = seg
		}
	}
	if s.next == nil {
		s.next = seg
	}
	s.last = seg
	s.changed.Broadcast()
}

// saw says that no segment begins before byte at.
func (s *spread) saw(at int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last.seen = at
	s.changed.Broadcast()
	return s.err
}

// cut says that the last segment ends before byte to, and how long its content is; < 0: it
// is unknown.
func (s *spread) cut(to, content int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	seg := s.last
	seg.to, seg.seen, seg.closed, seg.bytes = to, to, true, content
	if content >= 0 && seg.written > content { // what follows would be written over it
		return errMisled
	}
	s.changed.Broadcast()
	return s.err
}

// end waits until a segment is known to have byte at, or to end there or before, and says how far it
// is known to go.
func (s *spread) end(seg *segment, at int64) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && !seg.closed && seg.seen <= at {
		s.changed.Wait()
	}
	return seg.seen, s.err
}

// take waits for the next segment that no worker has, and for room for its window. It returns nil
// after the last one.
func (s *spread) take() *segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil {
		seg := s.next
		switch {
		case seg == nil && s.all:
			return nil
		case seg != nil && (s.busy == 0 || s.windows+seg.window <= windowBytes):
			s.next = seg.next
			s.windows += seg.window
			s.busy++
			return seg
		}
		s.changed.Wait()
	}
	return nil
}

// give says that a worker is done with a segment.
func (s *spread) give(seg *segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.windows -= seg.window
	s.busy--
	s.changed.Broadcast()
}

// place says where n more bytes of a segment go, after those that it holds; < 0: not known yet.
// It waits where no more can be held, and for n = 0, at the end of the segment.
func (s *spread) place(seg *segment, n int64) (at int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && seg.at < 0 {
		if n > 0 && seg.holds+n <= heldBytes {
			return -1, nil
		}
		s.changed.Wait()
	}
	n += seg.holds
	if s.err == nil && seg.closed && seg.bytes >= 0 && seg.written+n > seg.bytes {
		return 0, errMisled
	}
	at = seg.at + seg.written
	seg.written += n
	return at, s.err
}

// put writes a piece of the content of a segment, after those that it holds; or holds it too.
func (s *spread) put(seg *segment, p []byte) error {
	n := int64(len(p))
	at, err := s.place(seg, n)
	switch {
	case err != nil:
		return err
	case at < 0:
		held, _ := s.spare.Get().([]byte)
		seg.held = append(seg.held, append(held[:0], p...))
		seg.holds += n
		return nil
	}
	for _, held := range seg.held {
		if err := s.t.Put(held, at); err != nil {
			return err
		}
		at += int64(len(held))
		s.spare.Put(held) //nolint:staticcheck // a slice header for 256 KiB
	}
	if err := s.t.Put(p, at); err != nil {
		return err
	}
	n += seg.holds
	seg.held, seg.holds = nil, 0
	s.mu.Lock()
	defer s.mu.Unlock()
	seg.landed += n
	if s.front == seg {
		return s.in.add(n)
	}
	return nil
}

// finish says that a segment is unpacked to its end. If those before are too, its bytes count.
func (s *spread) finish(seg *segment) error {
	if err := s.put(seg, nil); err != nil { // what was held
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !seg.closed || seg.bytes >= 0 && seg.bytes != seg.written {
		return errMisled
	}
	seg.bytes, seg.over = seg.written, true
	if after := seg.next; after != nil && after.at < 0 {
		after.at = seg.at + seg.bytes
	}
	for s.front.over && s.front.next != nil {
		s.front = s.front.next
		if err := s.in.add(s.front.landed); err != nil {
			return err
		}
	}
	s.changed.Broadcast()
	return nil
}

// spreadWorker unpacks segments.
type spreadWorker struct {
	s       *spread
	decoder decoder
	buffer  *bufio.Reader
	piece   []byte
}

// unpack unpacks a segment. A panic is left to the worker that unpacks the file alone.
func (w *spreadWorker) unpack(ctx context.Context, seg *segment) (err error) {
	defer func() {
		if recover() != nil {
			err = errMisled
		}
	}()
	if w.buffer == nil {
		w.buffer, w.piece = bufio.NewReaderSize(nil, streamBytes), make([]byte, copyBytes)
	}
	in := w.s.f.streamIn(ctx, seg.from, w.s.f.Size, w.buffer)
	in.limit = func(at int64) (int64, error) { return w.s.end(seg, at) }
	content, err := w.decoder.content(w.s, seg, in)
	if err == nil {
		var bad error
		bad, err = drain(ctx, content, w.piece, func(p []byte) error { return w.s.put(seg, p) })
		err = cmp.Or(bad, err)
	}
	if err == nil {
		return w.s.finish(seg)
	}
	w.decoder.close() // it may read ahead
	if in.err != nil {
		w.s.unread.Store(true)
		err = in.err
	}
	return err
}
