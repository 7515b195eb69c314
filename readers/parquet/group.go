package parquet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/records"
	"github.com/vibeflight/vibeflight/readers/source"
)

// project is the fields of a file that are read.
type project struct {
	*footer
	fields []int
	most   int64 // rows of a row group that is read as a whole
}

// group is the part of a row group that is read.
type group struct {
	number   int
	row      int64 // number of the first one
	rows     int64
	bytes    int64 // of its columns, unpacked
	from, to int64 // where they are in the file
}

// A row group up to this size is read at once. A larger one is read a batch at a time, since the
// memory for values that a dictionary repeats is unknown.
const (
	maxGroupRows   = 1 << 20
	groupShare     = 16        // of the memory
	streamedBuffer = 256 << 10 // bytes of a column that are read at a time then
)

// loads returns the row groups that have a row of want.
func (p project) loads(ctx context.Context, src *source.File, limits readers.Limits, want records.Rows,
	put func(records.Load) error,
) error {
	fault := records.Parser{Format: formatName}
	p.announce(src, want)
	row := int64(0)
	for number := range len(p.meta.RowGroups) {
		var g group
		err := records.Guard(func() (err error) {
			g, err = p.group(src, number)
			return err
		})
		if err != nil {
			return fault.Fault(src, limits, src.Size, err)
		}
		g.row, row = row, row+g.rows
		if !want.Meets(g.row, g.rows) {
			continue
		}
		if g.rows <= p.most && g.bytes <= limits.Memory/groupShare {
			workers := limits.Workers
			if len(p.meta.RowGroups) > 1 {
				workers = 1
			}
			load := records.Load{From: g.from, Row: g.row, Bytes: 2 * g.bytes, Do: func() (records.Batch, error) {
				r, err := p.open(src, g, limits, workers, false)
				if err != nil {
					return records.Batch{}, err
				}
				return r.next(g.rows)
			}}
			if err := put(load); err != nil {
				return err
			}
			continue
		}
		if err := p.stream(ctx, src, g, limits, want, put); err != nil {
			return fault.Fault(src, limits, g.from, err)
		}
	}
	return nil
}

// announce announces the columns of the row groups that have a row of want. What is wrong with them
// is found when they are read.
func (p project) announce(src *source.File, want ...records.Rows) {
	var spans [][2]int64
	row := int64(0)
	_ = records.Guard(func() error {
		for number := range len(p.meta.RowGroups) {
			meta := p.meta.RowGroup(number)
			first := row
			row += max(0, meta.NumRows())
			meets := func(r records.Rows) bool { return r.Meets(first, row-first) }
			if !slices.ContainsFunc(want, meets) {
				continue
			}
			for _, i := range p.fields {
				for _, leaf := range leaves(&p.manifest.Fields[i]) {
					chunk, err := meta.ColumnChunk(leaf.ColIndex)
					if err != nil {
						return err
					}
					from, to := chunkBytes(chunk)
					spans = append(spans, [2]int64{from, to})
				}
			}
		}
		return nil
	})
	src.Prefetch(spans...)
}

// stream returns the rows of a large group, one batch after the other.
func (p project) stream(ctx context.Context, src *source.File, g group, limits readers.Limits, want records.Rows,
	put func(records.Load) error,
) error {
	r, err := p.open(src, g, limits, limits.Workers, true)
	if err != nil {
		return err
	}
	for at := int64(0); at < g.rows && g.row+at < want.To; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(int64(limits.BatchRows), g.rows-at)
		r.room.Reset()
		b, err := r.next(n)
		if err != nil {
			return err
		}
		load := records.Load{From: g.from, Row: g.row + at, Bytes: r.room.Used(), Do: func() (records.Batch, error) {
			return b, nil
		}}
		if err := put(load); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// group checks the footer's data about a row group and the columns that are read.
func (p project) group(src *source.File, number int) (group, error) {
	meta := p.meta.RowGroup(number)
	g := group{number: number, rows: meta.NumRows(), from: math.MaxInt64}
	if g.rows < 0 {
		return g, fmt.Errorf("row group %d of %d rows", number, g.rows)
	}
	for _, i := range p.fields {
		for _, leaf := range leaves(&p.manifest.Fields[i]) {
			chunk, err := meta.ColumnChunk(leaf.ColIndex)
			if err != nil {
				return g, err
			}
			from, _ := chunkBytes(chunk)
			length, size := chunk.TotalCompressedSize(), chunk.TotalUncompressedSize()
			if from < 0 || length < 0 || size < 0 || from > src.Size || length > src.Size-from {
				return g, &records.FieldError{
					Field: p.path(leaf.ColIndex),
					Err: fmt.Errorf("row group %d has its column at byte %d, %d bytes long, in a file of %d",
						number, from, length, src.Size),
				}
			}
			g.bytes += min(size, math.MaxInt32)
			g.from, g.to = min(g.from, from), max(g.to, from+length)
		}
	}
	g.from = min(g.from, src.Size)
	return g, nil
}

// leaves returns the columns of a field.
func leaves(s *pqarrow.SchemaField) []*pqarrow.SchemaField {
	if isLeaf(s) {
		return []*pqarrow.SchemaField{s}
	}
	var all []*pqarrow.SchemaField
	for i := range s.Children {
		all = append(all, leaves(&s.Children[i])...)
	}
	return all
}

// groupReader reads the rows of a row group.
type groupReader struct {
	project
	group
	room    *records.Allocator
	workers int
	columns []*leafReader
}

// leafReader reads a column of a row group.
type leafReader struct {
	leaf   *pqarrow.SchemaField
	nested bool
	reader *pqarrow.ColumnReader
	column column // the current rows
}

// open begins with the rows of a group. streamed: its columns are read from the file as they are
// needed.
func (p project) open(src *source.File, g group, limits readers.Limits, workers int,
	streamed bool,
) (*groupReader, error) {
	r := &groupReader{project: p, group: g, room: &records.Allocator{Most: limits.Memory / 2}, workers: workers}
	props := parquet.NewReaderProperties(r.room)
	if streamed {
		props.BufferedStreamEnabled, props.BufferSize = true, streamedBuffer
	}
	var file *splicedFile
	err := records.Guard(func() (err error) {
		file, err = p.plain(src, g.number, r.room)
		return err
	})
	if err != nil {
		return nil, err
	}
	in, err := file.open(props, r.room)
	if err != nil {
		return nil, err
	}
	for _, i := range p.fields {
		field := &p.manifest.Fields[i]
		for _, leaf := range leaves(field) {
			r.columns = append(r.columns, &leafReader{leaf: leaf, nested: !isLeaf(field)})
		}
	}
	// A column by itself: for structs Arrow's own code starts goroutines, whose panics can't be
	// recovered.
	manifest := &pqarrow.SchemaManifest{}
	for _, c := range r.columns {
		manifest.Fields = append(manifest.Fields, *c.leaf)
	}
	in.Manifest = manifest
	meta := p.meta.RowGroup(g.number)
	return r, r.each(func(i int, c *leafReader) error {
		chunk, err := meta.ColumnChunk(c.leaf.ColIndex)
		if err != nil {
			return err
		}
		if chunk.CryptoMetadata() == nil {
			if err := p.checkPages(src, c.leaf.ColIndex, chunk, r.room.Most); err != nil {
				return err
			}
		}
		c.reader, err = in.GetFieldReader(context.Background(), i, map[int]bool{c.leaf.ColIndex: true}, []int{g.number})
		return err
	})
}

// each calls f with all columns, several at a time. Of several errors that of the first column
// counts.
func (r *groupReader) each(f func(i int, c *leafReader) error) error {
	errs := make([]error, len(r.columns))
	var wait sync.WaitGroup
	free := make(chan struct{}, max(1, r.workers))
	for i, c := range r.columns {
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			errs[i] = records.Guard(func() error { return f(i, c) })
		})
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			return &records.FieldError{Field: r.path(r.columns[i].leaf.ColIndex), Err: err}
		}
	}
	return nil
}

// next reads n rows.
func (r *groupReader) next(n int64) (records.Batch, error) {
	b := records.Batch{Rows: int(n), From: r.from, To: r.to, Arrays: make([]arrow.ArrayData, len(r.types))}
	err := r.each(func(_ int, c *leafReader) error { return c.read(n) })
	if err != nil {
		return b, err
	}
	columns := map[int]*column{}
	for _, c := range r.columns {
		columns[c.leaf.ColIndex] = &c.column
	}
	for _, i := range r.fields {
		s := &r.manifest.Fields[i]
		data, err := assemble(s, r.types[i], columns)
		if err == nil && data.Len() != int(n) {
			err = fmt.Errorf("%d rows where row group %d has %d", data.Len(), r.number, n)
		}
		if err != nil {
			return b, &records.FieldError{Field: s.Field.Name, Err: err}
		}
		b.Arrays[i] = data
	}
	return b, nil
}

// read reads n rows of a column.
func (c *leafReader) read(n int64) error {
	if err := c.reader.LoadBatch(n); err != nil {
		return err
	}
	c.column = column{}
	if c.nested && c.leaf.LevelInfo.DefLevel > 0 {
		def, err := c.reader.GetDefLevels()
		if err != nil {
			return err
		}
		c.column.def = append([]int16(nil), def...)
	}
	if c.nested && c.leaf.LevelInfo.RepLevel > 0 {
		rep, err := c.reader.GetRepLevels()
		if err != nil {
			return err
		}
		c.column.rep = append([]int16(nil), rep...)
	}
	chunks, err := c.reader.BuildArray(n)
	if err != nil {
		return err
	}
	switch pieces := chunks.Chunks(); len(pieces) {
	case 0:
		return errors.New("no rows")
	case 1:
		c.column.data = pieces[0].Data()
	default: // texts of more than 2 GiB
		whole, err := array.Concatenate(pieces, &records.Allocator{Most: math.MaxInt32})
		if err != nil {
			return err
		}
		c.column.data = whole.Data()
	}
	return nil
}
