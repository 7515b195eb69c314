package dbf

import (
	"context"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/source"
)

// What cards read: shorter records need more memory than they have bytes, and wider fields would
// keep one thread busy with what others wait for.
const (
	leastRecord = 8   // bytes
	widestField = 256 // bytes: what package kernels calls a short string
)

// OnCards reports whether cards know the types of all fields, and how their numbers are written.
func (h *Header) OnCards() bool {
	return h.RecordLength >= leastRecord && !h.options.comma && !h.page.unknown &&
		!slices.ContainsFunc(h.Fields, func(f Field) bool {
			if f.kind.isMemo() {
				return !h.options.withoutMemo
			}
			return f.kind == kindHex || f.Length == 0 || f.Length > widestField
		})
}

// span is where the records are.
func (h *Header) span() readers.Span {
	return readers.Span{From: h.Start, To: h.offset(h.Records)}
}

// deviceChunks has a card read chunks of records, which begin where arithmetic says. So nothing
// about a chunk is a guess.
type deviceChunks struct{ header *Header }

// deviceReader gives what makes readers, each for one goroutine.
func deviceReader(ctx context.Context, e *device.Engine, h *Header, src *source.File,
	cpu func() readers.PartReader,
) func() readers.PartReader {
	file := e.File(ctx, src)
	return func() readers.PartReader { return file.Reader(cpu(), deviceChunks{h}) }
}

// Bounds finds the records that begin between two offsets.
func (c deviceChunks) Bounds(from, stop int64) (start, end int64, why string) {
	return c.header.offset(c.header.recordAt(from)), c.header.offset(c.header.recordAt(stop)), ""
}

// Read reads records on a card.
func (c deviceChunks) Read(w *device.Work, part *readers.Part) {
	d := deviceRecords{Work: w, h: c.header, text: w.Text}
	d.read(part)
	part.End = w.At+int64(w.Text.Len()) == c.header.span().To
}
