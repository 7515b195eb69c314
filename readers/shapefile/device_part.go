package shapefile

import (
	"encoding/binary"
	"math"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/nesting"
	"github.com/vibeflight/vibeflight/readers/source"
)

// onDevice reports whether devices support the file: shapes other than MultiPatch, with a .shx, and
// attributes that devices read.
func (j *job) onDevice() bool {
	return j.order == indexed && j.kind != null && j.kind != multiPatch && (j.attributes == nil ||
		j.attributes.OnDevice())
}

// slotShare is the share of a slot's memory that a chunk takes, since some rows have more
// attributes per shape than the average.
const slotShare = 0.75

// deviceParts makes parts chunks for devices if the file is large enough; otherwise it returns no
// engine.
func (j *job) deviceParts(p *readers.Parts) (*device.Engine, func() device.Chunks, error) {
	shx, err := j.src.Sibling(".shx")
	if err != nil || shx == nil { // it existed
		return nil, nil, err
	}
	limits, all := j.limits, j.src.Size+shx.Size
	if j.table != nil {
		all += j.table.Size
	}
	e := j.parser.device.For(readers.Span{To: all}, &limits)
	if e == nil {
		return nil, nil, nil
	}
	p.Size, p.Workers = j.partBytes(int64(slotShare*float64(limits.PartBytes)), shx.Size), limits.Workers
	return e, func() device.Chunks {
		return &deviceChunks{job: j, shx: shx, entries: (indexEnd(shx) - headerBytes) / indexEntry}
	}, nil
}

// deviceChunks finds and parses chunks of records. They begin where the .shx says, and every word
// of it is checked on the device, so it need not be trusted.
type deviceChunks struct {
	*job
	shx         *source.File
	entries     int64 // of the .shx
	first, next int64 // records of the current chunk, and the one after them
	nest        nesting.Nesting
	spare       []float64 // of nesting
}

// Bounds finds the records that begin between two offsets.
func (c *deviceChunks) Bounds(from, stop int64) (start, end int64, why string) {
	var err error
	if c.first, start, err = c.find(from); err == nil {
		c.next, end, err = c.find(stop)
	}
	switch {
	case err != nil:
		return 0, 0, err.Error()
	case c.next-c.first > math.MaxInt32:
		return 0, 0, "more records than a chunk has bytes"
	case end > start && c.table != nil && c.attributes.Records < c.next:
		return 0, 0, "shapes without attributes"
	}
	return start, end, ""
}

// find returns the first record that begins at or after an offset, and where that is; after the
// last one the end of the file.
func (c *deviceChunks) find(offset int64) (record, place int64, err error) {
	low, high, place := int64(0), c.entries, c.end
	for low < high {
		middle := low + (high-low)/2
		at, err := c.placeOf(middle)
		if err != nil {
			return 0, 0, err
		}
		if at < offset {
			low = middle + 1
		} else {
			high, place = middle, at
		}
	}
	return low, place, nil
}

// placeOf returns where a record is.
func (c *deviceChunks) placeOf(record int64) (int64, error) {
	var place [4]byte
	if _, err := c.shx.ReadAt(place[:], headerBytes+record*indexEntry); err != nil {
		return 0, err
	}
	return 2 * int64(binary.BigEndian.Uint32(place[:])), nil
}

// Pieces returns the entries of the chunk's records in the .shx, and their attributes.
func (c *deviceChunks) Pieces() []device.Piece {
	n := c.next - c.first
	list := []device.Piece{{Src: c.shx, At: headerBytes + c.first*indexEntry, Bytes: n * indexEntry}}
	if c.table != nil {
		length := int64(c.attributes.RecordLength)
		list = append(list, device.Piece{Src: c.table, At: c.attributes.Start + c.first*length, Bytes: n * length})
	}
	return list
}

// Read parses records on a device.
func (c *deviceChunks) Read(w *device.Work, part *readers.Part) {
	d := deviceShapes{Work: w, deviceChunks: c}
	d.read(part)
	part.Rows, part.State = c.next-c.first, uint64(c.first)
	part.End = w.At+int64(w.Text.Len()) == c.end
}
