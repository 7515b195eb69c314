//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// world is what names stand for in a test: relations by key, and a count of those not yet released.
type world struct {
	tables map[string]*relation
	held   atomic.Int64
	scans  atomic.Int64
	failed map[string]error // keys that cannot be resolved
}

type relation struct {
	world   *world
	schema  *arrow.Schema
	batches []arrow.Record
	asked   atomic.Pointer[[]int]       // columns of the last scan
	scan    func(context.Context) error // called by Scan if set
	batch   func(i int) error           // called by Batch if set
	lasting bool                        // batches outlive every statement
}

func (w *world) resolve(_ context.Context, key string) (Relation, error) {
	if err := w.failed[key]; err != nil {
		return nil, err
	}
	r := w.tables[key]
	if r == nil {
		return nil, fmt.Errorf("no table %s", key)
	}
	w.held.Add(1)
	return r, nil
}

func (r *relation) Schema() *arrow.Schema { return r.schema }
func (r *relation) Release()              { r.world.held.Add(-1) }

func (r *relation) Rows() (n int64) {
	for _, b := range r.batches {
		n += b.NumRows()
	}
	return n
}

func (r *relation) Scan(ctx context.Context, columns []int) (Batches, error) {
	if r.scan != nil {
		if err := r.scan(ctx); err != nil {
			return nil, err
		}
	}
	r.asked.Store(&columns)
	r.world.scans.Add(1)
	return &scan{r, columns}, nil
}

type scan struct {
	relation *relation
	columns  []int
}

func (s *scan) Len() int { return len(s.relation.batches) }
func (s *scan) Release() { s.relation.world.scans.Add(-1) }

func (s *scan) Batch(i int) (arrow.Record, bool, error) {
	if s.relation.batch != nil {
		if err := s.relation.batch(i); err != nil {
			return nil, false, err
		}
	}
	b := s.relation.batches[i]
	fields := make([]arrow.Field, len(s.columns))
	columns := make([]arrow.Array, len(s.columns))
	for k, c := range s.columns {
		fields[k], columns[k] = b.Schema().Field(c), b.Column(c)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, b.NumRows()), s.relation.lasting, nil
}

// numbers are rows id 0..n-1, x = id/2, name "name <id>" with every tenth null, in batches of size
// rows.
func numbers(w *world, n, size int) *relation { return numbersIn(arrowMemory, w, n, size) }

func numbersIn(mem memory.Allocator, w *world, n, size int) *relation {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	r := &relation{world: w, schema: schema}
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	for i := range n {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.Float64Builder).Append(float64(i) / 2)
		if i%10 == 3 {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("a name of some length %d", i))
		}
		if (i+1)%size == 0 || i == n-1 {
			r.batches = append(r.batches, b.NewRecord())
		}
	}
	return r
}

func open(tb testing.TB, w *world, cfg Config) *Database {
	tb.Helper()
	d, err := Open(cfg, w.resolve)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Error(err)
		}
		if n := w.held.Load(); n != 0 {
			tb.Errorf("%d relations are still held", n)
		}
		if n := w.scans.Load(); n != 0 {
			tb.Errorf("%d scans are still open", n)
		}
	})
	for key := range w.tables {
		if err := d.View("", key, key); err != nil {
			tb.Fatal(err)
		}
	}
	for key := range w.failed {
		if err := d.View("", key, key); err != nil {
			tb.Fatal(err)
		}
	}
	return d
}

func connect(tb testing.TB, d *Database) *Conn {
	tb.Helper()
	c, err := d.Connect()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// prepare prepares the query that a text holds.
func prepare(ctx context.Context, c *Conn, text string) (*Statement, error) {
	q, err := c.Parse(text)
	if err != nil {
		return nil, err
	}
	return c.Prepare(ctx, q)
}

// query runs a query to its end and gives its rows as text, and its schema.
func query(c *Conn, text string, args ...arrow.Record) (rows []string, schema *arrow.Schema, err error) {
	ctx := context.Background()
	s, err := prepare(ctx, c, text)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	var arg arrow.Record
	if len(args) > 0 {
		arg = args[0]
	}
	r, err := s.Query(ctx, arg, 0)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	for {
		rec, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, r.Schema(), nil
		}
		if err != nil {
			return rows, r.Schema(), err
		}
		for i := range int(rec.NumRows()) {
			var line string
			for k, c := range rec.Columns() {
				if k > 0 {
					line += "|"
				}
				line += c.ValueStr(i)
			}
			rows = append(rows, line)
		}
		rec.Release()
	}
}

// read runs a query to its end and gives its records, which the test's end releases.
func read(tb testing.TB, c *Conn, text string) (*arrow.Schema, []arrow.Record) {
	tb.Helper()
	ctx := context.Background()
	s, err := prepare(ctx, c, text)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	defer s.Close()
	r, err := s.Query(ctx, nil, 0)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	defer r.Close()
	var recs []arrow.Record
	for {
		rec, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return r.Schema(), recs
		}
		if err != nil {
			tb.Fatalf("%s: %v", text, err)
		}
		tb.Cleanup(rec.Release)
		recs = append(recs, rec)
	}
}

// wkb is a point as WKB.
func wkb(x, y float64) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{1}, 1)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(y))
}

// points is a table of three geometries, the second null, with this extension metadata.
func points(w *world, metadata string) *relation {
	schema := arrow.NewSchema([]arrow.Field{{
		Name: "geometry", Type: arrow.BinaryTypes.Binary, Nullable: true,
		Metadata: arrow.NewMetadata([]string{extensionName, extensionMetadata}, []string{wkbExtension, metadata}),
	}}, nil)
	b := array.NewRecordBuilder(arrowMemory, schema)
	defer b.Release()
	b.Field(0).(*array.BinaryBuilder).AppendValues([][]byte{wkb(1, 1), nil, wkb(-2, 0.5)}, []bool{true, false, true})
	return &relation{world: w, schema: schema, batches: []arrow.Record{b.NewRecord()}}
}
