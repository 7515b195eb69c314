package wire

import (
	"encoding/binary"
	"sync/atomic"
)

// header begins each frame (RFC 9113, 4.1):
//
//	length, 3 bytes | type | flags | stream, 4 bytes, the first bit of which is reserved
type header [9]byte

const (
	frameData     = 0
	frameSettings = 4

	settingMaxFrameSize = 5
	minFrameBytes       = 1 << 14 // which every client accepts
	maxFrameBytes       = 1<<24 - 1

	prefaceBytes = 24 // PRI * HTTP/2.0…, the first bytes of a client
)

func (h *header) length() int     { return int(h[0])<<16 | int(h[1])<<8 | int(h[2]) }
func (h *header) setLength(n int) { h[0], h[1], h[2] = byte(n>>16), byte(n>>8), byte(n) }
func (h *header) kind() byte      { return h[3] }
func (h *header) flags() byte     { return h[4] }
func (h *header) stream() uint32  { return binary.BigEndian.Uint32(h[5:]) }

// splitter splits a sequence of bytes into frames.
type splitter struct {
	head header
	has  int // bytes of head
	left int // bytes of payload that follow
}

// Kinds of pieces.
const (
	headPart = iota // bytes of a header, but not the last
	headEnd         // the last ones: head is that of the frame
	payload
)

// next returns the first piece of b, which is not empty.
func (s *splitter) next(b []byte) (piece []byte, kind int) {
	if s.atFrameStart() {
		s.has = 0
	}
	if s.has < len(s.head) {
		n := copy(s.head[s.has:], b)
		if s.has += n; s.has < len(s.head) {
			return b[:n], headPart
		}
		s.left = s.head.length()
		return b[:n], headEnd
	}
	n := min(s.left, len(b))
	s.left -= n
	return b[:n], payload
}

// atFrameStart reports whether the next byte starts a frame.
func (s *splitter) atFrameStart() bool { return s.left == 0 && (s.has == 0 || s.has == len(s.head)) }

// settings are the relevant settings of a client. gRPC checks the client's frames.
type settings struct {
	frameBytes atomic.Uint32 // maximum payload of a frame

	preface int // bytes of it that were read
	frames  splitter
	pair    [6]byte // identifier, 2 bytes | value, 4 bytes
	has     int     // bytes of pair
}

// read reads the next bytes of the client. A larger maximum is used at once. A smaller one applies
// after its acknowledgement, which gRPC sends later.
func (s *settings) read(b []byte) {
	n := min(prefaceBytes-s.preface, len(b))
	s.preface += n
	for b = b[n:]; len(b) > 0; {
		piece, kind := s.frames.next(b)
		b = b[len(piece):]
		switch {
		case kind == headEnd:
			s.has = 0
		case kind == payload && s.frames.head.kind() == frameSettings:
			for _, c := range piece {
				s.pair[s.has] = c
				if s.has++; s.has == len(s.pair) {
					s.has = 0
					s.set(binary.BigEndian.Uint16(s.pair[:]), binary.BigEndian.Uint32(s.pair[2:]))
				}
			}
		}
	}
}

func (s *settings) set(id uint16, value uint32) {
	if id == settingMaxFrameSize && value >= minFrameBytes && value <= maxFrameBytes {
		s.frameBytes.Store(value)
	}
}
