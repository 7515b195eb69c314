package tablefile

import (
	"hash/crc32"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
)

const (
	alignment   = 64 // of messages, buffers and indices: what Arrow recommends, a cache line
	bufferBytes = 1 << 20
	directBytes = 64 << 10 // a slice from here on is written from where it is
)

func aligned(n int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }

// output appends to a file. Small pieces are gathered. The first error is kept, and nothing is
// written after it.
type output struct {
	file    files.File
	flushed int64 // bytes that are in the file
	buffer  []byte
	sum     uint32 // CRC-32C of what was written since begin
	err     error
}

// at is where the next byte goes.
func (o *output) at() int64 { return o.flushed + int64(len(o.buffer)) }

// begin pads to where a message or an index may begin, and gives that place.
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

// flush writes what was gathered.
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
