//go:build cgo && linux && (amd64 || arm64)

package duck

/*
#include "scan.h"
#include <stdlib.h>
*/
import "C"

import (
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/cdata"
	"github.com/apache/arrow/go/v17/arrow/memory"
	duckdb "github.com/duckdb/duckdb-go-bindings"
)

var arrowMemory = memory.DefaultAllocator

func arrayOf(a *C.struct_ArrowArray) *cdata.CArrowArray {
	return (*cdata.CArrowArray)(unsafe.Pointer(a))
}

func schemaOf(s *C.struct_ArrowSchema) *cdata.CArrowSchema {
	return (*cdata.CArrowSchema)(unsafe.Pointer(s))
}

// takeError returns an error that DuckDB passed, if any, and destroys it.
func takeError(p unsafe.Pointer) error {
	e := duckdb.ErrorData{Ptr: p}
	if e.Ptr == nil {
		return nil
	}
	defer duckdb.DestroyErrorData(&e)
	if !duckdb.ErrorDataHasError(e) {
		return nil
	}
	return parseError(duckdb.ErrorDataMessage(e))
}

// convertedSchema converts a field to DuckDB's representation of a schema. The caller destroys it.
func (c *Conn) convertedSchema(f arrow.Field) (unsafe.Pointer, error) {
	s := (*C.struct_ArrowSchema)(C.calloc(1, C.sizeof_struct_ArrowSchema))
	defer C.free(unsafe.Pointer(s))
	cdata.ExportArrowSchema(arrow.NewSchema([]arrow.Field{f}, nil), schemaOf(s))
	defer cdata.ReleaseCArrowSchema(schemaOf(s))
	var converted unsafe.Pointer
	err := takeError(C.duckdb_schema_from_arrow(c.conn.Ptr, s, &converted))
	return converted, err
}

// logicalType returns DuckDB's type of a field, by the conversion of a null. The caller destroys
// it.
func (c *Conn) logicalType(f arrow.Field) (duckdb.LogicalType, error) {
	var none duckdb.LogicalType
	converted, err := c.convertedSchema(f)
	if err != nil {
		return none, err
	}
	defer C.duckdb_destroy_arrow_converted_schema(&converted)
	null := array.MakeArrayOfNull(arrowMemory, f.Type, 1)
	defer null.Release()
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{f}, nil), []arrow.Array{null}, 1)
	defer rec.Release()
	a := (*C.struct_ArrowArray)(C.calloc(1, C.sizeof_struct_ArrowArray))
	defer C.free(unsafe.Pointer(a))
	cdata.ExportArrowRecordBatch(rec, arrayOf(a), nil)
	defer cdata.ReleaseCArrowArray(arrayOf(a)) // nothing is left of it if DuckDB took it
	var chunk duckdb.DataChunk
	if err := takeError(C.duckdb_data_chunk_from_arrow(c.conn.Ptr, a, converted, &chunk.Ptr)); err != nil {
		return none, err
	}
	defer C.duckdb_destroy_data_chunk(&chunk.Ptr)
	return duckdb.VectorGetColumnType(duckdb.DataChunkGetVector(chunk, 0)), nil
}

// schema converts DuckDB's types to Arrow. given is the schema of DuckDB's own records. schema has
// texts in place of dictionaries, and int64 in place of HUGEINT unless huge. Geometries have the
// extension metadata of the statement's tables.
func (c *Conn) schema(types []duckdb.LogicalType, names []string, huge bool) (schema, given *arrow.Schema, err error) {
	if len(types) == 0 {
		none := arrow.NewSchema(nil, nil)
		return none, none, nil
	}
	if err := resolveTypes(types, names); err != nil {
		return nil, nil, err
	}
	s := (*C.struct_ArrowSchema)(C.calloc(1, C.sizeof_struct_ArrowSchema))
	defer C.free(unsafe.Pointer(s))
	pointers := make([]unsafe.Pointer, len(types))
	texts := make([]*C.char, len(types))
	for i, t := range types {
		pointers[i] = t.Ptr
		texts[i] = C.CString(names[i])
		defer C.free(unsafe.Pointer(texts[i]))
	}
	if err := takeError(C.duckdb_to_arrow_schema(c.options.Ptr, &pointers[0], &texts[0], C.uint64_t(len(types)),
		s)); err != nil {
		return nil, nil, err
	}
	if given, err = cdata.ImportCArrowSchema(schemaOf(s)); err != nil {
		return nil, nil, err
	}
	fields := given.Fields()
	for i, t := range types {
		if duckdb.GetTypeId(t) == duckdb.TypeGeometry {
			metadata := c.call.crs.metadata(duckdb.GeometryTypeGetCRS(t))
			fields[i].Metadata = arrow.NewMetadata([]string{extensionName, extensionMetadata},
				[]string{wkbExtension, metadata})
		}
	}
	given = arrow.NewSchema(slices.Clone(fields), nil)
	for i := range fields {
		fields[i] = withTexts(fields[i])
		if duckdb.GetTypeId(types[i]) == duckdb.TypeHugeInt && !huge {
			fields[i].Type = arrow.PrimitiveTypes.Int64
		}
	}
	return arrow.NewSchema(fields, nil), given, nil
}
