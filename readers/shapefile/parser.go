package shapefile

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/source"
)

// parser is the CPU engine.
type parser struct {
	layout    readers.Layout
	readBytes int            // bytes read at a time; 0: windowBytes
	device    *device.Engine // the GPU engine, or nil
}

// job is one Parse.
type job struct {
	dialect
	parser parser
	ctx    context.Context
	src    *source.File
	table  *source.File // the .dbf, or nil
	shx    *source.File // if records were moved, or numbers are indexedNumbers
	end    int64        // of the records, in the .shp or, if they were moved, in the .shx
	limits readers.Limits
	skip   bool          // on_error: skip
	nulls  bool          // on_error: null or repair
	repair bool          // on_error: repair
	places *deviceChunks // places of records, if numbers are indexedNumbers

	numbers numbers
	walked  sync.Once // of inOrder
	follow  sequenceCheck
	mode    sync.Once // of the defect of numbers out of sequence
	modeIs  string
	step    int // of windows
	sinks   parallel.FreeList[*sink]
}

// Parse reads the whole file, or again a span of records that an earlier Parse emitted.
func (c parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	j := &job{
		dialect: c.layout.Dialect.(dialect), parser: c, ctx: ctx, src: src, limits: req.Limits.WithDefaults(),
		skip: c.layout.Options.SkipErrors(),
		step: cmp.Or(c.readBytes, windowBytes),
	}
	j.nulls, j.repair = c.layout.Options.NullErrors(), c.layout.Options.Repairs()
	if j.attributes != nil {
		j.attributes = j.attributes.Project(c.layout.Columns)
	}
	if err := j.siblings(); err != nil {
		return readers.Summary{}, err
	}
	if err := j.findNumbers(); err != nil {
		return readers.Summary{}, err
	}
	if req.Span.Inside {
		return j.again(req.Span, emit)
	}
	return j.all(req.First, req.Keep, emit)
}

// sequenceCheck caches whether the records of a file follow each other by their own numbers and
// lengths.
type sequenceCheck struct {
	ok  bool
	err error
}

// siblings opens the sibling files that Open found.
func (j *job) siblings() (err error) {
	j.end = j.src.Size
	if j.attributes != nil {
		if j.table, err = j.src.Sibling(".dbf"); err != nil {
			return err
		}
		if j.table == nil {
			return fmt.Errorf("%s: %w: its .dbf is gone", j.src.Name, source.ErrChanged)
		}
	}
	if j.order == moved {
		if j.shx, err = j.src.Sibling(".shx"); err != nil {
			return err
		}
		if j.shx == nil {
			return fmt.Errorf("%s: %w: its .shx is gone", j.src.Name, source.ErrChanged)
		}
		j.end = indexEnd(j.shx)
	}
	return nil
}

// again reads the records of one chunk.
func (j *job) again(span readers.Span, emit func(readers.Chunk) error) (readers.Summary, error) {
	r := j.reader()
	row, err := r.rowAt(span.From)
	if err != nil {
		return readers.Summary{}, err
	}
	part, err := r.Read(span.From, span.To, row)
	if err != nil {
		return readers.Summary{}, err
	}
	part.Summary.CRS = j.crs
	part.Summary.Deviations.Shift(row)
	return part.Summary, emit(readers.Chunk{Columns: part.Columns, Span: span})
}

// all reads the file.
func (j *job) all(first *readers.First, keep bool, emit func(readers.Chunk) error) (readers.Summary, error) {
	sum := readers.Summary{CRS: j.crs, BytesRead: headerBytes}
	j.noteHeader(&sum)
	parts, engine, chunks, err := j.parts()
	if err != nil {
		return readers.Summary{}, err
	}
	row := int64(0) // of the next record
	out := parallel.NewOutput(emit)
	run := parallel.Start(j.ctx, parallel.Config{
		Parser: j.parser, Source: j.src,
		Request: readers.Request{Span: readers.Span{To: j.end}, Limits: j.limits, First: first, Keep: keep},
		Engine:  engine, Summary: &sum, Emit: out.Emit,
		Commit: func(p *readers.Part) error {
			// A guess has the assumed number of its first record in State.
			if p.State != uint64(row) {
				return j.refuse(p, row)
			}
			row += p.Rows
			p.State = 0
			return nil
		},
	})
	defer run.Close()
	_, rows, err := run.Read(parts, chunks)
	if err == nil {
		err = j.checkCount(rows, &sum)
	}
	if err == nil {
		err = run.Finish()
	}
	if err == nil {
		err = out.Finish(readers.Span{}, j.empty)
	}
	return sum, err
}

// refuse returns the error for a part whose first record is not number row.
func (j *job) refuse(p *readers.Part, row int64) error {
	p.Release()
	if _, err := j.reader().Read(p.Start, p.Start+1, row); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w: the record at byte %d", j.src.Name, source.ErrChanged, p.Start)
}

// parts returns the parts of the file and, if devices read them, the engine and its chunks.
func (j *job) parts() (p readers.Parts, e *device.Engine, chunks func() device.Chunks, err error) {
	p = readers.Parts{
		From: headerBytes, To: j.end, Size: j.partBytes(j.limits.PartBytes, 0), Workers: j.limits.Workers,
		Reader: func() readers.PartReader { return j.pooledReader() },
	}
	if j.parser.device != nil && j.onDevice() {
		e, chunks, err = j.deviceParts(&p)
	}
	return p, e, chunks, err
}

// partBytes returns the size of a part in bytes of records, given its size including attributes and
// the siblings' bytes.
func (j *job) partBytes(part, siblingBytes int64) int64 {
	all := j.src.Size + siblingBytes
	if j.table != nil {
		all += j.table.Size
	}
	return max(1, int64(float64(part)*float64(j.end)/float64(all)))
}

// checkCount checks for more attributes than shapes.
func (j *job) checkCount(rows int64, sum *readers.Summary) error {
	if j.attributes == nil {
		return nil
	}
	promised := j.attributes.Records + j.attributes.Missing().Count
	if promised <= rows {
		return nil
	}
	switch {
	case j.nulls:
		j.noteLeft(&sum.Deviations, rows, promised-rows)
		return nil
	case !j.skip:
		e := errorAt(j.src, j.src.Size, rows, fmt.Errorf("the file ends, but %s has %d records",
			j.table.Name, promised))
		e.Mode = modeNull
		return e
	}
	sum.Add(&readers.Summary{Skipped: readers.SkippedRows{Count: promised - rows, First: []int64{j.src.Size}}})
	return nil
}

// empty returns the columns of a file without rows.
func (j *job) empty() (*geoarrow.Columns, error) {
	columns := &geoarrow.Columns{}
	if j.attributes != nil {
		table, err := j.attributes.NewReader(j.table, j.limits)
		if err != nil {
			return nil, ofAttributes(j.src, 0, -1, err)
		}
		run, err := table.Read(j.ctx, 0, 0)
		if err != nil {
			return nil, err
		}
		columns = run.Columns
	}
	columns.Geometry = geoarrow.NullGeometry(0, geoarrow.NoKind, geoarrow.XY)
	return columns, nil
}
