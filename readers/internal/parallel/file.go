package parallel

import (
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// HeadBytes is the number of bytes of rows, at most, that the head scanner reads before other
// workers start. They learn from these rows how large their sinks should be.
const HeadBytes = 256 << 10

// Scanner parses parts of a file for one goroutine: the sequential parser of a format.
type Scanner[S rows.Rows] interface {
	// Find opens the file and goes to the first row that seems to begin at or after from and before
	// stop. What precedes it is unknown. It returns false if there is none or if reading failed.
	// The rows go to sink.
	Find(sink S, from, stop int64) bool
	// Open opens the file and goes to the row at from, which is number row. The rows go to sink.
	Open(sink S, from, stop, row int64) bool
	// Scan parses the rows from the current one to the first that begins at or after stop. It emits
	// them as one chunk. It returns false if a row is malformed or if reading failed.
	Scan() (Extent, bool)
	// Err returns the reason why Open or Scan returned false. It is the error that a parse from the
	// first byte gives.
	Err() error
}

// Extent describes the rows that a Scanner parsed.
type Extent struct {
	Start   int64 // offset of the first row
	Next    int64 // offset of the row after the last one, or of what follows all rows
	Row     int64 // number of the row after the last one
	Stopped bool  // a row begins at Next; else the rows of the file end there
	State   uint64
	Summary readers.Summary // rows of its Deviations have their numbers in the file, from that given to Open or from 0
}

// File is a Run whose parts are made of sinks of type S. Its sinks serve one part after the other.
type File[S rows.Rows] struct {
	*Run
	Sinks rows.Pool[S]

	// NewScanner makes the scanner of one goroutine. The scanner emits rows by calling keep.
	NewScanner func(keep func(readers.Chunk) error) Scanner[S]

	// OpenSchema says that a row may have a column that no previous row has. Then the number of
	// columns is checked for each part, and the sink of a part that failed is dropped: its columns
	// may be no columns of the file.
	OpenSchema bool
}

// NewFile begins a run. The caller sets Sinks.New, NewScanner and OpenSchema, and calls Close in
// any case.
func NewFile[S rows.Rows](ctx context.Context, c Config) *File[S] {
	f := &File[S]{Run: Start(ctx, c)}
	f.Run.Commit = func(p *readers.Part) error {
		if c.Commit != nil {
			if err := c.Commit(p); err != nil {
				return err
			}
		}
		f.Sinks.Learn(p.Text) // columns that are text are parsed as text in the following parts
		return nil
	}
	return f
}

// AddHead adds the rows that the head scanner parsed into a sink of this file.
func (f *File[S]) AddHead(sink S, chunk readers.Chunk) error {
	from, to := chunk.Span.From, chunk.Span.To
	if f.Device == nil { // with a device, sinks are for the chunks that it refuses: many rows or next to none
		f.Sinks.Expect(sink.Expect(float64(f.Limits.PartBytes) / float64(to-from)))
	}
	return f.Add(f.Sinks.Part(sink, chunk, from, to))
}

// HeadBytes returns how many bytes of rows the head scanner reads before other workers start.
func (f *File[S]) HeadBytes() int64 { return min(f.Limits.PartBytes, HeadBytes) }

// Read parses the rows from an offset to the end of the file with several workers. chunks makes
// what the device needs for one goroutine; it is nil where the device does not know the rows. Read
// returns the offset where the rows end and the number of the row that would follow.
func (f *File[S]) Read(from, to, row int64, chunks func() device.Chunks) (end, next int64, err error) {
	parts := readers.Parts{
		From: from, To: to, Row: row, Size: f.Limits.PartBytes, Workers: f.Limits.Workers, Reader: f.Reader,
	}
	if f.OpenSchema {
		parts.Columns = f.Columns()
	}
	return f.Run.Read(parts, chunks)
}

// Reader makes the CPU's reader of parts for one goroutine.
func (f *File[S]) Reader() readers.PartReader {
	r := &partReader[S]{file: f}
	r.scanner = f.NewScanner(func(c readers.Chunk) error {
		r.rows = c
		return nil
	})
	return r
}

// Refuse parses a guessed part again whose rows contradict those of the previous parts, and returns
// the error that this gives. row is the number of its first row.
func (f *File[S]) Refuse(p *readers.Part, row int64) error { return rows.Refuse(f.Reader(), *p, row) }

// partReader reads parts with a scanner.
type partReader[S rows.Rows] struct {
	file    *File[S]
	scanner Scanner[S]
	rows    readers.Chunk // of the current part
}

// Guess implements readers.PartReader.
func (r *partReader[S]) Guess(from, stop int64) readers.Part {
	sink := r.begin()
	return r.read(sink, r.scanner.Find(sink, from, stop), 0)
}

// Read implements readers.PartReader.
func (r *partReader[S]) Read(from, stop, row int64) (readers.Part, error) {
	sink := r.begin()
	ok := r.scanner.Open(sink, from, stop, row)
	if r.file.OpenSchema {
		sink.Follow(r.file.Columns())
	}
	part := r.read(sink, ok, row)
	if part.Failed {
		return part, r.scanner.Err()
	}
	return part, nil
}

// begin returns the sink of the next part.
func (r *partReader[S]) begin() S {
	r.rows = readers.Chunk{}
	return r.file.Sinks.Take()
}

// read parses the rows of a part from number row on. Unless ok, the part has failed already.
func (r *partReader[S]) read(sink S, ok bool, row int64) readers.Part {
	var x Extent
	if ok {
		x, ok = r.scanner.Scan()
	}
	if !ok {
		if !r.file.OpenSchema {
			r.file.Sinks.Give(sink)
		}
		return readers.Part{Failed: true}
	}
	part := r.file.Sinks.Part(sink, r.rows, x.Start, x.Next)
	part.End, part.Rows, part.State, part.Summary = !x.Stopped, x.Row-row, x.State, x.Summary
	part.Summary.Deviations.Shift(-row)
	return part
}
