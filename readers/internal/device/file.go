package device

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/resident"
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/timeline"
)

// Chunks is a format's part of reading the chunks of one file. One goroutine uses it.
type Chunks interface {
	// Bounds finds the rows that begin between two offsets: start is the offset of the first one,
	// and end that of the first one after stop, or of the text after all rows. A device parses the
	// text between, with an empty state at its start. Of a file that is being unpacked, that text is
	// there when Bounds returns, since its end was read. A nonempty why is the reason for refusing the
	// chunk. Without it, end <= start means that there is no row to refuse. In both cases the CPU
	// engine reads. An error of the file is a reason too, since the CPU engine will report it.
	Bounds(from, stop int64) (start, end int64, why string)

	// Read queues the parse of w's text into part: Columns, Starts (in the text), Rows, To (in the
	// text, 0 being its end), and End, State, Text and Summary as in the CPU engine. Copies by
	// Result are complete when functions passed to After run, which complete the part. w receives
	// errors and refusals; then part is ignored.
	Read(w *Work, part *readers.Part)
}

// File is a file that is read with the help of devices. Its readers share it.
type File struct {
	engine  *Engine
	ctx     context.Context
	src     io.ReaderAt
	line    *timeline.Timeline
	refused atomic.Int32    // chunks that were refused since the last accepted one
	kept    *resident.Table // nil: no column stays on a device
}

// File returns the state of a file, which is read until ctx ends.
func (e *Engine) File(ctx context.Context, src io.ReaderAt) *File {
	return &File{engine: e, ctx: ctx, src: src, line: timeline.Of(ctx)}
}

// Keep lets the columns of a file of a size in bytes stay on a device, if the pool has memory for
// tables. The caller calls Commit for each part, and Kept or Close.
func (f *File) Keep(bytes int64) { f.kept = f.engine.pool.Tables().New(bytes) }

// Commit adds the next part to the table that stays on a device. f may be nil.
func (f *File) Commit(p *readers.Part) {
	if f != nil && p.Columns != nil {
		f.kept.Add(p.Resident, p.Columns.Rows)
	}
}

// Kept returns the table that stays on a device, or nil. f may be nil.
func (f *File) Kept() *resident.Handle {
	if f == nil {
		return nil
	}
	h, err := f.kept.Handle()
	f.kept = nil
	if err != nil {
		f.engine.faults.Add(1)
	}
	return h
}

// Close drops the table that stays on a device, unless Kept has returned it. f may be nil.
func (f *File) Close() {
	if f == nil {
		return
	}
	if err := f.kept.Drop(); err != nil {
		f.engine.faults.Add(1)
	}
	f.kept = nil
}

// Reader returns a reader for one goroutine. A device reads guessed chunks. The CPU engine's reader
// reads those that it refuses, and every part whose start is verified.
func (f *File) Reader(cpu readers.PartReader, chunks Chunks) readers.PartReader {
	return &reader{PartReader: cpu, File: f, chunks: chunks}
}

// reader reads parts on devices.
type reader struct {
	readers.PartReader // of the CPU engine
	*File
	chunks Chunks
}

// maxRefused is the number of refused chunks in a row after which devices are no longer used, since
// such a file costs twice the work.
const maxRefused = 8

// Guess reads the rows that begin between two offsets on a device.
func (r *reader) Guess(from, stop int64) readers.Part {
	if r.refused.Load() < maxRefused {
		found := r.line.Begin("look for rows", from)
		start, end, why := r.chunks.Bounds(from, stop)
		found()
		if why == "" && end <= start {
			return r.PartReader.Guess(from, stop)
		}
		var part readers.Part
		if why == "" {
			part, why = r.onDevice(start, end)
		}
		if why == "" {
			r.refused.Store(0)
			r.engine.accepted.Add(1)
			return part
		}
		r.refused.Add(1)
		r.engine.refuse(why)
	}
	part := r.PartReader.Guess(from, stop)
	r.engine.refusedRows.Add(part.Rows)
	return part
}

// onDevice reads a chunk on a device, or returns the reason for refusing it.
func (r *reader) onDevice(start, end int64) (part readers.Part, why string) {
	lent := r.line.Begin("wait for a slot", start)
	l, ok := r.engine.pool.Take(r.File, start)
	lent()
	if !ok {
		return part, gpu.ErrLost.Error()
	}
	var err error // of the device
	defer func() {
		p := recover()
		if p != nil { // otherwise the caller's recover would hide the panic, and the CPU engine would continue
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if err != nil {
			r.engine.faults.Add(1)
		}
		r.engine.pool.Give(l, err)
		if p != nil {
			panic(p)
		}
	}()
	text := gather(r.src, start, end, r.pieces())
	switch room := int64(l.Text().Len()); {
	case end-start > room:
		return part, "a chunk that ends in a long row"
	case text.bytes > room:
		return part, "a chunk whose rows have far more in other files than those of the file on average"
	}
	part, why, err = r.inSlot(l, text, end)
	return part, why
}

// pieces returns the bytes of other files that belong to the last chunk.
func (r *reader) pieces() []Piece {
	if c, ok := r.chunks.(Pieces); ok {
		return c.Pieces()
	}
	return nil
}

// inSlot parses a chunk in a slot. An error is one of the device.
func (r *reader) inSlot(l *slots.Slot, text *chunkPieces, end int64) (part readers.Part, why string, err error) {
	start := text.at
	t, filled, err := l.Fill(r.ctx, r.File, text, start, int(text.bytes))
	r.engine.reading.Add(int64(t.Read))
	r.engine.copying.Add(int64(t.Upload))
	if filled != nil || err != nil {
		return part, errors.Join(filled, err).Error(), err
	}
	lent := r.line.Begin("wait for an arena", start)
	l.Work(r.File, start, func() {
		lent()
		defer r.line.Begin("kernels and columns", start)()
		began := time.Now()
		defer func() { r.engine.working.Add(int64(time.Since(began))) }()
		w := &Work{
			K: l.Kernels(), S: l.Stream(), At: start, slot: l, out: l.Result(), line: r.line,
			keep: r.kept.Writer(l.Stream()),
		}
		w.Text, w.Pieces = text.of(l.Text())
		part, why, err = w.read(r.chunks)
	})
	if why != "" {
		return readers.Part{}, why, err
	}
	if part.To == 0 {
		part.To = end - start
	}
	for i := range part.Starts {
		part.Starts[i] += start
	}
	part.Start, part.Next, part.To = start, end, start+part.To
	part.Summary.BytesRead = text.bytes
	return part, "", nil
}
