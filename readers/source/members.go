package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// Members of a gzip file (RFC 1952) follow each other without a gap, and nothing in front of a
// member says how long it is:
//
//	0             3       4       8     9    10              n-8      n-4
//	│ 1f 8b 08    │ flags │ time  │ xfl │ os │ … │ DEFLATE … │ CRC-32 │ length modulo 2^32 │
//
// But those of a blocked file (BGZF, SAMv1 4.1), of at most 64 KiB, say it in an extra field:
//
//	0                4         10     12          16      18
//	│ 1f 8b 08 04    │ …       │ 6, 0 │ B C 2, 0  │ n-1   │ DEFLATE …
//
// Where there are no blocks, a member seems to begin wherever its first bytes are found. Each guess
// is verified: see spread.
const (
	memberHead  = 10
	memberTail  = 8
	memberLeast = memberHead + 2 + memberTail
	blockHead   = 18
	blockMost   = 64 << 10 // bytes of a block, packed and unpacked

	// inflation is how many bytes one byte of DEFLATE can hold at most, about.
	inflation = 1032
	// triedBytes of packed bytes before a member make the length in front of it no proof: then the
	// member is tried.
	triedBytes = 64 << 10
	// maxDecoys is how many members may turn out to be none at their first bytes, before no more are
	// looked for: a file may be full of what looks like one.
	maxDecoys = 1000
)

// memberScan walks through the members of a gzip file.
type memberScan struct {
	*spread
	from    int64 // of the open segment
	member  int64 // where the present member begins
	content int64 // of the members of the segment, before the present one
	total   int64 // of all members before the present one
	decoys  int
	probe   *gzip.Reader
}

// scanMembers cuts a gzip file where members begin, and says how long the content is; < 0: it is
// unknown.
func (s *spread) scanMembers() (content int64, err error) {
	m := &memberScan{spread: s}
	if s.f.Size < memberLeast {
		return 0, errMisled
	}
	s.open(0, 0)
	if err := m.blocks(); err != nil || m.member == s.f.Size {
		return m.total, err
	}
	if !s.f.local() { // looking for members would wait for all bytes
		if err := s.cut(s.f.Size, -1); err != nil {
			return 0, err
		}
		if s.f.upload != nil { // its last bytes come last
			return -1, nil
		}
		n, err := m.length(s.f.Size)
		return m.total + n, err
	}
	if err := m.guesses(); err != nil {
		return 0, err
	}
	if m.decoys > maxDecoys {
		return -1, s.cut(s.f.Size, -1)
	}
	n, err := m.length(s.f.Size)
	if err == nil {
		err = m.end(s.f.Size, n)
	}
	return m.total, err
}

// end says that the present member ends before byte to, and how long its content is.
func (m *memberScan) end(to, content int64) error {
	m.content += content
	m.total += content
	m.member = to
	if to < m.f.Size && to-m.from < segmentBytes && m.content < segmentContent {
		return nil
	}
	if err := m.cut(to, m.content); err != nil {
		return err
	}
	if to < m.f.Size {
		m.open(to, 0)
		m.from, m.content = to, 0
	}
	return nil
}

// length gives the length that the present member says if it ends before byte to.
func (m *memberScan) length(to int64) (int64, error) {
	var b [4]byte
	if err := m.raw(b[:], to-4); err != nil {
		return 0, err
	}
	return m.unwrapped(int64(binary.LittleEndian.Uint32(b[:])), to)
}

// unwrapped is the length of the present member that ends before byte to, of which modulo 2^32 is
// known: what fits best with how its first bytes are packed.
func (m *memberScan) unwrapped(length, to int64) (int64, error) {
	packed := to - m.member
	if packed < (1<<32)/inflation {
		return length, nil
	}
	in := m.f.stream(context.Background(), m.member, to)
	z, err := gzip.NewReader(in.Reader)
	if err != nil {
		return length, in.err
	}
	n, err := io.CopyN(io.Discard, z, headBytes)
	if err != nil {
		return length, in.err
	}
	guess := float64(n) / float64(in.taken.Load()-int64(in.Buffered())) * float64(packed)
	return length + max(0, int64(math.Round((guess-float64(length))/(1<<32))))<<32, nil
}

// raw reads bytes of the file that do not count as read: the worker reads them too.
func (s *spread) raw(p []byte, at int64) error {
	n, err := s.f.content.ReadAt(p, at)
	switch {
	case n == len(p):
		return nil
	case errors.Is(err, io.EOF):
		return errMisled
	}
	s.unread.Store(true)
	return err
}

// blocks goes over the blocks, up to the first member that is not one.
func (m *memberScan) blocks() error {
	g := glass{s: m.spread}
	for m.member+blockHead+memberTail <= m.f.Size {
		head, err := g.look(m.member, blockHead)
		if err != nil {
			return err
		}
		n := blockBytes(head)
		if n == 0 || m.member+n > m.f.Size {
			return nil
		}
		tail, err := g.look(m.member+n-4, 4)
		if err != nil {
			return err
		}
		content := int64(binary.LittleEndian.Uint32(tail))
		if content > blockMost {
			return nil
		}
		if err := m.end(m.member+n, content); err != nil {
			return err
		}
	}
	return nil
}

// blockBytes is the length of the block that has this head, or 0.
func blockBytes(head []byte) int64 {
	if !bytes.Equal(head[:4], []byte{0x1f, 0x8b, 8, 4}) || !bytes.Equal(head[10:16], []byte{6, 0, 'B', 'C', 2, 0}) {
		return 0
	}
	n := int64(binary.LittleEndian.Uint16(head[16:])) + 1
	if n < blockHead+memberTail {
		return 0
	}
	return n
}

// guesses looks for members that begin after the present one.
func (m *memberScan) guesses() error {
	const step = 1 << 20
	buf := make([]byte, 4+step+memberHead) // the length in front of a member, and a head that begins at the last byte
	for at := m.member + memberLeast; at < m.f.Size && m.decoys <= maxDecoys; at += step {
		b := buf[:min(int64(len(buf)), m.f.Size-at+4)]
		if err := m.raw(b, at-4); err != nil {
			return err
		}
		for i := 4; i < 4+step && m.decoys <= maxDecoys; i++ {
			k := bytes.Index(b[i:], []byte{0x1f, 0x8b, 8})
			if i += k; k < 0 || i >= 4+step || i+memberHead > len(b) {
				break
			}
			if err := m.guess(at+int64(i-4), b[i-4:]); err != nil {
				return err
			}
		}
		if err := m.saw(min(at+step, m.f.Size)); err != nil {
			return err
		}
	}
	return nil
}

// guess ends the present member before byte at, if another one seems to begin there. b begins with
// the length in front of it.
func (m *memberScan) guess(at int64, b []byte) error {
	const reserved = 0xe0 // flags
	head := b[4:]
	if head[3]&reserved != 0 || head[9] > 13 && head[9] != 255 || at-m.member < memberLeast {
		return nil
	}
	length, packed := int64(binary.LittleEndian.Uint32(b)), at-m.member
	if length > inflation*packed {
		return nil
	}
	if packed >= triedBytes {
		if ok, err := m.begins(at); err != nil || !ok {
			m.decoys++
			return err
		}
	}
	length, err := m.unwrapped(length, at)
	if err != nil {
		return err
	}
	return m.end(at, length)
}

// begins reports whether the first bytes from a byte on are those of a member.
func (m *memberScan) begins(at int64) (bool, error) {
	var packed [4 << 10]byte
	var content [512]byte
	b := packed[:min(int64(len(packed)), m.f.Size-at)]
	if err := m.raw(b, at); err != nil {
		return false, err
	}
	var err error
	if in := bytes.NewReader(b); m.probe == nil {
		m.probe, err = gzip.NewReader(in)
	} else {
		err = m.probe.Reset(in)
	}
	if err == nil {
		m.probe.Multistream(false)
		_, err = fill(m.probe, content[:])
	}
	var corrupt flate.CorruptInputError
	return !errors.As(err, &corrupt) && !errors.Is(err, gzip.ErrHeader) && !errors.Is(err, gzip.ErrChecksum), nil
}

// glass looks at a few bytes of a file, here and there. Those that follow are read with them:
// members and frames may be small, and many.
type glass struct {
	s    *spread
	at   int64
	seen []byte
	buf  [512]byte
}

// look gives n bytes, valid until the next look.
func (g *glass) look(at int64, n int) ([]byte, error) {
	if from := at - g.at; from >= 0 && from+int64(n) <= int64(len(g.seen)) {
		return g.seen[from : from+int64(n)], nil
	}
	g.at, g.seen = at, g.buf[:max(0, min(int64(len(g.buf)), g.s.f.Size-at))]
	if len(g.seen) < n {
		return nil, errMisled
	}
	return g.seen[:n], g.s.raw(g.seen, at)
}
