package tablefile

import (
	"hash/crc32"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
)

const (
	alignment   = 64 // of messages, buffers and indices: Arrow's recommendation, a cache line
	bufferBytes = 1 << 20
	directBytes = 64 << 10 // slices of at least this size are written without buffering
)

func aligned(n int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }

// output appends to a file, and collects small pieces in a buffer. It keeps the first error and
// writes nothing after it.
type output struct {
	file    files.File
	flushed int64 // bytes that are in the file
	buffer  []byte
	sum     uint32 // CRC-32C of the bytes written since begin
	err     error
}

// at returns the offset of the next byte.
func (o *output) at() int64 { return o.flushed + int64(len(o.buffer)) }

// begin pads to the next offset where a message or an index may begin, and returns that offset.
func (o *output) begin() int64 {
	o.pad()
	o.sum = 0
	return o.at()
}

func (o *output) write(b []byte) {
	o.sum = crc32.Update(o.sum, crc32.MakeTable(crc32.Castagnoli), b)
	if len(b) >= directBytes {
		o.flush()
		o.put(b)
		return
	}
	if len(o.buffer)+len(b) > cap(o.buffer) {
		o.flush()
	}
	o.buffer = append(o.buffer, b...)
}

// pad writes zeros up to a multiple of 64.
func (o *output) pad() {
	var zeros [alignment]byte
	o.write(zeros[:aligned(o.at())-o.at()])
}

// flush writes the buffer to the file.
func (o *output) flush() {
	o.put(o.buffer)
	o.buffer = o.buffer[:0]
}

func (o *output) put(b []byte) {
	if o.err == nil && len(b) > 0 {
		_, o.err = o.file.WriteAt(b, o.flushed)
	}
	o.flushed += int64(len(b))
}
