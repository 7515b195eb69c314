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
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/timeline"
)

// Chunks is what a format knows of the chunks of one file. One goroutine uses it.
type Chunks interface {
	// Bounds finds the rows that begin between two offsets: start is that of the first one, and end
	// that of the first one after stop, or of what is after all rows. The text between is for a
	// device, which begins it with an empty state. why says why there is none, and the chunk counts
	// as refused; without it, end <= start says that there is nothing to be refused either. In both
	// cases the CPU engine reads. An error of the file is a reason like others: a caller that reads
	// the rows again comes upon it.
	Bounds(from, stop int64) (start, end int64, why string)

	// Read reads the text of w into part, as far as the host needs not wait: Columns, Starts (in
	// the text), Rows, To (in the text, 0 being its end), and End, State, Text and Summary as the
	// CPU engine has them. What is copied by Result is there when functions given to After run;
	// they complete the part. What goes wrong it says to w; then part counts for nothing.
	Read(w *Work, part *readers.Part)
}

// File is a file that is read with the help of devices. Its readers share it.
type File struct {
	engine  *Engine
	ctx     context.Context
	src     io.ReaderAt
	line    *timeline.Timeline
	refused atomic.Int32 // chunks that were refused, since one was taken
}

// File begins a file, which is read until ctx ends.
func (e *Engine) File(ctx context.Context, src io.ReaderAt) *File {
	return &File{engine: e, ctx: ctx, src: src, line: timeline.Of(ctx)}
}

// Reader makes a reader for one goroutine: chunks are guessed by a device, and what that leaves,
// and each part that is known to begin at a row, is read by the CPU engine's reader.
func (f *File) Reader(cpu readers.PartReader, chunks Chunks) readers.PartReader {
	return &reader{PartReader: cpu, File: f, chunks: chunks}
}

// reader reads parts on devices.
type reader struct {
	readers.PartReader // of the CPU engine
	*File
	chunks Chunks
}

// maxRefused is after how many refused chunks in a row nobody asks a device any more: such a file
// costs twice the work.
const maxRefused = 8

// Guess has a device read the rows that begin between two offsets.
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

// onDevice reads a chunk on a device, or says why it does not.
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
		if p != nil { // a caller that guards this guess has the CPU engine read on, and nobody would know
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
		return part, "a chunk whose rows have far more beside them than those of the file on average"
	}
	part, why, err = r.inSlot(l, text, end)
	return part, why
}

// pieces returns what belongs to the chunk that was looked for last, and is in other files.
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
		w := &Work{K: l.Kernels(), S: l.Stream(), At: start, slot: l, out: l.Result(), line: r.line}
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
