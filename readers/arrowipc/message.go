package arrowipc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/vibeflight/vibeflight/readers/internal/records"
	"github.com/vibeflight/vibeflight/readers/source"
)

var (
	magic   = []byte("ARROW1")
	feather = []byte("FEA1") // of Feather 1, which is no Arrow
)

const (
	headBytes    = 8 // of a file, before its stream
	trailerBytes = 10
	continuation = 0xffffffff
)

// message is where a message is.
type message struct {
	at       int64 // of its first byte
	metadata int64 // of its flatbuffer
	length   int64 // of that
	body     int64 // bytes after it
	kind     ipc.MessageType
}

func (m message) end() int64 { return m.metadata + m.length + m.body }

// bounds returns where the stream of a file begins and where it ends at the latest. The offset is
// that of an error.
func bounds(src *source.File) (from, to, at int64, err error) {
	head, err := src.Head(headBytes)
	if err != nil {
		return 0, 0, 0, err
	}
	if bytes.HasPrefix(head, feather) {
		return 0, 0, 0, errors.New("a file of Feather 1, which is no Arrow: write it again as Feather 2 " +
			"(pyarrow.feather.write_feather)")
	}
	if !bytes.HasPrefix(head, magic) {
		return 0, src.Size, 0, nil
	}
	if src.Size < headBytes+trailerBytes {
		return 0, 0, src.Size, fmt.Errorf("the file ends without the footer that one that begins with %q has", magic)
	}
	trailer := make([]byte, trailerBytes)
	if err := read(src, trailer, src.Size-trailerBytes); err != nil {
		return 0, 0, 0, err
	}
	if !bytes.HasSuffix(trailer, magic) {
		return 0, 0, src.Size, fmt.Errorf("the file ends without %q: it is not complete", magic)
	}
	length := int64(int32(binary.LittleEndian.Uint32(trailer)))
	if length <= 0 || length > src.Size-headBytes-trailerBytes {
		return 0, 0, src.Size - trailerBytes, fmt.Errorf("a footer of %d bytes in a file of %d", length, src.Size)
	}
	return headBytes, src.Size - trailerBytes - length, 0, nil
}

// read fills p with bytes that are known to exist.
func read(src *source.File, p []byte, at int64) error {
	n, err := src.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s: %w: it was %d bytes long", src.Name, source.ErrChanged, src.Size)
	}
	return err
}

// next reads the head of the message at an offset of a stream that ends at to. ok is false at the
// end of the stream.
//
// A stream that ends between two messages is complete: writers to pipes omit the end mark.
func next(src *source.File, at, to int64) (m message, ok bool, err error) {
	if at == to {
		return m, false, nil
	}
	m.at = at
	word, at, err := wordAt(src, at, to)
	if err == nil && word == continuation {
		word, at, err = wordAt(src, at, to)
	}
	if err != nil || word == 0 {
		return m, false, err
	}
	m.metadata, m.length = at, int64(word)
	if m.length > to-at || word > math.MaxInt32 {
		return m, false, fmt.Errorf("a message of %d bytes where %d are left", m.length, to-at)
	}
	text := make([]byte, m.length)
	if err := read(src, text, at); err != nil {
		return m, false, err
	}
	err = records.Guard(func() error {
		kind, body := records.Message(text)
		m.kind, m.body = ipc.MessageType(kind), body
		if m.kind == ipc.MessageRecordBatch || m.kind == ipc.MessageDictionaryBatch {
			return records.CheckBatch(text)
		}
		return nil
	})
	if err == nil && (m.body < 0 || m.body > to-at-m.length) {
		err = fmt.Errorf("a body of %d bytes where %d are left", m.body, to-at-m.length)
	}
	return m, err == nil, err
}

// wordAt reads 4 bytes.
func wordAt(src *source.File, at, to int64) (v uint32, after int64, err error) {
	if to-at < 4 {
		return 0, at, fmt.Errorf("%d bytes where the length of a message is expected", to-at)
	}
	var b [4]byte
	err = read(src, b[:], at)
	return binary.LittleEndian.Uint32(b[:]), at + 4, err
}

// load returns a message with its body.
func (m message) load(src *source.File) (*ipc.Message, error) {
	b := make([]byte, m.length+m.body)
	if err := read(src, b, m.metadata); err != nil {
		return nil, err
	}
	return ipc.NewMessage(memory.NewBufferBytes(b[:m.length:m.length]), memory.NewBufferBytes(b[m.length:])), nil
}

// queue is some messages as Arrow's reader takes them.
type queue struct {
	src  *source.File
	rest []message
	last *ipc.Message
}

// Message returns the next one, or io.EOF.
func (q *queue) Message() (*ipc.Message, error) {
	if len(q.rest) == 0 {
		return nil, io.EOF
	}
	m, err := q.rest[0].load(q.src)
	q.rest, q.last = q.rest[1:], m
	return m, err
}

func (q *queue) Retain()  {}
func (q *queue) Release() {}
