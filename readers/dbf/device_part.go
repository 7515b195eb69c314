package dbf

import (
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// Limits of what devices read. Shorter records need more memory than they have bytes, and wider
// fields would keep one thread busy while the others wait.
const (
	minRecord = 8   // bytes
	maxField  = 256 // bytes: a short string of package kernels
)

// OnDevice reports whether devices support the types of all fields and the syntax of their numbers.
func (h *Header) OnDevice() bool {
	return h.RecordLength >= minRecord && !h.options.comma && !h.page.unknown &&
		!slices.ContainsFunc(h.Fields, func(f Field) bool {
			if f.kind.isMemo() {
				return !h.options.withoutMemo
			}
			return f.kind == kindHex || f.Length == 0 || f.Length > maxField
		})
}

// span returns the bounds of the records.
func (h *Header) span() readers.Span {
	return readers.Span{From: h.Start, To: h.offset(h.Records)}
}

// deviceChunks finds and parses chunks of records. Records are at computed places, so no chunk is a
// guess.
type deviceChunks struct{ header *Header }

// Bounds finds the records that begin between two offsets.
func (c deviceChunks) Bounds(from, stop int64) (start, end int64, why string) {
	return c.header.offset(c.header.recordAt(from)), c.header.offset(c.header.recordAt(stop)), ""
}

// Read parses records on a device.
func (c deviceChunks) Read(w *device.Work, part *readers.Part) {
	d := deviceRecords{Work: w, h: c.header, text: w.Text}
	d.read(part)
	part.End = w.At+int64(w.Text.Len()) == c.header.span().To
}
