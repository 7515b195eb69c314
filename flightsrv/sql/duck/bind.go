//go:build cgo && linux && (amd64 || arm64)

package duck

/*
#include "scan.h"
*/
import "C"

import (
	"context"
	"fmt"
	"runtime/cgo"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/cdata"
	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// boundTable is the table that a name in a statement is bound to. DuckDB holds it as long as the
// statement's plan.
type boundTable struct {
	conn     *Conn
	relation Relation
	fields   []arrow.Field // of the relation, as DuckDB knows them
}

// tableScan is a scan of a table.
type tableScan struct {
	in      *instance
	call    *call
	batches Batches
	schema  *arrow.Schema // of a batch with the wanted columns
}

// newHandle returns a handle for DuckDB, which vfDone deletes.
func (in *instance) newHandle(v any) C.uintptr_t {
	in.database.handles.Add(1)
	return C.uintptr_t(cgo.NewHandle(v))
}

//export vfDone
func vfDone(handle C.uintptr_t) {
	h := cgo.Handle(handle)
	var in *instance
	switch v := h.Value().(type) {
	case *instance:
		in = v
	case *boundTable:
		in = v.conn.in
		v.relation.Release()
	case *tableScan:
		in = v.in
		v.batches.Release()
	}
	h.Delete()
	in.database.handles.Add(-1)
}

//export vfBind
func vfBind(p unsafe.Pointer) {
	info := duckdb.BindInfo{Ptr: p}
	in := cgo.Handle(C.vf_bind_instance(p)).Value().(*instance)
	var client duckdb.ClientContext
	duckdb.TableFunctionGetClientContext(info, &client)
	conn := in.connection(uint64(duckdb.ClientContextGetConnectionId(client)))
	duckdb.DestroyClientContext(&client)
	if conn == nil || conn.call == nil {
		duckdb.BindSetError(info, "a name was bound outside of a statement")
		return
	}
	call := conn.call
	if err := guard(func() error { return bind(info, conn, call) }); err != nil {
		duckdb.BindSetError(info, call.fail(err))
	}
}

func bind(info duckdb.BindInfo, conn *Conn, call *call) error {
	if call.declaring {
		t := duckdb.CreateLogicalType(duckdb.TypeSQLNull)
		defer duckdb.DestroyLogicalType(&t)
		duckdb.BindAddResultColumn(info, "undeclared", t)
		return nil
	}
	v := duckdb.BindGetParameter(info, 0)
	key := duckdb.GetVarchar(v)
	duckdb.DestroyValue(&v)
	relation, err := conn.in.database.resolve(call.ctx, key)
	if err != nil {
		return err
	}
	t := &boundTable{conn: conn, relation: relation}
	C.vf_bind_set_table(info.Ptr, conn.in.newHandle(t)) // the plan holds the relation from now on, and lets it go
	for _, f := range relation.Schema().Fields() {
		if f, err = addColumn(info, conn, f); err != nil {
			return fmt.Errorf("column %s: %w", f.Name, err)
		}
		t.fields = append(t.fields, f)
	}
	if rows := relation.Rows(); rows >= 0 {
		duckdb.BindSetCardinality(info, duckdb.IdxT(rows), true)
	}
	return nil
}

// addColumn adds a column to DuckDB's table, and returns its field.
func addColumn(info duckdb.BindInfo, conn *Conn, f arrow.Field) (arrow.Field, error) {
	if structs(f.Type) > 1 {
		return f, &Error{Kind: Unsupported, Message: fmt.Sprintf("DuckDB misreads structs inside of structs: %s",
			f.Type), Position: -1}
	}
	t, err := conn.logicalType(f)
	if err != nil {
		return f, err
	}
	defer func() { duckdb.DestroyLogicalType(&t) }()
	if duckdb.GetTypeId(t) == duckdb.TypeGeometry {
		if f, t, err = conn.geometryType(f, t); err != nil {
			return f, err
		}
	}
	duckdb.BindAddResultColumn(info, f.Name, t)
	return f, nil
}

//export vfInit
func vfInit(p unsafe.Pointer) {
	info := duckdb.InitInfo{Ptr: p}
	t := cgo.Handle(C.vf_init_table(p)).Value().(*boundTable)
	call := t.conn.call
	if err := guard(func() error { return start(info, t, call) }); err != nil {
		duckdb.InitSetError(info, call.fail(err))
	}
}

// start starts a scan of the columns that DuckDB wants.
func start(info duckdb.InitInfo, t *boundTable, call *call) error {
	columns := make([]int, duckdb.InitGetColumnCount(info))
	wanted := make([]arrow.Field, len(columns))
	for i := range columns {
		c := duckdb.InitGetColumnIndex(info, duckdb.IdxT(i))
		if c >= duckdb.IdxT(len(t.fields)) {
			// a table function of the C API has no others, such as a row's number
			return fmt.Errorf("column %d of %d", c, len(t.fields))
		}
		columns[i], wanted[i] = int(c), t.fields[c]
	}
	batches, err := t.relation.Scan(call.ctx, columns)
	if err != nil {
		return err
	}
	r := &tableScan{in: t.conn.in, call: call, batches: batches}
	scan := C.vf_scan_new(r.in.newHandle(r), t.conn.conn.Ptr, C.int64_t(len(columns)), C.int64_t(batches.Len()))
	C.vf_init_set_scan(info.Ptr, scan) // frees it in any case
	converted, geometries := unsafe.Slice(scan.converted, len(columns)), unsafe.Slice(scan.wkb, len(columns))
	for i, f := range wanted {
		extension, _ := f.Metadata.GetValue(extensionName)
		geometries[i] = C.bool(extension == wkbExtension && f.Type.ID() == arrow.BINARY)
		if converted[i], err = t.conn.convertedSchema(f); err != nil {
			return fmt.Errorf("column %s: %w", f.Name, err)
		}
	}
	r.schema = arrow.NewSchema(wanted, nil)
	duckdb.InitSetMaxThreads(info, duckdb.IdxT(1+max(0, t.relation.Rows())/rowsPerThread))
	return nil
}

// The number of rows from which a further thread pays off.
const rowsPerThread = 16 << 10

//export vfFetch
func vfFetch(owner C.uintptr_t, i C.int64_t, out *C.vf_batch) C.bool {
	r := cgo.Handle(owner).Value().(*tableScan)
	if err := guard(func() error { return r.fetch(int(i), out) }); err != nil {
		r.call.fail(err)
		return false
	}
	return true
}

func (r *tableScan) fetch(i int, out *C.vf_batch) error {
	if err := context.Cause(r.call.ctx); err != nil {
		return err
	}
	rec, lasting, err := r.batches.Batch(i)
	if err != nil {
		return err
	}
	defer rec.Release()
	out.lasting = C.bool(lasting)
	if int(rec.NumCols()) != r.schema.NumFields() {
		return fmt.Errorf("batch %d has %d columns, %d were requested", i, rec.NumCols(), r.schema.NumFields())
	}
	for k, f := range r.schema.Fields() {
		if !arrow.TypeEqual(f.Type, rec.Column(k).DataType()) {
			return fmt.Errorf("batch %d, column %s: it is %s, the table says %s", i, f.Name,
				rec.Column(k).DataType(), f.Type)
		}
	}
	out.rows = C.int64_t(rec.NumRows())
	if rec.NumCols() == 0 {
		return nil
	}
	if rec, err = withStructsAtZero(rec); err != nil {
		return err
	}
	defer rec.Release()
	cdata.ExportArrowRecordBatch(rec, arrayOf(&out.array), nil)
	return nil
}

// withStructsAtZero returns the batch with structs that begin at the start of their buffers, copied
// if necessary. The export of this version of Arrow adds a struct's offset to its fields, and keeps
// it in the struct as well. The caller releases the batch.
func withStructsAtZero(rec arrow.Record) (arrow.Record, error) {
	columns := slices.Clone(rec.Columns())
	copied := false
	for i, c := range columns {
		if structs(c.DataType()) == 0 {
			continue
		}
		joined, err := array.Concatenate([]arrow.Array{c}, arrowMemory)
		if err != nil {
			return nil, err
		}
		defer joined.Release()
		columns[i], copied = joined, true
	}
	if !copied {
		rec.Retain()
		return rec, nil
	}
	return array.NewRecord(rec.Schema(), columns, rec.NumRows()), nil
}

// structs returns how deep structs are nested in a type. A map is a list of structs.
func structs(t arrow.DataType) (depth int) {
	switch t := t.(type) {
	case *arrow.StructType:
		for _, f := range t.Fields() {
			depth = max(depth, structs(f.Type))
		}
		return depth + 1
	case arrow.ListLikeType:
		return structs(t.Elem())
	}
	return 0
}

// guard keeps a panic of Go code from unwinding DuckDB's stack.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Error{Kind: Internal, Message: fmt.Sprintf("panic: %v", p), Position: -1}
		}
	}()
	return f()
}
