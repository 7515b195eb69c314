package parallel

import (
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Config says what a Run reads and where the rows go.
type Config struct {
	Parser  readers.Parser   // parses the rows of a part again where a batch needs that
	Source  *source.File     // the file
	Request readers.Request  // of Parse; Span.To is the end of the rows or of the file
	Limits  readers.Limits   // of the parts: their size and the number of workers; no field is zero
	Engine  *device.Engine   // the GPU engine; nil: only the CPU reads
	Summary *readers.Summary // gets what the parts counted

	// Emit gets the batches in file order.
	Emit func(readers.Chunk) error

	// Commit is called for each part that counts, in file order, before its rows are added to a
	// batch. It may replace the part, or refuse it with an error. It may be nil.
	Commit func(p *readers.Part) error
}

// Run is one parse of a file by several workers.
type Run struct {
	Config
	Device *device.File // nil: only the CPU reads

	ctx     context.Context
	batcher *readers.Batcher
}

// Start begins a run. The caller calls Close in any case.
func Start(ctx context.Context, c Config) *Run {
	r := &Run{Config: c, ctx: ctx}
	if c.Engine != nil {
		r.Device = c.Engine.File(ctx, c.Source)
		if c.Request.Keep {
			r.Device.Keep(c.Source.Size)
		}
	}
	r.batcher = readers.NewBatcher(ctx, c.Parser, c.Source, c.Request, c.Emit)
	r.batcher.Inline = r.Device == nil
	return r
}

// Worthwhile reports whether a span is long enough for several workers. limits has no zero field.
func Worthwhile(span readers.Span, limits *readers.Limits) bool {
	return !span.Inside && limits.Workers > 1 && span.To-span.From > 2*limits.PartBytes
}

// Read parses the parts, and returns the offset where the rows end and the number of the row that
// would follow. parts.Reader makes the CPU's readers; chunks makes what the device needs for one
// goroutine. It is nil where the device does not know the rows.
func (r *Run) Read(parts readers.Parts, chunks func() device.Chunks) (end, row int64, err error) {
	parts.First = r.Request.First
	if r.batcher.Inline {
		parts.Batches = r.batcher
	}
	if cpu := parts.Reader; r.Device != nil && chunks != nil {
		parts.Reader = func() readers.PartReader { return r.Device.Reader(cpu(), chunks()) }
	}
	return parts.Read(r.ctx, r.Add)
}

// Add commits a part and adds its rows to the batches.
func (r *Run) Add(p readers.Part) error {
	if r.Commit != nil {
		if err := r.Commit(&p); err != nil {
			return err
		}
	}
	r.Device.Commit(&p)
	r.Summary.Add(&p.Summary)
	return r.batcher.Add(p)
}

// Columns returns the columns of the parts that were added. Only the goroutine that adds parts may
// read them.
func (r *Run) Columns() *readers.ColumnSet { return r.batcher.Columns() }

// Finish emits the last batches.
func (r *Run) Finish() error {
	if err := r.batcher.Finish(); err != nil {
		return err
	}
	r.Summary.Resident = r.Device.Kept()
	return nil
}

// Close waits for the run's goroutines. Rows that Finish did not emit are lost.
func (r *Run) Close() {
	r.batcher.Close()
	r.Device.Close()
}
