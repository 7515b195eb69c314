package osmpbf

import (
	"github.com/vibeflight/vibeflight/readers/source"
)

// spill holds bytes in memory as long as they are few, then in a temporary file. One goroutine
// appends; afterwards several may read.
type spill struct {
	name     string // of the file that they are of, for errors
	dir      string // of the temporary file; "": the usual one
	most     int64  // bytes in memory
	size     int64
	segments [][]byte // of segmentBytes each
	temp     *source.Temp
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
	temp, err := source.NewTemp(s.name, source.UnpackOptions{Dir: s.dir})
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

// view returns bytes that are in memory; nil if they are not, or not in one place.
func (s *spill) view(at int64, n int) []byte {
	if s.temp != nil {
		return nil
	}
	from := int(at % segmentBytes)
	if from+n > segmentBytes {
		return nil
	}
	return s.segments[at/segmentBytes][from : from+n]
}

// read copies bytes to p.
func (s *spill) read(p []byte, at int64) error {
	if s.temp != nil {
		_, err := s.temp.ReadAt(p, at)
		return err
	}
	for len(p) > 0 {
		n := copy(p, s.segments[at/segmentBytes][at%segmentBytes:])
		p, at = p[n:], at+int64(n)
	}
	return nil
}

func (s *spill) close() {
	if s.temp != nil {
		_ = s.temp.Close()
	}
	s.temp, s.segments = nil, nil
}
