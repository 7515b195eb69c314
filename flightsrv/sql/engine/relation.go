package engine

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// relation is a version of a table in a statement. It holds no rows: each run has leases of its
// own.
type relation struct {
	entry    string // in the catalog, and DuckDB's key
	version  string
	schema   *arrow.Schema
	geometry int // number of that column; -1: none
	number   int // of a column that has the number of the row in the table; -1: none
	rows     int64
}

func newRelation(entry string, l *lease) *relation {
	t := l.table.Load()
	r := &relation{entry: entry, version: l.version, geometry: -1, number: -1, rows: t.Rows}
	r.schema = distinctNames(geoarrow.Schema(t.Batches[0], t.CRS, encoding))
	fields := r.schema.Fields()
	for i := range fields {
		fields[i].Type = sqlType(fields[i].Type)
	}
	r.schema = arrow.NewSchema(fields, nil)
	if t.Batches[0].Geometry != nil {
		r.geometry = len(t.Batches[0].Attributes)
	}
	return r
}

// sqlType returns the type of a column in SQL. Durations in nanoseconds are integers, since
// DuckDB's intervals have microseconds and would truncate them.
func sqlType(t arrow.DataType) arrow.DataType {
	if arrow.TypeEqual(t, arrow.FixedWidthTypes.Duration_ns) {
		return arrow.PrimitiveTypes.Int64
	}
	return t
}

// distinctNames renames columns that differ only in case, as DuckDB does: "name", "Name" become
// "name", "Name_1". A zero byte, which would end a name in DuckDB, becomes the symbol for it.
func distinctNames(schema *arrow.Schema) *arrow.Schema {
	fields := schema.Fields()
	taken := make(map[string]bool, len(fields))
	for i, f := range fields {
		f.Name = strings.ReplaceAll(f.Name, "\x00", "\u2400")
		fields[i].Name = f.Name
		for n := 1; taken[lower(fields[i].Name)]; n++ {
			fields[i].Name = fmt.Sprintf("%s_%d", f.Name, n)
		}
		taken[lower(fields[i].Name)] = true
	}
	return arrow.NewSchema(fields, nil)
}

// lower converts ASCII to lower case, as DuckDB does.
func lower(name string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}, name)
}

// Schema returns the table's columns, the geometry as geoarrow.wkb.
func (r *relation) Schema() *arrow.Schema { return r.schema }

// Rows is how many rows the table has.
func (r *relation) Rows() int64 { return r.rows }

// Release does nothing: the run holds the rows.
func (r *relation) Release() {}

// Scan starts to read the table in the run of ctx.
func (r *relation) Scan(ctx context.Context, columns []int) (duck.Batches, error) {
	b, err := r.scan(ctx, columns)
	if err != nil {
		return nil, err
	}
	return b, nil
}

func (r *relation) scan(ctx context.Context, columns []int) (*batches, error) {
	run := runOf(ctx)
	if run == nil || run.leases[r.entry] == nil {
		return nil, changedError(r.entry)
	}
	b := &batches{
		ctx: ctx, run: run, derived: run.engine.derived, relation: r, columns: columns,
		lease: run.leases[r.entry].addUser(),
	}
	if err := b.choose(run.filters[r.entry], run.args); err != nil {
		b.Release()
		return nil, err
	}
	all := len(b.lease.table.Load().Batches)
	run.engine.count.read.Add(int64(len(b.pieces)))
	run.engine.count.leftOut.Add(int64(all - len(b.pieces)))
	if run.report != nil {
		run.report.read.Add(int64(len(b.pieces)))
		run.report.leftOut.Add(int64(all - len(b.pieces)))
	}
	return b, nil
}

// batches is a scan of a table.
type batches struct {
	ctx        context.Context // of the run: DuckDB's threads call back without one
	run        *statementRun
	derived    *derivedCache
	relation   *relation
	lease      *lease
	columns    []int
	pieces     []piece
	condition  condition // by which batches are filtered; nil: none
	args       arguments
	unfiltered atomic.Int32 // batches that were not filtered
}

// piece is the part of a batch that is read.
type piece struct {
	batch int
	rows  []int32 // nil: all
}

// Len is how many batches are read.
func (b *batches) Len() int { return len(b.pieces) }

// Release ends the scan.
func (b *batches) Release() { b.lease.release() }

// Batch returns a batch, which the caller releases. It lasts if no copy was made for this query:
// the run holds the table and its geometries.
func (b *batches) Batch(i int) (rec arrow.Record, lasting bool, err error) {
	return b.batch(i, b.run.wkb)
}

func (b *batches) batch(i int, wkb func(*geoarrow.Columns) (*geoarrow.Geometry, bool, error)) (rec arrow.Record,
	lasting bool, err error,
) {
	p := b.pieces[i]
	all, err := b.lease.batch(b.ctx, p.batch)
	if err == nil && p.rows == nil {
		p.rows, err = b.filteredRows(p.batch)
	}
	if err != nil {
		return nil, false, err
	}
	wanted := &geoarrow.Columns{Rows: all.Rows}
	fields := make([]arrow.Field, len(b.columns))
	numbers := make([]int, len(b.columns)) // of the columns in wanted; the geometry is the last one
	for i, k := range b.columns {
		fields[i], numbers[i] = b.relation.schema.Field(k), len(wanted.Attributes)
		switch k {
		case b.relation.geometry:
		case b.relation.number:
			wanted.Attributes = append(wanted.Attributes, b.rowNumbers(p.batch, all.Rows))
		default:
			column := all.Attributes[k]
			column.Type = sqlType(column.Type)
			wanted.Attributes = append(wanted.Attributes, column)
		}
	}
	lasting = p.rows == nil && !b.lease.copies
	for i, k := range b.columns {
		if k != b.relation.geometry {
			continue
		}
		numbers[i] = len(wanted.Attributes)
		if p.rows != nil || b.lease.copies { // the conversion of a copy is not worth keeping
			wanted.Geometry = all.Geometry
		} else if wanted.Geometry, lasting, err = wkb(all); err != nil {
			return nil, false, err
		}
	}
	if p.rows != nil {
		wanted = wanted.Take(p.rows)
		wanted.Rows = len(p.rows)
	}
	schema := arrow.NewSchema(fields, nil)
	if len(fields) == 0 {
		return array.NewRecord(schema, nil, int64(wanted.Rows)), lasting, nil
	}
	rec, err = wanted.Record(schema, numbers, encoding)
	return rec, lasting, err
}

// rowNumbers returns a column of the numbers of a batch's rows in the table.
func (b *batches) rowNumbers(batch, rows int) geoarrow.Column {
	numbers, first := make([]int64, rows), b.lease.table.Load().Starts[batch]
	for i := range numbers {
		numbers[i] = first + int64(i)
	}
	return geoarrow.Column{Type: arrow.PrimitiveTypes.Int64, Values: geoarrow.AsBytes(numbers)}
}
