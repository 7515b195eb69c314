package osmpbf

import (
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/internal/system"
	"github.com/vibeflight/vibeflight/readers/source"
)

// spill holds bytes in memory as long as they are few, then in a temporary file. One goroutine
// appends and calls end; afterwards several may read. The file is mapped, so that the kernel decides
// which of its pages are in memory. It has no name: no other process can cut it off.
type spill struct {
	name     string // of the file that they are of, for errors
	dir      string // of the temporary file; "": the usual one
	most     int64  // bytes in memory
	size     int64
	segments [][]byte // of segmentBytes each
	temp     *source.Temp
	mapped   []byte // the temporary file
}

// segmentBytes is a multiple of the size of a block of nodes, so that no block is in two segments.
const segmentBytes = 64 * indexBlockBytes

// append appends bytes. Its error is a *source.RoomError if the disk, or its share of it, is full.
func (s *spill) append(p []byte) error {
	if s.temp == nil && s.size+int64(len(p)) > s.most {
		if err := s.toDisk(); err != nil {
			return err
		}
	}
	if s.temp != nil {
		if err := s.temp.Put(p, s.size); err != nil {
			return err
		}
		s.size += int64(len(p))
		return nil
	}
	for len(p) > 0 {
		at := int(s.size % segmentBytes)
		if at == 0 {
			s.segments = append(s.segments, make([]byte, segmentBytes))
		}
		n := copy(s.segments[len(s.segments)-1][at:], p)
		s.size += int64(n)
		p = p[n:]
	}
	return nil
}

// toDisk moves the bytes to a temporary file.
func (s *spill) toDisk() error {
	temp, err := source.NewTemp(s.name, source.UnpackOptions{Dir: s.dir, MaxBytes: math.MaxInt64})
	if err != nil {
		return err
	}
	s.temp = temp
	for i, p := range s.segments {
		from := int64(i) * segmentBytes
		if err := temp.Put(p[:min(segmentBytes, s.size-from)], from); err != nil {
			return err
		}
	}
	s.segments = nil
	return nil
}

// end makes the bytes readable.
func (s *spill) end() error {
	if s.temp == nil {
		return nil
	}
	b, err := system.Map(s.temp.File, 0, s.size)
	if err != nil {
		return fmt.Errorf("%s: its temporary file of %d bytes: %w", s.name, s.size, err)
	}
	s.mapped = b
	return nil
}

// view returns bytes that are in one place; nil if they are not.
func (s *spill) view(at int64, n int) []byte {
	if s.mapped != nil {
		return s.mapped[at : at+int64(n)]
	}
	from := int(at % segmentBytes)
	if from+n > segmentBytes {
		return nil
	}
	return s.segments[at/segmentBytes][from : from+n]
}

// read copies bytes to p.
func (s *spill) read(p []byte, at int64) {
	if s.mapped != nil {
		copy(p, s.mapped[at:])
		return
	}
	for len(p) > 0 {
		n := copy(p, s.segments[at/segmentBytes][at%segmentBytes:])
		p, at = p[n:], at+int64(n)
	}
}

func (s *spill) close() {
	if s.mapped != nil {
		_ = system.Unmap(s.mapped) // it fails only for arguments that are not a mapping
	}
	if s.temp != nil {
		_ = s.temp.Close()
	}
	s.temp, s.segments, s.mapped = nil, nil, nil
}
