package source

import (
	"github.com/klauspost/compress/zstd"
)

// Frames of a zstd file (RFC 8878) follow each other without a gap. Each block says how long it is,
// packed; a frame may say how long its content is:
//
//	│ 28 b5 2f fd │ head: window, length │ block │ block … │ checksum │
//	│ 5? 2a 4d 18 │ n                    │ n bytes that are skipped
//
//	block: last, 1 bit │ type, 2 │ length, 21 │ …
const (
	blockOfRaw = iota
	blockOfOne // a byte, repeated
	blockPacked

	blockContent = 128 << 10 // of a packed block, at most
	blockStep    = 256 << 10 // packed bytes after which workers are told that they may go on
)

// frameScan walks through the frames of a zstd file.
type frameScan struct {
	*spread
	view    glass
	at      int64
	said    int64 // byte up to which workers were told
	from    int64 // of the open segment
	content int64 // of its frames, or more
	unknown bool  // one of them does not say how long its content is
	total   int64 // of all segments before; < 0: unknown
	large   bool  // the open segment has a large window
	opened  bool
}

// scanFrames cuts a zstd file where frames begin, and says how long the content is; < 0: it is
// unknown.
func (s *spread) scanFrames() (content int64, err error) {
	w := &frameScan{spread: s, view: glass{s: s}}
	if s.f.Size == 0 {
		return 0, errMisled
	}
	if !s.f.local() { // looking for frames would wait for all bytes
		s.open(0, largeWindow)
		if err := s.cut(s.f.Size, -1); err != nil {
			return 0, err
		}
		h, err := w.head()
		if err != nil || h.Skippable || !h.HasFCS {
			return -1, err
		}
		return int64(h.FrameContentSize), nil
	}
	for w.at < s.f.Size {
		if err := w.frame(); err != nil {
			return 0, err
		}
	}
	err = w.close()
	return w.total, err
}

// close ends the open segment.
func (w *frameScan) close() error {
	if w.unknown {
		w.total = -1
		return w.cut(w.at, -1)
	}
	if w.total >= 0 {
		w.total += w.content
	}
	return w.cut(w.at, w.content)
}

// head reads the head of the frame at w.at.
func (w *frameScan) head() (h zstd.Header, err error) {
	b, err := w.view.look(w.at, int(min(zstd.HeaderMaxSize, w.f.Size-w.at)))
	if err == nil && h.Decode(b) != nil {
		err = errMisled
	}
	return h, err
}

// frame goes over a frame.
func (w *frameScan) frame() error {
	h, err := w.head()
	if err != nil {
		return err
	}
	window := int64(min(h.WindowSize, maxZstdWindow))
	if h.SingleSegment {
		window = int64(min(h.FrameContentSize, maxZstdWindow))
	}
	if err := w.begin(window); err != nil {
		return err
	}
	w.at += int64(h.HeaderSize)
	if h.Skippable {
		return w.skip(int64(h.SkippableSize))
	}
	most, err := w.blocks()
	if err != nil {
		return err
	}
	if h.HasCheckSum {
		err = w.skip(4)
	}
	switch n := int64(min(h.FrameContentSize, 1<<62)); {
	case !h.HasFCS:
		w.unknown = true
		w.content += most
	case n > most:
		return errMisled
	default:
		w.content += n
	}
	return err
}

// begin begins a segment with the frame at w.at, if those before are enough for one, or if the window
// of either is large.
func (w *frameScan) begin(window int64) error {
	large := window > largeWindow
	switch {
	case !w.opened:
	case w.at-w.from >= segmentBytes, w.content >= segmentContent, large, w.large:
		if err := w.close(); err != nil {
			return err
		}
	default:
		return nil
	}
	w.opened, w.large, w.unknown, w.from, w.content = true, large, false, w.at, 0
	w.open(w.at, max(window, largeWindow))
	return nil
}

// skip goes over bytes, which the file must have.
func (w *frameScan) skip(n int64) error {
	if n > w.f.Size-w.at {
		return errMisled
	}
	if w.at += n; w.at-w.said < blockStep {
		return nil
	}
	w.said = w.at
	return w.saw(w.at)
}

// blocks goes over the blocks of a frame, and says how long their content is at most.
func (w *frameScan) blocks() (most int64, err error) {
	for last := false; !last; {
		b, err := w.view.look(w.at, 3)
		if err != nil {
			return 0, err
		}
		head := int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16
		last = head&1 != 0
		packed := head >> 3
		switch head >> 1 & 3 {
		case blockOfRaw:
			most += packed
		case blockOfOne:
			most += packed
			packed = 1
		case blockPacked:
			most += blockContent
		default:
			return 0, errMisled
		}
		if err := w.skip(3 + packed); err != nil {
			return 0, err
		}
	}
	return most, nil
}
